"""The progress of searches to their fronts: hypervolume over evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Front
from paretosoc.results.plots.style import COLOURS, COLUMN_INCHES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES = ("-", "--", ":", "-.")


def draw_convergence(fronts: Sequence[tuple[str, Front]]) -> Figure:
    """Return one line for each front as a matplotlib figure, in per cent of its own last value.

    Raises:
        ResultError: if a front was not reached by a search that recorded its hypervolume.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_INCHES, 2.2), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(True)
    for n, (title, front) in enumerate(fronts):
        points = front.provenance.convergence
        if not points:
            raise ResultError(f"{title}: the search recorded no hypervolume to draw")
        # The time after the last growth is part of the search.
        end = max(front.provenance.evaluations, points[-1].evaluations)
        axes.plot(
            [*(point.evaluations for point in points), end],
            [*(100 * point.hypervolume for point in points), 100 * points[-1].hypervolume],
            drawstyle="steps-post",
            color=COLOURS[n % len(COLOURS)],
            linestyle=_STYLES[n // len(COLOURS) % len(_STYLES)],
            linewidth=1.1,
            label=title,
        )
    axes.set_xlim(left=0)
    axes.set_xlabel("Design points evaluated")
    axes.set_ylabel("Hypervolume (% of the last)")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    if len(fronts) > 1:
        figure.legend(loc="outside upper left", ncols=2, columnspacing=1.0)
    return figure

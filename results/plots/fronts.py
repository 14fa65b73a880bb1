"""Several fronts in one picture: by their choices, a panel for each pair of objectives, or by the
hypervolume that their searches reached."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import choose
from paretosoc.results.front.front import Front
from paretosoc.results.plots.chart import FORMS
from paretosoc.results.plots.front import axis_title, is_wide
from paretosoc.results.plots.style import (
    COLUMN_INCHES,
    INK,
    LINE_COLOURS,
    PAGE_INCHES,
    add_legend,
    use_log_scale,
)
from paretosoc.results.problem.objectives import idle_time_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS_IN_A_ROW = 3


def draw_fronts(fronts: Sequence[tuple[str, Front]]) -> Figure:
    """Return fronts of the same objectives as a matplotlib figure, one form and colour for each.

    Raises:
        ResultError: if a front is empty, has one objective, or other ones than the first.
    """
    from matplotlib.figure import Figure

    names = fronts[0][1].problem.objective_names
    required = _labels(fronts[0][1])
    if len(names) < 2:
        raise ResultError(f"a picture of fronts needs two objectives, got only {required}")
    for title, front in fronts:
        if sorted(front.problem.objective_names) != sorted(names):
            raise ResultError(f"{title}: must have the objectives {required}, got {_labels(front)}")
        if not front.members:
            raise ResultError(f"{title}: the front is empty")
    pairs = list(combinations(range(len(names)), 2))
    columns = min(len(pairs), _PANELS_IN_A_ROW)
    rows = -(-len(pairs) // columns)
    width = COLUMN_INCHES if len(pairs) == 1 else PAGE_INCHES
    figure = Figure(figsize=(width, 0.35 + 2.25 * rows), layout="constrained")
    places = figure.subplots(rows, columns, squeeze=False).flat
    for axes, (x, y) in zip(places, pairs, strict=False):
        _draw_pair(axes, fronts, (x, y), staircase=len(names) == 2)
    for axes in list(places)[len(pairs) :]:
        axes.set_axis_off()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    add_legend(figure, handles=handles, labels=labels, columnspacing=1.0)
    return figure


def _labels(front: Front) -> str:
    return ", ".join(objective.label(front.problem) for objective in front.problem.objectives)


def _draw_pair(
    axes: Axes, fronts: Sequence[tuple[str, Front]], pair: tuple[int, int], *, staircase: bool
) -> None:
    axes.grid(True)
    problems = [front.problem for _, front in fronts]
    first = problems[0]
    names = first.objective_names
    # An axis with energies of several T cannot name one, so the legend does.
    name_times = len({idle_time_name(problem) for problem in problems}) > 1
    every: list[list[float]] = [[], []]
    for n, (title, front) in enumerate(fronts):
        places = [front.problem.objective_names.index(names[k]) for k in pair]
        objectives = [front.problem.objectives[place] for place in places]
        xs, ys = (
            [objective.shown(m.objectives[place]) for m in front.members]
            for place, objective in zip(places, objectives, strict=True)
        )
        choices = choose(front).members
        every[0] += xs
        every[1] += ys
        colour = LINE_COLOURS[n % len(LINE_COLOURS)]
        if staircase:
            where = "steps-pre" if objectives[0].larger_is_better else "steps-post"
            line = sorted(zip(xs, ys, strict=True))
            axes.plot(*zip(*line, strict=True), color=colour, linewidth=0.8, drawstyle=where)
        axes.scatter(
            [xs[i] for i in choices],
            [ys[i] for i in choices],
            s=13,
            color=colour,
            marker=FORMS[n % len(FORMS)],
            linewidths=0.3,
            edgecolors=INK,
            label=f"{title}, {idle_time_name(front.problem) or 'timeline'}"
            if name_times
            else title,
            zorder=2,
        )
    for name, values, place in zip("xy", every, pair, strict=True):
        getattr(axes, f"set_{name}label")(axis_title(first.objectives[place], *problems))
        if is_wide(values):
            use_log_scale(getattr(axes, f"{name}axis"))
    axes.margins(0.06)


_THOUSANDS = 10_000
"""Numbers of design points are in thousands on axes that end above this."""
_STYLES = ("-", "--", ":", "-.")


def draw_convergence(fronts: Sequence[tuple[str, Front]]) -> Figure:
    """Return one line for each front as a matplotlib figure, in per cent of its own last value.

    Raises:
        ResultError: if a front was not reached by a search that recorded its hypervolume.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

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
            color=LINE_COLOURS[n % len(LINE_COLOURS)],
            linestyle=_STYLES[n // len(LINE_COLOURS) % len(_STYLES)],
            linewidth=1.1,
            label=title,
        )
    axes.set_xlim(left=0)
    axes.set_xlabel("Design points evaluated")
    axes.set_ylabel("Hypervolume\n(% of the last)")
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    is_short = axes.get_xlim()[1] < _THOUSANDS
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0f}" if is_short else f"{x / 1000:,g}k")
    if len(fronts) > 1:
        add_legend(figure, columnspacing=1.0)
    return figure

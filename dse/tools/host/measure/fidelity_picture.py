"""Predicted against measured: a scatter picture of makespan and frames per second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paretosoc.dse.tools.host.measure.fidelity_figures import Fidelity, Prediction
from paretosoc.results.plots.style import COLOURS, GREY, INK, PAGE_INCHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_fidelity(fidelity: Fidelity) -> Figure:
    """Return a matplotlib figure of predictions over measurements. Points on the line are exact."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(PAGE_INCHES, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _panel(left, [p.makespan_ms for p in fidelity.points], fidelity, "makespan (ms)")
    _panel(right, [p.frames_per_s for p in fidelity.points], fidelity, "frames per second")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=4, columnspacing=1.2)
    return figure


def _panel(axes: Axes, entries: list[Prediction], fidelity: Fidelity, what: str) -> None:
    axes.grid(True)
    values = [v for e in entries for v in (e.predicted, e.without_contention, e.measured)]
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 0.05 * high
    ends = (low - margin, high + margin)
    axes.plot(ends, ends, color=GREY, linewidth=0.7, label="predicted = measured", zorder=1)
    axes.scatter(
        [e.measured for e in entries],
        [e.without_contention for e in entries],
        s=18,
        facecolors="none",
        edgecolors=COLOURS[1],
        linewidths=0.9,
        label="without contention in the model",
        zorder=2,
    )
    axes.errorbar(
        [e.measured for e in entries],
        [e.predicted for e in entries],
        xerr=[e.spread * e.measured / 2 for e in entries],
        fmt="o",
        markersize=3.2,
        color=COLOURS[0],
        elinewidth=0.6,
        label="predicted",
        zorder=3,
    )
    best = entries[fidelity.best]
    axes.scatter(
        [best.measured],
        [best.predicted],
        marker="*",
        s=70,
        color=INK,
        label="certified fastest" if fidelity.is_certified else "predicted fastest",
        zorder=4,
    )
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    axes.set_aspect("equal")
    axes.set_xlabel(f"Measured {what}")
    axes.set_ylabel(f"Predicted {what}")

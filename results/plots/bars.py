"""Parts of the picture of a front: bars that show how far figures are off, and levels of a third
objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.plots.style import INK, add_legend
from paretosoc.results.problem.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Intervals = Mapping[int, Sequence[tuple[float, float]]]
"""By position of a member: both ends of nine of ten draws of each objective, the smaller first."""
Point = tuple[float, float]
WIDEST = 1 / 3
"""Longest bar, as a share of the choices' range. Longer ones would cross all others: the choices
have most of such an error in common, which words say better."""


@dataclass(frozen=True)
class Bars:
    """Bars, each from one point to another, and words about figures that have none."""

    segments: tuple[tuple[Point, Point], ...] = ()
    words: str = ""

    def draw(self, axes: Axes) -> None:
        """Draw the bars behind the marks."""
        from matplotlib.collections import LineCollection

        if self.segments:
            lines = LineCollection(
                [*self.segments], colors=INK, linewidths=0.5, zorder=1.7, label="nine of ten draws"
            )
            axes.add_collection(lines, autolim=False)


def bars_of(axes: Axes, problem: Problem, points: Sequence[Point], intervals: Intervals) -> Bars:
    """Return the bars of members at ``points`` along each axis on which they are short enough, and
    words about the others. The axes have their scales."""
    segments, words = list[tuple[Point, Point]](), list[str]()
    at = np.array([points[i] for i in intervals])
    for axis, scale in enumerate((axes.get_xscale(), axes.get_yscale())):
        ends = np.array([found[axis] for found in intervals.values()])
        if not np.isfinite(ends).all() or (scale == "log" and ends.min() <= 0):
            continue
        range_ = float(np.ptp(_scaled(at[:, axis], scale)))
        if float(np.ptp(_scaled(ends, scale), axis=1).max()) <= WIDEST * range_:
            for point, pair in zip(at.tolist(), ends.tolist(), strict=True):
                first, last = ((*point[:axis], end, *point[axis + 1 :]) for end in pair)
                segments.append((first, last))
        elif at[:, axis].min() > 0:
            least, most = (ends / at[:, axis, None]).min(), (ends / at[:, axis, None]).max()
            label = problem.objectives[axis].label(problem)
            words.append(f"{label} {least:.2f} to {most:.2f}")
    text = f"In nine of ten draws of the costs: {', '.join(words)} times as shown."
    return Bars(tuple(segments), text if words else "")


def _scaled(values: FloatArray, scale: str) -> FloatArray:
    return np.log(values) if scale == "log" else values


SHARES = (0.05, 0.25, 0.5, 0.75, 1.0)
"""Shares of the members that keep each level."""


def draw_levels(
    figure: Figure,
    axes: Axes,
    front: Front,
    choices: Sequence[int],
    xs: Sequence[float],
    ys: Sequence[float],
) -> None:
    """Draw, for some values of the third objective, the staircase of the members that are at least
    as good. Every choice is a dot in the colour of the first staircase that it counts for."""
    from matplotlib import colormaps

    objective = front.problem.objectives[2]
    values = front.objective_array
    third = values[:, 2]
    ranks = np.ceil(np.array(SHARES) * len(third)).astype(int) - 1
    limits = np.unique(np.sort(third)[ranks])
    # The yellow end of the map is too light on white paper.
    colours = [colormaps["viridis"](share) for share in np.linspace(0.0, 0.9, len(limits))]
    level = np.searchsorted(limits, third)
    descending = front.problem.objectives[0].larger_is_better
    bound = "at least" if objective.larger_is_better else "at most"
    texts = objective.format(limits.tolist())
    label = objective.label(front.problem)
    for k, text in enumerate(texts):
        kept = np.flatnonzero(third <= limits[k])
        best = kept[non_dominated(values[kept, :2])]
        line = sorted((xs[i], ys[i]) for i in best.tolist())
        axes.plot(
            *zip(*line, strict=True),
            color=colours[k],
            linewidth=1.1,
            drawstyle="steps-pre" if descending else "steps-post",
            zorder=2,
            label=f"{label} {bound} {text} {objective.unit}",
        )
    marked = mark_members(front)
    axes.scatter(
        [xs[i] for i in choices],
        [ys[i] for i in choices],
        s=[30 if i in marked else 14 for i in choices],
        c=[colours[level[i]] for i in choices],
        edgecolors=INK,
        linewidths=[1.0 if i in marked else 0.4 for i in choices],
        zorder=4,
    )
    add_legend(figure, handletextpad=0.4, columnspacing=0.8)

"""Bars in the picture of a front: how far the figures of the choices are off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.results.plots.style import INK
from paretosoc.results.problem.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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

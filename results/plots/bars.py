"""Parts of the picture of a front: steps, bars that show how far figures are off, and levels of a
third objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.plots.items import Curve, Item, Marks
from paretosoc.results.plots.picture import Point
from paretosoc.results.plots.style import viridis
from paretosoc.results.problem.objectives import Objective
from paretosoc.results.problem.problem import Problem

Intervals = Mapping[int, Sequence[tuple[float, float]]]
"""By position of a member: both ends of nine of ten draws of each objective, the smaller first."""
WIDEST = 1 / 3
"""Longest bar, as a share of the choices' range. Longer ones would cross all others: the choices
have most of such an error in common, which words say better."""


def staircase(points: Sequence[Point], objectives: Sequence[Objective] = ()) -> list[Point]:
    """Return the points, of rising x, with the corner between each two: in between two members the
    best known is the worse of both, never the diagonal. Without objectives y holds until the next
    point."""
    falls = bool(objectives) and objectives[0].larger_is_better
    corners = [(x0, y1) if falls else (x1, y0) for (x0, y0), (x1, y1) in pairwise(points)]
    return [*(p for pair in zip(points, corners, strict=False) for p in pair), *points[-1:]]


@dataclass(frozen=True)
class Bars:
    """Bars, each from one point to another, and words about figures that have none."""

    segments: tuple[tuple[Point, Point], ...] = ()
    words: str = ""


def bars_of(
    problem: Problem, points: Sequence[Point], intervals: Intervals, logs: Sequence[bool]
) -> Bars:
    """Return the bars of members at ``points`` along each axis on which they are short enough, and
    words about the others. ``logs``: whether each axis is logarithmic."""
    segments, words = list[tuple[Point, Point]](), list[str]()
    at = np.array([points[i] for i in intervals])
    for axis, log in enumerate(logs):
        ends = np.array([found[axis] for found in intervals.values()])
        if not np.isfinite(ends).all() or (log and ends.min() <= 0):
            continue
        range_ = float(np.ptp(_scaled(at[:, axis], log)))
        if float(np.ptp(_scaled(ends, log), axis=1).max()) <= WIDEST * range_:
            for point, pair in zip(at.tolist(), ends.tolist(), strict=True):
                first, last = ((*point[:axis], end, *point[axis + 1 :]) for end in pair)
                segments.append((first, last))
        elif at[:, axis].min() > 0:
            least, most = (ends / at[:, axis, None]).min(), (ends / at[:, axis, None]).max()
            label = problem.objectives[axis].label(problem)
            words.append(f"{label} {least:.2f} to {most:.2f}")
    text = f"In nine of ten draws of the costs: {', '.join(words)} times as shown."
    return Bars(tuple(segments), text if words else "")


def _scaled(values: FloatArray, log: bool) -> FloatArray:
    return np.log(values) if log else values


SHARES = (0.05, 0.25, 0.5, 0.75, 1.0)
"""Shares of the members that keep each level."""


def levels(front: Front, choices: Sequence[int], points: Sequence[Point]) -> list[Item]:
    """Return, for some values of the third objective, the staircase of the members that are at
    least as good. Every choice is a dot in the colour of the first staircase that it counts for."""
    objectives = front.problem.objectives
    values = front.objective_array
    third = values[:, 2]
    ranks = np.ceil(np.array(SHARES) * len(third)).astype(int) - 1
    limits = np.unique(np.sort(third)[ranks])
    # The yellow end of the map is too light on white paper.
    colours = [viridis(share) for share in np.linspace(0.0, 0.9, len(limits)).tolist()]
    level = np.searchsorted(limits, third)
    bound = "at least" if objectives[2].larger_is_better else "at most"
    label = f"{objectives[2].label(front.problem)} {bound}"
    items: list[Item] = []
    for k, text in enumerate(objectives[2].format(limits.tolist())):
        kept = np.flatnonzero(third <= limits[k])
        best = kept[non_dominated(values[kept, :2])]
        steps = staircase(sorted(points[i] for i in best.tolist()), objectives)
        name = f"{label} {text} {objectives[2].unit}"
        items.append(Curve(steps, colours[k], 1.1, name=name))
    marked = mark_members(front)
    dots = Marks(
        [points[i] for i in choices],
        "o",
        [colours[level[i]] for i in choices],
        [i in marked for i in choices],
    )
    return [*items, dots]

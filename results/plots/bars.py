"""Parts of the picture of a front: steps, bars that show how far figures are off, levels of a
third objective, and baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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
from paretosoc.results.problem.objectives import Objective, shown_values
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.rates import OVERLOADED

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


_ROOM = 1.0
"""A baseline may be so far outside the front, as a share of the front's width or height."""


@dataclass(frozen=True)
class BaselineMark:
    """One place in the first two objectives. ``label`` names all methods at that place.

    ``in_front``: a point of a method that has several.
    """

    x: float
    y: float
    label: str
    in_front: bool = False


def baseline_marks(
    front: Front,
    xs: Sequence[float],
    ys: Sequence[float],
    frame: Sequence[tuple[float, float]] = (),
) -> tuple[BaselineMark, ...]:
    """Return marks of the baselines near the members at ``xs``, ``ys``, and of those within the
    ranges of both axes, ``frame``. One far away would leave no room for the front. Of a method that
    has a front, all points are included if there are two objectives: with more, a point that is
    good in another one may be far away. Methods with equal values share a mark. One that breaks a
    limit has ``*``. One that is overloaded has no place."""
    counts = Counter(point.label for point in front.baselines)
    labels: dict[tuple[float, float], list[str]] = {}
    series = []
    for point in front.baselines:
        if point.member.is_overloaded:
            continue
        x, y = shown_values(front.problem.objectives[:2], point.member.objectives[:2])
        in_sight = (_near(x, xs) and _near(y, ys)) or (
            frame and all(low <= v <= high for v, (low, high) in zip((x, y), frame, strict=True))
        )
        if counts[point.label] > 1:
            if in_sight or len(front.problem.objectives) == 2:
                series.append(BaselineMark(x, y, point.label, in_front=True))
        elif in_sight:
            labels.setdefault((x, y), []).append(point.label + ("*" if point.breaks else ""))
    single = [BaselineMark(x, y, ", ".join(names)) for (x, y), names in labels.items()]
    return (*single, *series)


def unnamed_baselines(front: Front, marks: Sequence[BaselineMark], named: Collection[str]) -> str:
    """Return the methods whose names are not in the picture, with their figures, and how many
    points of methods with several are not in it. The text is empty if there are none. One that
    breaks a limit has ``*``.

    Args:
        marks: those in the picture. Other methods are out of sight.
        named: labels of single marks that are written beside them. There is no room for others.
    """
    shown = {name for mark in marks for name in _names(mark.label)}
    labels = {mark.label for mark in marks if not mark.in_front} - {*named}
    hidden = {name for label in labels for name in _names(label)}
    texts: dict[str, list[str]] = {"Out of sight": [], "Crosses without a name": []}
    counts = Counter(point.label for point in front.baselines)
    drawn = Counter(mark.label for mark in marks if mark.in_front)
    texts["Out of sight"] += [
        f"{count - drawn[label]} of {count} points of {label}"
        for label, count in counts.items()
        if count > 1 and drawn[label] < count
    ]
    for point in front.baselines:
        if counts[point.label] > 1 or (point.label in shown and point.label not in hidden):
            continue
        if point.member.is_overloaded:
            texts["Out of sight"].append(f"{point.label} ({OVERLOADED})")
            continue
        figures = (
            objective.text(value)
            for objective, value in zip(
                front.problem.objectives[:2], point.member.objectives, strict=False
            )
        )
        why = "Crosses without a name" if point.label in hidden else "Out of sight"
        star = "*" if point.breaks else ""
        texts[why].append(f"{point.label}{star} {', '.join(figures)}")
    told = [f"{why}: {'; '.join(those)}" for why, those in texts.items() if those]
    # If a mark has one, the legend explains it.
    if not any("*" in mark.label for mark in marks) and any("* " in text for text in told):
        told.append("* breaks a limit")
    return ". ".join(told)


def _names(label: str) -> list[str]:
    return [name.removesuffix("*") for name in label.split(", ")]


def _near(value: float, values: Sequence[float]) -> bool:
    low, high = min(values), max(values)
    # A front of one point has no width.
    room = _ROOM * (high - low or abs(high))
    return low - room <= value <= high + room

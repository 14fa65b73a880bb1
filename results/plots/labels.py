"""Placement of the words of a picture: boxes on the page, in dots, that hide as little as
possible."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paretosoc.common.arrays import BoolArray, FloatArray
from paretosoc.results.plots.picture import Box, Point

_DISTANCES = (10.0, 16.0, 24.0, 36.0, 54.0, 80.0, 120.0)
_CORNERS_AND_SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))
_DIRECTIONS = (*_CORNERS_AND_SIDES, (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1))
_STEPS = np.array([(d, x, y) for d, (x, y) in product(_DISTANCES, _DIRECTIONS)]).T
"""Distance and direction of each place that a label may take."""
_DOTS = np.arange(1, 9)
_FAR = 45.0
"""Dots, of 100 per inch."""

_COST_OF_COVERING = 1000
_COST_OF_LEADING_ACROSS = 6
"""Cost of each of the dots of a line that leads across."""
_COST_OF_LEAVING = 1000
_COST_PER_DOT = 0.03
_MAX_ROUNDS = 10
_STARTS, _START_STEP = 6, 5
"""Descents, and how many places later in the order of costs each begins."""


@dataclass(frozen=True)
class Placement:
    """Offset of a label's lower left corner from its point, and the label's box."""

    dx: float
    dy: float
    box: Box
    nearest: Point
    """The point at which the line meets the box, as shares of its width and height."""
    length: float
    """Length of that line, in dots."""

    @property
    def is_far(self) -> bool:
        """Return whether a name there is easily read as that of another point."""
        return self.length > _FAR


def overlap(a: ArrayLike, b: ArrayLike) -> BoolArray:
    """Return whether boxes [..., 4] have a point in common."""
    (left, bottom, right, top), other = np.moveaxis(np.asarray(a), -1, 0), np.asarray(b)
    result: BoolArray = (
        (left <= other[..., 2])
        & (other[..., 0] <= right)
        & (bottom <= other[..., 3])
        & (other[..., 1] <= top)
    )
    return result


@dataclass(frozen=True, eq=False)
class _Places:
    """The possible places of a label."""

    boxes: FloatArray
    """[places, 4]"""
    leaders: FloatArray
    """[places, dots, 4]: dots on the line that leads to the box."""
    costs: FloatArray
    """[places], whatever the other labels do."""


def place_labels(
    points: Sequence[Point],
    sizes: Sequence[tuple[float, float]],
    frame: Box,
    obstacles: Iterable[tuple[Box, float]],
) -> list[Placement]:
    """Return a place for the label of each point: inside ``frame``, near its point, covering little
    of ``obstacles`` (with their weights) and no other label, neither itself nor with the line that
    leads to it.

    Pairs of labels take their cheapest places together, given the places of the others, until none
    moves. So an early label makes room for a later one.
    """
    weighted = list(obstacles)
    boxes = np.array([box for box, _ in weighted]).reshape(-1, 4)
    weights = np.array([weight for _, weight in weighted])
    choices = [
        _places(point, size, frame, boxes, weights)
        for point, size in zip(points, sizes, strict=True)
    ]
    chosen = _cheapest_together(choices)
    return [
        _placement(point, size, places.boxes[k].tolist(), places.leaders[k, -1].tolist())
        for point, size, places, k in zip(points, sizes, choices, chosen, strict=True)
    ]


def _cheapest_together(choices: Sequence[_Places]) -> list[int]:
    """Return a place for each label: the cheapest result of some descents. The first starts at the
    place that is the cheapest for each label alone, the second at the next ones, and so on. Of
    equally cheap results the first counts."""
    shared = {
        (i, j): _shared_costs(choices[i], choices[j])
        for i, j in combinations(range(len(choices)), 2)
    }
    orders = [np.argsort(places.costs, kind="stable") for places in choices]
    found = [
        _descend(choices, shared, [int(order[start]) for order in orders])
        for start in range(0, _STARTS * _START_STEP, _START_STEP)
    ]

    def total(chosen: list[int]) -> float:
        alone = sum(float(choices[i].costs[k]) for i, k in enumerate(chosen))
        return alone + sum(float(both[chosen[i], chosen[j]]) for (i, j), both in shared.items())

    return min(found, key=total)


def _descend(
    choices: Sequence[_Places], shared: Mapping[tuple[int, int], FloatArray], chosen: list[int]
) -> list[int]:
    """Move pairs of labels to cheaper places until no pair can be improved. Return the places."""

    def beside(i: int, *but: int) -> FloatArray:
        """Return costs of the places of ``i``, given those of all others but these."""
        costs = choices[i].costs.copy()
        for j, k in enumerate(chosen):
            if j != i and j not in but:
                costs += shared[i, j][:, k] if i < j else shared[j, i][k]
        return costs

    for _ in range(_MAX_ROUNDS):
        before = list(chosen)
        for (i, j), both in shared.items():
            costs = both + beside(i, j)[:, None] + beside(j, i)
            chosen[i], chosen[j] = divmod(int(np.argmin(costs)), costs.shape[1])
        if chosen == before:
            break
    return chosen


def _shared_costs(first: _Places, second: _Places) -> FloatArray:
    """Return the cost of each place of one label beside each place of the other, [places,
    places]."""
    covered = overlap(first.boxes[:, None], second.boxes)
    crossing = overlap(first.leaders[:, None], second.boxes[:, None]).sum(axis=2)
    crossed = overlap(second.leaders, first.boxes[:, None, None]).sum(axis=2)
    costs: FloatArray = _COST_OF_COVERING * covered + _COST_OF_LEADING_ACROSS * (crossing + crossed)
    return costs


def _placement(point: Point, size: tuple[float, float], box: Any, end: Any) -> Placement:
    nearest = (end[0] - box[0]) / (size[0] or 1.0), (end[1] - box[1]) / (size[1] or 1.0)
    length = math.dist(point, end[:2])
    return Placement(box[0] - point[0], box[1] - point[1], tuple(box), nearest, length)


def _places(
    point: Point, size: tuple[float, float], frame: Box, obstacles: FloatArray, weights: FloatArray
) -> _Places:
    distance, x, y = _STEPS
    left = point[0] + x * distance + (x - 1) / 2 * size[0]
    bottom = point[1] + y * distance + (y - 1) / 2 * size[1]
    # Above or below, a label may slide along to stay inside.
    inside = np.maximum(frame[0], np.minimum(left, frame[2] - size[0]))
    left = np.where(x == 0, inside, left)
    boxes = np.stack((left, bottom, left + size[0], bottom + size[1]), axis=1)
    outside = (boxes[:, :2] < frame[:2]).any(axis=1) | (boxes[:, 2:] > frame[2:]).any(axis=1)
    # The line leads to the nearest point of the box.
    ends = np.minimum(np.maximum(point, boxes[:, :2]), boxes[:, 2:]) - point
    dots = point + ends[:, None] * _DOTS[:, None] / len(_DOTS)
    leaders = np.concatenate((dots, dots), axis=2)
    hidden = overlap(boxes[:, None], obstacles) @ weights
    apart = ~overlap((*point, *point), obstacles)
    crossed = overlap(leaders[:, None], obstacles[apart, None]).any(axis=2) @ weights[apart]
    length = np.abs(dots[:, -1] - point).max(axis=1)
    costs = hidden + crossed + _COST_OF_LEAVING * outside + _COST_PER_DOT * length
    return _Places(boxes, leaders, costs)


def flat_boxes(points: Iterable[Point]) -> list[Box]:
    """Return the flat boxes between the corners of steps."""
    return [
        (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
        for (x0, y0), (x1, y1) in pairwise(points)
    ]

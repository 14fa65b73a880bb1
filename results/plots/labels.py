"""Where the words of a picture go: boxes on the page, in dots, and the place that hides least."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""

_DISTANCES = (10.0, 16.0, 24.0, 36.0, 54.0)
_DIRECTIONS = ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))

_COST_OF_COVERING = 20
_COST_OF_LEADING_ACROSS = 15
_COST_OF_LEAVING = 50
_COST_PER_DOT = 0.03
_MAX_ROUNDS = 10


@dataclass(frozen=True)
class Placement:
    """Offset of a label's lower left corner from its point, and the label's box."""

    dx: float
    dy: float
    box: Box
    nearest: Point
    """Where the line from the point meets the box, as shares of its width and height."""


def overlap(a: Box, b: Box) -> bool:
    """Whether two boxes have a point in common."""
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


@dataclass(frozen=True)
class _Candidate:
    box: Box
    leader: list[Box]
    """Dots on the line that leads to the box."""
    cost: float
    """Whatever the other labels do."""


def place_labels(
    points: Sequence[Point],
    sizes: Sequence[tuple[float, float]],
    frame: Box,
    obstacles: Iterable[tuple[Box, float]],
) -> list[Placement]:
    """A place for the label of each point: inside ``frame``, near its point, covering little of
    ``obstacles`` (with their weights) and no other label, neither itself nor with the line that
    leads to it.

    One label after the other takes its cheapest place; then each may move, given where the others
    are, until none does: an early label makes room for a later one.
    """
    weighted = list(obstacles)
    choices = [
        [
            _candidate(point, size, frame, weighted, distance, *direction)
            for distance, direction in product(_DISTANCES, _DIRECTIONS)
        ]
        for point, size in zip(points, sizes, strict=True)
    ]
    chosen: list[_Candidate] = []
    for options in choices:
        chosen.append(_cheapest(options, chosen))
    for _ in range(_MAX_ROUNDS):
        moved = False
        for i, options in enumerate(choices):
            best = _cheapest(options, chosen[:i] + chosen[i + 1 :])
            moved |= best is not chosen[i]
            chosen[i] = best
        if not moved:
            break
    return [
        _placement(point, size, candidate)
        for point, size, candidate in zip(points, sizes, chosen, strict=True)
    ]


def _cheapest(options: Sequence[_Candidate], others: Sequence[_Candidate]) -> _Candidate:
    """The first of equally cheap ones."""

    def cost(candidate: _Candidate) -> float:
        return candidate.cost + sum(
            _COST_OF_COVERING * overlap(candidate.box, other.box)
            + _COST_OF_LEADING_ACROSS * _leads_across(candidate.leader, other.box)
            + _COST_OF_LEADING_ACROSS * _leads_across(other.leader, candidate.box)
            for other in others
        )

    return min(options, key=cost)


def _leads_across(leader: Iterable[Box], box: Box) -> bool:
    return any(overlap(dot, box) for dot in leader)


def _placement(point: Point, size: tuple[float, float], candidate: _Candidate) -> Placement:
    box, end = candidate.box, candidate.leader[-1]
    nearest = (end[0] - box[0]) / (size[0] or 1.0), (end[1] - box[1]) / (size[1] or 1.0)
    return Placement(box[0] - point[0], box[1] - point[1], box, nearest)


def _candidate(
    point: Point,
    size: tuple[float, float],
    frame: Box,
    obstacles: Sequence[tuple[Box, float]],
    distance: float,
    x: int,
    y: int,
) -> _Candidate:
    left = point[0] + x * distance + (x - 1) / 2 * size[0]
    bottom = point[1] + y * distance + (y - 1) / 2 * size[1]
    if x == 0:  # Above or below, a label may slide along to stay inside.
        left = max(frame[0], min(left, frame[2] - size[0]))
    box = left, bottom, left + size[0], bottom + size[1]
    leader = _leader(point, box)
    outside = box[0] < frame[0] or box[1] < frame[1] or box[2] > frame[2] or box[3] > frame[3]
    hidden = sum(weight * overlap(box, other) for other, weight in obstacles)
    crossed = sum(
        weight * _leads_across(leader, other)
        for other, weight in obstacles
        if not overlap((*point, *point), other)
    )
    length = max(abs(end - at) for end, at in zip(leader[-1], point * 2, strict=True))
    return _Candidate(
        box, leader, hidden + crossed + _COST_OF_LEAVING * outside + _COST_PER_DOT * length
    )


def _leader(point: Point, box: Box) -> list[Box]:
    """Dots on the way from the point to the nearest point of the box."""
    end = min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])
    dots = []
    for k in range(1, 9):
        x = point[0] + (end[0] - point[0]) * k / 8
        y = point[1] + (end[1] - point[1]) * k / 8
        dots.append((x, y, x, y))
    return dots


def staircase_boxes(points: Sequence[Point], *, down_last: bool) -> list[Box]:
    """The flat boxes of the steps through points of rising x; ``down_last``: first along, then
    up or down."""
    boxes = []
    for (x0, y0), (x1, y1) in pairwise(points):
        corner = (x1, y0) if down_last else (x0, y1)
        boxes += [_flat_box((x0, y0), corner), _flat_box(corner, (x1, y1))]
    return boxes


def _flat_box(a: Point, b: Point) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])

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
_COST_OF_LEADING_ACROSS = 6
_COST_OF_LEAVING = 50
_COST_PER_DOT = 0.03


@dataclass(frozen=True)
class Placement:
    """Offset of a label's lower left corner from its point, and the label's box."""

    dx: float
    dy: float
    box: Box


def overlap(a: Box, b: Box) -> bool:
    """Whether two boxes have a point in common."""
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


def place_label(
    point: Point,
    size: tuple[float, float],
    frame: Box,
    obstacles: Iterable[tuple[Box, float]],
    taken: Iterable[Box],
) -> Placement:
    """The candidate that leaves ``frame`` least, covers fewest boxes of ``taken`` (other labels),
    itself or with the line that leads to it, and least of ``obstacles`` (with their weights),
    and is nearest; the first of equal ones."""
    obstacles, taken = list(obstacles), list(taken)

    def cost(box: Box) -> float:
        outside = box[0] < frame[0] or box[1] < frame[1] or box[2] > frame[2] or box[3] > frame[3]
        leader = _leader(point, box)
        across = sum(any(overlap(dot, other) for dot in leader) for other in taken)
        crossed = sum(
            weight * any(overlap(dot, other) for dot in leader)
            for other, weight in obstacles
            if not overlap((*point, *point), other)
        )
        return (
            sum(weight * overlap(box, other) for other, weight in obstacles)
            + crossed
            + _COST_OF_COVERING * sum(overlap(box, other) for other in taken)
            + _COST_OF_LEADING_ACROSS * across
            + _COST_OF_LEAVING * outside
            + _COST_PER_DOT
            * max(abs(end - at) for end, at in zip(leader[-1], point * 2, strict=True))
        )

    candidates = [
        _candidate(point, size, frame, distance, *direction)
        for distance, direction in product(_DISTANCES, _DIRECTIONS)
    ]
    box = min(candidates, key=cost)
    return Placement(box[0] - point[0], box[1] - point[1], box)


def _candidate(
    point: Point, size: tuple[float, float], frame: Box, distance: float, x: int, y: int
) -> Box:
    left = point[0] + x * distance + (x - 1) / 2 * size[0]
    bottom = point[1] + y * distance + (y - 1) / 2 * size[1]
    if x == 0:  # Above or below, a label may slide along to stay inside.
        left = max(frame[0], min(left, frame[2] - size[0]))
    return left, bottom, left + size[0], bottom + size[1]


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

"""Names in the picture of a front: marked members with their figures, and baselines, each at the
place that hides least."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.plots.bars import BaselineMark
from paretosoc.results.plots.chart import Chart
from paretosoc.results.plots.items import Curve
from paretosoc.results.plots.labels import Placement, flat_boxes, place_labels
from paretosoc.results.plots.picture import Point, Shape, Text, text_size, wrapped
from paretosoc.results.plots.style import GREY, INK
from paretosoc.results.problem.objectives import format_number

_INSET = 3.0
"""Dots between a name and the edge of the axes."""
_BESIDE = 2.0
"""Dots free on both sides of a name."""
_WIDEST = (200.0, 150.0)
"""Dots that a line takes of members' names, with their figures, and of methods' names."""
_RADIUS, _SHORT = 4.0, 2.8
"""Dots from a point that a name keeps free, and that the line to it ends before."""
_MEMBER_WEIGHT, _CROSS_WEIGHT, _STEP_WEIGHT = 3.0, 12.0, 1.0
"""The cost of covering them."""


@dataclass(frozen=True)
class Name:
    """Words at a point of the axes."""

    at: tuple[float, float]
    words: str
    is_baseline: bool

    @property
    def lines(self) -> str:
        """Return the words on lines of a length for the picture."""
        return wrapped(self.words, self.size, _WIDEST[self.is_baseline])

    @property
    def size(self) -> float:
        """Return the size of the type, in points."""
        return 6.0 if self.is_baseline else 6.5

    @property
    def colour(self) -> str:
        """Return the colour of the text."""
        return GREY if self.is_baseline else INK


def names_of(
    front: Front, xs: Sequence[float], ys: Sequence[float], baselines: Sequence[BaselineMark]
) -> list[Name]:
    """Return names of marked members at ``xs``, ``ys``, with their figures if there are two
    objectives, and of baselines."""
    units = [objective.unit for objective in front.problem.objectives[:2]]
    names = []
    for i, marks in mark_members(front).items():
        words = ", ".join(marks)
        # With three objectives many marks are no neighbours: a name alone finds a place.
        if len(front.problem.objectives) == 2:
            words += f"\n{format_number(xs[i])} {units[0]}, {format_number(ys[i])} {units[1]}"
        names.append(Name((xs[i], ys[i]), words, is_baseline=False))
    return names + [Name((mark.x, mark.y), mark.label, is_baseline=True) for mark in baselines]


def place_names(
    chart: Chart,
    names: Sequence[Name],
    points: Sequence[Point],
    *,
    members: int,
    bars: Sequence[tuple[Point, Point]] = (),
) -> list[tuple[Name, Placement]]:
    """Return a place for each name.

    Args:
        points: the points that they must not hide: members first, then crosses.
        members: how many of the points are members.
        bars: ends of bars that they must not hide.
    """
    obstacles = [
        (
            (x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS),
            _MEMBER_WEIGHT if i < members else _CROSS_WEIGHT,
        )
        for i, (x, y) in enumerate(map(chart.place, points))
    ]
    for (x0, y0), (x1, y1) in (map(chart.place, bar) for bar in bars):
        obstacles.append(((x0 - 1, y0 - 1, x1 + 1, y1 + 1), _MEMBER_WEIGHT))
    for item in chart.items:
        # Bars are lines, too, with a weight of their own.
        if isinstance(item, Curve) and item.points not in bars:
            places = map(chart.place, item.points)
            obstacles += [(box, _STEP_WEIGHT) for box in flat_boxes(places)]
    left, bottom, right, top = chart.frame
    frame = (left + _INSET, bottom + _INSET, right - _INSET, top - _INSET)
    sizes = [
        (2 * _BESIDE + width, height)
        for width, height in (text_size(name.lines, name.size) for name in names)
    ]
    placed = place_labels([chart.place(name.at) for name in names], sizes, frame, obstacles)
    return list(zip(names, placed, strict=True))


def written_names(
    chart: Chart, placed: Sequence[tuple[Name, Placement]]
) -> tuple[Shape | Text, ...]:
    """Return the names at their places, each with a line to its point."""
    parts: list[Shape | Text] = []
    for name, place in placed:
        x, y = chart.place(name.at)
        left, bottom, right, top = place.box
        across, up = place.nearest
        end = left + across * (right - left), bottom + up * (top - bottom)
        # The line ends before the point.
        share = max(0.0, 1 - _SHORT / (math.dist(end, (x, y)) or 1.0))
        tip = end[0] + share * (x - end[0]), end[1] + share * (y - end[1])
        parts.append(Shape([end, tip], name.colour, 0.5))
        at = left + _BESIDE, bottom
        text = Text(at, name.lines, name.size, name.colour, up=0.0, haloed=True)
        parts.append(text)
    return tuple(parts)

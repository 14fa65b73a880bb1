"""What a chart consists of: lines, regions, bars, marks and words, in values of its axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paretosoc.results.plots.picture import DOTS, Point, Shape, Text
from paretosoc.results.plots.style import INK

_HEAD = 4.0
"""Length and width of the head of an arrow."""
_HATCH = 5.0
"""Distance of the white lines of a hatched region, along its foot."""
DASHES = ((), (4.1, 1.8), (1.1, 1.8), (7.0, 1.8, 1.1, 1.8))
"""Patterns of lines that are told apart."""

_PLUS = tuple(
    (x / 6, y / 6)
    for x, y in (
        *((-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1)),
        *((1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1)),
    )
)


def _corners(count: int) -> tuple[Point, ...]:
    angles = [k * math.tau / count for k in range(count)]
    return tuple((math.sin(angle) / 2, math.cos(angle) / 2) for angle in angles)


_FORMS: dict[str, tuple[Point, ...]] = {
    "o": _corners(24),
    "s": ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)),
    "^": ((-0.5, -0.5), (0.5, -0.5), (0.0, 0.5)),
    "D": ((-0.7, 0.0), (0.0, -0.7), (0.7, 0.0), (0.0, 0.7)),
    "v": ((-0.5, 0.5), (0.5, 0.5), (0.0, -0.5)),
    "P": _PLUS,
    "X": tuple(((x - y) * math.sqrt(0.5), (x + y) * math.sqrt(0.5)) for x, y in _PLUS),
    "p": _corners(5),
    "*": tuple((x * (1.5 - k % 2), y * (1.5 - k % 2)) for k, (x, y) in enumerate(_corners(10))),
}
FORMS = tuple(_FORMS)
_CROSS = ((-0.5, -0.5), (0.5, 0.5), (0.0, 0.0), (-0.5, 0.5), (0.5, -0.5))


@dataclass(frozen=True)
class Curve(Shape):
    """A line or region, in values of the axes."""

    name: str = ""
    """In the legend, with the look of the last item of this name. Empty: not there."""
    arrow: bool = False
    """Whether the line ends in the head of an arrow."""
    hatched: bool = False
    """Whether white lines cross the region, which is a box then."""

    def shapes(self, places: Sequence[Point]) -> Iterator[Shape]:
        """Return it at places of the page. Without places it is in the legend only."""
        if not places:
            return
        yield replace(self, points=places)
        if self.hatched:
            yield Shape(_hatch(*places[0], *places[2]), "#FFFFFF", 0.5)
        if self.arrow:
            (x0, y0), (x, y) = places[-2:]
            share = _HEAD / (math.dist((x0, y0), (x, y)) or 1.0)
            dx, dy = share * (x - x0), share * (y - y0)
            sides = [(x - dx + side * dy, y - dy - side * dx) for side in (0.5, -0.5)]
            yield Shape([(x, y), *sides], fill=self.ink)


def bar(left: float, low: float, right: float, high: float, fill: str, **options: Any) -> Curve:
    """Return a box. ``options``: other fields of :class:`Curve`."""
    corners = ((left, low), (right, low), (right, high), (left, high), (left, low))
    return Curve(corners, fill=fill, **options)


def _hatch(left: float, low: float, right: float, high: float) -> list[Point]:
    """Return one line that crosses the box aslant, there and back, and turns at its edges."""
    wide, tall = right - left, high - low
    points: list[Point] = []
    for k in range(1, int((wide + tall) / _HATCH) + 1):
        at = k * _HATCH - tall
        foot = left + max(at, 0.0), low + max(-at, 0.0)
        top = left + min(at + tall, wide), low + min(tall, wide - at)
        points += (foot, top) if k % 2 else (top, foot)
    return points or [(left, low)]


@dataclass(frozen=True)
class Marks:
    """Marks at points, in values of the axes."""

    points: Sequence[Point]
    form: str = ""
    """One of ``FORMS``. Empty: a cross."""
    fills: Sequence[str] = ()
    large: Sequence[bool] = ()
    """Whether each is emphasised. Empty: none."""
    name: str = ""
    ink: str = INK
    key_fill: str = "#FFFFFF"
    """Of the mark in the legend."""
    width: float = 0.4
    """Of the outline of those that are not emphasised."""

    def shapes(self, places: Sequence[Point]) -> Iterator[Shape]:
        """Return the marks at places of the page."""
        for k, place in enumerate(places):
            large = bool(self.large) and self.large[k]
            fill = self.fills[k] if self.fills else "none"
            yield self.shape(place, 5.8 if large else 4.2, 1.0 if large else self.width, fill)

    def shape(self, place: Point, size: float, width: float, fill: str) -> Shape:
        """Return one mark at a place of the page, of a size in points."""
        x, y, dots = *place, size * DOTS / 72
        around = [(x + dots * a, y + dots * b) for a, b in _FORMS.get(self.form, _CROSS)]
        if not self.form:
            return Shape(around, self.ink, 0.9)
        if fill == "none":
            around.append(around[0])
        return Shape(around, self.ink, width, fill)


def solid_marks(
    points: Sequence[Point], form: str, colour: str, name: str = "", *, ink: str | None = None
) -> Marks:
    """Return marks of one colour. ``ink``: of their outlines, if it is another one."""
    fills = [colour] * len(points)
    return Marks(points, form, fills, name=name, ink=ink or colour, key_fill=colour)


Item = Curve | Marks | Text
"""Words are at a point in values of the axes, too."""

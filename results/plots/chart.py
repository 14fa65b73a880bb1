"""A pair of axes with lines, areas and marks, a legend above, a scale of colours to the right and
words below: one column wide, laid out so that no text meets another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from paretosoc.results.plots.picture import (
    DOTS,
    Box,
    Picture,
    Point,
    Shape,
    Text,
    text_size,
    wrapped,
)
from paretosoc.results.plots.style import COLUMN_INCHES, GREY, INK

_WIDTH = DOTS * COLUMN_INCHES
_HEIGHT = 165.0
"""Height of the axes, in dots."""
_MARGIN = 4.0
_TICK, _GAP = 4.0, 3.0
_APART = 8.0
"""Least distance of the texts of two ticks along the axis."""
_BAR = 6.0
"""Width of the scale of colours."""
_MOST_COLOURS = 14
"""Levels that have room for a text."""
_KEY, _ROW_GAP = 18.0, 2.0
"""Width of a key of the legend, and height between its rows."""
_LAST = 8.0
"""The last number of an axis stands out this far."""
_TITLE, _LABEL, _LEGEND, _CAPTION = 7.5, 7.0, 6.5, 5.5
"""Sizes of type."""
_RULE = "#E6E6E6"

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
}
FORMS = tuple(_FORMS)
_CROSS = ((-0.5, -0.5), (0.5, 0.5), (0.0, 0.0), (-0.5, 0.5), (0.5, -0.5))


@dataclass(frozen=True)
class Axis:
    """The values from ``low`` to ``high``."""

    title: str
    low: float
    high: float
    is_log: bool = False

    def share(self, value: float) -> float:
        """Return the place of a value: 0 at the low end, 1 at the high one."""
        low, high, value = map(self._scaled, (self.low, self.high, value))
        return (value - low) / (high - low)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.is_log else value

    def widened(self, values: Sequence[float], margin: float) -> Axis:
        """Return the axis over the values, with a margin as a share of their range."""
        low, high = self._scaled(min(values)), self._scaled(max(values))
        room = margin * (high - low) or 0.05 * abs(low) or 1.0
        low, high = low - room, high + room
        if self.is_log:
            low, high = 10**low, 10**high
        return replace(self, low=low, high=high)

    def ticks(self, length: float, extent: Callable[[str], float]) -> list[tuple[float, str]]:
        """Return values and texts: as many as fit on ``length`` dots. ``extent`` is that of a text
        along the axis. Of a logarithmic axis, values without room for a text have an empty one."""
        choices = self._log_ticks() if self.is_log else self._even_ticks()
        found = next(choices)
        for ticks in (found, *choices):
            found = ticks
            ends = [
                (length * self.share(value) - extent(text) / 2, extent(text))
                for value, text in ticks
                if text
            ]
            if all(a + size + _APART <= b for (a, size), (b, _) in pairwise(ends)):
                break
        return found

    def _even_ticks(self) -> Iterator[list[tuple[float, str]]]:
        for most in range(9, 0, -1):
            exact = (self.high - self.low) / most
            power = math.floor(math.log10(exact))
            step, digits = next(
                (factor * 10.0**power, factor == 2.5)
                for factor in (1, 2, 2.5, 5, 10)
                if factor * 10.0**power >= exact * (1 - 1e-9)
            )
            decimals = max(0, digits - math.floor(math.log10(step) + 1e-9))
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            yield [(k * step, f"{k * step:.{decimals}f}") for k in range(first, last + 1)]

    def _log_ticks(self) -> Iterator[list[tuple[float, str]]]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        values = [(k, power, k * 10.0**power) for power in powers for k in range(1, 10)]
        inside = [each for each in values if self.low <= each[2] <= self.high]
        for shown, apart in (
            *((range(1, 10), 1), ((1, 2, 5), 1), ((1, 3), 1)),
            *(((1,), apart) for apart in range(1, 20)),
        ):
            yield [
                (
                    value,
                    f"{value:.{max(0, -power)}f}" if k in shown and power % apart == 0 else "",
                )
                for k, power, value in inside
            ]


@dataclass(frozen=True)
class Curve(Shape):
    """A line or region, in values of the axes."""

    name: str = ""
    """In the legend. Empty: not there."""


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

    def shapes(self, places: Sequence[Point]) -> Iterator[Shape]:
        """Return the marks at places of the page."""
        for k, place in enumerate(places):
            large = bool(self.large) and self.large[k]
            fill = self.fills[k] if self.fills else "none"
            yield self.shape(place, 5.8 if large else 4.2, 1.0 if large else 0.4, fill)

    def shape(self, place: Point, size: float, width: float, fill: str) -> Shape:
        """Return one mark at a place of the page, of a size in points."""
        x, y, dots = *place, size * DOTS / 72
        around = [(x + dots * a, y + dots * b) for a, b in _FORMS.get(self.form, _CROSS)]
        if not self.form:
            return Shape(around, self.ink, 0.9)
        return Shape(around, self.ink, width, fill)


Item = Curve | Marks


@dataclass(frozen=True)
class Colours:
    """A colour for each of some levels, the lowest at the bottom."""

    title: str
    levels: Mapping[str, str]
    """By the text of each."""


@dataclass(frozen=True)
class Chart:
    """What is drawn over each other, the first at the bottom. The origin of the page is the lower
    left corner of the axes."""

    x: Axis
    y: Axis
    items: tuple[Item, ...]
    colours: Colours | None = None
    caption: str = ""
    over: tuple[Shape | Text, ...] = ()
    """In places of the page: names, for example."""

    @cached_property
    def frame(self) -> Box:
        """Return the box of the axes on the page."""
        left = self._y_title.box[0] - _MARGIN
        scale = (part for part in self._scale_parts(0.0) if isinstance(part, Text))
        right = max((text.box[2] for text in scale), default=_LAST) + _MARGIN
        return 0.0, 0.0, _WIDTH + left - right, _HEIGHT

    def place(self, point: Point) -> Point:
        """Return the place of a point on the page."""
        _, _, width, height = self.frame
        return width * self.x.share(point[0]), height * self.y.share(point[1])

    @cached_property
    def legend(self) -> dict[str, Item]:
        """Return what the legend names, in order."""
        return {item.name: item for item in self.items if item.name}

    def picture(self) -> Picture:
        """Return the chart as it is laid out."""
        _, _, width, height = self.frame
        parts: list[Shape | Text] = []
        edges: list[Shape | Text] = [Shape([(0, height), (0, 0), (width, 0)], INK, 0.6)]
        x_ticks = self.x.ticks(width, lambda text: text_size(text, _LABEL)[0])
        for is_y, axis, ticks in ((False, self.x, x_ticks), (True, self.y, self._y_ticks)):
            length, across = (height, width) if is_y else (width, height)
            for value, text in ticks:
                on, end, foot, at = (
                    (z, length * axis.share(value)) if is_y else (length * axis.share(value), z)
                    for z in (0.0, across, -_TICK if text else -_TICK / 2, -_TICK - _GAP)
                )
                edges.append(Shape([on, foot], INK, 0.6))
                if text:
                    parts.append(Shape([on, end], _RULE, 0.5))
                    share = (1.0, 0.5) if is_y else (0.5, 1.0)
                    edges.append(Text(at, text, _LABEL, INK, *share))
        for item in self.items:
            places = [self.place(point) for point in item.points]
            if isinstance(item, Marks):
                parts += item.shapes(places)
            else:
                parts.append(replace(item, points=places))
        low = -_TICK - 2 * _GAP - text_size("0", _LABEL)[1]
        title = Text((width / 2, low), wrapped(self.x.title, _TITLE, width), _TITLE, INK, 0.5, 1.0)
        left, low = self._y_title.box[0], title.box[1]
        parts += [*edges, self._y_title, title, *self._scale_parts(width), *self.over]
        if self.caption:
            words = wrapped(self.caption, _CAPTION, _WIDTH - 2 * _MARGIN)
            caption = Text((left, low - 2 * _GAP), words, _CAPTION, GREY, up=1.0)
            parts.append(caption)
            low = caption.box[1]
        keys, top = self._legend_parts(left)
        page = left - _MARGIN, low - _MARGIN, left - _MARGIN + _WIDTH, top + _MARGIN
        return Picture(page, (*parts, *keys))

    @cached_property
    def _y_ticks(self) -> list[tuple[float, str]]:
        return self.y.ticks(_HEIGHT, lambda text: text_size(text, _LABEL)[1] - 0.7 * _APART)

    @cached_property
    def _y_title(self) -> Text:
        widest = max(text_size(text, _LABEL)[0] for _, text in self._y_ticks)
        at = -_TICK - _GAP - widest - _GAP
        words = wrapped(self.y.title, _TITLE, _HEIGHT)
        return Text((at, _HEIGHT / 2), words, _TITLE, INK, 0.5, 0.0, turned=True)

    def _scale_parts(self, width: float) -> list[Shape | Text]:
        """Return the parts of the scale of colours beside axes of this width."""
        if self.colours is None:
            return []
        left, levels = width + 1.5 * _BAR, list(self.colours.levels.items())
        right, step = left + _BAR, -(-len(levels) // _MOST_COLOURS)
        tall, widest = _HEIGHT / len(levels), 0.0
        parts: list[Shape | Text] = []
        for k, (words, colour) in enumerate(levels):
            low, high, middle = k * tall, (k + 1) * tall, (k + 0.5) * tall
            corners = [(left, low), (right, low), (right, high), (left, high)]
            parts.append(Shape(corners, colour, 0.1, colour))
            if k % step == 0:
                text = Text((right + _TICK / 2 + _GAP, middle), words, _LABEL, INK)
                parts += [Shape([(right, middle), (right + _TICK / 2, middle)], INK, 0.4), text]
                widest = max(widest, text.box[2])
        corners = [(left, 0), (right, 0), (right, _HEIGHT), (left, _HEIGHT), (left, 0)]
        words = wrapped(self.colours.title, _TITLE, _HEIGHT)
        title = Text((widest + _GAP, _HEIGHT / 2), words, _TITLE, INK, 0.5, 1.0, turned=True)
        return [*parts, Shape(corners, INK, 0.4), title]

    def _legend_parts(self, left: float) -> tuple[list[Shape | Text], float]:
        """Return the parts of the legend above the axes, and its top."""
        room, key = _WIDTH - 2 * _MARGIN, _KEY + 2 * _GAP
        names = list(self.legend)
        half = -(-len(names) // 2)
        columns = [names[:half], names[half:]]
        widths = [
            max((text_size(name, _LEGEND)[0] for name in column), default=0.0) + key
            for column in columns
        ]
        if sum(widths) > room:
            columns = [names]
        parts: list[Shape | Text] = []
        row = text_size("0", _LEGEND)[1] + _ROW_GAP
        top = 0.0
        for k, column in enumerate(columns):
            x = left + sum(widths[:k])
            # The columns begin at the same height.
            y = _HEIGHT + 3 * _GAP + row * (len(columns[0]) - len(column))
            for name in reversed(column):
                words = wrapped(name, _LEGEND, room - key)
                text = Text((x + _KEY + _GAP, y), words, _LEGEND, INK, up=0.0)
                parts += [_key(self.legend[name], x, (text.box[1] + text.box[3]) / 2), text]
                y = text.box[3] + _ROW_GAP
            top = max(top, y)
        return parts, top


def _key(item: Item, x: float, y: float) -> Shape:
    """Return the key of a line of the legend, whose left end is at ``x``."""
    if isinstance(item, Marks):
        return item.shape((x + _KEY / 2, y), 4.2, 0.6, item.key_fill)
    if item.fill == "none":
        return replace(item, points=((x, y), (x + _KEY, y)))
    low, high, right = y - 3.5, y + 3.5, x + _KEY
    return replace(item, points=((x, low), (right, low), (right, high), (x, high)))

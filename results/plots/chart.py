"""Charts: axes with lines, areas, bars, marks and words, a scale of colours to the right and words
below, alone or in rows under one legend, laid out so that no text meets another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from paretosoc.results.plots.items import Curve, Item, Marks, bar
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
from paretosoc.results.plots.style import GREY, INK

COLUMN = 3.5 * DOTS
"""Width of one column of a two-column page."""
PAGE = 2 * COLUMN
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
_LEGEND_COLUMN = 100.0
"""The legend has at most one column for each such width."""
_LAST = 8.0
"""The last number of an axis stands out this far."""
_TITLE, LABEL, _LEGEND, _CAPTION = 7.5, 7.0, 6.5, 5.5
"""Sizes of type."""
_RULE = "#E6E6E6"
_BETWEEN_ROWS = 10.0


@dataclass(frozen=True)
class Axis:
    """The values from ``low`` to ``high``."""

    title: str
    low: float
    high: float
    is_log: bool = False
    names: Mapping[float, str] | None = None
    """Texts at values, in place of numbers. On the y axis these are rows: no lines lead to them."""

    def share(self, value: float) -> float:
        """Return the place of a value: 0 at the low end, 1 at the high one."""
        low, high, value = map(self._scaled, (self.low, self.high, min(value, self.high)))
        return (value - low) / (high - low)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.is_log else value

    @classmethod
    def over(
        cls, title: str, values: Sequence[float], margin: float, *, is_log: bool = False
    ) -> Axis:
        """Return the axis over the values, with a margin as a share of their range. Infinite ones
        are drawn at its end."""
        finite = [value for value in values if math.isfinite(value)] or [1.0]
        low, high = min(finite), max(finite)
        if is_log:
            low, high = math.log10(low), math.log10(high)
        room = margin * (high - low) or 0.05 * abs(low) or 1.0
        low, high = low - room, high + room
        if is_log:
            low, high = 10**low, 10**high
        return cls(title, low, high, is_log)

    def ticks(self, length: float, extent: Callable[[str], float]) -> list[tuple[float, str]]:
        """Return values and texts: as many as fit on ``length`` dots. ``extent`` is that of a text
        along the axis. A value has an empty one if it would leave the page, or on a logarithmic
        axis if there is no room."""
        if self.names is not None:
            return list(self.names.items())
        # Over a short range there are few powers of ten and their multiples.
        is_wide = self.is_log and self.high > 5 * self.low
        choices = self._log_ticks() if is_wide else self._even_ticks()
        room = length + _LAST + _MARGIN
        found: list[tuple[float, str]] = []
        for ticks in choices:
            found = [
                (value, text if length * self.share(value) + extent(text) / 2 <= room else "")
                for value, text in ticks
            ]
            ends = [
                (length * self.share(value) - extent(text) / 2, extent(text))
                for value, text in found
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
                (value, f"{value:.{max(0, -power)}f}" if k in shown and power % apart == 0 else "")
                for k, power, value in inside
            ]


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
    title: str = ""
    """Above the axes."""
    width: float = COLUMN
    """Of all of it, in dots."""
    height: float = 165.0
    """Of the axes, in dots."""

    @cached_property
    def left(self) -> float:
        """Return the left edge of what is beside the axes."""
        return self._y_title.box[0]

    @cached_property
    def frame(self) -> Box:
        """Return the box of the axes on the page."""
        scale = (part for part in self._scale_parts(0.0) if isinstance(part, Text))
        right = max((text.box[2] for text in scale), default=_LAST) + _MARGIN
        return 0.0, 0.0, self.width + self.left - _MARGIN - right, self.height

    def place(self, point: Point) -> Point:
        """Return the place of a point on the page."""
        _, _, width, height = self.frame
        return width * self.x.share(point[0]), height * self.y.share(point[1])

    @cached_property
    def legend(self) -> dict[str, Curve | Marks]:
        """Return what the legend names, in order."""
        named = (item for item in self.items if not isinstance(item, Text))
        return {item.name: item for item in named if item.name}

    def picture(self) -> Picture:
        """Return the chart as it is laid out, with its legend."""
        return Charts(((self,),)).picture()

    @cached_property
    def parts(self) -> tuple[Shape | Text, ...]:
        """Return all but the legend."""
        _, _, width, height = self.frame
        parts: list[Shape | Text] = []
        corner = [(0, 0)] if self.y.names else [(0, height), (0, 0)]
        edges: list[Shape | Text] = [Shape([*corner, (width, 0)], INK, 0.6)]
        x_ticks = self.x.ticks(width, lambda text: text_size(text, LABEL)[0])
        for is_y, axis, ticks in ((False, self.x, x_ticks), (True, self.y, self._y_ticks)):
            length, across = (height, width) if is_y else (width, height)
            for value, text in ticks:
                on, end, foot, at = (
                    (z, length * axis.share(value)) if is_y else (length * axis.share(value), z)
                    for z in (0.0, across, -_TICK if text else -_TICK / 2, -_TICK - _GAP)
                )
                share = (1.0, 0.5) if is_y else (0.5, 1.0)
                if not (is_y and axis.names):
                    edges.append(Shape([on, foot], INK, 0.6))
                    parts += [Shape([on, end], _RULE, 0.5)] if text else []
                edges.append(Text(at, text, LABEL, INK, *share))
        for item in self.items:
            if isinstance(item, Text):
                parts.append(replace(item, at=self.place(item.at)))
            else:
                parts += item.shapes([self.place(point) for point in item.points])
        low = -_TICK - 2 * _GAP - text_size("0", LABEL)[1]
        title = Text((width / 2, low), wrapped(self.x.title, _TITLE, width), _TITLE, INK, 0.5, 1.0)
        parts += [*edges, self._y_title, title, *self._scale_parts(width), *self.over]
        above = wrapped(self.title, _TITLE, width)
        below = wrapped(self.caption, _CAPTION, self.width - 2 * _MARGIN)
        parts.append(Text((0.0, height + _GAP), above, _TITLE, INK, up=0.0))
        parts.append(Text((self.left, title.box[1] - 2 * _GAP), below, _CAPTION, GREY, up=1.0))
        return tuple(part for part in parts if isinstance(part, Shape) or part.words)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Return the lower and the upper end of all parts but numbers of axes."""
        boxes = [part.box for part in self.parts if isinstance(part, Text) and part.size != LABEL]
        return min(box[1] for box in boxes), max(self.height, *(box[3] for box in boxes))

    @cached_property
    def _y_ticks(self) -> list[tuple[float, str]]:
        return self.y.ticks(self.height, lambda text: text_size(text, LABEL)[1] - 0.7 * _APART)

    @cached_property
    def _y_title(self) -> Text:
        widest = max(text_size(text, LABEL)[0] for _, text in self._y_ticks)
        at = -_TICK - _GAP - widest - (_GAP if self.y.title else 0.0)
        words = wrapped(self.y.title, _TITLE, self.height)
        size = _TITLE if words else 0.0
        return Text((at, self.height / 2), words, size, INK, 0.5, 0.0, turned=True)

    def _scale_parts(self, width: float) -> list[Shape | Text]:
        """Return the parts of the scale of colours beside axes of this width."""
        if self.colours is None:
            return []
        left, levels = width + 1.5 * _BAR, list(self.colours.levels.items())
        right, step = left + _BAR, -(-len(levels) // _MOST_COLOURS)
        tall, widest = self.height / len(levels), 0.0
        parts: list[Shape | Text] = []
        for k, (words, colour) in enumerate(levels):
            low, high, middle = k * tall, (k + 1) * tall, (k + 0.5) * tall
            parts.append(bar(left, low, right, high, colour, ink=colour, width=0.1))
            if k % step == 0:
                text = Text((right + _TICK / 2 + _GAP, middle), words, LABEL, INK)
                parts += [Shape([(right, middle), (right + _TICK / 2, middle)], INK, 0.4), text]
                widest = max(widest, text.box[2])
        frame = bar(left, 0.0, right, self.height, "none", ink=INK, width=0.4)
        words = wrapped(self.colours.title, _TITLE, self.height)
        at = widest + _GAP, self.height / 2
        return [*parts, frame, Text(at, words, _TITLE, INK, 0.5, 1.0, turned=True)]


@dataclass(frozen=True)
class Charts:
    """Charts in rows, from the top, with one legend above all."""

    rows: Sequence[Sequence[Chart]]

    def picture(self) -> Picture:
        """Return the charts as they are laid out. The origin of the page is that of the first."""
        left, legend = self.rows[0][0].left, dict[str, Curve | Marks]()
        parts: list[Shape | Text] = []
        up, low = 0.0, None
        for row in self.rows:
            if low is not None:
                up = low - _BETWEEN_ROWS - max(chart.ends[1] for chart in row)
            low = up + min(chart.ends[0] for chart in row)
            across = left
            for chart in row:
                parts += (_moved(part, across - chart.left, up) for part in chart.parts)
                across += chart.width
                legend |= chart.legend
        width = max(sum(chart.width for chart in row) for row in self.rows)
        foot = max(chart.ends[1] for chart in self.rows[0]) + 3 * _GAP
        keys, top = _legend_parts(legend, left, foot, width - 2 * _MARGIN)
        page = left - _MARGIN, (low or 0.0) - _MARGIN, left - _MARGIN + width, top + _MARGIN
        return Picture(page, (*parts, *keys))


def _moved(part: Shape | Text, across: float, up: float) -> Shape | Text:
    if isinstance(part, Shape):
        return replace(part, points=[(x + across, y + up) for x, y in part.points])
    return replace(part, at=(part.at[0] + across, part.at[1] + up))


def _legend_parts(
    legend: Mapping[str, Curve | Marks], left: float, foot: float, room: float
) -> tuple[list[Shape | Text], float]:
    """Return the parts of a legend of at most ``room`` dots, and its top."""
    names, key = list(legend), _KEY + 4 * _GAP
    columns, widths = list[list[str]](), list[float]()
    for count in range(int((room + 2 * _MARGIN) / _LEGEND_COLUMN), 0, -1):
        tall = -(-len(names) // count) or 1
        columns = [names[k : k + tall] for k in range(0, len(names), tall)]
        widths = [max(text_size(name, _LEGEND)[0] for name in column) + key for column in columns]
        if sum(widths) <= room:
            break
    parts: list[Shape | Text] = []
    row = text_size("0", _LEGEND)[1] + _ROW_GAP
    top = foot
    for k, column in enumerate(columns):
        x = left + sum(widths[:k])
        # The columns begin at the same height.
        y = foot + row * (len(columns[0]) - len(column))
        for name in reversed(column):
            words = wrapped(name, _LEGEND, room - key)
            text = Text((x + _KEY + _GAP, y), words, _LEGEND, INK, up=0.0)
            parts += [*_key(legend[name], x, (text.box[1] + text.box[3]) / 2), text]
            y = text.box[3] + _ROW_GAP
        top = max(top, y)
    return parts, top


def _key(item: Curve | Marks, x: float, y: float) -> Iterator[Shape]:
    """Return the key of a line of the legend, whose left end is at ``x``."""
    if isinstance(item, Marks):
        yield item.shape((x + _KEY / 2, y), 4.2, 0.6, item.key_fill)
    elif item.fill == "none":
        yield from item.shapes(((x, y), (x + _KEY, y)))
    else:
        yield from item.shapes(bar(x, y - 3.5, x + _KEY, y + 3.5, "").points)

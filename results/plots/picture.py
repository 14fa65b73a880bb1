"""A picture as shapes and words on a page, drawn as SVG by itself and as PDF and PNG by matplotlib.

Places are in dots, 100 per inch, from any origin, upwards. Widths of lines and sizes of type are in
points, 72 per inch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""

DOTS = 100
"""Per inch."""
_PER_POINT = DOTS / 72
_LINE = 1.2
"""Height of a line of text, in sizes of its type. Half of a capital letter is above its middle."""
_BASE = 0.965
"""The letters' foot, below the top of their line."""
_FONTS = "DejaVu Sans, Verdana, sans-serif"
_HUNDREDTHS = (
    "32414684649678284040508432373234646464646464646464643434848484549969697078645878763030665687"
    "75796179706462746999696269403440845050626455646236646428285828986462646442534064608260605364"
    "346484"
)
"""Widths of the letters from the space on in DejaVu Sans, two digits each, in 1/100 of its size.
Verdana's differ by little, other fonts are narrower."""
_WIDTHS = {chr(32 + k): int(_HUNDREDTHS[2 * k : 2 * k + 2]) / 100 for k in range(95)}
_WIDE = "\N{CJK RADICAL REPEAT}"
_UNWRITABLE = "\N{REPLACEMENT CHARACTER}"
_ESCAPES = {38: "&amp;", 60: "&lt;", 62: "&gt;", 0xFFFE: _UNWRITABLE, 0xFFFF: _UNWRITABLE}
_ANCHORS = {0.0: ("start", "left"), 0.5: ("middle", "center"), 1.0: ("end", "right")}


def text_size(words: str, size: float) -> tuple[float, float]:
    """Return width and height of some lines of text, in dots."""
    lines = words.split("\n")
    em = size * _PER_POINT
    return em * max(map(_width, lines)), em * _LINE * len(lines)


def _width(line: str) -> float:
    return sum(_WIDTHS.get(c, 1.0 if c >= _WIDE else 0.65) for c in line)


def wrapped(words: str, size: float, width: float) -> str:
    """Return the words on lines of at most ``width`` dots. Longer words are cut into pieces."""
    if "\n" in words:
        return "\n".join(wrapped(line, size, width) for line in words.split("\n"))
    lines = [""]
    for word in words.split(" "):
        if lines[-1] and text_size(f"{lines[-1]} {word}", size)[0] <= width:
            lines[-1] += f" {word}"
            continue
        lines += [word] if lines[-1] else []
        lines[-1] = word
        while text_size(lines[-1], size)[0] > width and len(lines[-1]) > 1:
            ends = list(accumulate(map(_width, lines[-1])))
            kept = max(1, bisect_right(ends, width / (size * _PER_POINT)))
            lines[-1:] = [lines[-1][:kept], lines[-1][kept:]]
    return "\n".join(lines)


@dataclass(frozen=True)
class Shape:
    """A line through points or, with ``fill``, the region inside them."""

    points: Sequence[Point]
    ink: str = "none"
    width: float = 0.0
    fill: str = "none"
    dash: tuple[float, ...] = ()
    """Lengths of strokes and gaps in turn, in points. Empty: none."""


@dataclass(frozen=True)
class Text:
    """Lines of text beside a point."""

    at: Point
    words: str
    size: float
    ink: str
    across: float = 0.0
    """Share of the width that is left of the point: 0, 0.5 or 1. The lines are aligned so."""
    up: float = 0.5
    """Share of the height that is below the point."""
    turned: bool = False
    """Whether it is read from below. ``across`` and ``up`` are turned with it."""
    haloed: bool = False
    """Whether it has a white border, as it may stand on lines."""

    @property
    def box(self) -> Box:
        """Return the box around it."""
        width, height = text_size(self.words, self.size)
        left, low = -self.across * width, -self.up * height
        if self.turned:
            left, low, width, height = -low - height, left, height, width
        x, y = self.at[0] + left, self.at[1] + low
        return x, y, x + width, y + height

    @property
    def lines(self) -> Iterator[tuple[Point, str]]:
        """Return each line and the point at its foot that it is aligned to."""
        em, lines = self.size * _PER_POINT, self.words.split("\n")
        for k, line in enumerate(lines):
            high = em * ((1 - self.up) * _LINE * len(lines) - k * _LINE - _BASE)
            x, y = self.at
            yield ((x - high, y) if self.turned else (x, y + high)), line


@dataclass(frozen=True)
class Picture:
    """Shapes and words on white paper, the first at the bottom."""

    page: Box
    parts: tuple[Shape | Text, ...]

    def for_page(self, most: int = 520) -> str:
        """Return it as part of an HTML page, on white, at most so many pixels wide."""
        svg = self.svg().decode()
        return f'<div style="max-width:{most}px;background:white">{svg[svg.index("<svg") :]}</div>'

    def svg(self) -> bytes:
        """Return it as SVG. Equal pictures give equal bytes."""
        left, bottom, right, top = self.page
        width, height = right - left, top - bottom
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_points(width)}pt" '
            f'height="{_points(height)}pt" viewBox="0 0 {width:.2f} {height:.2f}" '
            f'font-family="{_FONTS}">',
            '<rect width="100%" height="100%" fill="#FFFFFF"/>',
        ]
        for part in self.parts:
            if isinstance(part, Shape):
                line = "L".join(f"{x - left:.2f} {top - y:.2f}" for x, y in part.points)
                pen = ""
                if part.ink != "none":
                    pen = f' stroke="{part.ink}" stroke-width="{_dots(part.width)}"'
                if part.dash:
                    pen += f' stroke-dasharray="{" ".join(map(_dots, part.dash))}"'
                end = "" if part.fill == "none" else "Z"
                lines.append(f'<path d="M{line}{end}" fill="{part.fill}"{pen}/>')
                continue
            pen = f'font-size="{_dots(part.size)}" fill="{part.ink}"'
            if part.across:
                pen += f' text-anchor="{_ANCHORS[part.across][0]}"'
            if part.haloed:
                pen += f' stroke="#FFFFFF" stroke-width="{_dots(1.4)}" paint-order="stroke"'
            for (x, y), words in part.lines:
                at = f"{x - left:.2f} {top - y:.2f}"
                place = 'x="{}" y="{}"'.format(*at.split())
                if part.turned:
                    place = f'transform="translate({at}) rotate(-90)"'
                lines.append(f"<text {place} {pen}>{words.translate(_ESCAPES)}</text>")
        return "\n".join((*lines, "</svg>\n")).encode()

    def figure(self) -> Figure:
        """Return it as a matplotlib figure, within ``picture_settings()``."""
        from matplotlib.figure import Figure
        from matplotlib.patches import Polygon
        from matplotlib.patheffects import withStroke

        left, bottom, right, top = self.page
        width, height = right - left, top - bottom
        figure = Figure(figsize=(width / DOTS, height / DOTS))
        place: Any = figure.transFigure
        for part in self.parts:
            if isinstance(part, Shape):
                points = [((x - left) / width, (y - bottom) / height) for x, y in part.points]
                shape = Polygon(
                    points,
                    closed=part.fill != "none",
                    facecolor=part.fill,
                    edgecolor=part.ink,
                    linewidth=part.width,
                    transform=place,
                )
                if part.dash:
                    shape.set_linestyle((0, [each / part.width for each in part.dash]))
                figure.add_artist(shape)
                continue
            for (x, y), words in part.lines:
                text = figure.text(
                    (x - left) / width,
                    (y - bottom) / height,
                    words,
                    size=part.size,
                    color=part.ink,
                    ha=_ANCHORS[part.across][1],
                    va="baseline",
                    rotation=90 * part.turned,
                    rotation_mode="anchor",
                )
                if part.haloed:
                    text.set_path_effects([withStroke(linewidth=1.4, foreground="white")])
        return figure


def _points(dots: float) -> str:
    return f"{dots / _PER_POINT:.2f}"


def _dots(points: float) -> str:
    return f"{points * _PER_POINT:.3g}"

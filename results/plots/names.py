"""Names in the picture of a front: marked members with their figures, and baselines, each at the
place that hides least.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.plots.baselines import BaselineMark
from paretosoc.results.plots.labels import Placement, Point, place_labels, staircase_boxes
from paretosoc.results.plots.style import GREY, INK
from paretosoc.results.problem.objectives import format_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INSET = 3.0
"""Dots between a name and the edge of the axes."""
_RADIUS_POINTS = 2.9
_MEMBER_WEIGHT, _CROSS_WEIGHT, _STEP_WEIGHT = 3.0, 12.0, 1.0
"""The cost of covering them."""


@dataclass(frozen=True)
class Name:
    """Words at a point of the axes."""

    at: tuple[float, float]
    words: str
    is_baseline: bool

    @property
    def look(self) -> dict[str, Any]:
        """Return size and colour of the text."""
        if self.is_baseline:
            return {"fontsize": 6.0, "color": GREY}
        return {"fontsize": 6.5, "color": INK}


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


def lay_out(figure: Figure) -> None:
    """Settle the places of the axes on the page. Titles longer than their axis are wrapped."""
    engine = figure.get_layout_engine()
    assert engine is not None, "the figure has one"
    engine.execute(figure)
    wrapped = False
    for axes in figure.axes:
        frame = axes.get_window_extent()
        title = axes.yaxis.label
        share = frame.height / (title.get_window_extent().height or 1.0)
        if share < 1:
            title.set_text(textwrap.fill(title.get_text(), int(len(title.get_text()) * share)))
            wrapped = True
    if wrapped:
        engine.execute(figure)


def place_names(
    axes: Axes,
    names: Sequence[Name],
    points: Sequence[Point],
    *,
    members: int,
    bars: Sequence[tuple[Point, Point]] = (),
) -> list[tuple[Name, Placement]]:
    """Return a place for each name.

    Args:
        axes: laid out. Names do not change that.
        points: the points that they must not hide: members first, then crosses.
        members: how many of the points are members.
        bars: ends of bars that they must not hide.
    """
    on_page = [(float(x), float(y)) for x, y in axes.transData.transform(list(points))]
    radius = _RADIUS_POINTS * axes.figure.dpi / 72
    obstacles = [
        (
            (x - radius, y - radius, x + radius, y + radius),
            _MEMBER_WEIGHT if i < members else _CROSS_WEIGHT,
        )
        for i, (x, y) in enumerate(on_page)
    ]
    for bar in bars:
        (x0, y0), (x1, y1) = axes.transData.transform(list(bar)).tolist()
        obstacles.append(((x0 - 1, y0 - 1, x1 + 1, y1 + 1), _MEMBER_WEIGHT))
    for line in axes.get_lines():
        steps = sorted((float(x), float(y)) for x, y in axes.transData.transform(line.get_xydata()))
        boxes = staircase_boxes(steps, down_last=line.get_drawstyle() == "steps-post")
        obstacles += [(box, _STEP_WEIGHT) for box in boxes]
    left, bottom, right, top = axes.get_window_extent().extents
    frame = (left + _INSET, bottom + _INSET, right - _INSET, top - _INSET)
    at = [(float(x), float(y)) for x, y in axes.transData.transform([name.at for name in names])]
    sizes = [_size_on_page(axes, name) for name in names]
    return list(zip(names, place_labels(at, sizes, frame, obstacles), strict=True))


def write_names(figure: Figure, axes: Axes, placed: Sequence[tuple[Name, Placement]]) -> None:
    """Write the names at their places, each with a line to its point."""
    from matplotlib.patheffects import withStroke

    points_per_dot = 72 / figure.dpi
    for name, place in placed:
        text = axes.annotate(
            name.words,
            name.at,
            xytext=(place.dx * points_per_dot, place.dy * points_per_dot),
            textcoords="offset points",
            # The line leads to the nearest point of the label, as the placement reckons:
            # matplotlib's own choice, the label's middle, may run through another label.
            arrowprops={
                "arrowstyle": "-",
                "linewidth": 0.5,
                "color": name.look["color"],
                "shrinkA": 0,
                "shrinkB": 2,
                "relpos": place.nearest,
            },
            zorder=4,
            **name.look,
        )
        text.set_path_effects([withStroke(linewidth=1.4, foreground="white")])
        text.set_in_layout(False)


def _size_on_page(axes: Axes, name: Name) -> tuple[float, float]:
    text = axes.text(0, 0, name.words, **name.look)
    extent = text.get_window_extent()
    text.remove()
    return extent.width, extent.height

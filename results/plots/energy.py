"""The energy of members by unit: one bar for each member, a part for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paretosoc.common.units import FJ_PER_MJ
from paretosoc.results.front.front import Member
from paretosoc.results.plots.picture import wrapped
from paretosoc.results.plots.style import COLOURS, COLUMN_INCHES, INK, LIGHT, add_legend, ink_on
from paretosoc.results.problem.objectives import format_number
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.member_diff import REST, energy_parts_fj

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW_INCHES, _LINE_INCHES = 0.3, 0.13
"""Height of a bar with what is around it, and of a line of its title."""
_WIDEST_TITLE = 140.0
"""Dots of the widest line of a title: wider ones would leave no room for the bars."""


def draw_energy(members: Sequence[tuple[str, Problem, Member]]) -> Figure:
    """Return the energy of members by unit, each beside its title, as a matplotlib figure."""
    from matplotlib.figure import Figure

    all_parts = [
        {name: value / FJ_PER_MJ for name, value in energy_parts_fj(problem, member).items()}
        for _, problem, member in members
    ]
    names = [
        name for name in dict.fromkeys(n for parts in all_parts for n in parts) if name != REST
    ]
    colours = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(names)} | {REST: LIGHT}
    most = max(sum(parts.values()) for parts in all_parts)
    titles = [wrapped(title, 7.0, _WIDEST_TITLE) for title, _, _ in members]
    row_inches = max(_ROW_INCHES, *(_LINE_INCHES * (2 + t.count("\n")) for t in titles))
    figure = Figure(figsize=(COLUMN_INCHES, 0.85 + row_inches * len(members)), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(True, axis="x")
    numbers = []
    for row, parts in enumerate(all_parts):
        left = 0.0
        for name in (*names, REST):
            value = parts.get(name, 0.0)
            (bar,) = axes.barh(
                row,
                value,
                0.68,
                left,
                color=colours[name],
                linewidth=0.5,
                edgecolor="white",
                label=name if row == 0 else None,
            )
            ink, text = ink_on(colours[name]), format_number(value)
            number = axes.text(left + value / 2, row, text, fontsize=6, color=ink)
            number.set(ha="center", va="center")
            numbers.append((number, bar))
            left += value
        axes.text(
            left + 0.01 * most, row, format_number(left), va="center", fontsize=6.5, color=INK
        )
    axes.set_yticks(range(len(members)), titles)
    axes.set_ylim(len(members) - 0.5, -0.5)
    axes.set_xlim(0, 1.2 * most)
    axes.set_xlabel("Energy (mJ)")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    add_legend(figure, columns=3, columnspacing=0.9, handlelength=1.1)
    figure.draw_without_rendering()  # The widths of the bars follow from the layout.
    for number, bar in numbers:
        if number.get_window_extent().width > 0.95 * bar.get_window_extent().width:
            number.remove()
    return figure

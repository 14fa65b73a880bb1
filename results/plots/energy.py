"""The energy of members by unit: one bar for each member, a part for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paretosoc.common.units import FJ_PER_MJ
from paretosoc.results.front.front import Member
from paretosoc.results.plots.style import COLOURS, COLUMN_INCHES, INK, LIGHT, ink_on
from paretosoc.results.problem.objectives import format_number
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.member_diff import REST, energy_parts_fj

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW_INCHES = 0.3
_SHARE_WITH_ROOM = 0.11
"""A part at least this share of the longest bar has room for its figure."""


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
    figure = Figure(
        figsize=(COLUMN_INCHES, 0.85 + _ROW_INCHES * len(members)), layout="constrained"
    )
    axes = figure.add_subplot()
    axes.grid(True, axis="x")
    for row, parts in enumerate(all_parts):
        left = 0.0
        for name in (*names, REST):
            value = parts.get(name, 0.0)
            axes.barh(
                row,
                value,
                0.68,
                left,
                color=colours[name],
                linewidth=0.5,
                edgecolor="white",
                label=name if row == 0 else None,
            )
            if value >= _SHARE_WITH_ROOM * most:
                axes.text(
                    left + value / 2,
                    row,
                    format_number(value),
                    ha="center",
                    va="center",
                    fontsize=6,
                    color=ink_on(colours[name]),
                )
            left += value
        axes.text(
            left + 0.01 * most, row, format_number(left), va="center", fontsize=6.5, color=INK
        )
    axes.set_yticks(range(len(members)), [title for title, _, _ in members])
    axes.set_ylim(len(members) - 0.5, -0.5)
    axes.set_xlim(0, 1.2 * most)
    axes.set_xlabel("Energy (mJ)")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper left", ncols=3, columnspacing=0.9, handlelength=1.1)
    return figure

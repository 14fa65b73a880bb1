"""The energy of members by unit: one bar for each member, a part for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paretosoc.common.units import FJ_PER_MJ
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Member
from paretosoc.results.plots.chart import LABEL, Axis, Chart
from paretosoc.results.plots.items import Item, bar
from paretosoc.results.plots.picture import Text, text_size, wrapped
from paretosoc.results.plots.style import COLOURS, INK, LIGHT, ink_on
from paretosoc.results.problem.objectives import format_number
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.member_diff import REST, energy_parts_fj

_ROW, _BETWEEN = 30.0, 6.0
"""Least height of a bar with what is around it, and room between two titles."""
_WIDEST_TITLE = 140.0
"""Dots of the widest line of a title: wider ones would leave no room for the bars."""
_NUMBER = 6.0
"""Size of the type of numbers."""


def draw_energy(members: Sequence[tuple[str, Problem, Member]]) -> Chart:
    """Return the energy of members by unit, each beside its title.

    Raises:
        ResultError: if it is 0, as on a platform whose powers nobody knows.
    """
    all_parts = [
        {name: value / FJ_PER_MJ for name, value in energy_parts_fj(problem, member).items()}
        for _, problem, member in members
    ]
    units = dict.fromkeys(name for parts in all_parts for name in parts if name != REST)
    colours = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(units)} | {REST: LIGHT}
    most = max(sum(parts.values()) for parts in all_parts)
    if not most:
        raise ResultError("a picture of energy needs powers, got a platform without")
    titles = {
        -float(row): wrapped(title, LABEL, _WIDEST_TITLE)
        for row, (title, _, _) in enumerate(members)
    }
    tall = max(_ROW, *(text_size(title, LABEL)[1] + _BETWEEN for title in titles.values()))
    chart = Chart(
        Axis("Energy (mJ)", 0.0, 1.2 * most),
        Axis("", 0.5 - len(members), 0.5, names=titles),
        (),
        height=len(members) * tall,
    )
    dots_per_mj = chart.frame[2] / chart.x.high
    items: list[Item] = []
    for row, parts in enumerate(all_parts):
        left = 0.0
        for name, colour in colours.items():
            right = left + parts.get(name, 0.0)
            box = (left, -row - 0.34, right, 0.34 - row)
            items.append(bar(*box, colour, ink="#FFFFFF", width=0.5, name=name))
            middle, number = ((left + right) / 2, -row), format_number(right - left)
            if text_size(number, _NUMBER)[0] <= 0.95 * dots_per_mj * (right - left):
                items.append(Text(middle, number, _NUMBER, ink_on(colour), 0.5))
            left = right
        items.append(Text((left + 0.01 * most, -row), format_number(left), 6.5, INK))
    return replace(chart, items=tuple(items))

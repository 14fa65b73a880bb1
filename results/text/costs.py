"""The cost of every group on every unit at chosen clocks: a table for people, and plain data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from paretosoc.common.arrays import IntArray
from paretosoc.common.tables import plain_table
from paretosoc.common.units import KBPS_PER_GBPS, PS_PER_MS
from paretosoc.results.costs.cost_origins import CostOrigin, CostOrigins, UnitOrigin
from paretosoc.results.problem.objectives import format_number
from paretosoc.results.problem.parts import ProblemUnit
from paretosoc.results.problem.problem import Problem

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Row = dict[str, object]
_NAME_WIDTH = 24
"""Longer names of groups are folded."""

MARKS = {
    CostOrigin.MEASURED: "m",
    CostOrigin.GIVEN: "g",
    CostOrigin.CALIBRATED: "c",
    CostOrigin.ESTIMATED: "e",
    CostOrigin.CANNOT_RUN: " ",
}
_MEANINGS = {
    CostOrigin.MEASURED: "measured",
    CostOrigin.GIVEN: "given with the task or dataflow graph",
    CostOrigin.CALIBRATED: "an estimate, scaled so that the network's total is a measured one",
    CostOrigin.ESTIMATED: "an estimate, from the unit's peak rates and bandwidth",
}
FIGURES = {"time": "ms", "demand": "GB/s", "power": "W"}
"""The figures that a table may show, with their units."""


def cost_rows(problem: Problem, origins: CostOrigins | None, points: IntArray) -> list[Row]:
    """Return one row per group of every network, as plain data for JSON.

    Keys: ``network``, ``group`` (number in its network), ``name``, ``layers``, ``macs``,
    ``parameters`` (null if ``origins`` is None), and ``units``: unit to ``time_ps``,
    ``demand_kbps``, ``dynamic_mw`` (null if it cannot run), ``origin`` and ``text``. Power is the
    unit's power above idle while the group runs.

    Args:
        points: [domains], indices.
    """
    rows: list[Row] = []
    for n, network in enumerate(problem.networks):
        for index, g in enumerate(network.groups):
            entry = None if origins is None else origins.networks[n].groups[index]
            units: Row = {}
            for u, unit in enumerate(problem.units):
                figures = _figures(unit, g, points)
                source = None if entry is None else entry.by_unit[u]
                units[unit.name] = {
                    "time_ps": None if figures is None else figures[0],
                    "demand_kbps": None if figures is None else figures[1],
                    "dynamic_mw": None if figures is None else figures[2],
                    "origin": None if source is None else source.origin.value,
                    "text": None if source is None else source.text,
                }
            rows.append(
                {
                    "network": network.name,
                    "group": index,
                    "name": network.group_names[index],
                    "layers": None if entry is None else list(entry.layers),
                    "macs": None if entry is None else entry.macs,
                    "parameters": None if entry is None else entry.parameters,
                    "units": units,
                }
            )
    return rows


def _figures(unit: ProblemUnit, group: int, points: IntArray) -> tuple[int, int, int] | None:
    """Return time, demand and power of a group at these clocks, or None if it cannot run."""
    at = (group, *(int(points[clock]) for clock in unit.clocks))
    time = int(unit.time_ps[at])
    return None if time < 0 else (time, int(unit.demand_kbps[at]), int(unit.dynamic_mw[at]))


def cost_tables(
    problem: Problem,
    origins: CostOrigins | None,
    points: IntArray,
    *,
    figure: str = "time",
    width: int = 80,
) -> RenderableType:
    """Return rich tables per network and a legend. ``figure`` is one of ``FIGURES``.

    Units that do not fit ``width`` characters beside the others have a table of their own. The last
    row adds times up. Demand and power are means over the time.
    """
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    clocks = ", ".join(
        f"{domain.name} {domain.frequencies_khz[point] / 1000:g}"
        for domain, point in zip(problem.domains, points.tolist(), strict=True)
    )
    what = {
        "time": "Time alone",
        "demand": "Memory bandwidth asked for",
        "power": "Power over idle",
    }
    precision = "" if origins is None else f", {origins.precision}"
    parts: list[RenderableType] = [
        Text(f"{what[figure]}, {FIGURES[figure]}{precision}, at (MHz): {clocks}")
    ]
    for n, network in enumerate(problem.networks):
        parts += [Text(f"\n{network.name}", style="bold")]
        for number, units in enumerate(_fitting(problem, n, origins, points, figure, width)):
            parts += [Text("")] if number else []
            parts += [_table(problem, n, units, origins, points, figure)]
    parts.append(Text(""))
    for line in _legend(problem, origins):
        text = line.lstrip()
        parts.append(Padding(Text(text), (0, 0, 0, len(line) - len(text))))
    return Group(*parts)


def _fitting(
    problem: Problem,
    n: int,
    origins: CostOrigins | None,
    points: IntArray,
    figure: str,
    width: int,
) -> list[list[int]]:
    """Return the units in sets whose tables fit the width, if at least one unit does."""
    from rich.console import Console

    sets: list[list[int]] = [[]]
    for u in range(len(problem.units)):
        trial = _table(problem, n, [*sets[-1], u], origins, points, figure)
        if (
            sets[-1]
            and Console(width=10_000, markup=False, emoji=False).measure(trial).maximum > width
        ):
            sets.append([])
        sets[-1].append(u)
    return sets


def _table(
    problem: Problem,
    n: int,
    units: list[int],
    origins: CostOrigins | None,
    points: IntArray,
    figure: str,
) -> Table:
    table = plain_table(show_footer=True)
    network = problem.networks[n]
    groups = list(network.groups)
    entries = None if origins is None else origins.networks[n].groups
    table.add_column("#", justify="right", no_wrap=True)
    total_name = "total" if figure == "time" else "mean"
    table.add_column("group", footer=total_name, overflow="fold", max_width=_NAME_WIDTH)
    entries = entries if 0 in units else None
    if entries is not None:
        layers = sum(len(entry.layers) for entry in entries)
        table.add_column("layers", justify="right", no_wrap=True, footer=str(layers))
        total = sum(entry.macs for entry in entries)
        table.add_column("MMACs", justify="right", no_wrap=True, footer=_millions(total))
    for unit in (problem.units[u] for u in units):
        column = [figures for g in groups if (figures := _figures(unit, g, points)) is not None]
        table.add_column(
            unit.name,
            justify="right",
            no_wrap=True,
            footer=_footer(column, len(groups), figure),
        )
    for index, g in enumerate(groups):
        cells = [str(index), network.group_names[index]]
        if entries is not None:
            cells += [str(len(entries[index].layers)), _millions(entries[index].macs)]
        for u in units:
            figures = _figures(problem.units[u], g, points)
            source = None if origins is None else origins.networks[n].groups[index].by_unit[u]
            cells.append(_cell(figures, source, figure))
        table.add_row(*cells)
    return table


def _cell(figures: tuple[int, int, int] | None, source: UnitOrigin | None, figure: str) -> str:
    mark = "" if source is None else f" {MARKS[source.origin]}"
    return f"-{mark}" if figures is None else format_number(_shown(figures, figure)) + mark


def _shown(figures: tuple[int, int, int], figure: str) -> float:
    time, demand, power = figures
    if figure == "time":
        return time / PS_PER_MS
    return demand / KBPS_PER_GBPS if figure == "demand" else power / 1000


def _footer(column: list[tuple[int, int, int]], groups: int, figure: str) -> str:
    if not column:
        return "-  "
    time = sum(figures[0] for figures in column)
    demand, power = (sum(f[0] * f[part] for f in column) // time for part in (1, 2))
    text = format_number(_shown((time, demand, power), figure)) + "  "
    return text if len(column) == groups else f"{text.rstrip()} ({len(column)}/{groups})"


def _millions(macs: int) -> str:
    return f"{macs / 1e6:,.1f}"


def _legend(problem: Problem, origins: CostOrigins | None) -> list[str]:
    """Return the meaning of the marks, and the sources with the units and groups they are of."""
    if origins is None:
        return ["Where these figures came from was not written down (there is no costs.json)."]
    lines = []
    for origin, meaning in _MEANINGS.items():
        texts: Counter[tuple[str, str, str]] = Counter()
        found = False
        for network in origins.networks:
            for group in network.groups:
                for unit, entry in zip(problem.units, group.by_unit, strict=True):
                    if entry.origin is origin:
                        found = True
                        if entry.text:
                            texts[network.name, unit.name, entry.text] += 1
        if found:
            lines.append(f"{MARKS[origin]}: {meaning}")
            lines += [f"   {network} on {unit}: {text}" for network, unit, text in texts]
    return lines + _cannot(problem, origins)


def _cannot(problem: Problem, origins: CostOrigins) -> list[str]:
    lines = []
    for network in origins.networks:
        for u, unit in enumerate(problem.units):
            # A text is the name of a layer and a reason, which many layers have.
            reasons: dict[str, list[int]] = {}
            texts: dict[str, str] = {}
            for g, group in enumerate(network.groups):
                if group.by_unit[u].origin is CostOrigin.CANNOT_RUN:
                    text = group.by_unit[u].text
                    reason = text.split(": ", 1)[-1]
                    texts.setdefault(reason, text)
                    reasons.setdefault(reason, []).append(g)
            for reason, groups in reasons.items():
                noun = "group" if len(groups) == 1 else "groups"
                where = f"{network.name}, {noun} {', '.join(map(str, groups))}"
                lines.append(
                    f"-: {unit.name} cannot run {where}" + (f": {texts[reason]}" if reason else "")
                )
    return lines

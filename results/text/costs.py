"""The cost of every group on every unit at chosen clocks: a table for people, and plain data."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from paretosoc.common.arrays import IntArray
from paretosoc.common.tables import fitting_tables
from paretosoc.common.units import KBPS_PER_GBPS, PS_PER_MS
from paretosoc.results.costs.cost_origins import CostOrigin, CostOrigins
from paretosoc.results.problem.objectives import format_number
from paretosoc.results.problem.problem import Problem

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Row = dict[str, Any]
_NAME_WIDTH = 24
"""Longer names of groups are folded."""
_CANNOT_RUN = CostOrigin.CANNOT_RUN.value
_MARKS = {
    CostOrigin.MEASURED.value: ("m", "measured"),
    CostOrigin.GIVEN.value: ("g", "given with the task or dataflow graph"),
    CostOrigin.CALIBRATED.value: (
        "c",
        "an estimate, scaled so that the network's total is a measured one",
    ),
    CostOrigin.ESTIMATED.value: ("e", "an estimate, from the unit's peak rates and bandwidth"),
    _CANNOT_RUN: (" ", ""),
}
"""By origin: its mark, and what that means."""
_FIGURES = {
    "time": ("Time alone, ms", "time_ps", PS_PER_MS),
    "demand": ("Memory bandwidth asked for, GB/s", "demand_kbps", KBPS_PER_GBPS),
    "power": ("Power over idle, W", "dynamic_mw", 1000),
}
"""The figures that a table may show: the title with the unit, the key in a row, and its size there.
"""


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
                at = (g, *(int(points[clock]) for clock in unit.clocks))
                runs = unit.time_ps[at] >= 0
                source = None if entry is None else entry.by_unit[u]
                units[unit.name] = {
                    **{
                        key: int(getattr(unit, key)[at]) if runs else None
                        for _, key, _ in _FIGURES.values()
                    },
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


def cost_tables(
    problem: Problem,
    origins: CostOrigins | None,
    points: IntArray,
    *,
    figure: str = "time",
    width: int = 80,
) -> RenderableType:
    """Return the rows of :func:`cost_rows` as rich tables per network and a legend. ``figure`` is
    ``time``, ``demand`` or ``power``.

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
    precision = "" if origins is None else f", {origins.precision}"
    rows = cost_rows(problem, origins, points)
    parts: list[RenderableType] = [Text(f"{_FIGURES[figure][0]}{precision}, at (MHz): {clocks}")]
    for network in problem.networks:
        parts += [Text(f"\n{network.name}", style="bold")]
        own = [row for row in rows if row["network"] == network.name]
        parts += _tables(own, figure, width)
    parts.append(Text(""))
    for line in _legend(rows):
        text = line.lstrip()
        parts.append(Padding(Text(text), (0, 0, 0, len(line) - len(text))))
    return Group(*parts)


def _tables(rows: list[Row], figure: str, width: int) -> list[Table | str]:
    """Return the tables of a network's rows, each with as many units as fit the width."""
    columns: list[tuple[str, list[str], str]] = [
        (">#", [str(row["group"]) for row in rows], ""),
        (
            "group",
            [fill(row["name"], _NAME_WIDTH) for row in rows],
            "total" if figure == "time" else "mean",
        ),
    ]
    if rows[0]["layers"] is not None:
        layers, macs = [len(row["layers"]) for row in rows], [row["macs"] for row in rows]
        columns.append((">layers", list(map(str, layers)), str(sum(layers))))
        columns.append((">MMACs", list(map(_millions, macs)), _millions(sum(macs))))
    for unit in rows[0]["units"]:
        entries = [row["units"][unit] for row in rows]
        cells = [_cell(entry, figure) for entry in entries]
        columns.append((f">{unit}", cells, _footer(entries, figure)))
    headings, contents, feet = zip(*columns, strict=True)
    lines = list(zip(*contents, strict=True))
    return fitting_tables(headings, lines, 2, width, [None] * len(rows), feet)[:-1]


def _cell(entry: Row, figure: str) -> str:
    _, key, size = _FIGURES[figure]
    mark = "" if entry["origin"] is None else f" {_MARKS[entry['origin']][0]}"
    return ("-" if entry[key] is None else format_number(entry[key] / size)) + mark


def _footer(column: list[Row], figure: str) -> str:
    _, key, size = _FIGURES[figure]
    able = [entry for entry in column if entry[key] is not None]
    if not able:
        return "-  "
    total = sum(entry["time_ps"] for entry in able)
    if figure != "time":
        total = sum(entry["time_ps"] * entry[key] for entry in able) // total
    text = format_number(total / size)
    return f"{text}  " if len(able) == len(column) else f"{text} ({len(able)}/{len(column)})"


def _millions(macs: int) -> str:
    return f"{macs / 1e6:,.1f}"


def _legend(rows: list[Row]) -> list[str]:
    """Return the meaning of the marks, and the sources with the units and groups they are of."""
    if rows[0]["layers"] is None:
        return ["Where these figures came from was not written down (there is no costs.json)."]
    lines = []
    for origin, (mark, meaning) in _MARKS.items():
        sources = dict.fromkeys(
            (row["network"], unit, entry["text"])
            for row in rows
            for unit, entry in row["units"].items()
            if entry["origin"] == origin
        )
        if sources and origin != _CANNOT_RUN:
            lines.append(f"{mark}: {meaning}")
            lines += [f"   {network} on {unit}: {text}" for network, unit, text in sources if text]
    return lines + _cannot(rows)


def _cannot(rows: list[Row]) -> list[str]:
    lines = []
    for network, unit in dict.fromkeys(
        (row["network"], unit) for row in rows for unit in row["units"]
    ):
        # A text is the name of a layer and a reason, which many layers have.
        reasons: dict[str, tuple[str, list[int]]] = {}
        for row in rows:
            entry = row["units"][unit]
            if row["network"] == network and entry["origin"] == _CANNOT_RUN:
                reason = entry["text"].split(": ", 1)[-1]
                reasons.setdefault(reason, (entry["text"], []))[1].append(row["group"])
        for reason, (text, groups) in reasons.items():
            noun = "group" if len(groups) == 1 else "groups"
            where = f"{network}, {noun} {', '.join(map(str, groups))}"
            lines.append(f"-: {unit} cannot run {where}" + (f": {text}" if reason else ""))
    return lines

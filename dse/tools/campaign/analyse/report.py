"""A campaign as a page for a browser: heat maps whose cells open the fronts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

from paretosoc.common.files import file_in, replace_file
from paretosoc.common.text import pluralize
from paretosoc.dse.tools.campaign.analyse.pivot import (
    Pivot,
    field_of,
    make_pivot,
    named,
    varying_fields,
)
from paretosoc.dse.tools.campaign.analyse.values import Value, objective_names, parse_value, spelt
from paretosoc.dse.tools.campaign.store.run import RunRecord, RunStatus
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.fitness.execution import schedule_of
from paretosoc.results.errors import ResultError
from paretosoc.results.export.html import fill, html_page, read_asset
from paretosoc.results.export.report import report_html

asset = partial(read_asset, package="paretosoc.dse.inputs.data")
REPORT = "report.html"
FRONTS = "fronts"
MAX_FAILURES = 100


@dataclass(frozen=True)
class Layout:
    """Fields of rows and columns, and those that have a heat map for each of their values."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    by: tuple[str, ...]


@dataclass(frozen=True)
class Written:
    """Number of pages of fronts written now, and in all."""

    new_pages: int
    pages: int


def default_layout(records: Sequence[RunRecord]) -> Layout:
    """Return the default layout: one network against the other for pairs, else workloads against
    platforms. There is a heat map for each value of every other field that varies, except seeds."""
    varying = [name for name in varying_fields(records) if name != "seed"]
    pairs = all(len(record.networks) == 2 for record in records)
    if pairs:
        return Layout(("first",), ("second",), tuple(varying))
    column = "platform" if "platform" in varying else (varying or ["platform"])[0]
    by = tuple(name for name in varying if name != column)
    return Layout(("workload",), (column,), by)


def _objectives(records: Sequence[RunRecord]) -> list[str]:
    """Return those of all networks: others differ from workload to workload."""
    return [spelt(name) for name in objective_names(records) if ":" not in name]


def write_report(store: Store, layout: Layout | None = None, values: Sequence[str] = ()) -> Written:
    """Write ``report.html`` into the campaign's folder, and a page for each front that a cell opens
    into ``fronts``. A page that exists is kept, since its name is the run's hash.

    Raises:
        WorkloadError: on a field or value that the runs do not have.
        ResultError: if a result is not sound.
        OSError: if a page cannot be written.
    """
    records = list(store.records())
    layout = layout or default_layout(records)
    values = values or (*_objectives(records), "hypervolume", "gain")
    shown = [parse_value(text, records) for text in values]
    panels = [
        (title, [make_pivot(part, value, layout.rows, layout.columns) for value in shown])
        for title, part in _panels(records, layout.by)
    ]
    opened = {
        cell.best.hash: cell.best
        for _, pivots in panels
        for pivot in pivots
        for row in pivot.cells
        for cell in row
        if cell is not None and "front" in cell.best.inputs.keep and cell.best.pack_sha256
    }
    folder = file_in(store.folder, FRONTS, ResultError)
    folder.mkdir(exist_ok=True)
    new = 0
    for record in opened.values():
        path = file_in(folder, page_name(record), ResultError)
        if not path.exists():
            front, costs = store.front(record)
            replace_file(path, report_html(front, schedule_of, costs).encode())
            new += 1
    page = campaign_page(store.title, records, panels, shown, frozenset(opened))
    replace_file(file_in(store.folder, REPORT, ResultError), page.encode())
    return Written(new, len(opened))


def page_name(record: RunRecord) -> str:
    """Return the page of a run's front."""
    return f"{record.hash[:24]}.html"


def campaign_page(
    title: str,
    records: Sequence[RunRecord],
    panels: Sequence[tuple[str, Sequence[Pivot]]],
    values: Sequence[Value],
    opened: frozenset[str],
) -> str:
    """Return the text of the page."""
    counts = {status: sum(run.status is status for run in records) for status in RunStatus}
    content = {
        "values": [
            {"label": value.label, "unit": value.unit, "larger": value.larger_is_better}
            for value in values
        ],
        "panels": [
            {
                "title": name,
                "rowFields": ", ".join(pivots[0].row_fields),
                "columnFields": ", ".join(pivots[0].column_fields),
                "rows": [" / ".join(named(row)) for row in pivots[0].rows],
                "columns": [" / ".join(named(column)) for column in pivots[0].columns],
                "cells": [
                    [
                        [_cell(pivot, i, j, opened) for pivot in pivots]
                        for j in range(len(pivots[0].columns))
                    ]
                    for i in range(len(pivots[0].rows))
                ],
            }
            for name, pivots in panels
        ],
        "failures": [
            {"name": run.name, "status": run.status.value, "error": run.error or ""}
            for run in records
            if run.status in (RunStatus.FAILED, RunStatus.INFEASIBLE)
        ][:MAX_FAILURES],
    }
    summary = f"{pluralize(len(records), 'run')}: " + ", ".join(
        f"{count:,} {status.value}" for status, count in counts.items() if count
    )
    parts = {
        "TITLE": escape(title),
        "SUMMARY": escape(summary),
        "OVERVIEW": overview(records, opened),
        # No text of a name may end the element that it stands in.
        "CONTENT": json.dumps(content, separators=(",", ":")).replace("<", "\\u003c"),
        "SCRIPT": asset("campaign_report.js"),
    }
    body = fill(asset("campaign_report.html"), parts)
    return html_page(title, asset("campaign_report.css"), body, scripts=True)


def overview(records: Sequence[RunRecord], opened: frozenset[str]) -> str:
    """Return a table of workloads by platforms: the best value of each objective over the runs
    there, or how they ended. Empty if there is one of each."""
    values = [parse_value(name, records) for name in _objectives(records)] or [
        parse_value("members", records)
    ]
    pivots = [make_pivot(records, value, ("workload",), ("platform",)) for value in values]
    first = pivots[0]
    if len(first.rows) * len(first.columns) < 2:
        return ""

    def cell(i: int, j: int) -> str:
        shown = [(pivot.value, pivot.cells[i][j]) for pivot in pivots]
        found = [(value, one) for value, one in shown if one is not None]
        if not found:
            return ""
        best = found[0][1].best
        words = ", ".join(f"{one.text} {value.unit}".strip() for value, one in found if one.text)
        text = escape(words or best.status.value)
        return f'<a href="{FRONTS}/{page_name(best)}">{text}</a>' if best.hash in opened else text

    head = "".join(f"<th>{escape(platform)}</th>" for (platform,) in first.columns)
    rows = "".join(
        f"<tr><th>{escape(name)}</th>"
        + "".join(f"<td>{cell(i, j)}</td>" for j in range(len(first.columns)))
        + "</tr>"
        for i, (name,) in enumerate(first.rows)
    )
    labels = ", ".join(value.label for value in values)
    return (
        f'<section id="overview"><h2>Best of each: {escape(labels)}</h2>'
        f'<table class="list"><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>'
        "</section>"
    )


def _panels(records: Sequence[RunRecord], by: Sequence[str]) -> list[tuple[str, list[RunRecord]]]:
    parts: dict[tuple[str, ...], list[RunRecord]] = {}
    for record in records:
        parts.setdefault(tuple(field_of(record, name) for name in by), []).append(record)
    return [
        (", ".join(f"{name}: {value}" for name, value in zip(by, named(key), strict=True)), part)
        for key, part in parts.items()
    ]


def _cell(pivot: Pivot, row: int, column: int, opened: frozenset[str]) -> dict[str, Any] | None:
    cell = pivot.cells[row][column]
    if cell is None:
        return None
    run = cell.best
    return {
        "value": cell.value,
        "text": cell.text,
        "runs": cell.runs,
        "name": run.name,
        "status": run.status.value,
        "members": run.members or 0,
        "page": f"{FRONTS}/{page_name(run)}" if run.hash in opened else None,
    }

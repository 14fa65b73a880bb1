"""``dse campaign status``, ``table``, ``export``, ``report``, ``compare``: inspect campaigns."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from paretosoc.common.files import replace_file
from paretosoc.common.tables import csv_text, fitting_tables
from paretosoc.common.text import pluralize
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option, refuse_options
from paretosoc.dse.cli.shared.terminal import open_console, print_json, say, show
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.output import check_output_file
from paretosoc.dse.tools.campaign.analyse.comparison import (
    REGRESSIONS,
    RunChange,
    Verdict,
    compare_campaigns,
)
from paretosoc.dse.tools.campaign.analyse.pivot import (
    SUFFIXES,
    Aggregation,
    Cell,
    Pivot,
    chosen,
    make_pivot,
    member_rows,
    named,
    parquet_bytes,
    rows_csv,
    run_rows,
)
from paretosoc.dse.tools.campaign.analyse.report import REPORT, Layout, default_layout, write_report
from paretosoc.dse.tools.campaign.analyse.values import parse_value
from paretosoc.dse.tools.campaign.store.run import RunStatus
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.dse.workload.fields import split
from paretosoc.results.problem.objectives import format_number

Rows = Annotated[str | None, Option("--rows", help="Fields of the rows, separated by commas.")]
Columns = Annotated[
    str | None, Option("--columns", help="Fields of the columns, separated by commas.")
]
Where = Annotated[list[str] | None, Option("--where", help="Select runs: FIELD=VALUE. Repeatable.")]
SHOWN_FAILURES = 10


def status(folder: opt.CampaignFolder, as_json: opt.AsJson = False) -> None:
    """Show the progress of a campaign, and the runs that have failed."""
    with Store(folder) as store:
        counts, at_work, title = store.counts(), store.at_work(), store.title
        most = None if as_json else SHOWN_FAILURES
        failed = list(store.records(RunStatus.FAILED, most=most, figures=False))
    total = sum(count for count, _ in counts.values())
    if as_json:
        document = {
            "title": title,
            "runs": total,
            **{entry.value: count for entry, (count, _) in counts.items()},
            "at_work": at_work,
            "seconds": sum(seconds for _, seconds in counts.values()),
            "failures": [{"name": run.name, "error": run.error} for run in failed],
        }
        print_json(document)
        return
    done, seconds = counts[RunStatus.FINISHED]
    print(title)
    print(
        f"{pluralize(total, 'run')}: "
        + ", ".join(f"{count:,} {s.value}" for s, (count, _) in counts.items())
    )
    if done:
        print(
            f"{seconds / done:.2f} s for a finished run in the mean, {format_number(seconds)} s "
            "for all finished ones"
        )
    if at_work:
        print(f"{at_work:,} of those waiting are claimed by a process at work")
    for run in failed:
        lines = (run.error or "").strip().splitlines()
        print(f"failed: {run.name}: {lines[-1] if lines else ''}")
    more = counts[RunStatus.FAILED][0] - len(failed)
    if more > 0:
        print(f"and {more:,} more failed")


def table(
    folder: opt.CampaignFolder,
    rows: Rows = None,
    columns: Columns = None,
    value: Annotated[
        str,
        Option(
            help="Value per cell: an objective (its best), energy@latency=10 (best within 10 "
            "ms), hypervolume, gain, gain:BASELINE, members, evaluations or seconds."
        ),
    ] = "latency",
    over: Annotated[
        Aggregation, Option(help="Aggregation of several runs in one cell, such as seeds.")
    ] = Aggregation.BEST,
    where: Where = None,
    csv: Annotated[bool, Option("--csv", help="Print CSV.")] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Print a value of the runs as a table, by their settings, networks or tags."""
    if as_json:
        refuse_options("prints the table, without --json", "csv")
    with Store(folder) as store:
        everything = list(store.records())
    records = chosen(everything, where or ())
    layout = default_layout(records)
    pivot = make_pivot(
        records,
        parse_value(value, everything),
        split(rows or "") or layout.rows,
        split(columns or "") or layout.columns,
        over,
    )
    if as_json:
        print_json(_document(pivot))
    elif csv:
        heads = [*pivot.row_fields, *(" / ".join(named(column)) for column in pivot.columns)]
        cells = (["" if cell is None else cell.value for cell in row] for row in pivot.cells)
        lines = ([*named(label), *row] for label, row in zip(pivot.rows, cells, strict=True))
        print(csv_text(heads, lines), end="")
    else:
        _print(pivot)


def export(
    folder: opt.CampaignFolder,
    output: Annotated[Path, Option("--output", "-o", help="A .csv or .parquet file.")],
    members: Annotated[
        bool, Option("--members", help="One row per member instead of one per run.")
    ] = False,
    where: Where = None,
    force: opt.Force = False,
) -> None:
    """Write the runs, or the members of their fronts, as CSV or Parquet."""
    check_output_file(output, overwrite=force, suffixes=SUFFIXES)
    with Store(folder) as store:
        everything = list(store.records())
    records = chosen(everything, where or ())
    flat = member_rows(records) if members else run_rows(records, everything)
    if members and not flat:
        raise WorkloadError("--members: no run that is selected has a front")
    data = parquet_bytes(flat) if output.suffix == ".parquet" else rows_csv(flat).encode()
    replace_file(output, data)
    print(f"Written to {output}: {pluralize(len(flat), 'row')}")


def report(
    folder: opt.CampaignFolder,
    rows: Rows = None,
    columns: Columns = None,
    by: Annotated[str | None, Option("--by", help="Fields with one heat map per value.")] = None,
    value: Annotated[
        list[str] | None, Option("--value", help="Value, as for 'dse campaign table'. Repeatable.")
    ] = None,
) -> None:
    """Write DIR/report.html: heat maps whose cells open the fronts, each a page in DIR/fronts."""
    with Store(folder) as store:
        default = default_layout(list(store.records(figures=False)))
        layout = Layout(
            tuple(split(rows or "")) or default.rows,
            tuple(split(columns or "")) or default.columns,
            default.by if by is None else tuple(split(by)),
        )
        written = write_report(store, layout, value or ())
    print(
        f"Written to {folder / REPORT}; {pluralize(written.pages, 'page')} of fronts, "
        f"{written.new_pages:,} of them new"
    )


def compare(
    before: Annotated[Path, Argument(help="Folder of a campaign.", metavar="BEFORE")],
    after: Annotated[Path, Argument(help="Folder of another.", metavar="AFTER")],
    tolerance: Annotated[float, Option(min=0, help="Tolerated regression in percent.")] = 0.0,
    as_json: opt.AsJson = False,
) -> int:
    """Compare two campaigns run by run. Exit status 1 if a run of the second one is worse."""
    with Store(before) as first, Store(after) as second:
        changes = compare_campaigns(
            list(first.records()), list(second.records()), tolerance_percent=tolerance
        )
    counts = Counter(change.verdict for change in changes)
    regressed = sum(counts[verdict] for verdict in REGRESSIONS)
    if as_json:
        document = [{**asdict(change), "verdict": change.verdict.value} for change in changes]
        print_json({"regressions": regressed, "runs": document})
        return 1 if regressed else 0
    for change in changes:
        if change.verdict not in (Verdict.SAME, Verdict.WITHIN, Verdict.NOT_COMPARED):
            print(_describe_change(change))
    inputs = Counter(text for change in changes for text in change.inputs_changed)
    for text, count in inputs.items():
        print(f"inputs of {pluralize(count, 'run')} differ in {text}")
    print(
        f"{pluralize(len(changes), 'run')}: "
        + ", ".join(f"{counts[entry]:,} {entry.value}" for entry in Verdict if counts[entry])
    )
    if regressed:
        say(f"{pluralize(regressed, 'run')} worse by more than {tolerance:g} %, or missing")
    return 1 if regressed else 0


def _describe_change(change: RunChange) -> str:
    parts = []
    if change.hypervolumes is not None:
        first, second = change.hypervolumes
        parts.append(f"hypervolume {100 * first:.3f} % -> {100 * second:.3f} %")
        for entry in change.objectives:
            way = "worse" if entry.worse_by > 0 else "better"
            parts += [f"{entry.name} {abs(entry.worse_by):.3f} % {way}"] if entry.worse_by else []
    elif change.status is not None:
        parts.append(" -> ".join(change.status))
    return f"{change.verdict.value}: {change.name}" + (f": {', '.join(parts)}" if parts else "")


def _print(pivot: Pivot) -> None:
    unit = f", {pivot.value.unit}" if pivot.value.unit else ""
    several = max((cell.runs for row in pivot.cells for cell in row if cell), default=1)
    title = f"{pivot.value.label}{unit}"
    if several > 1:
        title += f"; the {pivot.over.value} of up to {several} runs a cell"
    # The parts of a head, and of a run's name in it, below each other.
    heads = (">" + "\n".join(named(column)).replace(" / ", "\n") for column in pivot.columns)
    tables = fitting_tables(
        [*pivot.row_fields, *heads],
        [
            [*named(label), *map(_text, cells)]
            for label, cells in zip(pivot.rows, pivot.cells, strict=True)
        ],
        len(pivot.row_fields),
        open_console().width,
        [None] * len(pivot.rows),
    )
    show(title, *tables[:-1])


def _text(cell: Cell | None) -> str:
    """Format a number for people, or return the status of a run that has none."""
    if cell is None:
        return ""
    return cell.text or (cell.best.status.value if cell.best.figures is None else "-")


def _document(pivot: Pivot) -> dict[str, object]:
    return {
        "value": pivot.value.text,
        "unit": pivot.value.unit,
        "over": pivot.over.value,
        "row_fields": pivot.row_fields,
        "column_fields": pivot.column_fields,
        "rows": pivot.rows,
        "columns": pivot.columns,
        "cells": [[None if cell is None else cell.value for cell in row] for row in pivot.cells],
    }

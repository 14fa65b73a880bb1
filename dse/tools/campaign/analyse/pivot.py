"""Runs as a table: rows and columns by the fields that distinguish them (settings, parts of their
workloads, tags), a value in every cell."""

from __future__ import annotations

import io
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import compress
from typing import Any

from paretosoc.common.tables import csv_text
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.exact_numbers import parse_number
from paretosoc.dse.tools.campaign.analyse.values import (
    Value,
    best_of,
    objective_names,
    objective_of,
    parse_value,
)
from paretosoc.dse.tools.campaign.plan.settings import FILE_FIELDS, PLACES, RUN_FIELDS, file_label
from paretosoc.dse.tools.campaign.store.run import DONE, RunRecord
from paretosoc.dse.workload.options import AXES
from paretosoc.results.io.optional import optional_import
from paretosoc.results.problem.objectives import format_number

NOT_GIVEN = "none"
"""Text of a field without a value."""


def field_of(record: RunRecord, name: str) -> str:
    """Return the value of a field as text, empty if it was not given."""
    if name in record.tags:
        value: object = record.tags[name]
    elif name in PLACES:
        place = PLACES.index(name)
        value = record.networks[place] if place < len(record.networks) else None
    elif name == "status":
        value = record.status.value
    elif name in RUN_FIELDS:
        value = getattr(record, name)
    else:
        value = getattr(record.settings, name, None)
        if name in FILE_FIELDS and value is not None:
            value = file_label(value)
    return "" if value is None else str(value)


def named(label: Sequence[str]) -> list[str]:
    """Return values of fields with a word for what was not given."""
    return [part or NOT_GIVEN for part in label]


def check_fields(names: Sequence[str], records: Sequence[RunRecord], option: str) -> None:
    """Check names of fields.

    Raises:
        WorkloadError: on any other. The existing fields are named.
    """
    tags = dict.fromkeys(name for record in records for name in record.tags)
    known = (*RUN_FIELDS, *PLACES, *AXES, *tags)
    for name in names:
        if name not in known:
            raise WorkloadError(f"{option}: one of {', '.join(known)} is required, got {name!r}")


def varying_fields(records: Sequence[RunRecord]) -> tuple[str, ...]:
    """Return the settings beside the workload that are not the same in all runs."""
    return tuple(name for name in AXES if len({field_of(record, name) for record in records}) > 1)


def chosen(records: Sequence[RunRecord], where: Sequence[str]) -> list[RunRecord]:
    """Return the runs that fit all of ``FIELD=VALUE``. Numbers are compared as numbers.

    Raises:
        WorkloadError: on another form, or a field or value that there is not.
    """
    kept = list(records)
    for text in where:
        name, equals, value = text.partition("=")
        if not equals:
            raise WorkloadError(f"--where: FIELD=VALUE is required, got {text!r}")
        check_fields([name], records, "--where")
        values = named([field_of(record, name) for record in kept])
        fits = [_equal(each, value or NOT_GIVEN) for each in values]
        if not any(fits):
            known = ", ".join(dict.fromkeys(values))
            raise WorkloadError(f"--where {name}: one of {known} is required, got {value!r}")
        kept = list(compress(kept, fits))
    return kept


def _equal(one: str, other: str) -> bool:
    number = parse_number(one)
    return one == other or (number is not None and number == parse_number(other))


class Aggregation(Enum):
    """Number of a cell with several runs: the best of theirs, the worst, or between."""

    BEST = "best"
    WORST = "worst"
    MEDIAN = "median"
    MEAN = "mean"


@dataclass(frozen=True)
class Cell:
    """Several runs in one place: the number shown, how many there are, and the best of them."""

    value: float | None
    runs: int
    best: RunRecord

    @property
    def text(self) -> str:
        """Return the number for people: a count is whole. Empty without a number."""
        if self.value is None:
            return ""
        return f"{self.value:,}" if isinstance(self.value, int) else format_number(self.value)


@dataclass(frozen=True)
class Pivot:
    """A table. ``cells`` [rows][columns] are None if there is no run."""

    value: Value
    over: Aggregation
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[tuple[str, ...], ...]
    row_fields: tuple[str, ...]
    column_fields: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]


def make_pivot(
    records: Sequence[RunRecord],
    value: Value,
    rows: Sequence[str],
    columns: Sequence[str],
    over: Aggregation = Aggregation.BEST,
) -> Pivot:
    """Return the table, labels in the order of the plan.

    Raises:
        WorkloadError: on a field that the runs do not have.
    """
    check_fields(rows, records, "--rows")
    check_fields(columns, records, "--columns")
    places: dict[tuple[tuple[str, ...], tuple[str, ...]], list[RunRecord]] = {}
    for record in records:
        row = tuple(field_of(record, name) for name in rows)
        column = tuple(field_of(record, name) for name in columns)
        places.setdefault((row, column), []).append(record)
    row_labels = tuple(dict.fromkeys(row for row, _ in places))
    column_labels = tuple(dict.fromkeys(column for _, column in places))
    return Pivot(
        value=value,
        over=over,
        rows=row_labels,
        columns=column_labels,
        row_fields=tuple(rows),
        column_fields=tuple(columns),
        cells=tuple(
            tuple(
                _cell(places[row, column], value, over) if (row, column) in places else None
                for column in column_labels
            )
            for row in row_labels
        ),
    )


def _cell(records: Sequence[RunRecord], value: Value, over: Aggregation) -> Cell:
    found = [(number, run) for run in records if (number := value.of(run)) is not None]
    if not found:
        return Cell(None, len(records), records[0])
    numbers = [number for number, _ in found]
    better, worse = (max, min) if value.larger_is_better else (min, max)
    best = better(numbers)
    aggregates: dict[Aggregation, Callable[[list[float]], float]] = {
        Aggregation.BEST: better,
        Aggregation.WORST: worse,
        Aggregation.MEDIAN: statistics.median,
        Aggregation.MEAN: statistics.fmean,
    }
    return Cell(aggregates[over](numbers), len(records), next(run for n, run in found if n == best))


SUFFIXES = (".csv", ".parquet")
_NUMBERS = ("seconds", "cpu_seconds", "evaluations", "members")


def run_rows(records: Sequence[RunRecord], everything: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return one row per run: fields, tags, the best of each objective in its unit, hypervolume
    beside ``everything``, and gain. Missing numbers are None. All rows have the same keys."""
    tags = dict.fromkeys(name for record in records for name in record.tags)
    volume, gain = parse_value("hypervolume", everything), parse_value("gain", everything)
    names = objective_names(records)
    return [
        {
            "hash": record.hash,
            "name": record.name,
            "workload": record.workload,
            **{f"tag_{name}": record.tags.get(name) for name in tags},
            **{name: _plain(record, name) for name in AXES},
            "status": record.status.value,
            "error": record.error,
            **{name: getattr(record, name) for name in _NUMBERS},
            "attempts": record.attempts + (record.status in DONE),
            **{_column(name): best_of(record.figures, name) for name in names},
            "hypervolume_percent": volume.of(record),
            "gain_over_baselines": gain.of(record),
        }
        for record in records
    ]


def member_rows(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return one row per member of a front: the run's hash and name, and its objectives in their
    units."""
    names = objective_names(records)
    return [
        {
            "hash": record.hash,
            "name": record.name,
            "member": index,
            **{_column(name): best_of(record.figures, name, [row]) for name in names},
        }
        for record in records
        if record.figures is not None
        for index, row in enumerate(record.figures.objectives)
    ]


def rows_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as CSV, with a line of names."""
    return csv_text(rows[0] if rows else [], (row.values() for row in rows))


def parquet_bytes(rows: Sequence[dict[str, Any]]) -> bytes:
    """Return the rows as a Parquet file.

    Raises:
        ResultError: if pyarrow is not installed.
    """
    arrow: Any = optional_import("pyarrow", extra="parquet", purpose="Parquet")
    parquet: Any = optional_import("pyarrow.parquet", extra="parquet", purpose="Parquet")
    stream = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(list(rows)), stream)
    return stream.getvalue()


def _plain(record: RunRecord, name: str) -> Any:
    value = getattr(record.settings, name)
    return field_of(record, name) if isinstance(value, str) else value


def _column(name: str) -> str:
    """Rename ``latency_ps:vgg19`` to ``latency_ms:vgg19``."""
    _, colon, network = name.partition(":")
    objective = objective_of(name)
    unit = objective.unit.replace("/", "_per_").replace("%", "percent")
    return f"{objective.kind.value.replace('-', '_')}_{unit}{colon}{network}"

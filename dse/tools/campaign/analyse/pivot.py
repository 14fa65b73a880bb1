"""Runs as a table: rows and columns by the fields that distinguish them (settings, parts of their
workloads, tags), in every cell a value, a number for each run with its direction."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.exact_numbers import parse_number
from paretosoc.dse.tools.campaign.plan.settings import FILE_FIELDS, file_label
from paretosoc.dse.tools.campaign.store.run import BaselineFigures, FrontFigures, RunRecord
from paretosoc.dse.workload.options import AXES
from paretosoc.results.front.dominance import hypervolume_shares
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

Figure = Callable[[RunRecord], float | None]

FORMS = (
    "an objective (latency, energy, latency:NETWORK, ...), OBJECTIVE@OBJECTIVE=NUMBER, "
    "hypervolume, gain, gain:BASELINE, members, evaluations or seconds"
)


@dataclass(frozen=True)
class Value:
    """A number of each run, or None."""

    text: str
    label: str
    unit: str
    larger_is_better: bool
    of: Figure


def parse_value(text: str, records: Sequence[RunRecord]) -> Value:
    """Parse a value, one of :data:`FORMS`.

    ``energy@latency=10``: the least energy of members whose latency is 10 ms at most.
    ``hypervolume``: as a share of that of all runs of the same workload, platform and objectives
    together, up to 1.1 x the nadir of their fronts. ``gain``: factor by which the best latency (or
    first objective) is better than that of the best baseline that keeps all constraints, or of one
    baseline.

    Raises:
        WorkloadError: on any other text.
    """
    if text == "hypervolume":
        return Value(text, "hypervolume", "%", True, _hypervolumes(records))
    if text in ("members", "evaluations", "seconds"):
        unit = "s" if text == "seconds" else ""
        return Value(text, text, unit, text == "members", lambda run: getattr(run, text))
    word, colon, baseline = text.partition(":")
    if word == "gain":
        return _gain(text, baseline if colon else None, records)
    wanted, at, condition = text.partition("@")
    objective = _objective(wanted, text)
    limit = _limit(condition, text) if at else None
    label = wanted if limit is None else f"{wanted} at {condition.replace('=', ' ')}"
    return Value(
        text,
        label,
        objective.unit,
        objective.larger_is_better,
        lambda run: _best(run.figures, wanted, objective, limit),
    )


@dataclass(frozen=True)
class _Limit:
    name: str
    objective: Objective
    value: float


def _objective(text: str, whole: str) -> Objective:
    kind = text.partition(":")[0]
    if kind not in {entry.value for entry in ObjectiveKind}:
        raise WorkloadError(f"--value: {FORMS} is required, got {whole!r}")
    return Objective(ObjectiveKind(kind))


def _limit(condition: str, whole: str) -> _Limit:
    name, equals, number = condition.partition("=")
    value = parse_number(number) if equals else None
    if value is None:
        raise WorkloadError(f"--value: OBJECTIVE@OBJECTIVE=NUMBER is required, got {whole!r}")
    return _Limit(name, _objective(name, whole), float(value))


def _column(figures: FrontFigures, name: str) -> int | None:
    """Return the place of an objective among those of a front."""
    kind, colon, network = name.partition(":")
    file_name = ObjectiveKind(kind).spec.file_name + (f":{network}" if colon else "")
    return figures.names.index(file_name) if file_name in figures.names else None


def _best(
    figures: FrontFigures | None, name: str, objective: Objective, limit: _Limit | None
) -> float | None:
    if figures is None:
        return None
    column = _column(figures, name)
    if column is None:
        return None
    rows: Sequence[tuple[int, ...]] = figures.objectives
    if limit is not None:
        other = _column(figures, limit.name)
        if other is None:
            return None
        larger = limit.objective.larger_is_better
        shown = [limit.objective.shown(row[other]) for row in rows]
        rows = [
            row
            for row, value in zip(rows, shown, strict=True)
            if (value >= limit.value if larger else value <= limit.value)
        ]
    if not rows:
        return None
    return objective.shown(min(row[column] for row in rows))


def _gain(text: str, baseline: str | None, records: Sequence[RunRecord]) -> Value:
    if baseline is not None:
        known = dict.fromkeys(
            entry.name for run in records if run.figures for entry in run.figures.baselines
        )
        if baseline not in known:
            raise WorkloadError(
                f"--value {text}: one of the baselines {', '.join(known) or '(none)'} is required"
            )

    def figure(run: RunRecord) -> float | None:
        if run.figures is None:
            return None
        column = _column(run.figures, "latency") or 0
        entries = [
            entry
            for entry in run.figures.baselines
            if (entry.keeps_constraints if baseline is None else entry.name == baseline)
        ]
        return _factor(run.figures, entries, column)

    label = f"gain over {baseline or 'the best baseline'}"
    return Value(text, label, "x", True, figure)


def _factor(
    figures: FrontFigures, baselines: Sequence[BaselineFigures], column: int
) -> float | None:
    """Return the factor by which a front is better. Values below 0 are those that people
    maximise."""
    if not baselines:
        return None
    theirs = min(entry.objectives[column] for entry in baselines)
    ours = min(row[column] for row in figures.objectives)
    if ours == 0 or theirs == 0:
        return None
    return ours / theirs if ours < 0 else theirs / ours


def front_group(run: RunRecord) -> tuple[str, ...]:
    """Return a key that is equal for runs whose hypervolumes are measured together."""
    names = () if run.figures is None else tuple(sorted(run.figures.names))
    return run.workload, run.settings.platform, *names


def _hypervolumes(records: Sequence[RunRecord]) -> Figure:
    groups: dict[tuple[str, ...], list[RunRecord]] = defaultdict(list)
    for run in records:
        if run.figures is not None:
            groups[front_group(run)].append(run)
    shares: dict[str, float] = {}
    for runs in groups.values():
        fronts = [objectives_in_order(run.figures) for run in runs if run.figures is not None]
        for run, share in zip(runs, hypervolume_shares(fronts), strict=True):
            shares[run.hash] = 100 * share
    return lambda run: shares.get(run.hash)


def objectives_in_order(figures: FrontFigures) -> IntArray:
    """Return [members, objectives], with columns ordered by the names of the objectives."""
    order = sorted(range(len(figures.names)), key=lambda column: figures.names[column])
    rows: IntArray = np.array(figures.objectives, dtype=np.int64).reshape(-1, len(order))
    return rows[:, order]


_PLACES = ("first", "second", "third", "fourth")
"""The networks of a workload, one by one."""
_OTHERS = ("name", "workload", "status")


def field_names(records: Sequence[RunRecord]) -> tuple[str, ...]:
    """Return all fields that these runs have."""
    tags = dict.fromkeys(name for record in records for name in record.tags)
    return (*_OTHERS, *_PLACES, *AXES, *tags)


def field_of(record: RunRecord, name: str) -> str:
    """Return the value of a field as text, empty if it was not given."""
    if name in record.tags:
        value: object = record.tags[name]
    elif name in _PLACES:
        place = _PLACES.index(name)
        value = record.networks[place] if place < len(record.networks) else None
    elif name == "status":
        value = record.status.value
    elif name in _OTHERS:
        value = getattr(record, name)
    else:
        value = getattr(record.settings, name, None)
        if name in FILE_FIELDS and value is not None:
            value = file_label(value)
    return "" if value is None else str(value)


def check_fields(names: Sequence[str], records: Sequence[RunRecord], option: str) -> None:
    """Check names of fields.

    Raises:
        WorkloadError: on any other. The existing fields are named.
    """
    known = field_names(records)
    for name in names:
        if name not in known:
            raise WorkloadError(f"{option}: one of {', '.join(known)} is required, got {name!r}")


def varying_fields(records: Sequence[RunRecord]) -> tuple[str, ...]:
    """Return the settings beside the workload that are not the same in all runs."""
    return tuple(name for name in AXES if len({field_of(record, name) for record in records}) > 1)


def chosen(records: Sequence[RunRecord], where: Sequence[str]) -> list[RunRecord]:
    """Return the runs that fit all of ``FIELD=VALUE``.

    Raises:
        WorkloadError: on another form, or a field that there is not.
    """
    kept = list(records)
    for text in where:
        name, equals, value = text.partition("=")
        if not equals:
            raise WorkloadError(f"--where: FIELD=VALUE is required, got {text!r}")
        check_fields([name], records, "--where")
        kept = [record for record in kept if field_of(record, name) == value]
    return kept


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

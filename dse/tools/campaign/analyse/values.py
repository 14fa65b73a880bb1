"""Values of a table of runs: a number for each run, and its direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.exact_numbers import parse_number
from paretosoc.dse.tools.campaign.store.run import BaselineFigures, FrontFigures, RunRecord
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
    ``hypervolume``: as a share of that of all runs of the same workload, batch, platform and
    objectives together, up to 1.1 x the nadir of their fronts. ``gain``: factor by which the best
    latency (or first objective) is better than that of the best baseline that keeps all
    constraints, or of one baseline.

    Raises:
        WorkloadError: on any other text, or an objective that no run has.
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
    for name in (wanted, *([] if limit is None else [limit.name])):
        _check_known(name, records)
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


def _check_known(name: str, records: Sequence[RunRecord]) -> None:
    found = [run.figures for run in records if run.figures is not None]
    if found and all(_column(figures, name) is None for figures in found):
        spelt = {kind.spec.file_name: kind.value for kind in ObjectiveKind}
        parts = (each.partition(":") for figures in found for each in figures.names)
        known = dict.fromkeys(spelt[kind] + colon + network for kind, colon, network in parts)
        raise WorkloadError(
            f"--value: an objective of the runs ({', '.join(known)}) is required, got {name!r}"
        )


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
    return run.workload, run.settings.batch or "", run.settings.platform, *names


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

"""Values of a table of runs: a number for each run, and its direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.exact_numbers import parse_number
from paretosoc.dse.tools.campaign.store.run import FrontFigures, Row, RunRecord
from paretosoc.results.front.dominance import hypervolume_shares
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, kind_named

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
    name = _known_name(wanted, text, records)
    objective, limit, label = objective_of(name), None, wanted
    if at:
        other, equals, number = condition.partition("=")
        bound = parse_number(number) if equals else None
        if bound is None:
            raise WorkloadError(f"--value: OBJECTIVE@OBJECTIVE=NUMBER is required, got {text!r}")
        limit = _known_name(other, text, records), float(bound)
        label = f"{wanted} at {condition.replace('=', ' ')}"

    def figure(run: RunRecord) -> float | None:
        return best_of(run.figures, name, limit and _within(run.figures, *limit))

    return Value(text, label, objective.unit, objective.larger_is_better, figure)


_BY_FILE_NAME = {kind.spec.file_name: kind for kind in ObjectiveKind}


def objective_of(name: str) -> Objective:
    """Return an objective by its name in ``front.json``, without its network.

    Raises:
        WorkloadError: if it is of a package that is not installed.
    """
    word = name.partition(":")[0]
    kind = _BY_FILE_NAME.get(word) or kind_named(word)
    if kind is None:
        raise WorkloadError(f"objective {word!r}: no installed package registers it")
    return Objective(kind)


def spelt(name: str) -> str:
    """Return the name of an objective on the command line, from that in ``front.json``."""
    word, colon, network = name.partition(":")
    return objective_of(word).kind.value + colon + network


def objective_names(records: Sequence[RunRecord]) -> tuple[str, ...]:
    """Return the objectives of all runs, each once, by their names in ``front.json``."""
    known = (record.figures.names for record in records if record.figures)
    return tuple(dict.fromkeys(name for names in known for name in names))


def best_of(
    figures: FrontFigures | None, name: str, rows: Sequence[Row] | None = None
) -> float | None:
    """Return the best value of an objective over all members or some, in its unit."""
    if figures is None or name not in figures.names:
        return None
    column = figures.names.index(name)
    rows = figures.objectives if rows is None else rows
    return objective_of(name).shown(min(row[column] for row in rows)) if rows else None


def _within(figures: FrontFigures | None, name: str, bound: float) -> list[Row]:
    """Return the members that keep a limit."""
    if figures is None or name not in figures.names:
        return []
    column, objective = figures.names.index(name), objective_of(name)
    larger = objective.larger_is_better
    shown = [(row, objective.shown(row[column])) for row in figures.objectives]
    return [row for row, value in shown if (value >= bound if larger else value <= bound)]


def _known_name(text: str, whole: str, records: Sequence[RunRecord]) -> str:
    """Return the name in ``front.json`` of an objective that some run has."""
    word, colon, network = text.partition(":")
    kind = kind_named(word)
    if kind is None:
        raise WorkloadError(f"--value: {FORMS} is required, got {whole!r}")
    name, known = kind.spec.file_name + colon + network, objective_names(records)
    if known and name not in known:
        raise WorkloadError(
            f"--value: an objective of the runs ({', '.join(map(spelt, known))}) is required, "
            f"got {text!r}"
        )
    return name


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
        names = run.figures.names
        column = names.index("latency_ps") if "latency_ps" in names else 0
        entries = [
            entry
            for entry in run.figures.baselines
            if (entry.keeps_constraints if baseline is None else entry.name == baseline)
        ]
        theirs = min((entry.objectives[column] for entry in entries), default=0)
        ours = min(row[column] for row in run.figures.objectives)
        if not ours or not theirs:
            return None
        # Maximised values are below 0.
        return ours / theirs if ours < 0 else theirs / ours

    label = f"gain over {baseline or 'the best baseline'}"
    return Value(text, label, "x", True, figure)


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

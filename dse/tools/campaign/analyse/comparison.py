"""Run-by-run comparison of two campaigns: changes and regressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from paretosoc.dse.tools.campaign.analyse.values import objectives_in_order
from paretosoc.dse.tools.campaign.plan.run_inputs import RunInputs, subject_key
from paretosoc.dse.tools.campaign.store.run import RunRecord, RunStatus
from paretosoc.results.front.dominance import hypervolume_shares


class Verdict(Enum):
    """Change of a run from the first campaign to the second."""

    SAME = "same"
    """The same front, to the last digit."""
    WITHIN = "within the tolerance"
    BETTER = "better"
    WORSE = "worse"
    MISSING = "missing"
    """The second campaign does not have it, or has not done it."""
    NEW = "new"
    NOT_COMPARED = "not compared"
    """Neither has a front."""


REGRESSIONS = (Verdict.WORSE, Verdict.MISSING)


@dataclass(frozen=True)
class ObjectiveChange:
    """Best value of an objective in both, as in ``front.json``. ``worse_by``: in per cent of the
    first, below 0 if it is better."""

    name: str
    before: int
    after: int
    worse_by: float


@dataclass(frozen=True)
class RunChange:
    """One run in both campaigns. Hypervolumes are shares of that of both fronts together."""

    name: str
    verdict: Verdict
    inputs_changed: tuple[str, ...] = ()
    status: tuple[str, str] | None = None
    hypervolumes: tuple[float, float] | None = None
    objectives: tuple[ObjectiveChange, ...] = ()
    before_hash: str | None = None
    after_hash: str | None = None


def compare_campaigns(
    before: Sequence[RunRecord], after: Sequence[RunRecord], *, tolerance_percent: float = 0.0
) -> list[RunChange]:
    """Compare runs with equal settings and names of files, in the order of the first campaign, then
    list those that only the second one has.

    A run is worse if its hypervolume, or the best value of an objective, is worse by more than the
    tolerance, or if it had a front and has none any more.
    """
    second = {subject_key(run.settings): run for run in after}
    changes = []
    for run in before:
        other = second.pop(subject_key(run.settings), None)
        if other is None:
            changes.append(RunChange(run.name, Verdict.MISSING, before_hash=run.hash))
        else:
            changes.append(_change(run, other, tolerance_percent))
    changes += [RunChange(run.name, Verdict.NEW, after_hash=run.hash) for run in second.values()]
    return changes


def inputs_changed(before: RunInputs, after: RunInputs) -> tuple[str, ...]:
    """Return which inputs of two runs that ask the same are not the same, as text."""
    changed = []
    if before.program != after.program:
        changed.append(f"program: {before.program} and {after.program}")
    contents = dict(before.contents), dict(after.contents)
    for what in dict.fromkeys((*contents[0], *contents[1])):
        if contents[0].get(what) != contents[1].get(what):
            changed.append(what)
    if (before.starts_from is None) != (after.starts_from is None):
        changed.append("whether it begins with another run's front")
    return tuple(changed)


def _change(run: RunRecord, other: RunRecord, tolerance: float) -> RunChange:
    change = RunChange(
        run.name,
        Verdict.NOT_COMPARED,
        inputs_changed(run.inputs, other.inputs),
        (run.status.value, other.status.value),
        before_hash=run.hash,
        after_hash=other.hash,
    )
    if run.figures is None:
        return change if other.figures is None else replace(change, verdict=Verdict.BETTER)
    if other.figures is None:
        is_waiting = other.status is RunStatus.WAITING
        return replace(change, verdict=Verdict.MISSING if is_waiting else Verdict.WORSE)
    fronts = [objectives_in_order(run.figures), objectives_in_order(other.figures)]
    first, second = hypervolume_shares(fronts)
    objectives = tuple(
        ObjectiveChange(name, before, after, 100 * (after - before) / (abs(before) or 1))
        for name, before, after in zip(
            sorted(run.figures.names),
            *(front.min(axis=0).tolist() for front in fronts),
            strict=True,
        )
    )
    lost = 100 * (1 - second / first) if first else 0.0
    figures = [lost, *(entry.worse_by for entry in objectives)]
    if fronts[0].tolist() == fronts[1].tolist():
        verdict = Verdict.SAME
    elif max(figures) > tolerance:
        verdict = Verdict.WORSE
    elif min(figures) < -tolerance:
        verdict = Verdict.BETTER
    else:
        verdict = Verdict.WITHIN
    return replace(change, verdict=verdict, hypervolumes=(first, second), objectives=objectives)

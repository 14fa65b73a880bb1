"""Which fronts can be proved: for which objectives and limits bounds are known."""

from __future__ import annotations

from collections.abc import Sequence

from results.errors import ResultError
from results.problem.objectives import objective_names
from results.problem.problem import EnergyUse, ObjectiveKind, Problem

MAX_POINTS = 62
"""Operating points of a domain that fit in the bits of a mask."""
_TIMES = (ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY)


def check_provable(problem: Problem, objectives: Sequence[int]) -> None:
    """Accepts a problem where every one of these objectives (positions) and every limit has bounds.

    Raises:
        ResultError: on networks that run freely; on throughput, efficiency or stretch; on energy in
            a pipeline; on power unless it is counted over a given period; on a pipeline with a
            power cap or an energy budget; on too long a ladder.
    """
    for column in objectives:
        kind = problem.objectives[column].kind
        reason = None
        if problem.free_running:
            reason = f"no bound on the {kind.value} of free-running networks is known"
        elif kind in (ObjectiveKind.THROUGHPUT, ObjectiveKind.STRETCH):
            reason = f"no bound on {kind.value} is known"
        elif kind not in _TIMES and problem.energy_use is EnergyUse.PIPELINE:
            reason = f"no bound on the {kind.value} of a pipeline is known"
        elif kind is ObjectiveKind.POWER and problem.energy_use is not EnergyUse.PERIODIC:
            reason = "a bound on power is known over a given period only (--fps)"
        elif kind is ObjectiveKind.EFFICIENCY:
            reason = "no bound on efficiency is known"
        if reason is not None:
            name = objective_names(problem)[column]
            raise ResultError(f"objective {name!r}: nothing can be proved about it: {reason}")
    limited = problem.power_cap_mw is not None or problem.energy_budget_fj is not None
    if problem.energy_use is EnergyUse.PIPELINE and limited:
        raise ResultError(
            "the fastest point cannot be proved where a power cap or energy budget holds for a "
            "pipeline: no bound on its power is known"
        )
    for domain in problem.domains:
        if len(domain.frequencies_khz) > MAX_POINTS:
            raise ResultError(
                f"domain {domain.name!r}: at most {MAX_POINTS} operating points can be proved "
                f"over, got {len(domain.frequencies_khz)}"
            )

"""Why nothing is feasible: each limit beside the best value that can be reached alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from common.arrays import IntArray
from dse.problem.constraint_status import limit_and_value, shown
from dse.search.driver import Budget, SearchResult, StoppedBy, search
from dse.space.design_space import DesignSpace
from fitness.constraints import Constraint, ConstraintKind, constraints_of
from fitness.objectives import make_outcomes
from results.io.plural import pluralize
from results.problem.execution import OneFrame, Periodic
from results.problem.objectives import Objective, ObjectiveKind
from results.problem.problem import Problem
from results.problem.rates import rate_uhz, times_alone_ps

PROBE_EVALUATIONS = 5_000
"""Spent on each constraint that the search did not meet, to see how near one can come to it."""
FREE_RUNNING_PROBE_EVALUATIONS = 300
"""The same where networks run freely: 5,000 took 69 s of the processor for six of them, the search
itself 4 s."""

_PROBES = {
    ConstraintKind.DEADLINE: ObjectiveKind.LATENCY,
    ConstraintKind.PERIOD: ObjectiveKind.LATENCY,
    ConstraintKind.RESPONSE_95: ObjectiveKind.RESPONSE_95,
    ConstraintKind.JITTER: ObjectiveKind.JITTER,
    ConstraintKind.MISSES: ObjectiveKind.MISSES,
    ConstraintKind.POWER: ObjectiveKind.POWER,
    ConstraintKind.ENERGY: ObjectiveKind.ENERGY,
}


_OVER_THE_PERIOD = (ConstraintKind.POWER, ConstraintKind.ENERGY)


def explain_infeasible(
    problem: Problem, result: SearchResult, *, seed: int, jobs: int = 1, probe: bool = True
) -> str:
    """The constraints that cannot be met, in one line or a few.

    With ``probe`` a constraint that no design point met is looked for alone: a short search with
    only its value to minimise. The result is what was found, not a proof.
    """
    if result.evaluations == 0 and result.stopped_by is StoppedBy.EXHAUSTED:
        return "no design point was proposed: the engine expects none to keep all constraints"
    if result.evaluations == 0:
        return "the search was ended before the first design point"
    head = f"no feasible design point in {pluralize(result.evaluations, 'evaluation')}"
    constraints = constraints_of(problem)
    least = [int(value) for value in result.least_constraint_values]
    for index, constraint in enumerate(constraints):
        if probe and least[index] > constraint.limit and constraint.kind in _PROBES:
            alone = _least_alone(_probe(problem, constraint), seed, jobs)
            least[index] = min([least[index], *alone])
    lines = []
    for entry, value in zip(constraints, least, strict=True):
        limit, found = limit_and_value(entry, value)
        best = "highest" if entry.is_least else "lowest"
        lines.append(f"{entry.name}: {limit}, {best} found {found}{_alone(problem, entry)}")
    over = [
        (entry.kind, line)
        for line, entry, value in zip(lines, constraints, least, strict=True)
        if value > entry.limit
    ]
    if any(kind is ConstraintKind.PERIOD for kind, _ in over):
        # Power and energy over a period that is too short mean nothing.
        over = [item for item in over if item[0] not in _OVER_THE_PERIOD]
    missed = [line for _, line in over]
    if missed:
        return f"{head}: {missed[0]}" if len(missed) == 1 else "\n".join([f"{head}:", *missed])
    requested = [
        line
        for line, entry in zip(lines, constraints, strict=True)
        if entry.kind is not ConstraintKind.SEGMENTS
    ]
    return "\n".join(
        [
            f"{head}; each constraint was met alone, but not all together, which is not proved to "
            "be impossible:",
            *requested,
        ]
    )


def _alone(problem: Problem, constraint: Constraint) -> str:
    """Behind the highest rate found: the rate that the network reaches alone on its best unit."""
    if constraint.kind is not ConstraintKind.RATE or constraint.index is None:
        return ""
    rate = rate_uhz(times_alone_ps(problem)[constraint.index])
    return f"; alone on its best unit it reaches {shown(rate, constraint.unit)}"


def _probe(problem: Problem, constraint: Constraint) -> Problem:
    """The problem with one value to minimise and only the limits on mappings.

    Over a fixed period power and energy mean something only where the makespan fits into it.
    """
    execution = problem.execution
    if isinstance(execution, Periodic) and constraint.kind not in _OVER_THE_PERIOD:
        execution = OneFrame()
    return replace(
        problem,
        objectives=(Objective(_PROBES[constraint.kind], constraint.index),),
        execution=execution,
        power_cap_mw=None,
        energy_budget_fj=None,
        networks=tuple(
            replace(
                entry,
                # Where it says what is late, it stays.
                deadline_ps=entry.deadline_ps if constraint.kind is ConstraintKind.MISSES else None,
                min_rate_uhz=None,
                deadline_95_ps=None,
                max_jitter_ps=None,
                max_misses=None,
            )
            for entry in problem.networks
        ),
    )


def _least_alone(problem: Problem, seed: int, jobs: int) -> list[int]:
    """The smallest value found of the only objective; nothing where no point is feasible."""
    from dse.search.optimizers.nsga2 import Nsga2Engine

    engine = Nsga2Engine(DesignSpace(problem), seed=seed)
    has_frame = problem.execution.has_frame
    evaluations = PROBE_EVALUATIONS if has_frame else FREE_RUNNING_PROBE_EVALUATIONS
    result = search(engine, make_outcomes(problem, jobs=jobs), Budget(evaluations))
    values: IntArray = result.objectives[:, 0]
    return [int(np.min(values))] if len(values) else []

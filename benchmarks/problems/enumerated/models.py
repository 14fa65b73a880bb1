"""Random small problems under every execution model that has bounds over boxes, and all their
design points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.problems.enumerated.space import Enumerated, all_designs
from benchmarks.problems.random_problem import (
    RandomShape,
    random_pipeline,
    random_problem,
    with_batches,
    with_dispatch,
)
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.execution import (
    ChannelUse,
    FreeRunning,
    IdleTime,
    OneFrame,
    Pipeline,
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

SHAPE = RandomShape(
    networks=(1, 2), groups=(1, 3), units=(1, 3), points=(1, 2), phases=True, any_slopes=True
)
MAX_DESIGNS = 200
KINDS = (
    ObjectiveKind.LATENCY,
    ObjectiveKind.THROUGHPUT,
    ObjectiveKind.ENERGY,
    ObjectiveKind.POWER,
    ObjectiveKind.EFFICIENCY,
    ObjectiveKind.TOKEN_ENERGY,
    ObjectiveKind.FAIRNESS,
)


def enumerated_model(seed: int) -> Enumerated | None:
    """Draw a frame, pipeline, closed form or free run, or None if it is too large.

    It has some of the objectives above, and sometimes a power cap, an energy budget, deadlines,
    most transitions or segments.
    """
    rng = np.random.default_rng((5, seed))
    problem = _problem(rng)
    problem = with_batches(rng.spawn(1)[0], problem)
    problem = with_dispatch(np.random.default_rng((37, seed)), problem)
    rows = all_designs(problem)
    if len(rows) > MAX_DESIGNS:
        return None
    kinds = [kind for kind in KINDS if type(problem.execution) in kind.spec.models]
    if not _has_power(problem):
        kinds.remove(ObjectiveKind.POWER)
    last = len(problem.networks) - 1

    def objectives(kinds: Sequence[ObjectiveKind]) -> tuple[Objective, ...]:
        return tuple(Objective(kind, last if kind.spec.needs_network else None) for kind in kinds)

    every = replace(problem, objectives=objectives(kinds))
    values = dict(zip(kinds, make_outcomes(every)(rows).objectives.T, strict=True))
    chosen = [kind for kind in kinds if rng.integers(2)] or [kinds[int(rng.integers(len(kinds)))]]
    problem = replace(problem, objectives=objectives(chosen))

    framed = problem.execution.has_frame

    def drawn(kind: ObjectiveKind) -> int:
        return max(1, int(np.quantile(values[kind], rng.random())))

    if _has_power(problem) and rng.integers(3) == 0:
        problem = replace(problem, power_cap_mw=1 + drawn(ObjectiveKind.POWER) // 1000)
    if rng.integers(3) == 0:
        problem = replace(problem, energy_budget_fj=drawn(ObjectiveKind.ENERGY))
    if rng.integers(3) == 0:
        networks = [
            replace(
                network,
                deadline_ps=drawn(ObjectiveKind.LATENCY) if framed and rng.integers(2) else None,
                max_transitions=int(rng.integers(3)) if rng.integers(2) else None,
            )
            for network in problem.networks
        ]
        units = [replace(unit, max_segments=int(rng.integers(1, 4))) for unit in problem.units]
        problem = replace(problem, networks=tuple(networks), units=tuple(units))
    outcomes = make_outcomes(problem)(rows)
    return Enumerated(problem, outcomes.objectives[outcomes.feasible], outcomes.objectives)


def _problem(rng: np.random.Generator) -> Problem:
    model = int(rng.integers(6))
    # Times of the closed form's channels have no bound: beside ties they would be nearly all.
    problem = random_problem(rng, replace(SHAPE, ties=model != 1 and bool(rng.integers(2))))
    match model:
        case 0:
            return replace(problem, execution=OneFrame())
        case 1:
            channels = ChannelUse.ALL if rng.integers(2) else ChannelUse.BETWEEN_UNITS
            idle_time = IdleTime.PERIOD if rng.integers(2) else IdleTime.SUM_OF_LOADS
            return random_pipeline(rng, problem, channels, idle_time)
        case 4 | 5:
            networks = tuple(
                replace(
                    network,
                    waits_for=(),
                    arrival_ps=0,
                    min_rate_uhz=int(rng.integers(1, 10**9)) if rng.integers(4) == 0 else None,
                )
                for network in problem.networks
            )
            free = FreeRunning(int(rng.integers(1, 5)))
            return replace(
                problem, networks=networks, execution=free, handovers=(), handover_ps=None
            )
        case _:
            return replace(problem, execution=Pipeline(int(rng.integers(1, 5))))


def _has_power(problem: Problem) -> bool:
    return getattr(problem.execution, "idle_time", None) is not IdleTime.SUM_OF_LOADS

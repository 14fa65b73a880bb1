"""Random small problems of one frame, or a frame in every period, with every kind of limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.problems.enumerated.space import Enumerated, all_designs
from benchmarks.problems.random_problem import (
    RandomShape,
    random_problem,
    with_batches,
    with_dispatch,
    with_priorities,
)
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.execution import Periodic, Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

SHAPE = RandomShape(
    networks=(1, 2), groups=(1, 3), units=(1, 3), points=(1, 2), phases=True, any_slopes=True
)
MAX_DESIGNS = 20_000


def enumerated(seed: int) -> Enumerated | None:
    """Draw a problem with many features, each sometimes, or None if it is too large.

    They are graphs, repeats, dependencies, shared clocks, up to five objectives, power cap, budget,
    period, deadlines, most transitions and segments.
    """
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, SHAPE)
    if seed % 7 < 3:
        problem = with_priorities(np.random.default_rng(seed), problem)
    problem = with_dispatch(np.random.default_rng((37, seed)), problem)
    objectives = [Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)]
    if rng.integers(3) == 0:
        n = int(rng.integers(len(problem.networks)))
        objectives.append(Objective(ObjectiveKind.LATENCY, n))
    if rng.integers(5) == 0:
        objectives.append(Objective(ObjectiveKind.INVERSE_LATENCY))
    problem = replace(problem, objectives=tuple(objectives))
    problem = with_batches(rng.spawn(1)[0], problem)
    rows = all_designs(problem)
    if len(rows) > MAX_DESIGNS:
        return None
    latency, energy = make_outcomes(problem)(rows).objectives[:, :2].T

    def drawn(values: np.ndarray) -> int:
        return max(1, int(np.quantile(values, rng.random())))

    how = int(rng.integers(5))
    if how == 0:
        problem = replace(
            problem,
            objectives=(*problem.objectives, Objective(ObjectiveKind.POWER)),
            execution=Periodic(drawn(latency)),
        )
    if how == 1:
        only = Objective(ObjectiveKind.LATENCY)
        problem = replace(problem, objectives=(only,), execution=Pipeline(1))
    elif rng.integers(3) == 0:
        cap = drawn(energy // np.maximum(latency, 1))
        problem = replace(problem, power_cap_mw=max(1, cap))
    if how != 1 and rng.integers(3) == 0:
        problem = replace(problem, energy_budget_fj=drawn(energy))
    if rng.integers(3) == 0:
        networks = [
            replace(
                network,
                deadline_ps=drawn(latency) if rng.integers(2) else None,
                max_transitions=int(rng.integers(3)) if rng.integers(2) else None,
            )
            for network in problem.networks
        ]
        problem = replace(problem, networks=tuple(networks))
    if rng.integers(3) == 0:
        units = [
            replace(unit, max_segments=int(rng.integers(1, 3)) if rng.integers(2) else None)
            for unit in problem.units
        ]
        problem = replace(problem, units=tuple(units))
    outcomes = make_outcomes(problem)(rows)
    return Enumerated(problem, outcomes.objectives[outcomes.feasible], outcomes.objectives)

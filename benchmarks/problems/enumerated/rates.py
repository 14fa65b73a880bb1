"""Random small problems of networks with rates of their own, and all their design points."""

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
    with_rates,
    with_waiting_releases,
)
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

SHAPE = RandomShape(networks=(1, 2), groups=(1, 3), units=(1, 3), points=(1, 2), any_slopes=True)
MAX_DESIGNS = 200
KINDS = (
    ObjectiveKind.RELATIVE_RESPONSE,
    ObjectiveKind.RESPONSE,
    ObjectiveKind.RESPONSE_95,
    ObjectiveKind.ENERGY,
    ObjectiveKind.POWER,
    ObjectiveKind.EFFICIENCY,
    ObjectiveKind.MISSES,
)


def enumerated_rates(seed: int) -> Enumerated | None:
    """Draw networks with rates, or None if the problem is too large.

    They have some of the objectives above, of all networks or one, the limits of rates, and
    sometimes a power cap or an energy budget.
    """
    rng = np.random.default_rng((23, seed))
    problem = with_rates(rng, random_problem(rng, replace(SHAPE, ties=bool(rng.integers(2)))))
    if rng.integers(3) == 0:
        problem = with_priorities(rng, problem)
    if seed % 3 == 0:
        problem = with_waiting_releases(np.random.default_rng((29, seed)), problem)
    if rng.integers(4) == 0:
        # All may be late.
        networks = [
            replace(network, deadline_ps=1, max_misses=problem.releases(n))
            for n, network in enumerate(problem.networks)
        ]
        problem = replace(problem, networks=tuple(networks))
    last = len(problem.networks) - 1
    kinds = [kind for kind in KINDS if rng.integers(2)] or [KINDS[int(rng.integers(len(KINDS)))]]
    narrowed = [kind.spec.of_one_network and bool(rng.integers(2)) for kind in kinds]
    problem = replace(
        problem,
        objectives=tuple(
            Objective(kind, last if one else None)
            for kind, one in zip(kinds, narrowed, strict=True)
        ),
    )
    problem = with_batches(rng.spawn(1)[0], problem)
    problem = with_dispatch(np.random.default_rng((37, seed)), problem)
    rows = all_designs(problem)
    if len(rows) > MAX_DESIGNS:
        return None
    both = (Objective(ObjectiveKind.ENERGY), Objective(ObjectiveKind.POWER))
    energy, power = make_outcomes(replace(problem, objectives=both))(rows).objectives.T
    if rng.integers(3) == 0:
        cap = 1 + int(np.quantile(power, rng.random())) // 1000
        problem = replace(problem, power_cap_mw=cap)
    if rng.integers(3) == 0:
        budget = max(1, int(np.quantile(energy, rng.random())))
        problem = replace(problem, energy_budget_fj=budget)
    outcomes = make_outcomes(problem)(rows)
    return Enumerated(problem, outcomes.objectives[outcomes.feasible], outcomes.objectives)

"""Random problems, fronts and errors of costs that tests of draws share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_rates,
)
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.costs.cost_origins import CostError
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

SHAPE = RandomShape(networks=(1, 2), groups=(1, 4), units=(2, 3), points=(2, 4))
ERROR = CostError(unit=40, network=60, group=80, power=100)


def problem_and_rows(seed, count=5):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, SHAPE)
    rows = np.stack([random_design(rng, problem).row for _ in range(count)])
    return rng, problem, DesignSpace(problem).canonical(rows)


def front_of(seed, count=30, *, rates=False):
    """Return a front of at least three members."""
    for more in range(50):
        rng = np.random.default_rng([seed, more])
        problem = random_problem(rng, SHAPE)
        kinds = (ObjectiveKind.LATENCY, ObjectiveKind.ENERGY)
        if rates:
            problem = with_rates(rng, problem)
            kinds = (ObjectiveKind.RELATIVE_RESPONSE, ObjectiveKind.POWER)
        problem = replace(problem, objectives=tuple(map(Objective, kinds)))
        rows = np.stack([random_design(rng, problem).row for _ in range(count)])
        rows = rows[make_outcomes(problem)(rows).feasible]
        if len(rows):
            front = seed_front(problem, DesignSpace(problem).canonical(rows), engine="search")
            if len(front.members) > 2:
                return front
    raise AssertionError("a front is found")


def two_networks():
    """Return a problem of two networks, the first of several groups, on units of two kinds."""
    for seed in range(100):
        _, problem, _ = problem_and_rows(seed)
        runs = all((unit.time_ps > 0).all() for unit in problem.units[:2])
        if len(problem.networks) == 2 and len(problem.networks[0].groups) > 1 and runs:
            return problem
    raise AssertionError("a problem is found")

"""Random spaces that can be enumerated, their rows and their fronts."""

import itertools
from dataclasses import replace

import numpy as np

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.problem.execution import Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

SHAPE = RandomShape(networks=(1, 2), groups=(1, 4), units=(2, 3), points=(1, 2))


def enumerated(space):
    """Every canonical row of a small space."""
    choices = [np.flatnonzero(row).tolist() for row in space.problem.allowed]
    choices += [points.tolist() for points in space.points]
    rows = np.array(list(itertools.product(*choices)), dtype=np.int64)
    return np.unique(space.canonical(rows), axis=0)


def small_space(seed, **changes):
    """A space with 31 to 3,999 choices; ``changes`` are fields of its problem."""
    rng = np.random.default_rng(seed)
    while True:
        space = DesignSpace(replace(random_problem(rng, SHAPE), **changes))
        if 30 < space.combinations < 4000:
            return space


def exact_front(space):
    """Its objective vectors, and the outcomes of every row."""
    rows = enumerated(space)
    outcomes = make_outcomes(space.problem)(rows)
    objectives = outcomes.objectives[outcomes.feasible]
    return {tuple(row) for row in objectives[non_dominated(objectives)].tolist()}, outcomes


def pipeline_space(seed):
    """The same for power against throughput."""
    kinds = (ObjectiveKind.POWER, ObjectiveKind.THROUGHPUT)
    return small_space(
        seed,
        objectives=tuple(Objective(kind) for kind in kinds),
        execution=Pipeline(1),
    )

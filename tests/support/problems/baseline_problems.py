"""Small problems, and what a baseline makes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

CHAINS = RandomShape(networks=(1, 3), groups=(1, 4), units=(2, 3), points=(1, 2), graphs=False)
ALONE = RandomShape(
    networks=(1, 1), groups=(2, 6), units=(2, 3), points=(1, 3), graphs=False, waiting=False
)


def problems(shape: RandomShape, count: int, seed: int) -> list[Problem]:
    rng = np.random.default_rng(seed)
    kinds = (ObjectiveKind.LATENCY, ObjectiveKind.ENERGY)
    return [
        replace(random_problem(rng, shape), objectives=tuple(map(Objective, kinds)))
        for _ in range(count)
    ]


def mapping_of(method, space) -> list[int]:
    (row,) = method(space).ask()
    return row[: space.groups].tolist()


def plain_makespan(problem: Problem, space: DesignSpace, mapping, *, contention: bool) -> int:
    if not contention:
        units = tuple(replace(unit, contention=None) for unit in problem.units)
        problem = replace(problem, units=units)
    row = np.array([*mapping, *(points[-1] for points in space.points)], dtype=np.int64)
    row = space.canonical(row[None])[0]
    return plain_timeline.simulate(problem, problem.design_of(row)).frame_end_ps[0]

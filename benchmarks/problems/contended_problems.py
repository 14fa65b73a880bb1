"""Problems with contention everywhere, and random rows, for benchmarks of the timeline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.report import Column
from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.results.problem.problem import Problem

SEED = 1
SIZE_COLUMNS = (
    Column("problem", "problem"),
    Column("networks", "networks", in_table=False),
    Column("groups", "groups", in_table=False),
    Column("units", "units", in_table=False),
)


def contended_problem(networks: int, groups: int, units: int, *, graphs: bool) -> Problem:
    """Return networks of ``groups`` groups each, all units with contention, as chains or also
    graphs."""
    shape = RandomShape(
        networks=(networks, networks),
        groups=(groups, groups),
        units=(units, units),
        waiting=False,
        graphs=graphs,
    )
    for seed in range(SEED, SEED + 1000):
        problem = random_problem(np.random.default_rng(seed), shape)
        if all(unit.contention is not None for unit in problem.units):
            return problem
    raise AssertionError("no problem with contention on every unit among a thousand")


def random_rows(problem: Problem, count: int, seed: int = SEED) -> NDArray[np.int64]:
    """Draw [count, groups + domains]: mappings and clocks that the problem allows."""
    rng = np.random.default_rng(seed)
    units = [rng.choice(np.flatnonzero(row), count) for row in problem.allowed]
    points = [rng.choice(np.flatnonzero(domain.allowed), count) for domain in problem.domains]
    return np.stack(units + points, axis=1).astype(np.int64)

"""Compiles all kernels, so that the first exploration does not have to: run as a module."""

from __future__ import annotations

import numpy as np

from dse.search.driver import Budget, search
from dse.search.optimizers.dedup import SeenRows
from dse.search.optimizers.nsga2 import Nsga2Engine
from dse.search.optimizers.survival import tournament
from dse.search.surrogate.load_balancing import rebalanced_rows
from dse.search.surrogate.lower_bounds import has_lower_bounds, make_filter
from dse.space.design_space import DesignSpace
from dse.space.operators import breed, mutate, segment_crossover
from fitness.objectives import make_outcomes
from fitness.warm_up import smallest_problem
from fitness.warm_up import warm_up as warm_up_fitness


def warm_up() -> None:
    """Compiles, or finds the machine code of an earlier time."""
    warm_up_fitness()
    space = DesignSpace(smallest_problem())
    search(Nsga2Engine(space, seed=0), make_outcomes(space.problem), Budget(2))
    load_operators(space)


def load_operators(space: DesignSpace) -> None:
    """Has every compiled operator work once."""
    rng = np.random.default_rng(0)
    rows = space.random(rng, 2)
    segment_crossover(space, rng, rows, rows)
    mutate(space, rng, rows)
    breed(space, rng, rows, np.zeros(2, dtype=np.int64), crossover_rate=1.0, mutations=1)
    tournament(rng, np.zeros((2, 2)), np.zeros(2), np.zeros(2), 2)
    rebalanced_rows(space, rng, rows)
    SeenRows(space.width).first_seen(rows)
    if has_lower_bounds(space.problem):
        members = np.ones((1, len(space.problem.objectives)), dtype=np.int64)
        make_filter(space.problem)(members, rows)


if __name__ == "__main__":
    warm_up()

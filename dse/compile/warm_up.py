"""Run every kernel once, so that it is compiled or loaded, in parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from paretosoc.dse.search.archive import Archive
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.search.optimizers.selection import SeenRows, survive, tournament
from paretosoc.dse.search.surrogate.load_balancing import rebalanced_rows
from paretosoc.dse.search.surrogate.lower_bounds import has_lower_bounds, make_filter
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.operators import breed, mutate, neighbours, segment_crossover
from paretosoc.fitness.objectives import Outcomes, make_outcomes
from paretosoc.fitness.warm_up import (
    smallest_problem,
    warm_up_branch_and_bound,
    warm_up_checker,
    warm_up_frames,
    warm_up_guarantee,
    warm_up_long_run,
    warm_up_multipliers,
    warm_up_rates,
    warm_up_replay,
)


def warm_up_search(*, engines: bool = False) -> None:
    """Compile the kernels of a search, or load their machine code."""
    warm_up_frames(engines=engines)
    space = DesignSpace(smallest_problem(engines=engines))
    search(Nsga2Engine(space, seed=0), make_outcomes(space.problem), Budget(2))
    load_operators(space)


PARTS: dict[str, Callable[[], None]] = {
    "proof": warm_up_branch_and_bound,
    "proof-engines": partial(warm_up_branch_and_bound, engines=True),
    "search": warm_up_search,
    "search-engines": partial(warm_up_search, engines=True),
    "checker": warm_up_checker,
    "replay": warm_up_replay,
    "long-run": warm_up_long_run,
    "long-run-engines": partial(warm_up_long_run, engines=True),
    "guarantee": warm_up_guarantee,
    "guarantee-engines": partial(warm_up_guarantee, engines=True),
    "bounds": warm_up_multipliers,
    "rates": warm_up_rates,
    "rates-engines": partial(warm_up_rates, engines=True),
}
"""What is compiled apart, the slowest first."""


def warm_up() -> None:
    """Compiles all kernels, or loads the machine code of an earlier time."""
    for load in PARTS.values():
        load()


def load_operators(space: DesignSpace) -> None:
    """Runs every compiled operator once."""
    rng = np.random.default_rng(0)
    rows = space.random(rng, 2)
    segment_crossover(space, rng, rows, rows)
    mutate(space, rng, rows)
    breed(space, rng, rows, np.zeros(2, dtype=np.int64), crossover_rate=1.0, mutations=1)
    tournament(rng, np.zeros((2, 2)), np.zeros(2), np.zeros(2), 2)
    survive(np.zeros((2, 2)), np.zeros(2), 1)
    neighbours(space, rng, rows, most=1)
    nothing, all_of_them = np.zeros((2, 0), dtype=np.int64), np.ones(2, dtype=np.bool_)
    values = np.zeros((2, len(space.problem.objectives)), dtype=np.int64)
    archive = Archive(space.width, values.shape[1], 0)
    archive.add(rows, Outcomes(all_of_them, values, nothing, all_of_them))
    rebalanced_rows(space, rng, rows)
    SeenRows(space.width).first_seen(rows)
    if has_lower_bounds(space.problem):
        members = np.ones((1, len(space.problem.objectives)), dtype=np.int64)
        make_filter(space.problem)(members, rows)

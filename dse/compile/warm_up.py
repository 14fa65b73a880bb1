"""Run every kernel once, so that it is compiled or loaded, in parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.search.surrogate.load_balancing import balanced_rows
from paretosoc.dse.search.surrogate.lower_bounds import has_lower_bounds, make_filter
from paretosoc.dse.space.design_space import DesignSpace
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
from paretosoc.results.problem.execution import SearchedOrder
from paretosoc.results.problem.limits import constraints_of
from paretosoc.sdf.analysis import cycle_ratio


def warm_up_search(*, engines: bool = False) -> None:
    """Compile the kernels of a search, or load their machine code."""
    warm_up_frames(engines=engines)
    for order in (None, *SearchedOrder):
        problem = replace(smallest_problem(engines=engines), searched_order=order)
        space = DesignSpace(problem)
        search(Nsga2Engine(space, seed=0), make_outcomes(problem), Budget(2))
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
    "cycle-ratio": cycle_ratio.warm_up,
}
"""What is compiled apart, the slowest first."""


def load_operators(space: DesignSpace) -> None:
    """Run every compiled operator once."""
    rng = np.random.default_rng(0)
    rows = space.random(rng, 2)
    space.cross(rng, rows, rows)
    space.mutate(rng, rows)
    balanced_rows(space, rng, 1)
    space.domains_used(rows)
    engine = Nsga2Engine(space, seed=0, population=2, first=rows)
    first = engine.ask()
    values = np.zeros((len(first), len(space.problem.objectives)), dtype=np.int64)
    fits = np.ones(len(first), dtype=np.bool_)
    limited = np.zeros((len(first), len(constraints_of(space.problem))), dtype=np.int64)
    engine.tell(first, Outcomes(fits, values, limited, fits))
    engine.ask()
    # A space that is so small has no rows left for the filter.
    if has_lower_bounds(space.problem):
        make_filter(space.problem)(values[:1], rows)

"""Guaranteed latencies of design points, by the compiled analysis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.fitness.guarantee.layout import make_order_rules, make_tracks
from paretosoc.fitness.simulator.layout import make_plan
from paretosoc.fitness.simulator.state import make_chosen, make_state
from paretosoc.fitness.simulator.threads import RowSimulator, share_rows
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Guarantees:
    """Upper bounds for n design points. The bounds of impossible ones mean nothing."""

    possible: BoolArray
    """[n]: every group can run on its unit."""
    makespan_ps: IntArray
    """[n]"""
    latency_ps: IntArray
    """[n, networks]"""


GuaranteeFunction = Callable[[IntArray], Guarantees]


def make_guarantees(
    problem: Problem, tolerance_permille: tuple[int, int], *, jobs: int = 1
) -> GuaranteeFunction:
    """Return a function from rows [n, groups + domains] to bounds on one frame alone.

    Args:
        tolerance_permille: each group takes from the first to the second of its time.
    """
    plan = make_plan(problem)
    rules = make_order_rules(problem, plan, tolerance_permille)

    def simulator() -> RowSimulator:
        from paretosoc.fitness.guarantee.kernel import bound_rows

        chosen, tracks = make_chosen(plan), make_tracks(plan)
        # The type that other simulations with a log have: compiled once.
        state = make_state(plan, frames=1, in_flight=1, log=True, stops=True)
        return lambda rows, *out: bound_rows(plan, rules, rows, chosen, state, tracks, *out)

    bound = share_rows([simulator() for _ in range(jobs)])

    def guarantees(rows: IntArray) -> Guarantees:
        found = Guarantees(
            possible=np.zeros(len(rows), dtype=np.bool_),
            makespan_ps=np.zeros(len(rows), dtype=np.int64),
            latency_ps=np.zeros((len(rows), len(problem.networks)), dtype=np.int64),
        )
        bound(rows, found.possible, found.makespan_ps, found.latency_ps)
        return found

    return guarantees

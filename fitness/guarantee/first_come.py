"""Latencies of members if units take the first ready group instead of keeping an order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.guarantee.layout import make_guarantees
from paretosoc.fitness.simulate import chosen_of
from paretosoc.fitness.simulator.layout import make_plan
from paretosoc.fitness.simulator.state import make_state
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.text.rates import GuaranteeFigures

PLAYS = 200
"""Random ones, beside those with one group that is fast."""


def guarantee_figures(problem: Problem, designs: Sequence[DesignPoint]) -> list[GuaranteeFigures]:
    """Return guaranteed latencies of design points, and the latest seen with first-come dispatch.

    The seen ones are from simulations. First, all times are nominal but for one group's, which
    takes its shortest. Then all are drawn within the tolerance, or at its ends. All repeats of a
    group have the same factor.
    """
    from paretosoc.fitness.simulator.general import simulate

    assert problem.tolerance_permille is not None, "of a problem with a tolerance"
    rows = np.stack([design.row for design in designs])
    bounds = make_guarantees(problem, problem.tolerance_permille)(rows)
    plan = make_plan(problem)
    state = make_state(plan, frames=1, in_flight=1, log=True, stops=True)
    factors = play_factors(plan.groups, problem.tolerance_permille)
    figures = []
    for row, makespan, latency in zip(rows, bounds.makespan_ps, bounds.latency_ps, strict=True):
        chosen = chosen_of(problem, plan, row)
        nominal = chosen.group["alone_ps"].copy()
        seen, of_networks = 0, np.zeros(plan.networks, dtype=np.int64)
        for factor in factors:
            chosen.group["alone_ps"][:] = nominal * factor // 1000
            simulate(plan, chosen, state)
            seen = max(seen, int(state.frame_end[0]))
            of_networks = np.maximum(of_networks, state.latency[0])
        times = tuple(latency.tolist()), seen, tuple(of_networks.tolist())
        figures.append(GuaranteeFigures(int(makespan), *times))
    return figures


def play_factors(groups: int, tolerance_permille: tuple[int, int]) -> IntArray:
    """Return [plays, groups]: factors of the times, in thousandths."""
    least, most = tolerance_permille
    rng = np.random.default_rng(0)
    nominal = np.full((1 + groups, groups), 1000, dtype=np.int64)
    nominal[1 + np.arange(groups), np.arange(groups)] = least
    ends = rng.choice(np.array(tolerance_permille, dtype=np.int64), (PLAYS // 2, groups))
    drawn = rng.integers(least, most, (PLAYS // 2, groups), endpoint=True)
    return np.concatenate((nominal, ends, drawn))

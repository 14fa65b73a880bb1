"""Clocks for managers that choose none: a power mode, as a board's maker sets it for a budget.

MapFormer (5.3) compares at power modes that restrict "the combined frequencies of the computing
components" to 10, 15 and 30 W. A mode here is one step of all ladders together: the fastest at
which the chip stays within the cap with every unit that may be used busy all the time with its
hungriest group. So it is never above the cap, whatever is mapped; boards' own modes are made the
same way, with their own worst case.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.space.design_space import DesignSpace

STEPS = 30
"""How finely all ladders are walked together."""


def mode_steps(space: DesignSpace) -> IntArray:
    """[steps, domains]: operating points with all domains at the same share of their ladders,
    slowest first, each once."""
    most = space.point_count - 1
    places = np.rint(np.arange(STEPS + 1)[:, None] * most / STEPS).astype(np.int64)
    points = space.point_at[np.arange(len(most)), places]
    return np.unique(points, axis=0)


def power_mode(space: DesignSpace, units: Sequence[int]) -> IntArray:
    """[domains]: operating points of the fastest step whose worst power with ``units`` in use is
    within the problem's power cap; the slowest step where none is, the fastest without a cap."""
    steps = mode_steps(space)
    cap = space.problem.power_cap_mw
    if cap is None:
        fastest: IntArray = steps[-1]
        return fastest
    within = [step for step in steps if worst_power_mw(space, units, step) <= cap]
    chosen: IntArray = within[-1] if within else steps[0]
    return chosen


def worst_power_mw(space: DesignSpace, units: Sequence[int], clocks: IntArray) -> int:
    """Power at operating points [domains] with all of ``units`` busy, each with its hungriest
    group, and no other unit used."""
    problem = space.problem
    used = np.zeros((1, len(problem.units)), dtype=np.bool_)
    used[0, list(units)] = True
    on = space.domains_on(used)[0]
    power = problem.board_mw
    for d, domain in enumerate(problem.domains):
        power += int(domain.static_mw[clocks[d]]) if on[d] else 0
    for u, unit in enumerate(problem.units):
        at = tuple(clocks[list(unit.clocks)])
        if on[unit.clocks[0]]:
            power += int(unit.idle_mw[at])
        if used[0, u]:
            power += int(unit.dynamic_mw[(slice(None), *at)][problem.allowed[:, u]].max(initial=0))
    return power

"""Check whether members leave a node no room between makespan and energy.

docs/concepts/certificate.md (Lemmas, Trade-off) has the inequality. The additional time of later
repeats is left out here, as it only adds. The least energy F of a makespan is convex, above each of
its tangents. The range that is not settled yet lies between a makespan at which F falls and one at
which it rises. The point at which their tangents meet is tried next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paretosoc.fitness.check.work import ENDED, RUNNING
from paretosoc.fitness.simulator.jit import jit

if TYPE_CHECKING:
    from paretosoc.common.arrays import IntArray
    from paretosoc.fitness.check.facts import Facts
    from paretosoc.fitness.check.work import Int, Work


@jit
def last_step(steps: IntArray, value: Int) -> int:
    """Return the last row of ``steps`` whose first, rising figure is at most ``value``, or -1."""
    low, high = 0, steps.shape[0]
    while low < high:
        middle = (low + high) // 2
        if steps[middle, 0] <= value:
            low = middle + 1
        else:
            high = middle
    return low - 1


@jit
def closed_by_trade_off(
    facts: Facts, work: Work, row: Int, costs: Int, makespan: Int, idle: Int, dynamic: Int
) -> bool:
    """Return whether no makespan from the bound on fits between two neighbouring members.

    It would be below that of one member, with an energy below that of the member before it.
    """
    steps, first = facts.steps.shape[0], last_step(facts.steps, makespan)
    if first < 0:
        return False
    power, fixed, least = idle, dynamic, idle * makespan + dynamic
    if facts.period_ps >= 0:
        power, fixed = np.int64(0), dynamic + idle * facts.period_ps
        least = fixed
    _fill_gained(facts, work, row, costs)
    for s in range(first, steps):
        wanted = facts.steps[s, 1]
        if wanted <= least:
            # Energies fall from step to step.
            return True
        if s + 1 < steps:
            longest = facts.steps[s + 1, 0]
        elif facts.period_ps >= 0:
            longest = facts.period_ps + 1
        elif power > 0:
            longest = wanted // power + 1
        else:
            return False
        if longest <= makespan:
            continue
        if longest > facts.longest_ps or wanted > facts.most_fj:
            return False
        if not _is_reached(facts, work, fixed, power, wanted, makespan, longest):
            return False
    return True


@jit
def _fill_gained(facts: Facts, work: Work, row: Int, costs: Int) -> None:
    """Fill the gain of every chain's groups without a start and a unit, at each rate."""
    for n in range(facts.networks):
        for r in range(facts.rate_mw.shape[0]):
            work.gained[n, r] = 0
    for i in range(facts.instances):
        g, n = facts.group_of[i], facts.network_of[i]
        status = work.status[row, i]
        if facts.trades[n] and work.units[g] < 0 and status != RUNNING and status != ENDED:
            for r in range(facts.rate_mw.shape[0]):
                work.gained[n, r] += work.gain_fj[costs, r, g]


@jit
def _energy_at(facts: Facts, work: Work, fixed: Int, power: Int, time: Int) -> tuple[Int, Int]:
    """Return the least energy of design points with this makespan, and its slope."""
    energy, growth = fixed + power * time, power
    for n in range(facts.networks):
        if facts.trades[n] == 0:
            continue
        most, rate = np.int64(0), np.int64(0)
        for r in range(facts.rate_mw.shape[0]):
            over = work.gained[n, r] + facts.rate_mw[r] * (work.network_end[n] - time)
            if over > most:
                most, rate = over, facts.rate_mw[r]
        energy += most
        growth -= rate
    return energy, growth


@jit
def _is_reached(
    facts: Facts, work: Work, fixed: Int, power: Int, wanted: Int, low: Int, high: Int
) -> bool:
    """Return whether the least energy is at least ``wanted`` from makespan ``low`` to ``high``."""
    at_low, fall = _energy_at(facts, work, fixed, power, low)
    if at_low < wanted or fall >= 0:
        return at_low >= wanted
    at_high, rise = _energy_at(facts, work, fixed, power, high)
    if at_high < wanted or rise <= 0:
        return at_high >= wanted
    while high - low > 1:
        # Left of ``first`` the left tangent is high enough, right of ``last`` the right one.
        first = low + (at_low - wanted) // -fall + 1
        last = high - (at_high - wanted) // rise - 1
        if first > last:
            return True
        middle = min(max((first + last) // 2, low + 1), high - 1)
        here, growth = _energy_at(facts, work, fixed, power, middle)
        if here < wanted:
            return False
        if growth < 0:
            low, at_low, fall = middle, here, growth
        elif growth > 0:
            high, at_high, rise = middle, here, growth
        else:
            return True
    return True

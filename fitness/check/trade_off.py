"""Check whether members leave a node no room between makespan and energy.

docs/concepts/certificate.md (Lemmas, Trade-off) has the inequality. With one set of domains that
may be on, the least energy F of a makespan is convex, above each of its tangents. The range that is
not settled yet lies between a makespan at which F falls and one at which it rises. The point at
which their tangents meet is tried next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paretosoc.fitness.check.priced import add_priced, fill_rest
from paretosoc.fitness.check.work import ENDED
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.types.vectors import all_lanes, integers, put

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

    It would be below that of one member, with an energy below that of the member before it. No set
    of optional domains that are on may leave room, with the idle power and the units of this set.
    """
    first = last_step(facts.steps, makespan)
    if first < 0:
        return False
    needed = np.int64(0)
    for k in range(facts.optional.shape[0]):
        if work.needed[facts.optional[k]]:
            needed |= np.int64(1) << k
    for behind in range(facts.set_count):
        on = np.int64(facts.set_count - 1 - behind)
        if on & needed != needed or not _fill_lines(facts, work, row, costs, dynamic, on):
            continue
        power = idle
        for k in range(facts.optional.shape[0]):
            if ((on & ~needed) >> k) & 1:
                power += _power_of(facts, work, costs, facts.optional[k])
        if not _closed_with(facts, work, makespan, power, dynamic, first):
            return False
    return True


@jit
def _power_of(facts: Facts, work: Work, costs: Int, domain: Int) -> Int:
    """Return the least idle power of a domain and of the units that it switches on."""
    power = work.static_mw[costs, domain]
    for u in range(facts.units):
        if facts.clock[facts.clock_start[u]] == domain:
            power += work.idle_mw[costs, u]
    return power


@jit
def _closed_with(
    facts: Facts, work: Work, makespan: Int, idle: Int, dynamic: Int, first: Int
) -> bool:
    """Return the same for design points with this idle power and ``work.line``, steps up to
    ``first``."""
    steps = facts.steps.shape[0]
    power, fixed, least = idle, dynamic, idle * makespan + dynamic
    if facts.period_ps >= 0:
        power, fixed = np.int64(0), dynamic + idle * facts.period_ps
        least = fixed
    at = makespan
    energy, growth = _energy_at(facts, work, fixed, power, at)
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
        if min(energy, energy + growth * (longest - at)) >= wanted:
            # F is above its tangent at an earlier makespan.
            continue
        # Up to there F is at least the energy of an earlier step, which is larger.
        if not _is_reached(facts, work, fixed, power, wanted, at, longest):
            return False
        at = longest
        energy, growth = _energy_at(facts, work, fixed, power, at)
    return True


@jit
def _fill_lines(facts: Facts, work: Work, row: Int, costs: Int, dynamic: Int, on: Int) -> bool:
    """Fill by how much the line of each row of energy is above ``dynamic`` at a makespan of 0, if
    only these optional domains are on. Return False if a group may be on no unit then."""
    put(work.priced, 0, all_lanes(0))
    for n in range(facts.networks):
        fill_rest(facts, work, costs, n, work.open_from[n], 1 + on)
    for i in range(facts.instances):
        if work.status[row, i] == ENDED:
            continue
        g = facts.group_of[i]
        if work.units[g] < 0 and facts.fits[on, g] == 0:
            return False
        add_priced(facts, work, row, costs, i, 1 + on)
    later = integers(work.priced, 0) + integers(facts.price_sum, (1,)) * work.now[row]
    put(work.line, 0, later + (work.least[3] - dynamic))
    return True


@jit
def _energy_at(facts: Facts, work: Work, fixed: Int, power: Int, time: Int) -> tuple[Int, Int]:
    """Return the least energy of design points with this makespan, and its slope."""
    most, price = np.int64(0), np.int64(0)
    for p in range(facts.price_rows[1]):
        over = work.line[p] - facts.price_sum[1, p] * time
        if over > most:
            most, price = over, facts.price_sum[1, p]
    return fixed + power * time + most, power - price


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

"""Costs of groups over the operating points that a node leaves: the smallest figures.

Costs on a unit are *certain* if its clocks and the memory have one point each. Then a group can
start there in the timeline without a further choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paretosoc.fitness.check.work import FAR
from paretosoc.fitness.simulator.jit import jit

if TYPE_CHECKING:
    from paretosoc.fitness.check.facts import Facts
    from paretosoc.fitness.check.work import Int, Work


@jit
def fill_costs(facts: Facts, work: Work, row: Int, domain: Int) -> None:
    """Fill row ``row`` of the costs, for ``work.points``.

    If only ``domain`` differs from the row before it, costs that do not depend on it are copied.
    With -1 nothing is copied.
    """
    work.memory_point[row] = 0
    memory_open = False
    if facts.memory >= 0:
        mask = work.points[facts.memory]
        work.memory_point[row] = _first_point(mask)
        memory_open = mask & (mask - 1) != 0
    for u in range(facts.units):
        affected = domain < 0
        clock_open = memory_open
        choice = facts.table_start[u]
        for c in range(facts.clock_start[u], facts.clock_start[u + 1]):
            affected |= facts.clock[c] == domain
            mask = work.points[facts.clock[c]]
            clock_open |= mask & (mask - 1) != 0
            choice += _first_point(mask) * facts.clock_stride[c]
        work.choice[row, u] = -1 if clock_open else choice
        if affected:
            _fill_unit(facts, work, row, u)
        else:
            _copy_unit(facts, work, row, u)
    for d in range(facts.domains):
        if domain >= 0 and d != domain:
            work.static_mw[row, d] = work.static_mw[row - 1, d]
            continue
        least = FAR
        for k in range(facts.points[d]):
            if (work.points[d] >> k) & 1:
                least = min(least, facts.static_mw[d, k])
        work.static_mw[row, d] = least
    _fill_anywhere(facts, work, row)


@jit
def _first_point(mask: Int) -> Int:
    k = np.int64(0)
    while (mask >> k) & 1 == 0:
        k += 1
    return k


@jit
def _copy_unit(facts: Facts, work: Work, row: Int, u: Int) -> None:
    work.idle_mw[row, u] = work.idle_mw[row - 1, u]
    for g in range(facts.groups):
        work.smallest_ps[row, u, g] = work.smallest_ps[row - 1, u, g]
        work.smallest_fj[row, u, g] = work.smallest_fj[row - 1, u, g]
        work.dynamic_mw[row, u, g] = work.dynamic_mw[row - 1, u, g]
        if facts.grows:
            work.step_ps[row, u, g] = work.step_ps[row - 1, u, g]
            work.step_fj[row, u, g] = work.step_fj[row - 1, u, g]
    for r in range(facts.rate_mw.shape[0]):
        for g in range(facts.groups):
            work.mixed_fj[row, r, u, g] = work.mixed_fj[row - 1, r, u, g]


@jit
def _fill_unit(facts: Facts, work: Work, row: Int, u: Int) -> None:
    work.idle_mw[row, u] = FAR
    for g in range(facts.groups):
        work.smallest_ps[row, u, g] = FAR
        work.smallest_fj[row, u, g] = FAR
        work.dynamic_mw[row, u, g] = FAR
        if facts.grows:
            work.step_ps[row, u, g] = FAR
            work.step_fj[row, u, g] = FAR
    for r in range(facts.rate_mw.shape[0]):
        for g in range(facts.groups):
            work.mixed_fj[row, r, u, g] = FAR
    first, end = facts.clock_start[u], facts.clock_start[u + 1]
    for c in range(first, end):
        work.digit[c] = _first_point(work.points[facts.clock[c]])
    c = first
    while c >= first:
        choice = facts.table_start[u]
        for k in range(first, end):
            choice += work.digit[k] * facts.clock_stride[k]
        _fill_choice(facts, work, row, u, choice)
        # The next choice of points: the last clock counts fastest.
        c = end - 1
        while c >= first:
            mask = work.points[facts.clock[c]] >> (work.digit[c] + 1)
            if mask != 0:
                work.digit[c] += 1 + _first_point(mask)
                break
            work.digit[c] = _first_point(work.points[facts.clock[c]])
            c -= 1


@jit
def _fill_choice(facts: Facts, work: Work, row: Int, u: Int, choice: Int) -> None:
    work.idle_mw[row, u] = min(work.idle_mw[row, u], facts.idle_mw[choice])
    for g in range(facts.groups):
        if facts.allowed[g, u] == 0:
            continue
        time, power = facts.time_ps[choice, g], facts.dynamic_mw[choice, g]
        energy = time * power
        work.smallest_ps[row, u, g] = min(work.smallest_ps[row, u, g], time)
        work.smallest_fj[row, u, g] = min(work.smallest_fj[row, u, g], energy)
        work.dynamic_mw[row, u, g] = min(work.dynamic_mw[row, u, g], power)
        if facts.grows:
            step = facts.step_ps[choice, g]
            work.step_ps[row, u, g] = min(work.step_ps[row, u, g], step)
            work.step_fj[row, u, g] = min(work.step_fj[row, u, g], step * power)
        for r in range(facts.rate_mw.shape[0]):
            both = facts.rate_mw[r] * time + energy
            work.mixed_fj[row, r, u, g] = min(work.mixed_fj[row, r, u, g], both)


@jit
def _fill_anywhere(facts: Facts, work: Work, row: Int) -> None:
    """Fill the smallest costs over the units that a group may have, and priced times."""
    last = facts.units
    for on in range(facts.set_count):
        work.has_gain[row, on] = 0
    for g in range(facts.groups):
        time, energy = FAR, FAR
        for u in range(facts.units):
            time = min(time, work.smallest_ps[row, u, g])
            energy = min(energy, work.smallest_fj[row, u, g])
        work.smallest_ps[row, last, g] = time
        work.smallest_fj[row, last, g] = energy
        if facts.grows:
            work.step_ps[row, last, g] = FAR
            work.step_fj[row, last, g] = FAR
            for u in range(facts.units):
                step, more = work.step_ps[row, u, g], work.step_fj[row, u, g]
                work.step_ps[row, last, g] = min(work.step_ps[row, last, g], step)
                work.step_fj[row, last, g] = min(work.step_fj[row, last, g], more)
        for p in range(facts.price_sum.shape[0]):
            work.priced_ps[row, p, g] = FAR
            for u in range(facts.units):
                if facts.allowed[g, u] != 0:
                    priced = price_of(facts, p, u, g) * work.smallest_ps[row, u, g]
                    work.priced_ps[row, p, g] = min(work.priced_ps[row, p, g], priced)
    for n in range(facts.networks):
        work.rest_from[row, n] = facts.end_group[n]


@jit
def price_of(facts: Facts, p: Int, u: Int, g: Int) -> Int:
    """Return the price of a group's time on a unit."""
    price: Int = facts.unit_price[p, u] + facts.network_price[p, facts.network_of_group[g]]
    return price


@jit
def fill_rest(facts: Facts, work: Work, row: Int, n: Int, first: Int) -> None:
    """Fill the smallest priced times of a chain from each group on, from its end to the group
    ``first``, unless they are known."""
    counts = max(facts.counted[n], 0) + 1
    while work.rest_from[row, n] > first:
        work.rest_from[row, n] -= 1
        g = work.rest_from[row, n]
        for p in range(facts.price_sum.shape[0]):
            if g == facts.first_group[n]:
                _fill_chain(facts, work, row, p, n, counts - 1)
                continue
            for before in range(facts.units):
                for left in range(counts):
                    least = FAR
                    for u in range(facts.units):
                        least = min(least, _rest_on(facts, work, row, p, g, before, left, u))
                    work.rest_ps[row, p, g, before, left] = least


@jit
def _fill_chain(facts: Facts, work: Work, row: Int, p: Int, n: Int, left: Int) -> None:
    """Fill the smallest priced time of a whole chain."""
    first = facts.first_group[n]
    work.chain_ps[row, p, n] = FAR
    for u in range(facts.units):
        if facts.allowed[first, u] != 0:
            least = price_of(facts, p, u, first) * work.smallest_ps[row, u, first]
            if first + 1 < facts.end_group[n]:
                rest = work.rest_ps[row, p, first + 1, u, left]
                least = FAR if rest == FAR else least + rest
            work.chain_ps[row, p, n] = min(work.chain_ps[row, p, n], least)


@jit
def _rest_on(
    facts: Facts, work: Work, row: Int, p: Int, g: Int, before: Int, left: Int, u: Int
) -> Int:
    """Return the smallest priced time of a chain from group g on with g on unit u, or FAR."""
    n = facts.network_of_group[g]
    if facts.counted[n] >= 0 and facts.unit_of[u] != facts.unit_of[before]:
        left -= 1
    if left < 0 or facts.allowed[g, u] == 0:
        return FAR
    at = (facts.chain_edge[g] * facts.units + before) * facts.units + u
    priced: Int = facts.network_price[p, n] * facts.delay_ps[at]
    priced += price_of(facts, p, u, g) * work.smallest_ps[row, u, g]
    if g + 1 < facts.end_group[n]:
        rest = work.rest_ps[row, p, g + 1, u, left]
        if rest == FAR:
            return FAR
        priced += rest
    return priced

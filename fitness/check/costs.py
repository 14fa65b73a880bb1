"""Costs of groups over the operating points that a node leaves: the smallest figures.

Costs on a unit are *certain* if its clocks and the memory have one point each. Then a group can
start there in the timeline without a further choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretosoc.fitness.check.work import BLOCKS, FAR
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.types.vectors import all_lanes, integers, put, where

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
    for block in range(BLOCKS):
        if facts.price_rows[block] > 0:
            for g in range(facts.groups):
                known = integers(work.priced_on, (row - 1, block, u, g))
                put(work.priced_on, (row, block, u, g), known)


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
        for block in range(BLOCKS):
            if facts.price_rows[block] > 0:
                put(work.priced_on, (row, block, u, g), all_lanes(FAR))
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
    for g in range(facts.groups):
        if facts.allowed[g, u] != 0 and facts.price_rows[0] > 0:
            priced = price_of(facts, 0, u, g) * work.smallest_ps[row, u, g]
            put(work.priced_on, (row, 0, u, g), priced)


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
        if facts.price_rows[1] > 0:
            priced = price_of(facts, 1, u, g) * time + energy
            known = integers(work.priced_on, (row, 1, u, g))
            put(work.priced_on, (row, 1, u, g), smaller(known, priced))


@jit
def _fill_anywhere(facts: Facts, work: Work, row: Int) -> None:
    """Fill the smallest costs over the units that a group may have."""
    last = facts.units
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
    for r in range(work.rest_from.shape[1]):
        for n in range(facts.networks):
            work.rest_from[row, r, n] = facts.end_group[n]


@jit
def price_of(facts: Facts, block: Int, u: Int, g: Int) -> Any:
    """Return the prices of a group's time on a unit, by the rows of a block."""
    network = integers(facts.network_price, (block, facts.network_of_group[g]))
    return integers(facts.unit_price, (block, u)) + network


@jit
def smaller(one: Any, other: Any) -> Any:
    """Return the smaller of two vectors in each lane."""
    return where(one < other, one, other)

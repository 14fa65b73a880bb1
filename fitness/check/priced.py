"""Sums of priced times, and of energies, of what is left at a node.

docs/concepts/certificate.md has the rule (Lemmas, Prices). A row of prices bounds the makespan, or
the energy at a makespan. Rows of energy have the energies of all that has not started, and there is
a sum for each set of optional domains that are on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paretosoc.fitness.check.costs import price_of
from paretosoc.fitness.check.work import ENDED, FAR, RUNNING
from paretosoc.fitness.simulator.jit import jit

if TYPE_CHECKING:
    from paretosoc.fitness.check.facts import Facts
    from paretosoc.fitness.check.work import Int, Work


@jit
def table_of(facts: Facts, p: Int, on: Int) -> Int:
    """Return the table of a row of prices if only these optional domains are on."""
    if p < facts.time_rows:
        return p
    table: Int = p + on * (facts.price_sum.shape[0] - facts.time_rows)
    return table


@jit
def fill_rest(
    facts: Facts, work: Work, row: Int, n: Int, first: Int, begin: Int, end: Int, on: Int
) -> None:
    """Fill the smallest sums of a chain for rows of prices from ``begin`` to ``end``.

    They are those from each group on, from its end to the group ``first``, unless they are known.
    Of a network that is no chain, those of each group are filled.
    """
    for p in range(begin, end):
        r = table_of(facts, p, on)
        while work.rest_from[row, r, n] > first:
            work.rest_from[row, r, n] -= 1
            g = work.rest_from[row, r, n]
            if facts.is_chain[n] == 0:
                _fill_group(facts, work, row, p, g, on)
            elif g == facts.first_group[n]:
                _fill_chain(facts, work, row, p, n, on)
            else:
                for before in range(facts.units):
                    for left in range(max(facts.counted[n], 0) + 1):
                        least = FAR
                        for u in range(facts.units):
                            least = min(
                                least, _rest_on(facts, work, row, p, g, before, left, u, on)
                            )
                        work.rest[row, r, g, before, left] = least


@jit
def _may_run(facts: Facts, g: Int, u: Int, on: Int) -> bool:
    """Return whether a group may be on a unit that needs no other optional domain."""
    return bool(facts.allowed[g, u] != 0 and facts.unit_set[u] & ~on == 0)


@jit
def _fill_group(facts: Facts, work: Work, row: Int, p: Int, g: Int, on: Int) -> None:
    r = table_of(facts, p, on)
    work.priced_anywhere[row, r, g] = FAR
    for u in range(facts.units):
        if _may_run(facts, g, u, on):
            least = min(work.priced_anywhere[row, r, g], work.priced_on[row, p, u, g])
            work.priced_anywhere[row, r, g] = least


@jit
def _fill_chain(facts: Facts, work: Work, row: Int, p: Int, n: Int, on: Int) -> None:
    """Fill the smallest sum of a whole chain."""
    first, r = facts.first_group[n], table_of(facts, p, on)
    work.whole_chain[row, r, n] = FAR
    for u in range(facts.units):
        if _may_run(facts, first, u, on):
            least = work.priced_on[row, p, u, first]
            if first + 1 < facts.end_group[n]:
                rest = work.rest[row, r, first + 1, u, max(facts.counted[n], 0)]
                least = FAR if rest == FAR else least + rest
            work.whole_chain[row, r, n] = min(work.whole_chain[row, r, n], least)


@jit
def _rest_on(
    facts: Facts, work: Work, row: Int, p: Int, g: Int, before: Int, left: Int, u: Int, on: Int
) -> Int:
    """Return the smallest sum of a chain from group g on with g on unit u, or FAR."""
    n = facts.network_of_group[g]
    if facts.counted[n] >= 0 and facts.unit_of[u] != facts.unit_of[before]:
        left -= 1
    if left < 0 or not _may_run(facts, g, u, on):
        return FAR
    at = (facts.chain_edge[g] * facts.units + before) * facts.units + u
    priced: Int = facts.network_price[p, n] * facts.delay_ps[at]
    priced += work.priced_on[row, p, u, g]
    if g + 1 < facts.end_group[n]:
        rest = work.rest[row, table_of(facts, p, on), g + 1, u, left]
        if rest == FAR:
            return FAR
        priced += rest
    return priced


@jit
def find_open(facts: Facts, work: Work, n: Int) -> None:
    """Find from which group of a chain on priced times count all options, and how many transitions
    are left there. Of a network that is no chain, every group counts for itself."""
    g, left = facts.first_group[n], facts.counted[n]
    while facts.is_chain[n] and g < facts.end_group[n] and work.units[g] >= 0:
        if g > facts.first_group[n]:
            left -= facts.unit_of[work.units[g]] != facts.unit_of[work.units[g - 1]]
        g += 1
    work.open_from[n], work.left_over[n] = g, max(left, 0)


@jit
def add_priced(
    facts: Facts, work: Work, row: Int, costs: Int, i: Int, begin: Int, end: Int, on: Int
) -> None:
    """Add an instance that has not ended to the sums of the rows from ``begin`` to ``end``.

    If it is in a chain, it comes with the delay before it. The first open group comes with all
    later ones of its repeat.
    """
    g, n = facts.group_of[i], facts.network_of[i]
    unit, chained = work.units[g], facts.is_chain[n] != 0
    if chained and g > work.open_from[n]:
        return
    first, delay = facts.first_group[n], work.waits_ps[i]
    before = work.units[g - 1] if chained and g > first else np.int64(0)
    if i > 0 and facts.network_of[i - 1] == n and work.status[row, i - 1] != ENDED:
        delay = np.int64(0)
        if chained and first < g < work.open_from[n]:
            delay = facts.delay_ps[
                (facts.chain_edge[g] * facts.units + before) * facts.units + unit
            ]
    for p in range(begin, end):
        r = table_of(facts, p, on)
        if unit >= 0 and (not chained or g < work.open_from[n]):
            priced = price_of(facts, p, unit, g) * work.takes_ps[i]
            if work.status[row, i] != RUNNING:
                # The best point of a row of energy may not be the fastest one.
                priced -= price_of(facts, p, unit, g) * work.smallest_ps[costs, unit, g]
                priced += work.priced_on[costs, p, unit, g]
        elif not chained:
            priced = work.priced_anywhere[costs, r, g]
        elif g > first:
            priced = work.rest[costs, r, g, before, work.left_over[n]]
        else:
            priced = work.whole_chain[costs, r, n]
        work.priced[p] += facts.network_price[p, n] * delay + (0 if priced == FAR else priced)

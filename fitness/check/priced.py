"""Sums of priced times, and of energies, of what is left at a node.

docs/concepts/certificate.md has the rule (Lemmas, Prices). A row of prices bounds the makespan, or
the energy at a makespan. Rows of energy have the energies of all that has not started, and there is
a sum for each set of optional domains that are on.

The rows of a block, 0 of the makespan and 1 of energy, are the lanes of vectors. Table 0 has the
sums of block 0, table 1 + s those of block 1 if only the optional domains of the set s are on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretosoc.fitness.check.costs import price_of, smaller
from paretosoc.fitness.check.work import ENDED, FAR, RUNNING
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.types.vectors import all_lanes, integers, put, where

if TYPE_CHECKING:
    from paretosoc.fitness.check.facts import Facts
    from paretosoc.fitness.check.work import Int, Work


@jit
def _block_of(table: Int) -> Int:
    return min(table, np.int64(1))


@jit
def fill_rest(facts: Facts, work: Work, row: Int, n: Int, first: Int, table: Int) -> None:
    """Fill the smallest sums of a chain in a table.

    They are those from each group on, from its end to the group ``first``, unless they are known.
    Of a network that is no chain, those of each group are filled.
    """
    if facts.price_rows[_block_of(table)] == 0:
        return
    while work.rest_from[row, table, n] > first:
        work.rest_from[row, table, n] -= 1
        g = work.rest_from[row, table, n]
        if facts.is_chain[n] == 0:
            least = all_lanes(FAR)
            for u in range(facts.units):
                if _may_run(facts, g, u, table):
                    own = integers(work.priced_on, (row, _block_of(table), u, g))
                    least = smaller(least, own)
            put(work.priced_anywhere, (row, table, g), least)
        elif g == facts.first_group[n]:
            _fill_chain(facts, work, row, n, table)
        else:
            for before in range(facts.units):
                for left in range(max(facts.counted[n], 0) + 1):
                    least = all_lanes(FAR)
                    for u in range(facts.units):
                        rest = _rest_on(facts, work, row, g, before, left, u, table)
                        least = smaller(least, rest)
                    put(work.rest, (row, table, g, before, left), least)


@jit
def _may_run(facts: Facts, g: Int, u: Int, table: Int) -> bool:
    """Return whether a group may be on a unit that needs no other optional domain."""
    on = table - 1 if table > 0 else np.int64(facts.set_count - 1)
    return bool(facts.allowed[g, u] != 0 and facts.unit_set[u] & ~on == 0)


@jit
def _fill_chain(facts: Facts, work: Work, row: Int, n: Int, table: Int) -> None:
    """Fill the smallest sum of a whole chain."""
    first, least = facts.first_group[n], all_lanes(FAR)
    for u in range(facts.units):
        if _may_run(facts, first, u, table):
            whole = integers(work.priced_on, (row, _block_of(table), u, first))
            if first + 1 < facts.end_group[n]:
                left = max(facts.counted[n], 0)
                rest = integers(work.rest, (row, table, first + 1, u, left))
                whole = where(rest == FAR, rest, whole + rest)
            least = smaller(least, whole)
    put(work.whole_chain, (row, table, n), least)


@jit
def _rest_on(
    facts: Facts, work: Work, row: Int, g: Int, before: Int, left: Int, u: Int, table: Int
) -> Any:
    """Return the smallest sum of a chain from group g on with g on unit u, or FAR."""
    n, block = facts.network_of_group[g], _block_of(table)
    if facts.counted[n] >= 0 and facts.unit_of[u] != facts.unit_of[before]:
        left -= 1
    if left < 0 or not _may_run(facts, g, u, table):
        return all_lanes(FAR)
    at = (facts.chain_edge[g] * facts.units + before) * facts.units + u
    priced = integers(facts.network_price, (block, n)) * facts.delay_ps[at]
    priced = priced + integers(work.priced_on, (row, block, u, g))
    if g + 1 == facts.end_group[n]:
        return priced
    rest = integers(work.rest, (row, table, g + 1, u, left))
    return where(rest == FAR, rest, priced + rest)


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
def add_priced(facts: Facts, work: Work, row: Int, costs: Int, i: Int, table: Int) -> None:
    """Add an instance that has not ended to the sums of a table, in ``work.priced``.

    If it is in a chain, it comes with the delay before it. The first open group comes with all
    later ones of its repeat.
    """
    g, n, block = facts.group_of[i], facts.network_of[i], _block_of(table)
    unit, chained = work.units[g], facts.is_chain[n] != 0
    if facts.price_rows[block] == 0 or (chained and g > work.open_from[n]):
        return
    first, delay = facts.first_group[n], work.waits_ps[i]
    before = work.units[g - 1] if chained and g > first else np.int64(0)
    if i > 0 and facts.network_of[i - 1] == n and work.status[row, i - 1] != ENDED:
        delay = np.int64(0)
        if chained and first < g < work.open_from[n]:
            delay = facts.delay_ps[
                (facts.chain_edge[g] * facts.units + before) * facts.units + unit
            ]
    if unit >= 0 and (not chained or g < work.open_from[n]):
        if work.status[row, i] == RUNNING:
            priced = price_of(facts, block, unit, g) * work.takes_ps[i]
        else:
            # The best point of a row of energy may not be the fastest one.
            longer = work.takes_ps[i] - work.smallest_ps[costs, unit, g]
            own = integers(work.priced_on, (costs, block, unit, g))
            priced = price_of(facts, block, unit, g) * longer + own
    elif not chained:
        priced = integers(work.priced_anywhere, (costs, table, g))
    elif g > first:
        priced = integers(work.rest, (costs, table, g, before, work.left_over[n]))
    else:
        priced = integers(work.whole_chain, (costs, table, n))
    priced = where(priced == FAR, all_lanes(0), priced)
    delayed = integers(facts.network_price, (block, n)) * delay
    put(work.priced, 0, integers(work.priced, 0) + delayed + priced)

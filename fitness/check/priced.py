"""Sums of priced times, and of energies, of what is left at a node.

docs/concepts/certificate.md has the rule (Lemmas, Prices). A row of prices bounds the makespan, or
the energy at a makespan. Rows of energy have the energies of all that has not started, and there is
a sum for each set of optional domains that are on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paretosoc.fitness.check.costs import price_of, table_of
from paretosoc.fitness.check.work import ENDED, FAR, RUNNING
from paretosoc.fitness.simulator.jit import jit

if TYPE_CHECKING:
    from paretosoc.fitness.check.facts import Facts
    from paretosoc.fitness.check.work import Int, Work


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

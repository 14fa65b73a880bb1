"""The loads of mappings, and the cheapest mapping of one network under weights, by dynamic
programming. Compiled."""

from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.space.operators_jit import below, chance
from paretosoc.fitness.simulator.jit import jit, rare
from paretosoc.fitness.simulator.lookup import clock_index
from paretosoc.fitness.simulator.types.tables import Tables

FIRST_ENTRY = 0.01
"""Cost of entering a unit at first. If segments are limited it grows while there are too many, and
otherwise it shrinks to nothing."""
SHARPNESS = 20.0
"""From 1 to this: how much the largest load of a mapping dominates its weights."""
DEAR = 20.0
"""How much more it costs to enter a unit that nothing more may begin on."""


@dataclass(frozen=True, eq=False)
class Balance(Tables):
    """What the networks of rows [n, width] are remapped with, and scratch arrays.

    The first three arrays are of :func:`fill_costs`, the next three of :func:`measure_mappings`,
    the rest of :func:`map_chain`.
    """

    time: FloatArray
    energy: FloatArray
    usual: FloatArray
    lengths: FloatArray
    total: FloatArray
    crowded: FloatArray
    most: FloatArray
    """[units]: the most segments."""
    transition_before: IntArray
    """[groups, units, units]"""
    time_share: FloatArray
    entry: FloatArray
    sums: FloatArray
    came_from: IntArray


@rare
def fill_costs(plan, space, rows, balance):
    """Fill ``time`` in ps and ``energy`` above idle [n, groups, units] at the clocks of ``rows``.

    Entries that are not allowed are infinite. ``usual`` [n, 2] becomes the sums of both over all
    groups, each on its best unit. ``rows`` are [n, width].
    """
    time, energy, usual = balance.time, balance.energy, balance.usual
    for r in range(rows.shape[0]):
        usual[r, 0], usual[r, 1] = 0.0, 0.0
        for u in range(plan.units):
            first = plan.table_start[u] + clock_index(plan, rows[r], u) * plan.groups
            for g in range(plan.groups):
                time[r, g, u], energy[r, g, u] = np.inf, np.inf
                if space.allowed[g, u]:
                    time[r, g, u] = plan.cost[first + g].time_ps
                    energy[r, g, u] = time[r, g, u] * max(plan.cost[first + g].dynamic_mw, 1)
        for g in range(plan.groups):
            least_time, least_energy = time[r, g, 0], energy[r, g, 0]
            for u in range(1, plan.units):
                least_time = min(least_time, time[r, g, u])
                least_energy = min(least_energy, energy[r, g, u])
            usual[r, 0] += least_time
            usual[r, 1] += least_energy
        usual[r, 0] = max(usual[r, 0], 1.0)
        usual[r, 1] = max(usual[r, 1], 1.0)


@rare
def measure_mappings(space, mapping, balance):
    """Fill the lengths, energy and segments of ``mapping`` [n, groups].

    ``lengths`` [n, units + networks] are the loads of the units and the paths of the networks,
    ``total`` [n] is the energy, all as shares of the usual ones. ``crowded`` [n, units] are the
    segments on each unit as shares of the most allowed.
    """
    lengths, total, crowded = balance.lengths, balance.total, balance.crowded
    for r in range(mapping.shape[0]):
        for k in range(lengths.shape[1]):
            lengths[r, k] = 0.0
        for u in range(space.units):
            crowded[r, u] = 0.0
        total[r] = 0.0
        usual_time, usual_energy = balance.usual[r, 0], balance.usual[r, 1]
        for g in range(space.groups):
            u, n = mapping[r, g], space.owner[g]
            share = balance.time[r, g, u] / usual_time
            lengths[r, u] += share
            lengths[r, space.units + n] += share
            total[r] += balance.energy[r, g, u] / usual_energy
            begins = g == space.first[n]
            if not begins:
                before = mapping[r, g - 1]
                moving = balance.transition_before[g, before, u]
                lengths[r, space.units + n] += moving / usual_time
                begins = before != u
            if begins:
                crowded[r, u] += 1.0 / balance.most[u]


@jit
def map_chains(mapping, row, first, size, balance, time_share, energy_share, along, entry):
    """Map the chains that begin at ``first`` [k] and have ``size`` [k] groups in ``row`` [k].

    ``mapping`` [n, groups], ``time_share`` [k, units], ``energy_share`` and ``along`` [k], and
    ``entry`` [n, units] are those of :func:`map_chain`.
    """
    for k in range(row.shape[0]):
        r = row[k]
        map_chain(
            mapping[r],
            first[k],
            size[k],
            balance.time[r],
            balance.energy[r],
            balance,
            time_share[k],
            energy_share[k],
            along[k],
            entry[r],
        )


@rare
def map_chain(mapping, first, size, time, energy, balance, time_share, energy_share, along, entry):
    """Set, in ``mapping`` [groups], the groups of a chain to the units that cost least in all.

    A group costs ``time_share`` [units] x ``time`` plus ``energy_share`` x ``energy`` [groups,
    units both], a hand-over ``along`` x its time, each unit that is gone to ``entry`` [units].
    """
    units = time.shape[1]
    total, came_from = balance.sums, balance.came_from
    for step in range(size):
        g = first + step
        for u in range(units):
            least, best = np.inf, np.int64(0)
            if step == 0:
                least = entry[u]
            else:
                for v in range(units):
                    cost = total[0, v] + balance.transition_before[g, v, u] * along
                    if v != u:
                        cost += entry[u]
                    if cost < least:
                        least, best = cost, np.int64(v)
            came_from[step, u] = best
            total[1, u] = least + time_share[u] * time[g, u] + energy_share * energy[g, u]
        for u in range(units):
            total[0, u] = total[1, u]
    unit = np.int64(0)
    for u in range(1, units):
        if total[0, u] < total[0, unit]:
            unit = np.int64(u)
    for step in range(size - 1, -1, -1):
        mapping[first + step] = unit
        unit = came_from[step, unit]


@jit
def remap_row(space, plan, balance, stream, row):
    """Put one network of ``row`` [1, width] on its best units, without repair.

    They are best under weights that represent the loads of the row. Energy is of random importance.
    """
    units = space.units
    fill_costs(plan, space, row, balance)
    measure_mappings(space, row, balance)
    lengths, most, total = balance.lengths[0], 0.0, 0.0
    for k in range(lengths.shape[0]):
        most = max(most, lengths[k])
    sharpness = SHARPNESS ** chance(stream)
    for k in range(lengths.shape[0]):
        lengths[k] = np.exp(sharpness * (lengths[k] / most - 1.0))
        total += lengths[k]
    importance = chance(stream) ** 2
    entry = FIRST_ENTRY * chance(stream)
    n = below(stream, space.networks)
    share = (1.0 - importance) / total / balance.usual[0, 0]
    along = share * lengths[units + n]
    for u in range(units):
        balance.time_share[u] = share * lengths[u] + along
        balance.entry[u] = entry * (DEAR if balance.crowded[0, u] >= 1.0 else 1.0)
    map_chain(
        row[0],
        space.first[n],
        space.size[n],
        balance.time[0],
        balance.energy[0],
        balance,
        balance.time_share,
        importance / balance.usual[0, 1],
        along,
        balance.entry,
    )

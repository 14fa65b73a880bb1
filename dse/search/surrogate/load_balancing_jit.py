"""The loads of mappings, and the cheapest mapping of one network under weights, by dynamic
programming. Compiled.

Numba keeps its machine code under the state of the kernels in ``fitness`` and of this file. So it
may call those, and nothing of another file.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import clock_index


@jit
def fill_costs(plan, space, rows, time, energy, usual):
    """Fill ``time`` in ps and ``energy`` above idle [n, groups, units] at the clocks of ``rows``.

    Entries that are not allowed are infinite. ``usual`` [n, 2] becomes the sums of both over all
    groups, each on its best unit. ``rows`` are [n, width].
    """
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


@jit
def measure_mappings(
    space, mapping, time, energy, usual, transition_before, most, lengths, total, crowded
):
    """Fill the lengths, energy and segments of ``mapping`` [n, groups].

    ``lengths`` [n, units + networks] are the loads of the units and the paths of the networks,
    ``total`` [n] is the energy, all as shares of the usual ones. ``crowded`` [n, units] are the
    segments on each unit as shares of ``most`` [units].
    """
    for r in range(mapping.shape[0]):
        lengths[r, :] = 0.0
        crowded[r, :] = 0.0
        total[r] = 0.0
        for g in range(space.groups):
            u, n = mapping[r, g], space.owner[g]
            share = time[r, g, u] / usual[r, 0]
            lengths[r, u] += share
            lengths[r, space.units + n] += share
            total[r] += energy[r, g, u] / usual[r, 1]
            begins = g == space.first[n]
            if not begins:
                before = mapping[r, g - 1]
                lengths[r, space.units + n] += transition_before[g, before, u] / usual[r, 0]
                begins = before != u
            if begins:
                crowded[r, u] += 1.0 / most[u]


@jit
def map_chains(
    mapping,
    row,
    first,
    size,
    time,
    energy,
    transition_before,
    time_share,
    energy_share,
    along,
    entry,
    total,
    came_from,
):
    """Sets, in ``mapping`` [n, groups], the groups of the chains that begin at ``first`` [k] and
    have ``size`` [k] groups, in ``row`` [k], to the units that cost least in all.

    A group costs ``time_share`` [k, units] x ``time`` plus ``energy_share`` [k] x ``energy`` [n,
    groups, units both], a hand-over ``along`` [k] x ``transition_before`` [groups, units, units],
    each unit that is gone to ``entry`` [n, units]. ``total`` [2, units] and ``came_from`` [groups,
    units] are scratch.
    """
    units = time.shape[2]
    for k in range(row.shape[0]):
        r = row[k]
        for step in range(size[k]):
            g = first[k] + step
            for u in range(units):
                least, best = np.inf, np.int64(0)
                if step == 0:
                    least = entry[r, u]
                else:
                    for v in range(units):
                        cost = total[0, v] + transition_before[g, v, u] * along[k]
                        if v != u:
                            cost += entry[r, u]
                        if cost < least:
                            least, best = cost, np.int64(v)
                came_from[step, u] = best
                total[1, u] = (
                    least + time_share[k, u] * time[r, g, u] + energy_share[k] * energy[r, g, u]
                )
            for u in range(units):
                total[0, u] = total[1, u]
        unit = np.int64(0)
        for u in range(1, units):
            if total[0, u] < total[0, unit]:
                unit = np.int64(u)
        for step in range(size[k] - 1, -1, -1):
            mapping[r, first[k] + step] = unit
            unit = came_from[step, unit]

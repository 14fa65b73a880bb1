"""The cheapest mapping of one network under weights, by dynamic programming; compiled.

Numba keeps its machine code under the state of the kernels in ``fitness`` and of this file. So it
may call those, and nothing of another file.
"""

import numpy as np

from fitness.simulator.jit import jit


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

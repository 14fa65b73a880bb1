"""Throughput and energy of a pipeline in closed form (Tang Eq. 1-13), for many rows; compiled."""

import numpy as np

from paretosoc.fitness.simulator.jit import jit


@jit
def evaluate_loads(
    plan, rows, load, copying, table_row, copy_row, possible, period, total, dynamic, idle
):
    """For each of ``rows`` [n, groups + domains]: whether it is possible, the largest load and the
    sum of the loads (ps), dynamic energy (fJ) and idle power (mW).

    ``load``, ``copying``, ``table_row`` and ``copy_row`` [units] are scratch.
    """
    for i in range(rows.shape[0]):
        for u in range(plan.units):
            at = np.int64(0)
            for c in range(plan.clock.shape[1]):
                if plan.clock[u, c] >= 0:
                    at += rows[i, plan.groups + plan.clock[u, c]] * plan.clock_stride[u, c]
            table_row[u] = plan.table_start[u] + at * plan.groups
            copy_row[u] = plan.copy_start[u] + rows[i, plan.groups + plan.copy_clock[u]]
            load[u] = 0
            copying[u] = 0
        energy = np.int64(0)
        used = np.int64(0)
        good = True
        for g in range(plan.groups):
            u = rows[i, g]
            at = table_row[u] + g
            time = plan.time_ps[at]
            good &= time >= 0
            load[u] += time
            energy += plan.dynamic_fj[at]
            used |= np.int64(1) << np.int64(u)
        for e in range(plan.edges):
            source = rows[i, plan.source[e]]
            target = rows[i, plan.target[e]]
            if plan.every_channel or source != target:
                copying[source] += plan.write_ps[copy_row[source] * plan.edges + e]
                copying[target] += plan.read_ps[copy_row[target] * plan.edges + e]
        largest = np.int64(0)
        whole = np.int64(0)
        for u in range(plan.units):
            energy += plan.copy_mw[copy_row[u]] * copying[u]
            both = load[u] + copying[u]
            whole += both
            largest = max(largest, both)
        power = np.int64(plan.board_mw)
        for d in range(plan.domains):
            if not plan.may_be_off[d] or used & plan.users[d]:
                power += plan.static_mw[plan.static_start[d] + rows[i, plan.groups + d]]
        for u in range(plan.units):
            d = plan.clock[u, 0]
            if not plan.may_be_off[d] or used & plan.users[d]:
                at = (table_row[u] - plan.table_start[u]) // plan.groups
                power += plan.idle_mw[plan.idle_start[u] + at]
        possible[i] = good
        period[i] = largest
        total[i] = whole
        dynamic[i] = energy
        idle[i] = power

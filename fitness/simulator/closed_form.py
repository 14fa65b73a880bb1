"""Throughput and energy of a pipeline in closed form (Tang Eq. 1-13), for many rows. Compiled."""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import clock_index, idle_power, switch_domains


@jit
def evaluate_loads(
    plan,
    loads,
    rows,
    load,
    copying,
    table_row,
    copy_row,
    used,
    domain_on,
    possible,
    period,
    total,
    dynamic,
    idle,
):
    """Compute the loads of each of ``rows`` [n, groups + domains].

    Writes whether the row is possible, the largest load and the sum of the loads (ps), dynamic
    energy (fJ) and idle power (mW).

    ``load``, ``copying``, ``table_row``, ``copy_row``, ``used`` [units] and ``domain_on`` [domains]
    are scratch.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        for u in range(plan.units):
            table_row[u] = plan.table_start[u] + clock_index(plan, row, u) * plan.groups
            copy_row[u] = loads.copy_start[u] + row[plan.groups + loads.copy_clock[u]]
            load[u] = 0
            copying[u] = 0
            used[u] = 0
        energy = np.int64(0)
        good = True
        for g in range(plan.groups):
            u = row[g]
            at = table_row[u] + g
            time = loads.time_ps[at]
            good &= time >= 0
            load[u] += time
            energy += loads.dynamic_fj[at]
            used[u] = 1
        for e in range(loads.edges):
            source = row[loads.source[e]]
            target = row[loads.target[e]]
            if loads.every_channel or source != target:
                copying[source] += loads.write_ps[copy_row[source] * loads.edges + e]
                copying[target] += loads.read_ps[copy_row[target] * loads.edges + e]
        largest = np.int64(0)
        whole = np.int64(0)
        for u in range(plan.units):
            energy += loads.copy_mw[copy_row[u]] * copying[u]
            both = load[u] + copying[u]
            whole += both
            largest = max(largest, both)
        switch_domains(plan, used, domain_on)
        possible[i] = good
        period[i] = largest
        total[i] = whole
        dynamic[i] = energy
        idle[i] = idle_power(plan, row, domain_on)

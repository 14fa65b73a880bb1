"""Steps in one lane that the kernels of two chains and of many share. Compiled."""

import numpy as np

from paretosoc.fitness.simulator.chains.chain_tables import GOES_ON
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import clock_index, idle_power, switch_domains
from paretosoc.results.problem.arithmetic import BY_SOURCE, BY_TARGET, WORK_PER_PS


@jit
def choose_clocks(plan, row, lanes, lane):
    """Note where the costs at a row's clocks begin, and that no unit is used yet."""
    for u in range(plan.units):
        lanes.unit_used[lane, u] = 0
        lanes.table_row[lane * plan.units + u] = (
            plan.table_start[u] + clock_index(plan, row, u) * plan.groups
        )


@jit
def put_costs(chains, figure, at, entry):
    """Write demand, power and contention of a row of costs to the columns."""
    memory = chains.cost[entry].memory
    figure.demand[at] = chains.cost[entry].demand
    figure.dynamic[at] = chains.cost[entry].dynamic
    figure.heavy_num[at] = chains.cost[entry].num
    figure.heavy_den[at] = chains.cost[entry].den
    figure.heavy_offset[at] = chains.cost[entry].offset
    figure.heavy_cap[at] = chains.cost[entry].cap
    figure.heavy_inverse[at] = 1.0 / np.float64(chains.cost[entry].den)
    figure.minor_num[at] = chains.memory[memory].num
    figure.minor_den[at] = chains.memory[memory].den
    figure.minor_inverse[at] = 1.0 / np.float64(chains.memory[memory].den)
    figure.peak[at] = chains.memory[memory].peak
    figure.memory[at] = chains.memory[memory].kbps


@jit
def ready_after(plan, chains, row, group, now):
    """Return when a group is ready after the end of the one before it in its chain."""
    before, unit = row[np.uint64(group - 1)], row[np.uint64(group)]
    ready = now + chains.delay_ps[(group * plan.units + before) * plan.units + unit]
    if plan.has_engines:
        # Without a branch, as it cannot be predicted whether groups stay on their unit.
        goes_on = (before == unit) & (plan.runs_engines[unit] == 1)
        ready = np.int64(GOES_ON) if goes_on else ready
    return ready


@jit
def moving_work(plan, chains, row, n, group, unit):
    """Return the work of the transitions before and after a group that its unit does."""
    time = np.int64(0)
    if group > chains.chain[n].first:
        at = row[np.uint64(group - 1)] * plan.units + unit
        if plan.mover[at] == BY_TARGET:
            time += chains.moving_ps[group * plan.units * plan.units + at]
    if group + 1 < chains.chain[n].end:
        at = unit * plan.units + row[np.uint64(group + 1)]
        if plan.mover[at] == BY_SOURCE:
            time += chains.moving_ps[(group + 1) * plan.units * plan.units + at]
    return time * WORK_PER_PS


@jit
def write_row(plan, rows, lanes, lane, r, possible, makespan, dynamic, busy, idle):
    """Write the results of a lane whose row has ended, but for its latencies."""
    switch_domains(plan, lanes.unit_used[lane], lanes.domain_on)
    possible[r] = True
    makespan[r] = lanes.figure.now[lane]
    dynamic[r] = lanes.figure.dynamic_fj[lane]
    busy[r] = lanes.figure.busy_ps[lane]
    idle[r] = idle_power(plan, rows[r], lanes.domain_on)

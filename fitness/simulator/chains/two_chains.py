"""Simulation of one frame of two chains, for many design points at a time; compiled.

The rules are those of :mod:`fitness.reference.timeline`. Two chains need no queues: each has
exactly one group that runs, waits or is in transition. What makes it fast:

* :func:`_step` moves all lanes, a design point in each, to their next instant without a single
  branch. So the compiler makes vector instructions of it, and nothing is mispredicted, which
  otherwise is half of the time: what happens next in a simulation cannot be predicted;
* quotients are rounded from floating point and then corrected by their exact remainder, since
  vectors have no integer division;
* a lane whose design point has ended takes the next one at once.
"""

import numpy as np

from fitness.simulator.chains.chain_tables import (
    LANES,
    SLOTS,
)
from fitness.simulator.contention import (
    ceil_near,
    ceil_times,
    heavy_slope,
    lost_products,
    rate_after,
)
from fitness.simulator.jit import jit
from fitness.simulator.lookup import clock_index, idle_power, switch_domains
from fitness.simulator.state import NEVER
from results.problem.arithmetic import WORK_PER_PS


@jit
def fill_costs(plan, chains, memory_row):
    """Fills the tables of costs; ``memory_row`` [rows of costs]."""
    points = plan.contention.shape[1]
    for row in range(plan.units * points):
        contention = plan.contention[row // points, row % points]
        # Where there is no contention all parameters are 0: no loss, of a denominator that divides.
        den = max(contention.minor_den, 1)
        chains.memory[row].num = contention.minor_num
        chains.memory[row].den = den
        chains.memory[row].peak = contention.peak_kbps
        chains.memory_inverse[row] = 1.0 / den
    for row in range(len(memory_row)):
        own = plan.cost[row].demand_kbps
        contention = plan.contention[memory_row[row] // points, memory_row[row] % points]
        num, den, offset, cap = heavy_slope(contention, own)
        den = max(den, 1)
        chains.cost[row].work = plan.cost[row].time_ps * WORK_PER_PS
        chains.cost[row].demand = own
        chains.cost[row].dynamic = plan.cost[row].dynamic_mw
        chains.cost[row].num = num
        chains.cost[row].den = den
        chains.cost[row].offset = offset
        chains.cost[row].cap = cap
        chains.cost[row].memory = memory_row[row]
        chains.cost_inverse[row] = 1.0 / den


@jit
def _rate(figure, at, others):
    """The rate of the group whose figures are at ``at``, beside the others' demand."""
    minor, heavy = lost_products(
        others,
        figure.peak[at],
        figure.minor_num[at],
        figure.heavy_offset[at],
        figure.heavy_cap[at],
        figure.heavy_num[at],
    )
    return rate_after(
        ceil_times(minor, figure.minor_den[at], figure.minor_inverse[at]),
        ceil_times(heavy, figure.heavy_den[at], figure.heavy_inverse[at]),
    )


@jit
def _chosen(condition, one, other):
    return one if condition else other


@jit
def _step(figure):
    """Starts what can start now in every lane, then moves to the lane's next instant.

    Of two ends at one instant the second comes with the next step, and nothing starts before.
    """
    zero = np.int64(0)
    for lane in range(LANES):
        now = figure.now[lane]
        runs_0, runs_1 = figure.runs[lane] != 0, figure.runs[LANES + lane] != 0
        when_0, when_1 = figure.when[lane], figure.when[LANES + lane]
        work_0, work_1 = figure.work[lane], figure.work[LANES + lane]
        demand_0, demand_1 = figure.demand[lane], figure.demand[LANES + lane]
        started_0, started_1 = figure.started[lane], figure.started[LANES + lane]
        same_unit = figure.unit[lane] == figure.unit[LANES + lane]
        waits_0, waits_1 = not runs_0, not runs_1

        # Starts: nothing starts before all ends of the instant; of two that are ready for one
        # unit the earlier ready time wins, then the first network.
        all_ended = (waits_0 | (when_0 > now)) & (waits_1 | (when_1 > now))
        starts_0 = all_ended & waits_0 & (when_0 <= now) & (waits_1 | (not same_unit))
        starts_1 = all_ended & waits_1 & (when_1 <= now) & (waits_0 | (not same_unit))
        clash = starts_0 & starts_1 & same_unit
        first_0 = when_0 <= when_1
        starts_0 = starts_0 & (first_0 | (not clash))
        starts_1 = starts_1 & (not (first_0 & clash))
        started_0 = _chosen(starts_0, now, started_0)
        started_1 = _chosen(starts_1, now, started_1)
        runs_0, runs_1 = runs_0 | starts_0, runs_1 | starts_1

        # Rates in this contention interval, and the ends that they give.
        others_0, others_1 = _chosen(runs_1, demand_1, zero), _chosen(runs_0, demand_0, zero)
        rate_0 = _rate(figure, lane, others_0)
        rate_1 = _rate(figure, LANES + lane, others_1)
        end_0 = now + ceil_near(work_0, rate_0, np.float64(work_0) / np.float64(rate_0))
        end_1 = now + ceil_near(work_1, rate_1, np.float64(work_1) / np.float64(rate_1))
        when_0, when_1 = _chosen(runs_0, end_0, when_0), _chosen(runs_1, end_1, when_1)

        # A group that waits for the other's unit starts at the other's end, not at an own instant.
        queued_0 = (not runs_0) & ((when_0 <= now) | (runs_1 & same_unit))
        queued_1 = (not runs_1) & ((when_1 <= now) | (runs_0 & same_unit))
        later = min(_chosen(queued_0, NEVER, when_0), _chosen(queued_1, NEVER, when_1))
        # So that what is never ready is not ready in a lane where nothing is left either.
        later = min(later, NEVER - 1)
        passed = later - now
        ends_0 = runs_0 & (when_0 == later)
        ends_1 = runs_1 & (when_1 == later)
        slot = _chosen(ends_0, zero, _chosen(ends_1, np.int64(LANES), np.int64(-1)))

        figure.now[lane] = later
        figure.ended[lane] = slot
        figure.runs[lane] = np.int64(runs_0)
        figure.runs[LANES + lane] = np.int64(runs_1)
        figure.when[lane] = when_0
        figure.when[LANES + lane] = when_1
        figure.started[lane] = started_0
        figure.started[LANES + lane] = started_1
        figure.work[lane] = work_0 - _chosen(runs_0, rate_0, zero) * passed
        figure.work[LANES + lane] = work_1 - _chosen(runs_1, rate_1, zero) * passed


@jit
def _enter(plan, chains, row, lanes, lane, slot, group, ready):
    """The slot's next group waits from now on; False where its unit cannot run it."""
    figure = lanes.figure
    unit = row[group]
    entry = lanes.table_row[np.uint32(lane * plan.units) + unit] + np.int64(group)
    work = chains.cost[entry].work
    memory = chains.cost[entry].memory
    lanes.unit_used[lane, unit] = 1
    at = slot + lane
    figure.group[at] = group
    figure.unit[at] = unit
    figure.runs[at] = 0
    figure.when[at] = ready
    figure.work[at] = work
    figure.demand[at] = chains.cost[entry].demand
    figure.dynamic[at] = chains.cost[entry].dynamic
    figure.heavy_num[at] = chains.cost[entry].num
    figure.heavy_den[at] = chains.cost[entry].den
    figure.heavy_offset[at] = chains.cost[entry].offset
    figure.heavy_cap[at] = chains.cost[entry].cap
    figure.minor_num[at] = chains.memory[memory].num
    figure.minor_den[at] = chains.memory[memory].den
    figure.peak[at] = chains.memory[memory].peak
    figure.heavy_inverse[at] = chains.cost_inverse[entry]
    figure.minor_inverse[at] = chains.memory_inverse[memory]
    return work >= 0


@jit
def _take_row(plan, chains, rows, lanes, lane, r):
    """The lane begins with row ``r``; it stays idle where there is no such row."""
    figure = lanes.figure
    figure.now[lane] = 0
    figure.dynamic_fj[lane] = 0
    figure.busy_ps[lane] = 0
    figure.networks_left[lane] = plan.networks
    figure.row[lane] = r if r < rows.shape[0] else -1
    for n in range(SLOTS):
        figure.runs[n * LANES + lane] = 0
        figure.when[n * LANES + lane] = NEVER
    if r >= rows.shape[0]:
        return True
    for u in range(plan.units):
        lanes.unit_used[lane, u] = 0
        lanes.table_row[lane * plan.units + u] = (
            plan.table_start[u] + clock_index(plan, rows[r], u) * plan.groups
        )
    possible = True
    for n in range(plan.networks):
        figure.repeats_left[n * LANES + lane] = chains.chain[n].repeats
        first = chains.chain[n].first
        arrival = chains.chain[n].arrival
        possible &= _enter(plan, chains, rows[r], lanes, lane, n * LANES, first, arrival)
    return possible


@jit
def _next_group(plan, chains, row, lanes, lane, slot, latency):
    """The slot's group has ended, and the next one waits; False where its unit cannot run it.

    ``latency`` [networks] of the lane's row.
    """
    figure = lanes.figure
    now = figure.now[lane]
    at = slot + lane
    ran = now - figure.started[at]
    figure.dynamic_fj[lane] += ran * figure.dynamic[at]
    figure.busy_ps[lane] += ran
    n = 1 if slot > 0 else 0
    group = figure.group[at] + 1
    ready = now
    if group < chains.chain[n].end:
        before, unit = figure.unit[at], row[group]
        ready += chains.delay_ps[(group * plan.units + before) * plan.units + unit]
    else:
        figure.repeats_left[at] -= 1
        if figure.repeats_left[at] == 0:
            figure.runs[at] = 0
            figure.when[at] = NEVER
            figure.networks_left[lane] -= 1
            latency[n] = now - chains.chain[n].arrival
            return True
        group = chains.chain[n].first
    return _enter(plan, chains, row, lanes, lane, slot, group, ready)


@jit
def evaluate_chains(plan, chains, rows, lanes, possible, makespan, latency, dynamic, busy, idle):
    """Simulates one frame alone for every row [groups + domains] and writes what it gave.

    ``possible`` [rows] is 0 where a unit cannot run a group; the rest is then 0.
    """
    figure = lanes.figure
    ahead = np.int64(0)
    running = np.int64(0)
    for lane in range(LANES):
        while not _take_row(plan, chains, rows, lanes, lane, ahead):
            ahead += 1
        ahead += 1
        running += figure.row[lane] >= 0
    while running > 0:
        _step(figure)
        # Listed without a branch, since in which lanes a group ends cannot be predicted.
        count = np.int64(0)
        for lane in range(LANES):
            lanes.ending[count] = lane
            count += figure.ended[lane] >= 0
        for i in range(count):
            lane = lanes.ending[i]
            slot = figure.ended[lane]
            r = figure.row[lane]
            can_run = _next_group(plan, chains, rows[r], lanes, lane, slot, latency[r])
            if can_run and figure.networks_left[lane] > 0:
                continue
            if can_run:
                switch_domains(plan, lanes.unit_used[lane], lanes.domain_on)
                possible[r] = True
                makespan[r] = figure.now[lane]
                dynamic[r] = figure.dynamic_fj[lane]
                busy[r] = figure.busy_ps[lane]
                idle[r] = idle_power(plan, rows[r], lanes.domain_on)
            else:
                latency[r] = 0
            while not _take_row(plan, chains, rows, lanes, lane, ahead):
                ahead += 1
            ahead += 1
            running -= figure.row[lane] < 0

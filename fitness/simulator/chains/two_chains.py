"""The timeline of one frame of two chains, for many design points at a time; compiled.

The rules are those of :mod:`fitness.reference.timeline`. Two chains need no queues: each has
exactly one group that runs, waits or is in transition. What makes it fast:

* :func:`_step` moves all lanes, a design point in each, to their next instant without a single
  branch. So the compiler makes vector instructions of it, and nothing is mispredicted, which
  otherwise is half of the time: what happens next in a timeline cannot be predicted;
* quotients are rounded from floating point and then corrected by their exact remainder, since
  vectors have no integer division;
* a lane whose design point has ended takes the next one at once.
"""

import numpy as np

from fitness.simulator.chains.chain_tables import (
    BUSY_PS,
    CHAIN_ARRIVAL,
    CHAIN_END,
    CHAIN_FIRST,
    CHAIN_REPEATS,
    CHAIN_WIDTH,
    COST_CAP,
    COST_DEMAND,
    COST_DEN,
    COST_DYNAMIC,
    COST_MEMORY,
    COST_NUM,
    COST_OFFSET,
    COST_WIDTH,
    COST_WORK,
    DEMAND,
    DYNAMIC,
    DYNAMIC_FJ,
    ENDED,
    GROUP,
    HEAVY_CAP,
    HEAVY_DEN,
    HEAVY_INVERSE,
    HEAVY_NUM,
    HEAVY_OFFSET,
    INVERSE_SLOT_1,
    LANES,
    MEMORY_DEN,
    MEMORY_NUM,
    MEMORY_PEAK,
    MEMORY_WIDTH,
    MINOR_DEN,
    MINOR_INVERSE,
    MINOR_NUM,
    NETWORKS_LEFT,
    NOW,
    PEAK,
    REPEATS_LEFT,
    ROW,
    RUNS,
    SLOT_1,
    SLOTS,
    STARTED,
    UNIT,
    WHEN,
    WORK,
)
from fitness.simulator.contention import (
    ceil_near,
    ceil_times,
    heavy_slope,
    lost_products,
    rate_after,
)
from fitness.simulator.jit import jit
from fitness.simulator.layout import MINOR_DEN as MINOR_DEN_COLUMN
from fitness.simulator.layout import MINOR_NUM as MINOR_NUM_COLUMN
from fitness.simulator.layout import PEAK as PEAK_COLUMN
from fitness.simulator.lookup import clock_index, idle_power, switch_domains
from fitness.simulator.state import NEVER
from results.problem.problem import WORK_PER_PS


@jit
def fill_costs(plan, chains, memory_row):
    """Fills the tables of costs; ``memory_row`` [rows of costs]."""
    points = plan.contention.shape[1]
    for row in range(plan.units * points):
        contention = plan.contention[row // points, row % points]
        # Where there is no contention all parameters are 0: no loss, of a denominator that divides.
        den = max(contention[MINOR_DEN_COLUMN], 1)
        chains.memory[row * MEMORY_WIDTH + MEMORY_NUM] = contention[MINOR_NUM_COLUMN]
        chains.memory[row * MEMORY_WIDTH + MEMORY_DEN] = den
        chains.memory[row * MEMORY_WIDTH + MEMORY_PEAK] = contention[PEAK_COLUMN]
        chains.memory_inverse[row] = 1.0 / den
    for row in range(len(memory_row)):
        at = row * COST_WIDTH
        own = plan.demand_kbps[row]
        contention = plan.contention[memory_row[row] // points, memory_row[row] % points]
        num, den, offset, cap = heavy_slope(contention, 0, own)
        den = max(den, 1)
        chains.cost[at + COST_WORK] = plan.time_ps[row] * WORK_PER_PS
        chains.cost[at + COST_DEMAND] = own
        chains.cost[at + COST_DYNAMIC] = plan.dynamic_mw[row]
        chains.cost[at + COST_NUM] = num
        chains.cost[at + COST_DEN] = den
        chains.cost[at + COST_OFFSET] = offset
        chains.cost[at + COST_CAP] = cap
        chains.cost[at + COST_MEMORY] = memory_row[row]
        chains.cost_inverse[row] = 1.0 / den


@jit
def _rate(figure, inverse, at, inverse_at, others):
    """The rate of the group whose figures are at ``at``, beside the others' demand."""
    minor, heavy = lost_products(
        others,
        figure[at + PEAK],
        figure[at + MINOR_NUM],
        figure[at + HEAVY_OFFSET],
        figure[at + HEAVY_CAP],
        figure[at + HEAVY_NUM],
    )
    return rate_after(
        ceil_times(minor, figure[at + MINOR_DEN], inverse[inverse_at + MINOR_INVERSE]),
        ceil_times(heavy, figure[at + HEAVY_DEN], inverse[inverse_at + HEAVY_INVERSE]),
    )


@jit
def _chosen(condition, one, other):
    return one if condition else other


@jit
def _step(figure, inverse):
    """Starts what can start now in every lane, then moves to the lane's next instant.

    Of two ends at one instant the second comes with the next step, and nothing starts before.
    """
    zero = np.int64(0)
    for lane in range(LANES):
        now = figure[NOW + lane]
        runs_0, runs_1 = figure[RUNS + lane] != 0, figure[SLOT_1 + RUNS + lane] != 0
        when_0, when_1 = figure[WHEN + lane], figure[SLOT_1 + WHEN + lane]
        work_0, work_1 = figure[WORK + lane], figure[SLOT_1 + WORK + lane]
        demand_0, demand_1 = figure[DEMAND + lane], figure[SLOT_1 + DEMAND + lane]
        started_0, started_1 = figure[STARTED + lane], figure[SLOT_1 + STARTED + lane]
        same_unit = figure[UNIT + lane] == figure[SLOT_1 + UNIT + lane]
        waits_0, waits_1 = not runs_0, not runs_1

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

        others_0, others_1 = _chosen(runs_1, demand_1, zero), _chosen(runs_0, demand_0, zero)
        rate_0 = _rate(figure, inverse, lane, lane, others_0)
        rate_1 = _rate(figure, inverse, SLOT_1 + lane, INVERSE_SLOT_1 + lane, others_1)
        end_0 = now + ceil_near(work_0, rate_0, np.float64(work_0) / np.float64(rate_0))
        end_1 = now + ceil_near(work_1, rate_1, np.float64(work_1) / np.float64(rate_1))
        when_0, when_1 = _chosen(runs_0, end_0, when_0), _chosen(runs_1, end_1, when_1)

        # What waits for the other's unit has no instant of its own.
        queued_0 = (not runs_0) & ((when_0 <= now) | (runs_1 & same_unit))
        queued_1 = (not runs_1) & ((when_1 <= now) | (runs_0 & same_unit))
        later = min(_chosen(queued_0, NEVER, when_0), _chosen(queued_1, NEVER, when_1))
        # So that what is never ready is not ready in a lane where nothing is left either.
        later = min(later, NEVER - 1)
        passed = later - now
        ends_0 = runs_0 & (when_0 == later)
        ends_1 = runs_1 & (when_1 == later)
        slot = _chosen(ends_0, zero, _chosen(ends_1, np.int64(SLOT_1), np.int64(-1)))

        figure[NOW + lane] = later
        figure[ENDED + lane] = slot
        figure[RUNS + lane] = np.int64(runs_0)
        figure[SLOT_1 + RUNS + lane] = np.int64(runs_1)
        figure[WHEN + lane] = when_0
        figure[SLOT_1 + WHEN + lane] = when_1
        figure[STARTED + lane] = started_0
        figure[SLOT_1 + STARTED + lane] = started_1
        figure[WORK + lane] = work_0 - _chosen(runs_0, rate_0, zero) * passed
        figure[SLOT_1 + WORK + lane] = work_1 - _chosen(runs_1, rate_1, zero) * passed


@jit
def _enter(plan, chains, row, lanes, lane, slot, group, ready):
    """The slot's next group waits from now on; False where its unit cannot run it."""
    figure = lanes.figure
    unit = np.uint32(row[group])
    entry = np.uint32(lanes.table_row[np.uint32(lane * plan.units) + unit] + np.int64(group))
    cost = np.uint32(entry * COST_WIDTH)
    work = chains.cost[cost + COST_WORK]
    memory_row = np.uint32(chains.cost[cost + COST_MEMORY])
    memory = np.uint32(memory_row * MEMORY_WIDTH)
    lanes.unit_used[lane, unit] = 1
    at = np.uint32(slot + lane)
    figure[at + GROUP] = group
    figure[at + UNIT] = unit
    figure[at + RUNS] = 0
    figure[at + WHEN] = ready
    figure[at + WORK] = work
    figure[at + DEMAND] = chains.cost[cost + COST_DEMAND]
    figure[at + DYNAMIC] = chains.cost[cost + COST_DYNAMIC]
    figure[at + HEAVY_NUM] = chains.cost[cost + COST_NUM]
    figure[at + HEAVY_DEN] = chains.cost[cost + COST_DEN]
    figure[at + HEAVY_OFFSET] = chains.cost[cost + COST_OFFSET]
    figure[at + HEAVY_CAP] = chains.cost[cost + COST_CAP]
    figure[at + MINOR_NUM] = chains.memory[memory + MEMORY_NUM]
    figure[at + MINOR_DEN] = chains.memory[memory + MEMORY_DEN]
    figure[at + PEAK] = chains.memory[memory + MEMORY_PEAK]
    inverse = np.uint32((INVERSE_SLOT_1 if slot > 0 else 0) + lane)
    lanes.inverse[inverse + HEAVY_INVERSE] = chains.cost_inverse[entry]
    lanes.inverse[inverse + MINOR_INVERSE] = chains.memory_inverse[memory_row]
    return work >= 0


@jit
def _take_row(plan, chains, rows, lanes, lane, r):
    """The lane begins with row ``r``; it stays idle where there is no such row."""
    figure = lanes.figure
    figure[NOW + lane] = 0
    figure[DYNAMIC_FJ + lane] = 0
    figure[BUSY_PS + lane] = 0
    figure[NETWORKS_LEFT + lane] = plan.networks
    figure[ROW + lane] = r if r < rows.shape[0] else -1
    for n in range(SLOTS):
        figure[n * SLOT_1 + RUNS + lane] = 0
        figure[n * SLOT_1 + WHEN + lane] = NEVER
    if r >= rows.shape[0]:
        return True
    for u in range(plan.units):
        lanes.unit_used[lane, u] = 0
        lanes.table_row[lane * plan.units + u] = (
            plan.table_start[u] + clock_index(plan, rows[r], u) * plan.groups
        )
    possible = True
    for n in range(plan.networks):
        figure[n * SLOT_1 + REPEATS_LEFT + lane] = chains.chain[n * CHAIN_WIDTH + CHAIN_REPEATS]
        first = chains.chain[n * CHAIN_WIDTH + CHAIN_FIRST]
        arrival = chains.chain[n * CHAIN_WIDTH + CHAIN_ARRIVAL]
        possible &= _enter(plan, chains, rows[r], lanes, lane, n * SLOT_1, first, arrival)
    return possible


@jit
def _next_group(plan, chains, row, lanes, lane, slot, latency):
    """The slot's group has ended, and the next one waits; False where its unit cannot run it.

    ``latency`` [networks] of the lane's row.
    """
    figure = lanes.figure
    now = figure[NOW + lane]
    at = np.uint32(slot + lane)
    ran = now - figure[at + STARTED]
    figure[DYNAMIC_FJ + lane] += ran * figure[at + DYNAMIC]
    figure[BUSY_PS + lane] += ran
    n = 1 if slot > 0 else 0
    group = figure[at + GROUP] + 1
    ready = now
    if group < chains.chain[n * CHAIN_WIDTH + CHAIN_END]:
        before, unit = figure[at + UNIT], row[group]
        ready += chains.delay_ps[np.uint32((group * plan.units + before) * plan.units + unit)]
    else:
        figure[at + REPEATS_LEFT] -= 1
        if figure[at + REPEATS_LEFT] == 0:
            figure[at + RUNS] = 0
            figure[at + WHEN] = NEVER
            figure[NETWORKS_LEFT + lane] -= 1
            latency[n] = now - chains.chain[n * CHAIN_WIDTH + CHAIN_ARRIVAL]
            return True
        group = chains.chain[n * CHAIN_WIDTH + CHAIN_FIRST]
    return _enter(plan, chains, row, lanes, lane, slot, group, ready)


@jit
def evaluate_chains(plan, chains, rows, lanes, possible, makespan, latency, dynamic, busy, idle):
    """Plays one frame alone for every row [groups + domains] and writes what it gave.

    ``possible`` [rows] is 0 where a unit cannot run a group; the rest is then 0.
    """
    figure = lanes.figure
    ahead = np.int64(0)
    running = np.int64(0)
    for lane in range(LANES):
        while not _take_row(plan, chains, rows, lanes, lane, ahead):
            ahead += 1
        ahead += 1
        running += figure[ROW + lane] >= 0
    while running > 0:
        _step(figure, lanes.inverse)
        # Listed first, without a branch: in which lanes a group ends cannot be predicted.
        count = np.int64(0)
        for lane in range(LANES):
            lanes.ending[np.uint32(count)] = lane
            count += figure[ENDED + lane] >= 0
        for i in range(count):
            lane = np.uint32(lanes.ending[i])
            slot = np.uint32(figure[lane + ENDED])
            r = figure[lane + ROW]
            can_run = _next_group(plan, chains, rows[r], lanes, lane, slot, latency[r])
            if can_run and figure[NETWORKS_LEFT + lane] > 0:
                continue
            if can_run:
                switch_domains(plan, lanes.unit_used[lane], lanes.domain_on)
                possible[r] = True
                makespan[r] = figure[NOW + lane]
                dynamic[r] = figure[DYNAMIC_FJ + lane]
                busy[r] = figure[BUSY_PS + lane]
                idle[r] = idle_power(plan, rows[r], lanes.domain_on)
            else:
                latency[r] = 0
            while not _take_row(plan, chains, rows, lanes, lane, ahead):
                ahead += 1
            ahead += 1
            running -= figure[ROW + lane] < 0

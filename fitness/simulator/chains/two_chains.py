"""Simulation of one frame of two chains, for many design points at a time. Compiled.

The rules are those of :mod:`fitness.check.members.frames`. Two chains need no queues: each has
exactly one group that runs, waits or is in transition. It is fast for three reasons:

* :func:`_step` moves all lanes, with a design point in each, to their next instant without a single
  branch. So the compiler makes vector instructions of it, and there are no branch mispredictions,
  which otherwise cost half of the run time.
* Quotients are rounded from floating point and then corrected by their exact remainder, since
  vectors have no integer division.
* A lane whose design point has ended takes the next one at once.
"""

import numpy as np

from paretosoc.fitness.simulator.chains.chain_tables import LANES, LEAD_PS, SLOTS
from paretosoc.fitness.simulator.chains.lanes import (
    choose_clocks,
    moving_work,
    put_costs,
    ready_after,
    write_row,
)
from paretosoc.fitness.simulator.contention import (
    ceil_near,
    ceil_times,
    excess_loss,
    heavy_slope,
    lost_products,
    rate_after,
)
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import group_priority
from paretosoc.fitness.simulator.state import NEVER
from paretosoc.fitness.simulator.types.vectors import (
    all_lanes,
    as_floats,
    as_integers,
    bits_of,
    first_bit,
    floats,
    integers,
    put,
    where,
)
from paretosoc.results.problem.arithmetic import WORK_BITS, WORK_PER_PS


@jit
def fill_costs(plan, chains, memory_row):
    """Fill the tables of costs. ``memory_row`` is per row of costs."""
    points = plan.contention.shape[1]
    for row in range(plan.units * points):
        contention = plan.contention[row // points, row % points]
        # Without contention all slopes are 0: no loss, with a denominator that divides.
        den = max(contention.minor_den, 1)
        chains.memory[row].num = contention.minor_num
        chains.memory[row].den = den
        chains.memory[row].peak = contention.peak_kbps
        chains.memory[row].kbps = contention.memory_kbps
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


@jit
def _rate(figure, at, beside, other):
    """Return the rates of the groups with figures from ``at`` on, in lanes ``beside`` next to those
    from ``other`` on."""
    zero = all_lanes(0)
    others = where(beside, integers(figure.demand, other), zero)
    excess = where(beside, integers(figure.excess, at), zero)
    minor, heavy = lost_products(
        others,
        integers(figure.peak, at),
        integers(figure.minor_num, at),
        integers(figure.heavy_offset, at),
        integers(figure.heavy_cap, at),
        integers(figure.heavy_num, at),
    )
    small = ceil_times(minor, integers(figure.minor_den, at), floats(figure.minor_inverse, at))
    return rate_after(
        max(small, excess),
        ceil_times(heavy, integers(figure.heavy_den, at), floats(figure.heavy_inverse, at)),
    )


@jit
def _step(figure, engines):
    """Start all groups that can start in every lane, then move each to its next instant. Return
    bits of the lanes in which a group ends. The second of two ends at one instant comes with the
    next step."""
    zero = all_lanes(0)
    now = integers(figure.now, 0)
    runs_0, runs_1 = integers(figure.runs, 0) != 0, integers(figure.runs, LANES) != 0
    waits_0, waits_1 = integers(figure.runs, 0) == 0, integers(figure.runs, LANES) == 0
    when_0, when_1 = integers(figure.when, 0), integers(figure.when, LANES)
    work_0, work_1 = integers(figure.work, 0), integers(figure.work, LANES)
    queue_0, queue_1 = integers(figure.queue, 0), integers(figure.queue, LANES)
    same_queue, apart = queue_0 == queue_1, queue_0 != queue_1

    # Starts: nothing starts before all ends of the instant; of two that are ready for one unit the
    # smaller priority wins, then the earlier ready time, then the first network.
    all_ended = (waits_0 | (when_0 > now)) & (waits_1 | (when_1 > now))
    ready_0 = all_ended & waits_0 & (when_0 <= now) & (waits_1 | apart)
    ready_1 = all_ended & waits_1 & (when_1 <= now) & (waits_0 | apart)
    # A clash: both are ready for the same queue.
    late_1 = when_1 + integers(figure.lead, 0)
    starts_0 = ready_0 & ((when_0 <= late_1) | apart | (when_1 > now))
    starts_1 = ready_1 & ((late_1 < when_0) | apart | (when_0 > now))
    runs_0, runs_1 = runs_0 | starts_0, runs_1 | starts_1

    # Rates in this contention interval, and the ends that they give.
    beside_0, beside_1 = runs_1, runs_0
    if engines:
        unit_0, unit_1 = integers(figure.unit, 0), integers(figure.unit, LANES)
        beside_0, beside_1 = runs_1 & (unit_0 != unit_1), runs_0 & (unit_0 != unit_1)
    rate_0 = _rate(figure, 0, beside_0, LANES)
    rate_1 = _rate(figure, LANES, beside_1, 0)
    if engines:
        together = runs_0 & runs_1 & (unit_0 == unit_1)
        share = where(together, integers(figure.share, 0), all_lanes(WORK_PER_PS))
        rate_0 = max((rate_0 * share) >> WORK_BITS, all_lanes(1))
        rate_1 = max((rate_1 * share) >> WORK_BITS, all_lanes(1))
    end_0 = now + ceil_near(work_0, rate_0, as_floats(work_0) / as_floats(rate_0))
    end_1 = now + ceil_near(work_1, rate_1, as_floats(work_1) / as_floats(rate_1))
    when_0, when_1 = where(runs_0, end_0, when_0), where(runs_1, end_1, when_1)

    # A group that waits for the other's unit starts at the other's end, not at an own instant.
    flag_0, flag_1 = as_integers(runs_0), as_integers(runs_1)
    queued_0 = (flag_0 == 0) & ((when_0 <= now) | (runs_1 & same_queue))
    queued_1 = (flag_1 == 0) & ((when_1 <= now) | (runs_0 & same_queue))
    never = all_lanes(NEVER)
    # So that what is never ready is not ready in a lane where nothing is left either.
    later = min(min(where(queued_0, never, when_0), where(queued_1, never, when_1)), NEVER - 1)
    passed = later - now
    ends_0, ends_1 = runs_0 & (when_0 == later), runs_1 & (when_1 == later)

    if engines:
        # Of groups that share a unit the power is the mean, rounded up, and busy is the unit once.
        twice = where(together, passed, zero)
        both_mw = integers(figure.dynamic, 0) + integers(figure.dynamic, LANES)
        put(figure.dynamic_fj, 0, integers(figure.dynamic_fj, 0) - twice * (both_mw >> 1))
        put(figure.busy_ps, 0, integers(figure.busy_ps, 0) - twice)
    put(figure.now, 0, later)
    put(figure.ended, 0, where(ends_0, zero, all_lanes(LANES)))
    put(figure.runs, 0, flag_0)
    put(figure.runs, LANES, flag_1)
    put(figure.when, 0, when_0)
    put(figure.when, LANES, when_1)
    put(figure.started, 0, where(starts_0, now, integers(figure.started, 0)))
    put(figure.started, LANES, where(starts_1, now, integers(figure.started, LANES)))
    put(figure.work, 0, work_0 - where(runs_0, rate_0, zero) * passed)
    put(figure.work, LANES, work_1 - where(runs_1, rate_1, zero) * passed)
    return bits_of(ends_0 | ends_1)


@jit
def _enter(plan, chains, row, lanes, lane, slot, group, ready):
    """Let the slot's next group wait from now on. Return False if its unit cannot run it."""
    figure = lanes.figure
    unit = row[np.uint64(group)]
    entry = lanes.table_row[np.uint32(lane * plan.units) + unit] + np.int64(group)
    work = chains.cost[entry].work
    lanes.unit_used[lane, unit] = 1
    at = slot + lane
    figure.group[at] = group
    # Number formats of a unit are busy together.
    figure.queue[at] = plan.unit_of[unit]
    if plan.has_engines:
        figure.queue[at] = plan.queue_of[(plan.units if slot > 0 else 0) + unit]
        figure.unit[at] = plan.unit_of[unit]
        figure.share[at] = plan.share[unit * (plan.networks + 1) + plan.networks]
    figure.runs[at] = 0
    figure.when[at] = ready
    figure.work[at] = work
    if plan.moves:
        n = 1 if slot > 0 else 0
        figure.work[at] += moving_work(plan, chains, row, n, np.int64(group), unit)
    put_costs(chains, figure, at, entry)
    # Also if the two never run side by side: then nothing reads it.
    other = LANES - slot + lane
    asked = figure.demand[at] + figure.demand[other]
    # Written rarely, since vectors that were just written in part are slow to read.
    for place in (at, other):
        excess = excess_loss(asked, figure.memory[place])
        if figure.excess[place] != excess:
            figure.excess[place] = excess
    return work >= 0


@jit
def _take_row(plan, chains, rows, lanes, lane, r):
    """Let the lane begin with row ``r``, idle if there is none. Return False if it cannot run."""
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
    figure.lead[lane] = 0
    if plan.has_priorities:
        first, second = (
            group_priority(plan, rows[r], chains.chain[0].first),
            group_priority(plan, rows[r], chains.chain[1].first),
        )
        figure.lead[lane] = (second - first) * LEAD_PS
    choose_clocks(plan, rows[r], lanes, lane)
    possible = True
    for n in range(plan.networks):
        figure.repeats_left[n * LANES + lane] = chains.chain[n].repeats
        first = chains.chain[n].first
        arrival = chains.chain[n].arrival
        possible &= _enter(plan, chains, rows[r], lanes, lane, n * LANES, first, arrival)
    return possible


@jit
def _next_group(plan, chains, row, lanes, lane, slot, latency):
    """End the slot's group and let the next wait, ``latency`` [networks]. Return False if its unit
    cannot run it."""
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
        ready = ready_after(plan, chains, row, group, now)
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
    """Simulate one frame alone for every row [groups + domains] and write its results.

    ``possible`` [rows] is 0 if a unit cannot run a group. Its other results are then 0.
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
        bits = _step(figure, plan.has_engines)
        while bits != 0:
            lane = first_bit(bits)
            bits &= bits - np.uint64(1)
            slot = figure.ended[lane]
            r = figure.row[lane]
            can_run = _next_group(
                plan, chains, rows[np.uint64(r)], lanes, lane, slot, latency[np.uint64(r)]
            )
            if can_run and figure.networks_left[lane] > 0:
                continue
            if can_run:
                write_row(plan, rows, lanes, lane, r, possible, makespan, dynamic, busy, idle)
            else:
                latency[r] = 0
            while not _take_row(plan, chains, rows, lanes, lane, ahead):
                ahead += 1
            ahead += 1
            running -= figure.row[lane] < 0

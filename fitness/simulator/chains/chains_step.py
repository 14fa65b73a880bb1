"""The steps of many chains' lanes: to the next instant, into a queue, out of it; compiled.

See :mod:`fitness.simulator.chains.chains`.
"""

import numpy as np

from fitness.simulator.chains.chain_lanes import LANES
from fitness.simulator.contention import (
    ceil_near,
    ceil_times,
    heavy_slope,
    lost_products,
    rate_after,
)
from fitness.simulator.jit import jit
from fitness.simulator.state import NEVER
from fitness.simulator.vectors import (
    all_lanes,
    as_floats,
    bits_of,
    floats,
    integers,
    put,
    smallest,
    where,
)
from results.problem.arithmetic import WORK_PER_PS


@jit
def step(units, figure):
    """Rates of all that runs, and to the next instant of every lane."""
    before, now = integers(figure.before, 0), integers(figure.now, 0)
    total = all_lanes(0)
    for u in range(units):
        total = total + integers(figure.demand, u * LANES)
    # So that what is never ready is not ready in a lane where nothing is left either.
    later = all_lanes(NEVER - 1)
    # Without a branch; idle units keep their ready time.
    for u in range(units):
        i = u * LANES
        minor, heavy = lost_products(
            total - integers(figure.demand, i),
            integers(figure.peak, i),
            integers(figure.minor_num, i),
            integers(figure.heavy_offset, i),
            integers(figure.heavy_cap, i),
            integers(figure.heavy_num, i),
        )
        rate = rate_after(
            ceil_times(minor, integers(figure.minor_den, i), floats(figure.minor_inverse, i)),
            ceil_times(heavy, integers(figure.heavy_den, i), floats(figure.heavy_inverse, i)),
        )
        work = integers(figure.work, i) - integers(figure.rate, i) * (now - before)
        end = now + ceil_near(work, rate, as_floats(work) / as_floats(rate))
        runs = integers(figure.runs, i) != 0
        when = where(runs, end, integers(figure.when, i))
        put(figure.work, i, work)
        put(figure.rate, i, where(runs, rate, all_lanes(0)))
        put(figure.when, i, when)
        later = min(later, when)
    put(figure.before, 0, now)
    put(figure.now, 0, later)


@jit
def ending(figure, first, end):
    """Bits (unit - first) x LANES + lane, 1 where a group ends at the instant, for the units from
    ``first`` to before ``end``."""
    bits = np.uint64(0)
    now = integers(figure.now, 0)
    for u in range(first, end):
        i = u * LANES
        ends = (integers(figure.runs, i) != 0) & (integers(figure.when, i) == now)
        bits |= bits_of(ends) << np.uint64((u - first) * LANES)
    return bits


@jit
def starting(figure, first, end):
    """Likewise, where a group can start."""
    bits = np.uint64(0)
    now = integers(figure.now, 0)
    for u in range(first, end):
        i = u * LANES
        starts = (integers(figure.runs, i) == 0) & (integers(figure.when, i) <= now)
        bits |= bits_of(starts) << np.uint64((u - first) * LANES)
    return bits


@jit
def first_ready(plan, lanes, lane, u):
    """When the first of those that wait for the unit is ready; NEVER where none does."""
    at = (lane * plan.units + u) * lanes.size
    ready = integers(lanes.ready, at)
    for block in range(LANES, lanes.size, LANES):
        ready = min(ready, integers(lanes.ready, at + block))
    return smallest(ready)


@jit
def enqueue(plan, lanes, lane, entry, t, group, ready):
    """The token's next group waits for the unit of ``entry``, from ``ready`` on."""
    figure = lanes.figure
    u = entry
    if lanes.has_formats:
        u = plan.unit_of[entry]
        lanes.token[lane, t].entry = entry
    unit = u * LANES + lane
    lanes.token[lane, t].group = group
    lanes.ready[(lane * plan.units + u) * lanes.size + t] = ready
    when = figure.when[unit]
    figure.when[unit] = when if figure.runs[unit] else min(when, ready)


@jit
def _first_waiting(plan, lanes, lane, u):
    """The token that starts next on unit ``u``: of those that are ready the smallest (priority,
    ready time, order)."""
    at, of_lane = (lane * plan.units + u) * lanes.size, lane * lanes.size
    # Without priorities the smallest ready time is known.
    least = all_lanes(lanes.figure.when[u * LANES + lane])
    if plan.has_priorities:
        now = lanes.figure.now[lane]
        least = all_lanes(NEVER)
        for block in range(0, lanes.size, LANES):
            ready = integers(lanes.ready, at + block)
            late = ready + integers(lanes.lead, of_lane + block)
            least = where(ready <= now, min(least, late), least)
        least = all_lanes(smallest(least))
    first = all_lanes(NEVER)
    for block in range(0, lanes.size, LANES):
        ready = integers(lanes.ready, at + block)
        can_start = ready == least
        if plan.has_priorities:
            late = ready + integers(lanes.lead, of_lane + block)
            can_start = (ready <= lanes.figure.now[lane]) & (late == least)
        first = where(can_start, min(first, integers(lanes.order, of_lane + block)), first)
    return smallest(first) & (lanes.size - 1)


@jit
def start(plan, chains, lanes, lane, u):
    """The first group in the unit's queue starts; False where the unit cannot run it."""
    figure = lanes.figure
    unit = u * LANES + lane
    t = _first_waiting(plan, lanes, lane, u)
    lanes.ready[(lane * plan.units + u) * lanes.size + t] = NEVER
    group = lanes.token[lane, t].group
    entry = unit
    if lanes.has_formats:
        entry = lanes.token[lane, t].entry * LANES + lane
    cost = plan.cost[figure.table_row[entry] + group]
    own = cost.demand_kbps
    work = cost.time_ps * WORK_PER_PS
    num, den, offset, cap = heavy_slope(plan.contention[u, figure.memory_point[lane]], own)
    den = max(den, 1)
    figure.runs[unit] = 1
    figure.used[entry] = 1
    figure.token[unit] = t
    figure.started[unit] = figure.now[lane]
    figure.work[unit] = work
    if lanes.streams:
        figure.group_work[unit] = work
    figure.rate[unit] = 0
    figure.demand[unit] = own
    figure.dynamic[unit] = cost.dynamic_mw
    figure.heavy_num[unit] = num
    figure.heavy_den[unit] = den
    figure.heavy_offset[unit] = offset
    figure.heavy_cap[unit] = cap
    figure.heavy_inverse[unit] = 1.0 / np.float64(den)
    return work >= 0

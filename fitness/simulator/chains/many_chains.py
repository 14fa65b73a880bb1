"""Simulation of one frame of many chains, for many design points at a time. Compiled.

The rules are those of :mod:`fitness.check.members.frames`. A lane has one design point. All lanes
move to their next instants together (:func:`_advance`), without a branch, by the rates of what runs
on each unit. Then each lane by itself ends what ends, and starts what can start: of every chain one
group runs or waits, so the groups that wait for a unit are the bits of a word.
"""

import numpy as np

from paretosoc.fitness.simulator.chains.chain_tables import LANES
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
    lost_products,
    rate_after,
)
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import group_priority
from paretosoc.fitness.simulator.state import NEVER
from paretosoc.fitness.simulator.types.vectors import (
    all_lanes,
    as_floats,
    bits_of,
    first_bit,
    floats,
    integers,
    put,
    where,
)
from paretosoc.results.problem.arithmetic import WORK_PER_PS


@jit
def _advance(figure, crowd, queues):
    """Move every lane to its next instant: an end, or a group that is ready for an idle unit."""
    zero = all_lanes(0)
    now, later = integers(figure.now, 0), all_lanes(NEVER)
    total = zero
    for q in range(queues):
        total = total + integers(figure.demand, q * LANES)
    for q in range(queues):
        at = q * LANES
        others = total - integers(figure.demand, at)
        minor, heavy = lost_products(
            others,
            integers(figure.peak, at),
            integers(figure.minor_num, at),
            integers(figure.heavy_offset, at),
            integers(figure.heavy_cap, at),
            integers(figure.heavy_num, at),
        )
        small = ceil_times(minor, integers(figure.minor_den, at), floats(figure.minor_inverse, at))
        beyond = where(others > 0, max(total - integers(figure.memory, at), 0), zero)
        if bits_of(beyond > 0) != 0:
            lost, asked = beyond * WORK_PER_PS, max(total, 1)
            small = max(small, ceil_near(lost, asked, as_floats(lost) / as_floats(asked)))
        rate = rate_after(
            small,
            ceil_times(heavy, integers(figure.heavy_den, at), floats(figure.heavy_inverse, at)),
        )
        work, runs = integers(figure.work, at), integers(figure.runs, at) != 0
        end = now + ceil_near(work, rate, as_floats(work) / as_floats(rate))
        end = where(runs, end, integers(figure.when, at))
        put(figure.when, at, end)
        put(figure.rate, at, where(runs, rate, zero))
        later = min(later, end)
    passed = later - now
    # Nothing happens in lanes without a row.
    alive = bits_of(later < NEVER)
    for q in range(queues):
        happens = bits_of(integers(figure.when, q * LANES) == later) & alive
        crowd.ends[q] = happens & crowd.runs[q]
        crowd.touched[q] = happens
        done = integers(figure.rate, q * LANES) * passed
        put(figure.work, q * LANES, integers(figure.work, q * LANES) - done)
    put(figure.now, 0, later)


@jit
def _start(plan, chains, crowd, lane, q, n):
    """Start the group of network n that waits for a queue."""
    figure = crowd.figure
    at, place = q * LANES + lane, lane * plan.networks + n
    entry = crowd.entry[place]
    figure.network[at] = n
    figure.runs[at] = 1
    crowd.runs[q] |= np.uint64(1) << np.uint64(lane)
    figure.started[at] = figure.now[lane]
    figure.work[at] = chains.cost[entry].work + crowd.moving[place]
    put_costs(chains, figure, at, entry)


@jit
def _dispatch(plan, chains, crowd, lane, q):
    """Start the next group of an idle queue: the smallest (priority, ready time, network) of those
    that are ready. A group that continues an engine comes before all others. If none is ready, note
    when one will be."""
    figure = crowd.figure
    now, soon = figure.now[lane], NEVER
    chosen, least, since = np.int64(-1), NEVER, NEVER
    bits = crowd.waits[lane, q]
    while bits != 0:
        n = first_bit(bits)
        bits &= bits - np.uint64(1)
        place = lane * plan.networks + n
        ready = crowd.ready[place]
        priority = ready if ready < 0 else crowd.priority[place]
        is_ready = ready <= now
        soon = soon if is_ready else min(soon, ready)
        is_first = is_ready & ((priority < least) | ((priority == least) & (ready < since)))
        chosen = n if is_first else chosen
        least = priority if is_first else least
        since = ready if is_first else since
    if chosen < 0:
        figure.when[q * LANES + lane] = soon
        return
    crowd.waits[lane, q] &= ~(np.uint64(1) << np.uint64(chosen))
    _start(plan, chains, crowd, lane, q, chosen)


@jit
def _enter(plan, chains, row, crowd, lane, n, ready):
    """Let the next group of network n wait for its unit."""
    place = lane * plan.networks + n
    group = crowd.group[place]
    unit = row[np.uint64(group)]
    entry = crowd.table_row[np.uint32(lane * plan.units) + unit] + group
    # Number formats of a unit are busy together.
    q = crowd.queue[unit]
    crowd.entry[place] = entry
    crowd.ready[place] = ready
    if plan.moves:
        crowd.moving[place] = moving_work(plan, chains, row, n, group, unit)
    crowd.waits[lane, q] |= np.uint64(1) << np.uint64(n)
    crowd.touched[q] |= np.uint64(1) << np.uint64(lane)


@jit
def _end(plan, chains, row, crowd, lane, q, latency):
    """End the group of a queue, and let the next of its chain wait. Return whether the frame is
    over. ``latency`` is [networks]."""
    figure = crowd.figure
    at, now = q * LANES + lane, figure.now[lane]
    n = figure.network[at]
    place = lane * plan.networks + n
    ran = now - figure.started[at]
    figure.dynamic_fj[lane] += ran * figure.dynamic[at]
    figure.busy_ps[lane] += ran
    figure.runs[at] = 0
    figure.demand[at] = 0
    group, ready = crowd.group[place] + 1, now
    if group < chains.chain[n].end:
        ready = ready_after(plan, chains, row, group, now)
    else:
        crowd.repeats_left[place] -= 1
        if crowd.repeats_left[place] == 0:
            figure.networks_left[lane] -= 1
            latency[n] = now - chains.chain[n].arrival
            return figure.networks_left[lane] == 0
        group = chains.chain[n].first
    crowd.group[place] = group
    _enter(plan, chains, row, crowd, lane, n, ready)
    return False


@jit
def _dispatch_all(plan, chains, crowd):
    """Start groups on the idle queues that have been touched."""
    for q in range(plan.unit_count):
        bits = crowd.touched[q] & ~crowd.runs[q]
        crowd.touched[q] = 0
        while bits != 0:
            lane = first_bit(bits)
            bits &= bits - np.uint64(1)
            _dispatch(plan, chains, crowd, lane, q)


@jit
def _take_row(plan, chains, rows, crowd, lane, r):
    """Let the lane begin with row ``r``, idle if there is none. Return False if it cannot run."""
    figure = crowd.figure
    figure.now[lane] = 0
    figure.dynamic_fj[lane] = 0
    figure.busy_ps[lane] = 0
    figure.networks_left[lane] = plan.networks
    figure.row[lane] = r if r < rows.shape[0] else -1
    for q in range(plan.unit_count):
        figure.runs[q * LANES + lane] = 0
        figure.demand[q * LANES + lane] = 0
        figure.work[q * LANES + lane] = 0
        figure.when[q * LANES + lane] = NEVER
        crowd.waits[lane, q] = 0
        crowd.runs[q] &= ~(np.uint64(1) << np.uint64(lane))
    if r >= rows.shape[0]:
        return True
    row = rows[r]
    choose_clocks(plan, row, crowd, lane)
    # All costs are read here, one after the other: later the processor would wait for each.
    possible = True
    for g in range(plan.groups):
        unit = row[np.uint64(g)]
        crowd.unit_used[lane, unit] = 1
        possible &= chains.cost[crowd.table_row[lane * plan.units + unit] + g].work >= 0
    for n in range(plan.networks):
        place, first = lane * plan.networks + n, chains.chain[n].first
        crowd.group[place] = first
        crowd.repeats_left[place] = chains.chain[n].repeats
        if plan.has_priorities:
            crowd.priority[place] = group_priority(plan, row, first)
        _enter(plan, chains, row, crowd, lane, n, chains.chain[n].arrival)
    return possible


@jit
def _take_next(plan, chains, rows, crowd, lane, ahead):
    """Let the lane begin with the first row from ``ahead`` on that can run. Return the row after
    it."""
    while not _take_row(plan, chains, rows, crowd, lane, ahead):
        ahead += 1
    return ahead + 1


@jit
def evaluate_many(plan, chains, rows, crowd, possible, makespan, latency, dynamic, busy, idle):
    """Simulate one frame alone for every row [groups + domains] and write its results.

    ``possible`` [rows] is 0 if a unit cannot run a group. Its other results are then 0.
    """
    figure = crowd.figure
    ahead, running = np.int64(0), np.int64(0)
    for q in range(plan.unit_count):
        crowd.runs[q] = 0
        crowd.touched[q] = 0
    for lane in range(LANES):
        ahead = _take_next(plan, chains, rows, crowd, lane, ahead)
        running += figure.row[lane] >= 0
    _dispatch_all(plan, chains, crowd)
    while running > 0:
        _advance(figure, crowd, plan.unit_count)
        # Nothing starts before all ends of the instant.
        ended = np.uint64(0)
        for q in range(plan.unit_count):
            bits = crowd.ends[q]
            crowd.runs[q] &= ~bits
            while bits != 0:
                lane = first_bit(bits)
                bits &= bits - np.uint64(1)
                r = np.uint64(figure.row[lane])
                is_over = _end(plan, chains, rows[r], crowd, lane, q, latency[r])
                ended |= np.uint64(is_over) << np.uint64(lane)
        while ended != 0:
            lane = first_bit(ended)
            ended &= ended - np.uint64(1)
            r = figure.row[lane]
            write_row(plan, rows, crowd, lane, r, possible, makespan, dynamic, busy, idle)
            ahead = _take_next(plan, chains, rows, crowd, lane, ahead)
            running -= figure.row[lane] < 0
        _dispatch_all(plan, chains, crowd)

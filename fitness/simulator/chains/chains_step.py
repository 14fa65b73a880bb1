"""The steps of many chains' lanes: to the next instant, into a queue, out of it; compiled.

See :mod:`fitness.simulator.chains.chains`.
"""

import numpy as np

from fitness.simulator.chains.chain_lanes import (
    LANES,
    MAX_UNITS,
)
from fitness.simulator.contention import ceil_near, ceil_times, lost_products, rate_after
from fitness.simulator.jit import jit
from fitness.simulator.state import NEVER


@jit
def step(units, figure):
    """Rates of all that runs, and to the next instant of every lane."""
    # Contention: each unit sees the demand of all others in its lane.
    for lane in range(LANES):
        total = np.int64(0)
        for u in range(MAX_UNITS):
            total += figure.demand[u * LANES + lane]
        for u in range(MAX_UNITS):
            figure.others[u * LANES + lane] = total - figure.demand[u * LANES + lane]
    # Rates and ends of all units of all lanes, without a branch; idle units keep their ready time.
    for i in range(units * LANES):
        minor, heavy = lost_products(
            figure.others[i],
            figure.peak[i],
            figure.minor_num[i],
            figure.heavy_offset[i],
            figure.heavy_cap[i],
            figure.heavy_num[i],
        )
        rate = rate_after(
            ceil_times(minor, figure.minor_den[i], figure.minor_inverse[i]),
            ceil_times(heavy, figure.heavy_den[i], figure.heavy_inverse[i]),
        )
        now = figure.now[i]
        work = figure.work[i] - figure.rate[i] * (now - figure.before[i])
        end = now + ceil_near(work, rate, np.float64(work) / np.float64(rate))
        runs = figure.runs[i] != 0
        when = figure.when[i]
        figure.work[i] = work
        figure.rate[i] = rate if runs else np.int64(0)
        figure.when[i] = end if runs else when
    # The next instant of a lane is the first end or ready time over its units.
    for lane in range(LANES):
        # So that what is never ready is not ready in a lane where nothing is left either.
        later = NEVER - 1
        for u in range(MAX_UNITS):
            later = min(later, figure.when[u * LANES + lane])
        for u in range(MAX_UNITS):
            figure.before[u * LANES + lane] = figure.now[u * LANES + lane]
            figure.now[u * LANES + lane] = later


@jit
def enqueue(plan, lanes, lane, u, t, group, ready):
    """The token's next group waits for unit ``u``, from ``ready`` on."""
    figure = lanes.figure
    token = lanes.token[lane, t]
    priority = token.frame * plan.networks + token.network
    unit = u * LANES + lane
    head, at = figure.queue_head[unit], figure.queued[unit]
    figure.queued[unit] = at + 1
    queue, mask = lanes.queue[lane * plan.units + u], lanes.queue_size - 1
    entry = (head + at) & mask
    while at > 0:
        before = (head + at - 1) & mask
        other = queue[before].ready
        if other < ready or (other == ready and queue[before].priority < priority):
            break
        queue[entry] = queue[before]
        entry = before
        at -= 1
    queue[entry].ready = ready
    queue[entry].priority = priority
    queue[entry].group = group
    queue[entry].token = t
    when = figure.when[unit]
    figure.when[unit] = when if figure.runs[unit] else min(when, ready)


@jit
def start(plan, chains, lanes, lane, u):
    """The first group in the unit's queue starts; False where the unit cannot run it."""
    figure = lanes.figure
    unit = u * LANES + lane
    head = figure.queue_head[unit]
    entry = lanes.queue[lane * plan.units + u, head]
    group = entry.group
    figure.queue_head[unit] = (head + 1) & (lanes.queue_size - 1)
    figure.queued[unit] -= 1
    row = figure.table_row[unit] + group
    work = chains.cost[row].work
    figure.runs[unit] = 1
    figure.used[unit] = 1
    figure.group[unit] = group
    figure.token[unit] = entry.token
    figure.started[unit] = figure.now[lane]
    figure.work[unit] = work
    if lanes.streams:
        figure.group_work[unit] = work
    figure.rate[unit] = 0
    figure.demand[unit] = chains.cost[row].demand
    figure.dynamic[unit] = chains.cost[row].dynamic
    figure.heavy_num[unit] = chains.cost[row].num
    figure.heavy_den[unit] = chains.cost[row].den
    figure.heavy_offset[unit] = chains.cost[row].offset
    figure.heavy_cap[unit] = chains.cost[row].cap
    figure.heavy_inverse[unit] = chains.cost_inverse[row]
    return work >= 0

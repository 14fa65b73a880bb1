"""How units of many chains' lanes go on: to the next instant, into a queue, out of it; compiled.

See :mod:`fitness.simulator.chains.chains`.
"""

import numpy as np

from fitness.simulator.chains.chain_lanes import (
    BEFORE,
    DYNAMIC,
    GROUP,
    HEAVY_CAP,
    HEAVY_DEN,
    HEAVY_INVERSE,
    HEAVY_NUM,
    HEAVY_OFFSET,
    LANES,
    MAX_UNITS,
    MINOR_DEN,
    MINOR_INVERSE,
    MINOR_NUM,
    NOW,
    OTHERS,
    OWN,
    PEAK,
    QUEUE_GROUP,
    QUEUE_HEAD,
    QUEUE_PRIORITY,
    QUEUE_READY,
    QUEUE_TOKEN,
    QUEUE_WIDTH,
    QUEUED,
    RATE,
    RUNS,
    STARTED,
    TABLE_ROW,
    TOKEN,
    TOKEN_FRAME,
    TOKEN_NETWORK,
    TOKEN_WIDTH,
    USED,
    WHEN,
    WHOLE_WORK,
    WORK,
)
from fitness.simulator.chains.chain_tables import (
    COST_CAP,
    COST_DEMAND,
    COST_DEN,
    COST_DYNAMIC,
    COST_NUM,
    COST_OFFSET,
    COST_WIDTH,
    COST_WORK,
)
from fitness.simulator.contention import ceil_near, ceil_times, lost_products, rate_after
from fitness.simulator.jit import jit
from fitness.simulator.state import NEVER


@jit
def step(units, figure, inverse):
    """Rates of all that runs, and to the next instant of every lane."""
    for lane in range(LANES):
        total = np.int64(0)
        for u in range(MAX_UNITS):
            total += figure[OWN + u * LANES + lane]
        for u in range(MAX_UNITS):
            figure[OTHERS + u * LANES + lane] = total - figure[OWN + u * LANES + lane]
    for i in range(units * LANES):
        minor, heavy = lost_products(
            figure[OTHERS + i],
            figure[PEAK + i],
            figure[MINOR_NUM + i],
            figure[HEAVY_OFFSET + i],
            figure[HEAVY_CAP + i],
            figure[HEAVY_NUM + i],
        )
        rate = rate_after(
            ceil_times(minor, figure[MINOR_DEN + i], inverse[MINOR_INVERSE + i]),
            ceil_times(heavy, figure[HEAVY_DEN + i], inverse[HEAVY_INVERSE + i]),
        )
        now = figure[NOW + i]
        work = figure[WORK + i] - figure[RATE + i] * (now - figure[BEFORE + i])
        end = now + ceil_near(work, rate, np.float64(work) / np.float64(rate))
        runs = figure[RUNS + i] != 0
        when = figure[WHEN + i]
        figure[WORK + i] = work
        figure[RATE + i] = rate if runs else np.int64(0)
        figure[WHEN + i] = end if runs else when
    for lane in range(LANES):
        # So that what is never ready is not ready in a lane where nothing is left either.
        later = NEVER - 1
        for u in range(MAX_UNITS):
            later = min(later, figure[WHEN + u * LANES + lane])
        for u in range(MAX_UNITS):
            figure[BEFORE + u * LANES + lane] = figure[NOW + u * LANES + lane]
            figure[NOW + u * LANES + lane] = later


@jit
def enqueue(plan, lanes, lane, u, t, group, ready):
    """The token's next group waits for unit ``u``, from ``ready`` on."""
    figure = lanes.figure
    token = np.uint32((lane * (plan.networks * lanes.in_flight) + t) * TOKEN_WIDTH)
    priority = lanes.token[token + TOKEN_FRAME] * plan.networks + lanes.token[token + TOKEN_NETWORK]
    unit = np.uint32(u * LANES + lane)
    head, at = figure[unit + QUEUE_HEAD], figure[unit + QUEUED]
    figure[unit + QUEUED] = at + 1
    base, mask = (lane * plan.units + u) * lanes.queue_size, lanes.queue_size - 1
    entry = np.uint32((base + ((head + at) & mask)) * QUEUE_WIDTH)
    while at > 0:
        before = np.uint32((base + ((head + at - 1) & mask)) * QUEUE_WIDTH)
        other = lanes.queue[before + QUEUE_READY]
        if other < ready or (other == ready and lanes.queue[before + QUEUE_PRIORITY] < priority):
            break
        lanes.queue[entry + QUEUE_READY] = other
        lanes.queue[entry + QUEUE_PRIORITY] = lanes.queue[before + QUEUE_PRIORITY]
        lanes.queue[entry + QUEUE_GROUP] = lanes.queue[before + QUEUE_GROUP]
        lanes.queue[entry + QUEUE_TOKEN] = lanes.queue[before + QUEUE_TOKEN]
        entry = before
        at -= 1
    lanes.queue[entry + QUEUE_READY] = ready
    lanes.queue[entry + QUEUE_PRIORITY] = priority
    lanes.queue[entry + QUEUE_GROUP] = group
    lanes.queue[entry + QUEUE_TOKEN] = t
    when = figure[unit + WHEN]
    figure[unit + WHEN] = when if figure[unit + RUNS] else min(when, ready)


@jit
def start(plan, chains, lanes, lane, u):
    """The first group in the unit's queue starts; False where the unit cannot run it."""
    figure = lanes.figure
    unit = np.uint32(u * LANES + lane)
    head = figure[unit + QUEUE_HEAD]
    entry = np.uint32(((lane * plan.units + u) * lanes.queue_size + head) * QUEUE_WIDTH)
    group = lanes.queue[entry + QUEUE_GROUP]
    figure[unit + QUEUE_HEAD] = (head + 1) & (lanes.queue_size - 1)
    figure[unit + QUEUED] -= 1
    row = np.uint32(figure[unit + TABLE_ROW] + group)
    cost = np.uint32(row * COST_WIDTH)
    work = chains.cost[cost + COST_WORK]
    figure[unit + RUNS] = 1
    figure[unit + USED] = 1
    figure[unit + GROUP] = group
    figure[unit + TOKEN] = lanes.queue[entry + QUEUE_TOKEN]
    figure[unit + STARTED] = figure[np.uint32(NOW + lane)]
    figure[unit + WORK] = work
    if len(lanes.streams):
        figure[unit + WHOLE_WORK] = work
    figure[unit + RATE] = 0
    figure[unit + OWN] = chains.cost[cost + COST_DEMAND]
    figure[unit + DYNAMIC] = chains.cost[cost + COST_DYNAMIC]
    figure[unit + HEAVY_NUM] = chains.cost[cost + COST_NUM]
    figure[unit + HEAVY_DEN] = chains.cost[cost + COST_DEN]
    figure[unit + HEAVY_OFFSET] = chains.cost[cost + COST_OFFSET]
    figure[unit + HEAVY_CAP] = chains.cost[cost + COST_CAP]
    lanes.inverse[unit + HEAVY_INVERSE] = chains.cost_inverse[row]
    return work >= 0

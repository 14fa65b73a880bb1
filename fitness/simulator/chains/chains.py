"""The timeline of any number of chains, for several design points at a time; compiled.

One frame of all networks, by the rules of :mod:`fitness.reference.timeline`, or networks that run
freely, by those of :mod:`fitness.reference.long_run`. A frame of a chain has one group at a time
that runs or waits, so there are as many *tokens* as frames in flight, and no bookkeeping of what
has been delivered. What makes it fast, as in :mod:`fitness.simulator.chains.two_chains` for two:

* one step moves all lanes, a design point in each, to their next instant without a branch: rates
  and ends of all units of all lanes come from vector instructions;
* what differs from lane to lane, which group has ended and what starts, is listed first, without a
  branch either, and then done one by one;
* each unit has one short queue, in order, of all that will run there next, transitions included:
  nobody looks at an instant at which something only joins a queue.
"""

import numpy as np

from fitness.simulator.chains.chain_lanes import (
    BEFORE,
    BEGUN_PS,
    BEHIND,
    BUSY_PS,
    DYNAMIC,
    DYNAMIC_FJ,
    DYNAMIC_HIGH,
    EXECUTIONS,
    GROUP,
    LANES,
    LEFT,
    MINOR_DEN,
    MINOR_INVERSE,
    MINOR_NUM,
    NOW,
    OWN,
    PEAK,
    QUEUE_HEAD,
    QUEUE_READY,
    QUEUE_WIDTH,
    QUEUED,
    RATE,
    ROUND,
    ROUND_OVER,
    ROW,
    RUNS,
    STARTED,
    TABLE_ROW,
    TOKEN,
    TOKEN_FRAME,
    TOKEN_NETWORK,
    TOKEN_REPEATS,
    TOKEN_WIDTH,
    USED,
    WHEN,
    WHOLE_WORK,
    WORK,
)
from fitness.simulator.chains.chain_tables import (
    CHAIN_ARRIVAL,
    CHAIN_END,
    CHAIN_FIRST,
    CHAIN_REPEATS,
    CHAIN_WIDTH,
    MEMORY_DEN,
    MEMORY_NUM,
    MEMORY_PEAK,
    MEMORY_WIDTH,
)
from fitness.simulator.chains.chains_step import enqueue, start, step
from fitness.simulator.jit import jit
from fitness.simulator.lookup import clock_index, idle_power, switch_domains
from fitness.simulator.state import HIGH_FJ, NEVER
from fitness.simulator.streams import least_executions, least_rounds
from results.problem.problem import WORK_PER_PS


@jit
def _take_row(plan, chains, rows, lanes, lane, r):
    """The lane begins with row ``r``; it stays idle where there is no such row. False where a unit
    cannot run its first group."""
    figure = lanes.figure
    figure[BUSY_PS + lane] = 0
    figure[ROUND + lane] = 0
    figure[BEHIND + lane] = plan.networks
    figure[ROUND_OVER + lane] = 0
    figure[EXECUTIONS + lane] = 0
    figure[BEGUN_PS + lane] = -1
    figure[LEFT + lane] = plan.networks
    figure[ROW + lane] = r if r < rows.shape[0] else -1
    for u in range(plan.units):
        unit = u * LANES + lane
        for name in (NOW, BEFORE, RUNS, OWN, WORK, RATE, QUEUE_HEAD, QUEUED, USED):
            figure[unit + name] = 0
        figure[unit + DYNAMIC_FJ] = 0
        figure[unit + DYNAMIC_HIGH] = 0
        figure[unit + WHEN] = NEVER
    if r >= rows.shape[0]:
        return True
    memory_point = np.int64(0)
    if plan.memory_domain >= 0:
        memory_point = rows[r, plan.groups + plan.memory_domain]
    for u in range(plan.units):
        unit = u * LANES + lane
        figure[unit + TABLE_ROW] = plan.table_start[u] + clock_index(plan, rows[r], u) * plan.groups
        memory_row = u * plan.contention.shape[1] + memory_point
        memory = memory_row * MEMORY_WIDTH
        figure[unit + MINOR_NUM] = chains.memory[memory + MEMORY_NUM]
        figure[unit + MINOR_DEN] = chains.memory[memory + MEMORY_DEN]
        figure[unit + PEAK] = chains.memory[memory + MEMORY_PEAK]
        lanes.inverse[unit + MINOR_INVERSE] = chains.memory_inverse[memory_row]
    for n in range(plan.networks):
        chain = n * CHAIN_WIDTH
        first = chains.chain[chain + CHAIN_FIRST]
        arrival = chains.chain[chain + CHAIN_ARRIVAL]
        if len(lanes.streams):
            arrival = 0
            lanes.ended[lane * plan.networks + n] = 0
        for frame in range(lanes.in_flight):
            t = n * lanes.in_flight + frame
            token = (lane * (plan.networks * lanes.in_flight) + t) * TOKEN_WIDTH
            lanes.token[token + TOKEN_FRAME] = frame
            lanes.token[token + TOKEN_REPEATS] = chains.chain[chain + CHAIN_REPEATS]
            enqueue(plan, lanes, lane, rows[r, first], t, first, arrival)
    possible = True
    for u in range(plan.units):
        if figure[WHEN + u * LANES + lane] <= 0:
            possible &= start(plan, chains, lanes, lane, u)
    return possible


@jit
def _end_frame(plan, chains, lanes, lane, t, n, latency):
    """The last repeat of a token's chain has ended; False where no other frame follows."""
    figure = lanes.figure
    now = figure[NOW + lane]
    if not len(lanes.streams):
        figure[LEFT + lane] -= 1
        latency[figure[ROW + lane], n] = now - chains.chain[n * CHAIN_WIDTH + CHAIN_ARRIVAL]
        return False
    lanes.token[(lane * (plan.networks * lanes.in_flight) + t) * TOKEN_WIDTH + TOKEN_FRAME] += (
        lanes.in_flight
    )
    of_lane = lane * plan.networks
    ended = lanes.ended[of_lane + n] + 1
    lanes.ended[of_lane + n] = ended
    if ended == figure[ROUND + lane] + 1:
        figure[BEHIND + lane] -= 1
        if figure[BEHIND + lane] == 0:
            least = ended
            for m in range(plan.networks):
                least = min(least, lanes.ended[of_lane + m])
            for m in range(plan.networks):
                figure[BEHIND + lane] += lanes.ended[of_lane + m] == least
            figure[ROUND + lane] = least
            figure[ROUND_OVER + lane] = 1
    return True


@jit
def _end_group(plan, chains, rows, lanes, lane, u, latency):
    """The group on unit ``u`` ends now: its successor waits."""
    figure = lanes.figure
    unit = np.uint32(u * LANES + lane)
    at_lane = np.uint32(lane)
    now = figure[at_lane + NOW]
    ran = now - figure[unit + STARTED]
    figure[unit + DYNAMIC_FJ] += figure[unit + DYNAMIC] * ran
    if len(lanes.streams):
        if figure[unit + DYNAMIC_FJ] >= HIGH_FJ:
            figure[unit + DYNAMIC_FJ] -= HIGH_FJ
            figure[unit + DYNAMIC_HIGH] += 1
        figure[at_lane + EXECUTIONS] += 1
    else:
        figure[at_lane + BUSY_PS] += ran
    figure[unit + RUNS] = 0
    figure[unit + OWN] = 0
    figure[unit + WORK] = 0
    first = np.uint32(
        ((lane * plan.units + u) * lanes.queue_size + figure[unit + QUEUE_HEAD]) * QUEUE_WIDTH
    )
    ready_next = lanes.queue[first + QUEUE_READY]
    figure[unit + WHEN] = ready_next if figure[unit + QUEUED] > 0 else NEVER
    t = figure[unit + TOKEN]
    token = np.uint32((lane * (plan.networks * lanes.in_flight) + t) * TOKEN_WIDTH)
    n = lanes.token[token + TOKEN_NETWORK]
    if len(lanes.streams):
        at = np.uint32((lane * plan.networks + n) * plan.units + u)
        lanes.executed[at] += figure[unit + WHOLE_WORK] // WORK_PER_PS
    chain = np.uint32(n * CHAIN_WIDTH)
    group = figure[unit + GROUP] + 1
    ready = now
    r = figure[at_lane + ROW]
    if group < chains.chain[chain + CHAIN_END]:
        to = rows[r, group]
        ready += chains.delay_ps[np.uint32((group * plan.units + u) * plan.units + to)]
    else:
        repeats = lanes.token[token + TOKEN_REPEATS] - 1
        if repeats == 0:
            repeats = chains.chain[chain + CHAIN_REPEATS]
            if not _end_frame(plan, chains, lanes, lane, t, n, latency):
                return
        lanes.token[token + TOKEN_REPEATS] = repeats
        group = chains.chain[chain + CHAIN_FIRST]
        to = rows[r, group]
    enqueue(plan, lanes, lane, to, t, group, ready)


@jit
def _running(plan, lanes, lane, u):
    """What runs on the unit has executed (whole ps of stand-alone time, rounded down) and drawn by
    this instant, and its network."""
    figure = lanes.figure
    unit = u * LANES + lane
    since = figure[NOW + lane] - figure[BEFORE + lane]
    left = figure[WORK + unit] - figure[RATE + unit] * since
    done = (figure[WHOLE_WORK + unit] - left) // WORK_PER_PS
    drawn = figure[DYNAMIC + unit] * (figure[NOW + lane] - figure[STARTED + unit])
    token = (lane * (plan.networks * lanes.in_flight) + figure[TOKEN + unit]) * TOKEN_WIDTH
    return done, drawn, lanes.token[token + TOKEN_NETWORK]


@jit
def _end_round(plan, lanes, lane):
    """A round is over: here the window may begin or end."""
    figure = lanes.figure
    figure[ROUND_OVER + lane] = 0
    before, enough = least_rounds(lanes.in_flight)
    few, many = least_executions(plan.networks)
    over, executions = figure[ROUND + lane], figure[EXECUTIONS + lane]
    if figure[BEGUN_PS + lane] >= 0:
        if over >= enough and executions >= many:
            figure[LEFT + lane] = 0
        return
    if over < before or executions < few:
        return
    figure[BEGUN_PS + lane] = figure[NOW + lane]
    size = plan.networks * plan.units
    for i in range(size):
        lanes.executed[lane * size + i] = 0
    for u in range(plan.units):
        unit = u * LANES + lane
        figure[DYNAMIC_FJ + unit] = 0
        figure[DYNAMIC_HIGH + unit] = 0
        if figure[RUNS + unit]:
            done, drawn, n = _running(plan, lanes, lane, u)
            figure[DYNAMIC_FJ + unit] = -drawn
            lanes.executed[lane * size + n * plan.units + u] = -done


@jit
def _finish(plan, rows, lanes, lane, possible, span, shared, dynamic, other, idle):
    """Writes what the lane's row gave."""
    figure = lanes.figure
    r, now = figure[ROW + lane], figure[NOW + lane]
    possible[r] = True
    if len(lanes.streams):
        span[r] = now - figure[BEGUN_PS + lane]
        size = plan.networks * plan.units
        for i in range(size):
            shared[r, i] = lanes.executed[lane * size + i]
        for u in range(plan.units):
            unit = u * LANES + lane
            dynamic[r, u] = figure[DYNAMIC_FJ + unit]
            other[r, u] = figure[DYNAMIC_HIGH + unit]
            if figure[RUNS + unit]:
                done, drawn, n = _running(plan, lanes, lane, u)
                dynamic[r, u] += drawn
                shared[r, n * plan.units + u] += done
    else:
        span[r] = now
        dynamic[r, 0] = 0
        for u in range(plan.units):
            dynamic[r, 0] += figure[DYNAMIC_FJ + u * LANES + lane]
        other[r, 0] = figure[BUSY_PS + lane]
    for u in range(plan.units):
        lanes.unit_used[u] = figure[USED + u * LANES + lane]
    switch_domains(plan, lanes.unit_used, lanes.domain_on)
    idle[r] = idle_power(plan, rows[r], lanes.domain_on)


@jit
def _take_next(plan, chains, rows, lanes, lane, ahead):
    """The lane begins with row ``ahead``, or the first one after it whose units can begin; returns
    the row after that."""
    while not _take_row(plan, chains, rows, lanes, lane, ahead):
        ahead += 1
    return ahead + 1


@jit
def play_many_chains(plan, chains, rows, lanes, possible, span, shared, dynamic, other, idle):
    """Plays every row [groups + domains] and writes what it gave, for one frame of all networks or
    networks that run freely.

    ``possible`` [rows] is 0 where a unit cannot run a group; the rest is then 0. ``span``: the
    makespan, or the window; ``shared``: latency [rows, networks], or what is executed in the window
    [rows, networks x units]; ``dynamic``: energy [rows, 1], or [rows, units]; ``other``: busy time
    [rows, 1], or the high part of the energy.
    """
    figure = lanes.figure
    ahead = np.int64(0)
    running = np.int64(0)
    for lane in range(LANES):
        ahead = _take_next(plan, chains, rows, lanes, lane, ahead)
        running += figure[ROW + lane] >= 0
    while running > 0:
        step(plan.units, figure, lanes.inverse)
        # Listed first, without a branch: where a group ends cannot be predicted.
        count = np.int64(0)
        for i in range(plan.units * LANES):
            lanes.event[np.uint32(count)] = i
            count += (figure[RUNS + i] != 0) & (figure[WHEN + i] == figure[NOW + i])
        is_over = False
        for i in range(count):
            place = lanes.event[np.uint32(i)]
            u, lane = place // LANES, place % LANES
            _end_group(plan, chains, rows, lanes, lane, u, shared)
            is_over |= (figure[LEFT + lane] == 0) | (figure[ROUND_OVER + lane] != 0)
        if is_over:
            for lane in range(LANES):
                if len(lanes.streams) and figure[ROUND_OVER + lane]:
                    _end_round(plan, lanes, lane)
                if figure[LEFT + lane] == 0:
                    _finish(plan, rows, lanes, lane, possible, span, shared, dynamic, other, idle)
                    ahead = _take_next(plan, chains, rows, lanes, lane, ahead)
                    running -= figure[ROW + lane] < 0
        count = 0
        for i in range(plan.units * LANES):
            lanes.event[np.uint32(count)] = i
            count += (figure[RUNS + i] == 0) & (figure[WHEN + i] <= figure[NOW + i])
        for i in range(count):
            place = lanes.event[np.uint32(i)]
            u, lane = place // LANES, place % LANES
            if figure[LEFT + lane] < 0 or start(plan, chains, lanes, lane, u):
                continue
            figure[LEFT + lane] = -1
            is_over = True
        if is_over:
            for lane in range(LANES):
                if figure[LEFT + lane] < 0:
                    shared[figure[ROW + lane]] = 0
                    ahead = _take_next(plan, chains, rows, lanes, lane, ahead)
                    running -= figure[ROW + lane] < 0

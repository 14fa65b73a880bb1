"""Simulation of any number of chains, for several design points at a time; compiled.

One frame of all networks, by the rules of :mod:`fitness.reference.timeline`, or networks that run
freely, by those of :mod:`fitness.reference.long_run`. A frame of a chain has one group at a time
that runs or waits, so there are as many *tokens* as frames in flight, and no bookkeeping of what
has been delivered. What makes it fast, as in :mod:`fitness.simulator.chains.two_chains` for two:

* one step moves all lanes, a design point in each, to their next instant without a branch: rates
  and ends of all units of all lanes come from vector instructions;
* what differs from lane to lane, which group has ended and what starts, is done one by one;
* each unit has a ready time for every token, transitions included: who is first is the smallest
  entry of a vector, and instants at which something only begins to wait are skipped.
"""

import numpy as np

from fitness.simulator.chains.chain_lanes import (
    LANE_BITS,
    LANES,
    UNITS_OF_WORD,
)
from fitness.simulator.chains.chain_tables import LEAD_PS
from fitness.simulator.chains.chains_step import ending, enqueue, first_ready, start, starting, step
from fitness.simulator.jit import jit
from fitness.simulator.lookup import clock_index, idle_power, network_priority, switch_domains
from fitness.simulator.state import HIGH_FJ, NEVER
from fitness.simulator.streams import min_executions, min_rounds
from fitness.simulator.vectors import first_bit
from results.problem.arithmetic import WORK_PER_PS


@jit
def _take_row(plan, chains, rows, lanes, lane, r):
    """The lane begins with row ``r``; it stays idle where there is no such row. False where a unit
    cannot run its first group."""
    figure = lanes.figure
    figure.busy_ps[lane] = 0
    figure.rounds[lane] = 0
    figure.behind[lane] = plan.networks
    figure.round_over[lane] = 0
    figure.executions[lane] = 0
    figure.begun_ps[lane] = -1
    figure.left[lane] = plan.networks
    figure.now[lane] = 0
    figure.before[lane] = 0
    figure.row[lane] = r if r < rows.shape[0] else -1
    for u in range(plan.units):
        unit = u * LANES + lane
        figure.runs[unit] = 0
        figure.demand[unit] = 0
        figure.work[unit] = 0
        figure.rate[unit] = 0
        figure.used[unit] = 0
        figure.dynamic_fj[unit] = 0
        figure.dynamic_high[unit] = 0
        figure.when[unit] = NEVER
        for t in range(lanes.size):
            lanes.ready[(lane * plan.units + u) * lanes.size + t] = NEVER
    if r >= rows.shape[0]:
        return True
    memory_point = np.int64(0)
    if plan.memory_domain >= 0:
        memory_point = rows[r, plan.groups + plan.memory_domain]
    figure.memory_point[lane] = memory_point
    for u in range(plan.units):
        unit = u * LANES + lane
        figure.table_row[unit] = plan.table_start[u] + clock_index(plan, rows[r], u) * plan.groups
        contention = plan.contention[u, memory_point]
        # Where there is no contention all parameters are 0: no loss, of a denominator that divides.
        den = max(contention.minor_den, 1)
        figure.minor_num[unit] = contention.minor_num
        figure.minor_den[unit] = den
        figure.peak[unit] = contention.peak_kbps
        figure.minor_inverse[unit] = 1.0 / np.float64(den)
    for n in range(plan.networks):
        first = chains.chain[n].first
        arrival = chains.chain[n].arrival
        if lanes.streams:
            arrival = 0
            lanes.ended[lane * plan.networks + n] = 0
        for frame in range(lanes.in_flight):
            t = n * lanes.in_flight + frame
            token = lanes.token[lane, t]
            lanes.order[lane * lanes.size + t] = (frame * plan.networks + n) * lanes.size + t
            lanes.lead[lane * lanes.size + t] = network_priority(plan, rows[r], n) * LEAD_PS
            token.repeats = chains.chain[n].repeats
            enqueue(plan, lanes, lane, rows[r, first], t, first, arrival)
    possible = True
    for u in range(plan.units):
        if figure.when[u * LANES + lane] <= 0:
            possible &= start(plan, chains, lanes, lane, u)
    return possible


@jit
def _end_frame(plan, chains, lanes, lane, t, n, latency):
    """The last repeat of a token's chain has ended; False where no other frame follows."""
    figure = lanes.figure
    now = figure.now[lane]
    if not lanes.streams:
        figure.left[lane] -= 1
        latency[figure.row[lane], n] = now - chains.chain[n].arrival
        return False
    lanes.order[lane * lanes.size + t] += lanes.in_flight * plan.networks * lanes.size
    of_lane = lane * plan.networks
    ended = lanes.ended[of_lane + n] + 1
    lanes.ended[of_lane + n] = ended
    if ended == figure.rounds[lane] + 1:
        figure.behind[lane] -= 1
        if figure.behind[lane] == 0:
            least = ended
            for m in range(plan.networks):
                least = min(least, lanes.ended[of_lane + m])
            for m in range(plan.networks):
                figure.behind[lane] += lanes.ended[of_lane + m] == least
            figure.rounds[lane] = least
            figure.round_over[lane] = 1
    return True


@jit
def _end_group(plan, chains, rows, lanes, lane, u, latency):
    """The group on unit ``u`` ends now: its successor waits."""
    figure = lanes.figure
    unit = u * LANES + lane
    at_lane = lane
    now = figure.now[at_lane]
    ran = now - figure.started[unit]
    figure.dynamic_fj[unit] += figure.dynamic[unit] * ran
    if lanes.streams:
        if figure.dynamic_fj[unit] >= HIGH_FJ:
            figure.dynamic_fj[unit] -= HIGH_FJ
            figure.dynamic_high[unit] += 1
        figure.executions[at_lane] += 1
    else:
        figure.busy_ps[at_lane] += ran
    figure.runs[unit] = 0
    figure.demand[unit] = 0
    figure.work[unit] = 0
    figure.when[unit] = first_ready(plan, lanes, lane, u)
    t = figure.token[unit]
    token = lanes.token[lane, t]
    n = token.network
    if lanes.streams:
        at = (lane * plan.networks + n) * plan.units + u
        lanes.executed[at] += figure.group_work[unit] // WORK_PER_PS
    group = token.group + 1
    ready = now
    r = figure.row[at_lane]
    if group < chains.chain[n].end:
        before, to = u, rows[r, group]
        if lanes.has_formats:
            before = token.entry
        ready += chains.delay_ps[(group * plan.units + before) * plan.units + to]
    else:
        repeats = token.repeats - 1
        if repeats == 0:
            repeats = chains.chain[n].repeats
            if not _end_frame(plan, chains, lanes, lane, t, n, latency):
                return
        token.repeats = repeats
        group = chains.chain[n].first
        to = rows[r, group]
    enqueue(plan, lanes, lane, to, t, group, ready)


@jit
def _running(plan, lanes, lane, u):
    """Stand-alone time executed by the running group (ps, rounded down), energy drawn by this
    instant, and its network."""
    figure = lanes.figure
    unit = u * LANES + lane
    since = figure.now[lane] - figure.before[lane]
    left = figure.work[unit] - figure.rate[unit] * since
    done = (figure.group_work[unit] - left) // WORK_PER_PS
    drawn = figure.dynamic[unit] * (figure.now[lane] - figure.started[unit])
    return done, drawn, lanes.token[lane, figure.token[unit]].network


@jit
def _end_round(plan, lanes, lane):
    """A round is over: here the window may begin or end."""
    figure = lanes.figure
    figure.round_over[lane] = 0
    before, enough = min_rounds(lanes.in_flight)
    few, many = min_executions(plan.networks)
    over, executions = figure.rounds[lane], figure.executions[lane]
    if figure.begun_ps[lane] >= 0:
        if over >= enough and executions >= many:
            figure.left[lane] = 0
        return
    if over < before or executions < few:
        return
    figure.begun_ps[lane] = figure.now[lane]
    size = plan.networks * plan.units
    for i in range(size):
        lanes.executed[lane * size + i] = 0
    for u in range(plan.units):
        unit = u * LANES + lane
        figure.dynamic_fj[unit] = 0
        figure.dynamic_high[unit] = 0
        if figure.runs[unit]:
            done, drawn, n = _running(plan, lanes, lane, u)
            figure.dynamic_fj[unit] = -drawn
            lanes.executed[lane * size + n * plan.units + u] = -done


@jit
def _finish(plan, rows, lanes, lane, possible, span, shared, dynamic, other, idle):
    """Writes what the lane's row gave."""
    figure = lanes.figure
    r, now = figure.row[lane], figure.now[lane]
    possible[r] = True
    if lanes.streams:
        span[r] = now - figure.begun_ps[lane]
        size = plan.networks * plan.units
        for i in range(size):
            shared[r, i] = lanes.executed[lane * size + i]
        for u in range(plan.units):
            unit = u * LANES + lane
            dynamic[r, u] = figure.dynamic_fj[unit]
            other[r, u] = figure.dynamic_high[unit]
            if figure.runs[unit]:
                done, drawn, n = _running(plan, lanes, lane, u)
                dynamic[r, u] += drawn
                shared[r, n * plan.units + u] += done
    else:
        span[r] = now
        dynamic[r, 0] = 0
        for u in range(plan.units):
            dynamic[r, 0] += figure.dynamic_fj[u * LANES + lane]
        other[r, 0] = figure.busy_ps[lane]
    for u in range(plan.units):
        lanes.unit_used[u] = figure.used[u * LANES + lane]
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
def simulate_chains(plan, chains, rows, lanes, possible, span, shared, dynamic, other, idle):
    """Simulates every row [groups + domains] and writes what it gave, for one frame of all networks
    or networks that run freely.

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
        running += figure.row[lane] >= 0
    while running > 0:
        # Every lane moves to its next instant.
        step(plan.units, figure)
        # Ends first. Where they happen cannot be predicted: a bit for each spares branches.
        is_over = False
        for first in range(0, plan.units, UNITS_OF_WORD):
            bits = ending(figure, first, min(plan.units, first + UNITS_OF_WORD))
            while bits != 0:
                place = first * LANES + first_bit(bits)
                bits &= bits - np.uint64(1)
                u, lane = place >> LANE_BITS, place & (LANES - 1)
                _end_group(plan, chains, rows, lanes, lane, u, shared)
                is_over |= (figure.left[lane] == 0) | (figure.round_over[lane] != 0)
        # A round or a row is over in some lane. A lane whose row has ended takes the next at once.
        if is_over:
            for lane in range(LANES):
                if lanes.streams and figure.round_over[lane]:
                    _end_round(plan, lanes, lane)
                if figure.left[lane] == 0:
                    _finish(plan, rows, lanes, lane, possible, span, shared, dynamic, other, idle)
                    ahead = _take_next(plan, chains, rows, lanes, lane, ahead)
                    running -= figure.row[lane] < 0
        # Starts come after all ends of the instant: what an end has made ready competes too.
        for first in range(0, plan.units, UNITS_OF_WORD):
            bits = starting(figure, first, min(plan.units, first + UNITS_OF_WORD))
            while bits != 0:
                place = first * LANES + first_bit(bits)
                bits &= bits - np.uint64(1)
                u, lane = place >> LANE_BITS, place & (LANES - 1)
                if figure.left[lane] < 0 or start(plan, chains, lanes, lane, u):
                    continue
                # The unit cannot run the group: the row is impossible, the lane takes another one.
                figure.left[lane] = -1
                is_over = True
        if is_over:
            for lane in range(LANES):
                if figure.left[lane] < 0:
                    shared[figure.row[lane]] = 0
                    ahead = _take_next(plan, chains, rows, lanes, lane, ahead)
                    running -= figure.row[lane] < 0

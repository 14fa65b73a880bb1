"""The timeline, compiled: self-timed execution under contention in int64.

One function, :func:`advance`, moves a state to its next event. The rules are those of the plain
form in :mod:`fitness.reference.timeline`, which shares no code with this one. What makes it fast:

* waiting groups stand in one binary heap per unit, groups that are still in transition in one more,
  so that an event costs the logarithm of what waits, not a look at everything;
* a running group's end is computed again only when its rate changes: with w the rate and d whole
  picoseconds, ceil((work - w d) / w) = ceil(work / w) - d, so an interval that leaves the rate as
  it is needs no arithmetic;
* buffers are made once for a population.
"""

import numpy as np

from fitness.simulator.contention import heavy_slope, update_rates
from fitness.simulator.heap import sift_down, sift_up
from fitness.simulator.jit import jit
from fitness.simulator.layout import (
    ARRIVAL,
    CONTENTION_WIDTH,
    DEPENDENT_END,
    DEPENDENT_START,
    EDGE_ROW,
    FIRST,
    FIRST_JOB,
    GROUP,
    INCOMING,
    INSTANCE_WIDTH,
    JOB,
    JOB_WIDTH,
    JOBS_END,
    JOIN_END,
    JOIN_START,
    NETWORK,
    NETWORK_WIDTH,
    NEXT,
    OUT_END,
    OUT_START,
    OUTGOING_WIDTH,
    SINKS,
    SOURCE_END,
    SOURCE_START,
    TARGET,
    TARGET_GROUP,
    TARGET_JOINS,
    WAITS,
)
from fitness.simulator.lookup import choose, idle_power
from fitness.simulator.state import (
    ALONE,
    BUSY_PS,
    DEMAND,
    DYNAMIC,
    DYNAMIC_FJ,
    END,
    FRAME,
    FRAMES,
    FRAMES_LEFT,
    FREE,
    GROUP_WIDTH,
    HEAP_PLACE,
    HEAP_PRIORITY,
    HEAP_READY,
    HEAP_SIZE,
    HEAVY_CAP,
    HEAVY_DEN,
    HEAVY_NUM,
    HEAVY_OFFSET,
    IN_FLIGHT,
    IN_TRANSITION,
    JOB_LEFT,
    JOB_STATE_WIDTH,
    JOB_WAITS,
    LOG_END,
    LOG_READY,
    LOG_START,
    LOG_WIDTH,
    LOGGED,
    MISSING,
    NETWORKS_LEFT,
    NEVER,
    NEXT_END,
    NOW,
    OPEN_COUNT,
    OPEN_UNIT,
    OWN,
    PLACE,
    PLACE_GROUP,
    PLACE_INSTANCE,
    PLACE_SLOT,
    PLACE_WIDTH,
    QUEUED,
    RATE,
    READY,
    RELEASE,
    RUNNING_CHANGED,
    SINCE,
    SLOT_WIDTH,
    STARTED,
    STREAMS,
    UNIT,
    UNIT_WIDTH,
    WORK,
)
from fitness.simulator.streams import begin_streams, count_execution, end_stream_frame
from results.problem.problem import WORK_PER_PS


@jit
def enqueue(plan, chosen, state, now, place, instance, group, slot, ready):
    """Puts an instance, all of whose inputs are on their way, where it waits."""
    if len(state.logs) or len(state.stops):
        state.place[place * PLACE_WIDTH + READY] = ready
    if len(state.stops) and chosen.group[group * GROUP_WIDTH + UNIT] < 0:
        state.open[state.scalar[OPEN_COUNT]] = place
        state.scalar[OPEN_COUNT] += 1
        return
    priority = state.slot[slot * SLOT_WIDTH + FRAME] * plan.instances + instance
    if ready <= now:
        unit = np.uint32(chosen.group[group * GROUP_WIDTH + UNIT])
        sift_up(
            state.heap,
            np.uint32(unit * state.scalar[HEAP_SIZE]),
            state.unit[unit * UNIT_WIDTH + QUEUED],
            ready,
            priority,
            place,
        )
        state.unit[unit * UNIT_WIDTH + QUEUED] += 1
    else:
        sift_up(
            state.heap,
            np.uint32(plan.units * state.scalar[HEAP_SIZE]),
            state.scalar[IN_TRANSITION],
            ready,
            priority,
            place,
        )
        state.scalar[IN_TRANSITION] += 1


@jit
def _ring_position(state, slot):
    return slot // state.scalar[STREAMS] if len(state.streams) else slot


@jit
def _begin_job(plan, chosen, state, now, slot, job):
    """All that the job waits for has ended: its first groups become ready."""
    ready = now
    if plan.job[job * JOB_WIDTH + FIRST]:
        arrival = plan.network[(plan.job[job * JOB_WIDTH + NETWORK]) * NETWORK_WIDTH + ARRIVAL]
        ready = max(ready, state.slot[slot * SLOT_WIDTH + RELEASE] + arrival)
    base = _ring_position(state, slot) * plan.instances
    for i in range(
        plan.job[job * JOB_WIDTH + SOURCE_START], plan.job[job * JOB_WIDTH + SOURCE_END]
    ):
        instance = plan.source[i]
        group = plan.instance[instance * INSTANCE_WIDTH + GROUP]
        place = base + instance
        enqueue(plan, chosen, state, now, place, instance, group, slot, ready)


@jit
def _release_frame(plan, chosen, state, now, slot, frame):
    state.slot[slot * SLOT_WIDTH + FRAME] = frame
    state.slot[slot * SLOT_WIDTH + RELEASE] = now
    state.slot[slot * SLOT_WIDTH + NETWORKS_LEFT] = plan.networks
    ring = _ring_position(state, slot)
    first_job, jobs_end, first_join, join_end = 0, plan.jobs, 0, plan.join.shape[0]
    if len(state.streams) and state.scalar[STREAMS] > 1:
        row = (slot - ring * plan.networks) * NETWORK_WIDTH
        first_job, jobs_end = plan.network[row + FIRST_JOB], plan.network[row + JOBS_END]
        first_join, join_end = plan.network[row + JOIN_START], plan.network[row + JOIN_END]
        state.slot[slot * SLOT_WIDTH + NETWORKS_LEFT] = 1
    base = ring * plan.instances
    for k in range(first_join, join_end):
        i = plan.join[k]
        state.place[(base + i) * PLACE_WIDTH + MISSING] = plan.instance[
            i * INSTANCE_WIDTH + INCOMING
        ]
        state.place[(base + i) * PLACE_WIDTH + READY] = 0
    base = ring * plan.jobs
    for job in range(first_job, jobs_end):
        state.job[(base + job) * JOB_STATE_WIDTH + JOB_WAITS] = plan.job[job * JOB_WIDTH + WAITS]
        state.job[(base + job) * JOB_STATE_WIDTH + JOB_LEFT] = plan.job[job * JOB_WIDTH + SINKS]
    for job in range(first_job, jobs_end):
        if plan.job[job * JOB_WIDTH + WAITS] == 0:
            _begin_job(plan, chosen, state, now, slot, job)


@jit
def begin(plan, chosen, state):
    """Sets a state to the instant 0, with the first frames released."""
    state.scalar[NOW] = 0
    state.scalar[FRAMES_LEFT] = state.scalar[FRAMES]
    state.scalar[RUNNING_CHANGED] = 0
    state.scalar[NEXT_END] = NEVER
    state.scalar[DYNAMIC_FJ] = 0
    state.scalar[BUSY_PS] = 0
    state.scalar[IN_TRANSITION] = 0
    if len(state.stops):
        state.scalar[OPEN_COUNT] = 0
        state.scalar[OPEN_UNIT] = -1
    for execution in range(state.log.shape[0] // LOG_WIDTH):
        state.log[execution * LOG_WIDTH + LOG_END] = -1
    for u in range(plan.units):
        state.unit[u * UNIT_WIDTH + FREE] = 1
        state.unit[u * UNIT_WIDTH + END] = NEVER
        state.unit[u * UNIT_WIDTH + OWN] = 0
        state.unit[u * UNIT_WIDTH + QUEUED] = 0
    slots = state.scalar[IN_FLIGHT]
    if len(state.streams):
        begin_streams(plan, state)
        slots *= state.scalar[STREAMS]
    for slot in range(slots):
        frame = _ring_position(state, slot)
        _release_frame(plan, chosen, state, np.int64(0), slot, frame)


@jit
def _end_job(plan, chosen, state, now, slot, job):
    if plan.job[job * JOB_WIDTH + NEXT] >= 0:
        _begin_job(plan, chosen, state, now, slot, plan.job[job * JOB_WIDTH + NEXT])
        return
    network = plan.job[job * JOB_WIDTH + NETWORK]
    frame = state.slot[slot * SLOT_WIDTH + FRAME]
    arrival = (
        state.slot[slot * SLOT_WIDTH + RELEASE] + plan.network[network * NETWORK_WIDTH + ARRIVAL]
    )
    if not len(state.streams):
        state.latency[frame, network] = now - arrival
    for i in range(
        plan.network[network * NETWORK_WIDTH + DEPENDENT_START],
        plan.network[network * NETWORK_WIDTH + DEPENDENT_END],
    ):
        dependent = plan.dependent[i]
        at = _ring_position(state, slot) * plan.jobs + dependent
        state.job[at * JOB_STATE_WIDTH + JOB_WAITS] -= 1
        if state.job[at * JOB_STATE_WIDTH + JOB_WAITS] == 0:
            _begin_job(plan, chosen, state, now, slot, dependent)
    state.slot[slot * SLOT_WIDTH + NETWORKS_LEFT] -= 1
    if state.slot[slot * SLOT_WIDTH + NETWORKS_LEFT] == 0:
        if len(state.streams):
            end_stream_frame(state, slot % state.scalar[STREAMS])
        else:
            state.frame_end[frame] = now
            state.scalar[FRAMES_LEFT] -= 1
        if len(state.streams) or frame + state.scalar[IN_FLIGHT] < state.scalar[FRAMES]:
            _release_frame(plan, chosen, state, now, slot, frame + state.scalar[IN_FLIGHT])


@jit
def _end_group(plan, chosen, state, now, u):
    """The group on unit ``u`` ends now: its successors get their inputs."""
    place = np.uint32(state.unit[u * UNIT_WIDTH + PLACE])
    instance = np.uint32(state.place[place * PLACE_WIDTH + PLACE_INSTANCE])
    slot = np.uint32(state.place[place * PLACE_WIDTH + PLACE_SLOT])
    group = np.uint32(state.place[place * PLACE_WIDTH + PLACE_GROUP])
    base = np.int64(place) - np.int64(instance)
    ran = now - state.unit[u * UNIT_WIDTH + STARTED]
    if len(state.streams):
        stream = np.int64(slot) % state.scalar[STREAMS]
        count_execution(plan, chosen, state, u, group, stream, ran)
    else:
        state.scalar[DYNAMIC_FJ] += chosen.group[group * GROUP_WIDTH + DYNAMIC] * ran
        state.scalar[BUSY_PS] += ran
    if len(state.logs):
        execution = state.slot[slot * SLOT_WIDTH + FRAME] * plan.instances + np.int64(instance)
        if len(state.streams):
            state.logged[state.scalar[LOGGED]] = execution
            execution = state.scalar[LOGGED]
            state.scalar[LOGGED] += 1
        state.log[execution * LOG_WIDTH + LOG_READY] = state.place[place * PLACE_WIDTH + READY]
        state.log[execution * LOG_WIDTH + LOG_START] = state.unit[u * UNIT_WIDTH + STARTED]
        state.log[execution * LOG_WIDTH + LOG_END] = now
    state.unit[u * UNIT_WIDTH + FREE] = 1
    state.unit[u * UNIT_WIDTH + END] = NEVER
    state.unit[u * UNIT_WIDTH + OWN] = 0
    state.scalar[RUNNING_CHANGED] = 1
    first, end = (
        plan.instance[instance * INSTANCE_WIDTH + OUT_START],
        plan.instance[instance * INSTANCE_WIDTH + OUT_END],
    )
    for edge_of in range(first, end):
        i = np.uint32(edge_of)
        target = np.uint32(plan.outgoing[i * OUTGOING_WIDTH + TARGET])
        target_group = np.uint32(plan.outgoing[i * OUTGOING_WIDTH + TARGET_GROUP])
        edge = np.uint32(plan.outgoing[i * OUTGOING_WIDTH + EDGE_ROW])
        to = chosen.group[target_group * GROUP_WIDTH + UNIT]
        if len(state.stops):
            # A unit that is open (-1) delays nothing: the timeline stops before it matters.
            to = max(to, 0)
        to = np.uint32(to)
        at = np.uint32(base + np.int64(target))
        ready = now + plan.transition_ps[np.int64(edge) + u * plan.units + np.int64(to)]
        if plan.outgoing[i * OUTGOING_WIDTH + TARGET_JOINS]:
            ready = max(ready, state.place[at * PLACE_WIDTH + READY])
            state.place[at * PLACE_WIDTH + READY] = ready
            state.place[at * PLACE_WIDTH + MISSING] -= 1
            if state.place[at * PLACE_WIDTH + MISSING] > 0:
                continue
        enqueue(plan, chosen, state, now, at, np.int64(target), target_group, slot, ready)
    if first == end:
        job = plan.instance[instance * INSTANCE_WIDTH + JOB]
        at_job = np.uint32(_ring_position(state, np.int64(slot)) * plan.jobs + job)
        left = state.job[at_job * JOB_STATE_WIDTH + JOB_LEFT] - 1
        state.job[at_job * JOB_STATE_WIDTH + JOB_LEFT] = left
        if left == 0:
            _end_job(plan, chosen, state, now, np.int64(slot), job)


@jit
def _start_group(plan, chosen, state, now, u):
    """The first group in the unit's queue starts now."""
    queue = np.uint32(u * state.scalar[HEAP_SIZE])
    place = np.uint32(state.heap[queue + HEAP_PLACE])
    queued = state.unit[u * UNIT_WIDTH + QUEUED] - 1
    state.unit[u * UNIT_WIDTH + QUEUED] = queued
    if queued > 0:
        sift_down(state.heap, queue, queued)
    group = np.uint32(state.place[place * PLACE_WIDTH + PLACE_GROUP])
    own = chosen.group[group * GROUP_WIDTH + DEMAND]
    state.scalar[RUNNING_CHANGED] = 1
    state.unit[u * UNIT_WIDTH + PLACE] = place
    state.unit[u * UNIT_WIDTH + FREE] = 0
    state.unit[u * UNIT_WIDTH + STARTED] = now
    state.unit[u * UNIT_WIDTH + OWN] = own
    state.unit[u * UNIT_WIDTH + WORK] = chosen.group[group * GROUP_WIDTH + ALONE] * WORK_PER_PS
    state.unit[u * UNIT_WIDTH + RATE] = 0
    state.unit[u * UNIT_WIDTH + SINCE] = now
    num, den, offset, cap = heavy_slope(chosen.contention, u * CONTENTION_WIDTH, own)
    state.unit[u * UNIT_WIDTH + HEAVY_NUM] = num
    state.unit[u * UNIT_WIDTH + HEAVY_DEN] = den
    state.unit[u * UNIT_WIDTH + HEAVY_OFFSET] = offset
    state.unit[u * UNIT_WIDTH + HEAVY_CAP] = cap


@jit
def advance(plan, chosen, state):
    """Starts what can start now, then moves to the next event; False where there is none, or where
    a choice is open."""
    if len(state.stops) and state.scalar[OPEN_COUNT]:
        return False
    now = state.scalar[NOW]
    moving = np.uint32(plan.units * state.scalar[HEAP_SIZE])
    while state.scalar[IN_TRANSITION] > 0 and state.heap[moving + HEAP_READY] <= now:
        ready, priority = state.heap[moving + HEAP_READY], state.heap[moving + HEAP_PRIORITY]
        place = np.uint32(state.heap[moving + HEAP_PLACE])
        left = state.scalar[IN_TRANSITION] - 1
        state.scalar[IN_TRANSITION] = left
        if left > 0:
            sift_down(state.heap, moving, left)
        group = np.uint32(state.place[place * PLACE_WIDTH + PLACE_GROUP])
        unit = np.uint32(chosen.group[group * GROUP_WIDTH + UNIT])
        sift_up(
            state.heap,
            np.uint32(unit * state.scalar[HEAP_SIZE]),
            state.unit[unit * UNIT_WIDTH + QUEUED],
            ready,
            priority,
            place,
        )
        state.unit[unit * UNIT_WIDTH + QUEUED] += 1
    if len(state.stops):
        for u in range(plan.units):
            if state.unit[u * UNIT_WIDTH + FREE] and state.unit[u * UNIT_WIDTH + QUEUED] > 0:
                place = np.uint32(state.heap[u * state.scalar[HEAP_SIZE] + HEAP_PLACE])
                group = np.uint32(state.place[place * PLACE_WIDTH + PLACE_GROUP])
                if chosen.group[group * GROUP_WIDTH + ALONE] < 0:
                    state.scalar[OPEN_UNIT] = u
                    return False
    demand = np.int64(0)
    for u in range(plan.units):
        if state.unit[u * UNIT_WIDTH + FREE] and state.unit[u * UNIT_WIDTH + QUEUED] > 0:
            _start_group(plan, chosen, state, now, u)
        demand += state.unit[u * UNIT_WIDTH + OWN]
    if state.scalar[RUNNING_CHANGED]:
        update_rates(plan, chosen, state, now, demand)
    later = state.scalar[NEXT_END]
    if state.scalar[IN_TRANSITION] > 0 and state.heap[moving + HEAP_READY] < later:
        state.scalar[NOW] = state.heap[moving + HEAP_READY]
        return True
    if later == NEVER:
        return False
    state.scalar[NOW] = later
    for u in range(plan.units):
        if state.unit[u * UNIT_WIDTH + END] == later:
            _end_group(plan, chosen, state, later, u)
    return True


@jit
def play(plan, chosen, state):
    """Plays all frames from the start."""
    begin(plan, chosen, state)
    while state.scalar[FRAMES_LEFT] > 0:
        if not advance(plan, chosen, state):
            break


@jit
def evaluate_rows(plan, rows, chosen, state, possible, makespan, latency, dynamic, busy, idle):
    """Plays one frame alone for every row [groups + domains] and writes what it gave.

    ``possible`` [rows] is 0 where a unit cannot run a group; the rest is then left as it is.
    """
    for r in range(rows.shape[0]):
        row = rows[r]
        possible[r] = choose(plan, row, chosen)
        if not possible[r]:
            continue
        play(plan, chosen, state)
        makespan[r] = state.frame_end[0]
        for n in range(plan.networks):
            latency[r, n] = state.latency[0, n]
        dynamic[r] = state.scalar[DYNAMIC_FJ]
        busy[r] = state.scalar[BUSY_PS]
        idle[r] = idle_power(plan, row, chosen.domain_on)

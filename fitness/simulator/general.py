"""The compiled simulator: self-timed execution under contention in int64.

One function, :func:`advance`, moves a state to its next event. The rules are those of the plain
form in :mod:`fitness.check.members.frames`, which shares no code with this one. It is fast for
three reasons:

* The groups of a unit wait in one binary heap by ready time, also those that are still in
  transition. An event costs the logarithm of the number of waiting groups, and a group that becomes
  ready for a busy unit is no event.
* A running group's end is recomputed only when its rate changes: with w the rate and d whole
  picoseconds, ceil((work - w d) / w) = ceil(work / w) - d, so an interval that leaves the rate as
  it is needs no arithmetic.
* Buffers are made once for a population.
"""

import numpy as np

from paretosoc.fitness.simulator.contention import heavy_slope, settle_shared, update_rates
from paretosoc.fitness.simulator.heap import lift, sift_down
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import alone_time, choose, idle_power
from paretosoc.fitness.simulator.queues import (
    continues,
    enqueue,
    enqueue_engine,
    first_of_engine,
    joins_engines,
)
from paretosoc.fitness.simulator.state import CONTINUES, NEVER
from paretosoc.fitness.simulator.streams import begin_streams, count_execution, end_stream_frame
from paretosoc.results.problem.arithmetic import WORK_PER_PS


@jit
def _ring_position(state, slot):
    return slot // state.run.streams if state.streams else slot


@jit
def _begin_job(plan, chosen, state, now, slot, job):
    """Make the first groups of a job ready, after all that the job waits for has ended."""
    ready = max(now, state.slot[slot].release + plan.job[job].release_ps)
    base = _ring_position(state, slot) * plan.instances
    for i in range(plan.job[job].source_start, plan.job[job].source_end):
        instance = plan.source[i]
        group = plan.instance[instance].group
        place = base + instance
        here = ready
        if plan.instance[instance].incoming > 0:
            # Hand-overs of networks that it waits for: they are all on their way.
            here = max(ready, state.place[place].ready)
            state.place[place].missing = 0
            state.place[place].ready = here
        if not plan.has_engines or not joins_engines(plan, chosen, instance):
            enqueue(plan, chosen, state, place, instance, group, slot, here)
    if plan.has_engines:
        for i in range(plan.job[job].source_start, plan.job[job].source_end):
            if joins_engines(plan, chosen, plan.source[i]):
                enqueue_engine(plan, chosen, state, base, np.int64(plan.source[i]), slot)


@jit
def _release_frame(plan, chosen, state, now, slot, frame):
    state.slot[slot].frame = frame
    state.slot[slot].release = now
    if state.streams and plan.period_ps:
        state.slot[slot].release = frame * plan.period_ps
    state.slot[slot].networks_left = plan.networks
    ring = _ring_position(state, slot)
    first_job, jobs_end, first_join, join_end = 0, plan.jobs, 0, plan.join.shape[0]
    if state.streams and state.run.streams > 1:
        n = slot - ring * plan.networks
        first_job, jobs_end = plan.network[n].first_job, plan.network[n].jobs_end
        first_join, join_end = plan.network[n].join_start, plan.network[n].join_end
        state.slot[slot].networks_left = 1
    base = ring * plan.instances
    for k in range(first_join, join_end):
        i = plan.join[k]
        state.place[base + i].missing = plan.instance[i].incoming
        state.place[base + i].ready = 0
    base = ring * plan.jobs
    for job in range(first_job, jobs_end):
        state.job[base + job].waits = plan.job[job].waits
        if plan.period_ps:
            state.job[base + job].waits = _release_waits(plan, state, frame, job)
        state.job[base + job].left = plan.job[job].sinks
    for job in range(first_job, jobs_end):
        if state.job[base + job].waits == 0:
            _begin_job(plan, chosen, state, now, slot, job)


@jit
def _release_waits(plan, state, frame, job):
    """Count the releases that a job of networks with rates waits for as its frame is released: the
    repeat before it, and one of every network that it waits for, unless that has ended."""
    network = np.int64(plan.job[job].network)
    first = plan.network[network].first_job
    waits = np.int64(1) - plan.job[job].is_first
    if plan.job[job].is_first or plan.job[first].responds:
        for other in range(plan.networks):
            for i in range(plan.network[other].dependent_start, plan.network[other].dependent_end):
                if plan.dependent[i] == first:
                    release = (job - first) * _releases(plan, other) // _releases(plan, network)
                    waits += 1 - _release_has_ended(plan, state, frame, other, release)
    return waits


@jit
def _releases(plan, network):
    """Return the number of releases of a network in a frame."""
    first = plan.network[network].first_job
    if plan.period_ps > 0 and plan.job[first].responds:
        return np.int64(plan.network[network].jobs_end - first)
    return np.int64(1)


@jit
def _release_has_ended(plan, state, frame, network, release):
    """Return 1 if the release of a network in a frame has ended as another's frame is released."""
    # Of the first frames, which are released at once, none has; slots may hold others still.
    if not state.streams or frame == 0:
        return 0
    ahead = state.slot[network].frame - frame
    if ahead != 0:
        return 1 if ahead > 0 else 0
    first = plan.network[network].first_job
    at = first + release if plan.job[first].responds else plan.network[network].jobs_end - 1
    return 1 if state.job[at].left == 0 else 0


@jit
def begin(plan, chosen, state):
    """Set a state to the instant 0, with the first frames released."""
    state.run.now = 0
    state.run.frames_left = state.run.frames
    state.run.running_changed = 0
    state.run.next_end = NEVER
    state.run.dynamic_fj = 0
    state.run.busy_ps = 0
    state.run.responded = 0
    if state.stops:
        state.run.open_count = 0
        state.run.open_unit = -1
    for execution in range(state.log.shape[0]):
        state.log[execution].end = -1
    for q in range(plan.queues):
        state.unit[q].free = 1
        state.unit[q].end = NEVER
        state.unit[q].demand = 0
        state.unit[q].queued = 0
        state.unit[q].sharing = 0
        state.unit[q].drawn_fj = 0
    slots = state.run.in_flight
    if state.streams:
        begin_streams(plan, state)
        slots *= state.run.streams
    for slot in range(slots):
        frame = _ring_position(state, slot)
        _release_frame(plan, chosen, state, np.int64(0), slot, frame)


@jit
def _end_wait(plan, chosen, state, now, slot, job):
    """Count down the waits of a job, and begin it after the last."""
    at = _ring_position(state, slot) * plan.jobs + job
    state.job[at].waits -= 1
    if state.job[at].waits == 0:
        _begin_job(plan, chosen, state, now, slot, job)


@jit
def _end_job(plan, chosen, state, now, slot, job):
    network = plan.job[job].network
    frame = state.slot[slot].frame
    if not state.streams:
        latency = now - state.slot[slot].release - plan.job[job].counts_from_ps
        if not plan.job[job].is_first:
            latency = max(latency, state.latency[frame, network])
        state.latency[frame, network] = latency
    # The shown part of endless streams runs on after all responses that count have been noted.
    if plan.job[job].responds and state.run.responded < state.response.shape[0]:
        response = now - state.slot[slot].release - plan.job[job].counts_from_ps
        state.response[state.run.responded].network = network
        state.response[state.run.responded].ps = response
        state.run.responded += 1
    releases = _releases(plan, network)
    if plan.job[job].next < 0 or releases > 1:
        release = job - plan.network[network].first_job if releases > 1 else np.int64(0)
        for i in range(plan.network[network].dependent_start, plan.network[network].dependent_end):
            dependent = np.int64(plan.dependent[i])
            waiting = np.int64(plan.job[dependent].network)
            to = slot
            if state.streams and state.run.streams > 1:
                to = waiting
                if state.slot[to].frame != frame:
                    # It is behind: its frame looks for this when it is released.
                    continue
            # Of R releases those k that wait for this one of S: floor(k S / R) is its number.
            often = _releases(plan, waiting)
            until = -(-(release + 1) * often // releases)
            for k in range(-(-release * often // releases), until):
                _end_wait(plan, chosen, state, now, to, dependent + k)
    if plan.job[job].next >= 0:
        _end_wait(plan, chosen, state, now, slot, plan.job[job].next)
        return
    state.slot[slot].networks_left -= 1
    if state.slot[slot].networks_left == 0:
        if state.streams:
            end_stream_frame(state, slot % state.run.streams)
        else:
            state.frame_end[frame] = now
            state.run.frames_left -= 1
        if state.streams or frame + state.run.in_flight < state.run.frames:
            _release_frame(plan, chosen, state, now, slot, frame + state.run.in_flight)


@jit
def _end_group(plan, chosen, state, now, u):
    """End the group of queue ``u``: continue its engine, or deliver inputs to its successors."""
    place = state.unit[u].place
    instance = np.int64(state.place[place].instance)
    slot = np.int64(state.place[place].slot)
    group = state.place[place].group
    base = np.int64(place) - instance
    ran = now - state.unit[u].started
    if state.streams:
        count_execution(plan, chosen, state, u, place, slot % state.run.streams, ran)
    elif not (plan.has_engines and plan.has_shared) or state.unit[plan.queue_unit[u]].sharing == 0:
        state.run.dynamic_fj += chosen.group[group].dynamic_mw * ran
        state.run.busy_ps += ran
    if state.logs:
        execution = state.slot[slot].frame * plan.instances + instance
        if state.streams:
            state.logged[state.run.logged] = execution
            execution = state.run.logged
            state.run.logged += 1
        state.log[execution].ready = state.place[place].ready
        state.log[execution].start = state.unit[u].started
        state.log[execution].end = now
    state.unit[u].free = 1
    state.unit[u].end = NEVER
    state.unit[u].demand = 0
    state.run.running_changed = 1
    first = instance
    if plan.has_engines:
        if continues(plan, chosen, instance + 1):
            state.place[place + 1].ready = now
            state.place[place + 1].missing = 0
            group = state.place[place + 1].group
            if state.stops and chosen.group[group].alone_ps < 0:
                # It is the first in the queue, and stops the timeline there.
                enqueue(plan, chosen, state, place + 1, instance + 1, group, slot, now)
                return
            _run(plan, chosen, state, now, u, place + 1)
            return
        # All that leaves an engine does so at its end.
        if joins_engines(plan, chosen, instance):
            first = first_of_engine(plan, chosen, instance)
    for i in range(first, instance + 1):
        _deliver(plan, chosen, state, now, base, slot, i, first, instance)


@jit
def _deliver(plan, chosen, state, now, base, slot, instance, engine, last):
    """Deliver the result of an instance as its engine, from ``engine`` to ``last``, ends."""
    source = chosen.group[plan.instance[instance].group].unit
    for i in range(plan.instance[instance].out_start, plan.instance[instance].out_end):
        target = np.int64(plan.outgoing[i].target)
        if engine <= target and target <= last:
            continue
        target_group = plan.outgoing[i].group
        edge = plan.outgoing[i].edge_row
        to = chosen.group[target_group].unit
        at = base + target
        ready = now
        # A unit that is open (-1) delays nothing: the timeline stops before it matters.
        if not state.stops or to >= 0:
            ready += plan.transition_ps[np.int64(edge) + source * plan.units + np.int64(to)]
        if plan.outgoing[i].joins:
            ready = max(ready, state.place[at].ready)
            state.place[at].ready = ready
            state.place[at].missing -= 1
            if plan.has_engines and joins_engines(plan, chosen, target):
                enqueue_engine(plan, chosen, state, base, target, slot)
                continue
            if state.place[at].missing > 0:
                continue
        enqueue(plan, chosen, state, at, target, target_group, slot, ready)
    if plan.instance[instance].is_last:
        job = plan.instance[instance].job
        at_job = _ring_position(state, slot) * plan.jobs + job
        left = state.job[at_job].left - 1
        state.job[at_job].left = left
        if left == 0:
            _end_job(plan, chosen, state, now, slot, job)


@jit
def _first_waiting(plan, chosen, state, now, u):
    """Return the heap's position of the next group: the one that continues an engine, else the
    smallest (priority, ready time, order) of those ready."""
    first = np.int64(0)
    if not plan.has_priorities or state.heap[u, 0].ready == CONTINUES:
        return first
    queue = state.heap[u]
    least = _priority(chosen, state, queue[0].place)
    for i in range(1, state.unit[u].queued):
        if queue[i].ready > now:
            continue
        priority = _priority(chosen, state, queue[i].place)
        ready, until = queue[i].ready, queue[first].ready
        if priority < least or (
            priority == least
            and (ready < until or (ready == until and queue[i].order < queue[first].order))
        ):
            first, least = np.int64(i), priority
    return first


@jit
def _priority(chosen, state, place):
    return chosen.priority[state.place[place].group]


@jit
def _start_group(plan, chosen, state, now, u):
    """Take the first group from the queue and start it now."""
    queue = state.heap[u]
    if plan.has_priorities:
        lift(queue, _first_waiting(plan, chosen, state, now, u))
    place = queue[0].place
    queued = state.unit[u].queued - 1
    state.unit[u].queued = queued
    if queued > 0:
        sift_down(queue, queued)
    _run(plan, chosen, state, now, u, place)


@jit
def _run(plan, chosen, state, now, u, place):
    """Start the group at a place now on the unit of queue ``u``."""
    group = state.place[place].group
    own = chosen.group[group].demand_kbps
    state.run.running_changed = 1
    state.unit[u].place = place
    state.unit[u].free = 0
    state.unit[u].started = now
    state.unit[u].demand = own
    state.unit[u].work = alone_time(plan, chosen, state, place) * WORK_PER_PS
    state.unit[u].rate = 0
    state.unit[u].since = now
    unit = np.int64(u)
    if plan.has_engines and plan.has_shared:
        unit = plan.queue_unit[u]
        state.unit[u].dynamic_mw = chosen.group[group].dynamic_mw
    num, den, offset, cap = heavy_slope(chosen.contention[unit], own)
    state.unit[u].heavy_num = num
    state.unit[u].heavy_den = den
    state.unit[u].heavy_offset = offset
    state.unit[u].heavy_cap = cap


@jit
def _can_start(state, u, now):
    return state.unit[u].free and state.unit[u].queued > 0 and state.heap[u, 0].ready <= now


@jit
def advance(plan, chosen, state):
    """Start all groups that can start now, then move to the next event.

    Returns False if there is no event, or a choice is open.
    """
    if state.stops and state.run.open_count:
        return False
    now = state.run.now
    # If a start depends on an open choice, nothing is dispatched: all completions share the past up
    # to here.
    if state.stops:
        for u in range(plan.queues):
            if _can_start(state, u, now):
                first = _first_waiting(plan, chosen, state, now, u)
                group = state.place[state.heap[u, first].place].group
                unit, open_unit = plan.queue_unit[u], state.run.open_unit
                if chosen.group[group].alone_ps < 0 and (open_unit < 0 or unit <= open_unit):
                    first_head = chosen.group[group].open_head
                    if unit == open_unit:
                        first_head = min(first_head, state.run.open_head)
                    state.run.open_unit = unit
                    state.run.open_head = first_head
        if state.run.open_unit >= 0:
            return False
    # Dispatch: each free unit takes the first that waits. All starts of an instant come before
    # the rates, which depend on everything that runs.
    demand = np.int64(0)
    first_ready = NEVER
    for u in range(plan.queues):
        if _can_start(state, u, now):
            _start_group(plan, chosen, state, now, u)
        elif state.unit[u].free and state.unit[u].queued > 0:
            first_ready = min(first_ready, state.heap[u, 0].ready)
        demand += state.unit[u].demand
    # A new contention interval begins only if the running set has changed.
    if state.run.running_changed:
        update_rates(plan, chosen, state, now, demand)
    # The next event is the first end, or the ready time of a group for a free unit before it.
    later = state.run.next_end
    if first_ready < later:
        # Nothing ends, and the group that becomes ready starts. If its unit is busy, nothing
        # happens.
        state.run.now = first_ready
        return True
    if later == NEVER:
        return False
    # All ends of the instant are processed before anything starts: see the rules' order.
    state.run.now = later
    if plan.has_engines and plan.has_shared:
        settle_shared(plan, state, later)
    for u in range(plan.queues):
        if state.unit[u].end == later:
            _end_group(plan, chosen, state, later, u)
    return True


@jit
def simulate(plan, chosen, state):
    """Simulate all frames from the start."""
    begin(plan, chosen, state)
    while state.run.frames_left > 0:
        if not advance(plan, chosen, state):
            break


@jit
def evaluate_rows(plan, rows, chosen, state, possible, makespan, latency, dynamic, busy, idle):
    """Simulate one frame alone for every row [groups + domains] and write its results.

    ``possible`` [rows] is 0 if a unit cannot run a group. Its other results are then left as they
    are.
    """
    for r in range(rows.shape[0]):
        row = rows[r]
        possible[r] = choose(plan, row, chosen)
        if not possible[r]:
            continue
        simulate(plan, chosen, state)
        makespan[r] = state.frame_end[0]
        for n in range(plan.networks):
            latency[r, n] = state.latency[0, n]
        dynamic[r] = state.run.dynamic_fj
        busy[r] = state.run.busy_ps
        idle[r] = idle_power(plan, row, chosen.domain_on)

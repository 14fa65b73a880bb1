"""The state of a timeline that has stopped at an open choice: kept, and gone on from; compiled.

So a search plays a beginning that many choices share once. Only what changes from stop to stop is
kept, of one frame alone.
"""

import numpy as np

from fitness.simulator.general import enqueue
from fitness.simulator.jit import jit
from fitness.simulator.layout import INCOMING, INSTANCE_WIDTH
from fitness.simulator.state import (
    FRAME,
    GROUP_WIDTH,
    HEAP_PLACE,
    HEAP_PRIORITY,
    HEAP_READY,
    HEAP_SIZE,
    HEAP_WIDTH,
    IN_TRANSITION,
    JOB_STATE_WIDTH,
    LOG_END,
    LOG_WIDTH,
    MISSING,
    NETWORKS_LEFT,
    NOW,
    OPEN_COUNT,
    OPEN_UNIT,
    PLACE_GROUP,
    PLACE_WIDTH,
    QUEUED,
    READY,
    RELEASE,
    UNIT,
    UNIT_WIDTH,
)


@jit
def save_stop(plan, state, stop):
    """Writes the state into ``stop`` [words]."""
    at = np.int64(0)
    for i in range(state.scalar.shape[0]):
        stop[at + i] = state.scalar[i]
    at += state.scalar.shape[0]
    for i in range(state.unit.shape[0]):
        stop[at + i] = state.unit[i]
    at += state.unit.shape[0]
    for heap in range(plan.units + 1):
        count = state.scalar[IN_TRANSITION]
        if heap < plan.units:
            count = state.unit[heap * UNIT_WIDTH + QUEUED]
        base = heap * state.scalar[HEAP_SIZE]
        for i in range(count):
            stop[at] = state.heap[base + i * HEAP_WIDTH + HEAP_READY]
            stop[at + 1] = state.heap[base + i * HEAP_WIDTH + HEAP_PRIORITY]
            stop[at + 2] = state.heap[base + i * HEAP_WIDTH + HEAP_PLACE]
            at += 3
    for i in range(plan.instances):
        stop[at] = state.place[i * PLACE_WIDTH + READY]
        stop[at + 1] = state.place[i * PLACE_WIDTH + MISSING]
        stop[at + 2] = state.log[i * LOG_WIDTH + LOG_END]
        at += 3
    for i in range(plan.jobs * JOB_STATE_WIDTH):
        stop[at + i] = state.job[i]
    at += plan.jobs * JOB_STATE_WIDTH
    stop[at] = state.slot[FRAME]
    stop[at + 1] = state.slot[NETWORKS_LEFT]
    stop[at + 2] = state.slot[RELEASE]
    stop[at + 3] = state.frame_end[0]
    at += 4
    for n in range(plan.networks):
        stop[at + n] = state.latency[0, n]
    at += plan.networks
    for i in range(state.scalar[OPEN_COUNT]):
        stop[at + i] = state.open[i]


@jit
def load_stop(plan, state, stop):
    """Sets the state to what :func:`save_stop` has written."""
    at = np.int64(0)
    for i in range(state.scalar.shape[0]):
        state.scalar[i] = stop[at + i]
    at += state.scalar.shape[0]
    for i in range(state.unit.shape[0]):
        state.unit[i] = stop[at + i]
    at += state.unit.shape[0]
    for heap in range(plan.units + 1):
        count = state.scalar[IN_TRANSITION]
        if heap < plan.units:
            count = state.unit[heap * UNIT_WIDTH + QUEUED]
        base = heap * state.scalar[HEAP_SIZE]
        for i in range(count):
            state.heap[base + i * HEAP_WIDTH + HEAP_READY] = stop[at]
            state.heap[base + i * HEAP_WIDTH + HEAP_PRIORITY] = stop[at + 1]
            state.heap[base + i * HEAP_WIDTH + HEAP_PLACE] = stop[at + 2]
            at += 3
    for i in range(plan.instances):
        state.place[i * PLACE_WIDTH + READY] = stop[at]
        state.place[i * PLACE_WIDTH + MISSING] = stop[at + 1]
        state.log[i * LOG_WIDTH + LOG_END] = stop[at + 2]
        at += 3
    for i in range(plan.jobs * JOB_STATE_WIDTH):
        state.job[i] = stop[at + i]
    at += plan.jobs * JOB_STATE_WIDTH
    state.slot[FRAME] = stop[at]
    state.slot[NETWORKS_LEFT] = stop[at + 1]
    state.slot[RELEASE] = stop[at + 2]
    state.frame_end[0] = stop[at + 3]
    at += 4
    for n in range(plan.networks):
        state.latency[0, n] = stop[at + n]
    at += plan.networks
    for i in range(state.scalar[OPEN_COUNT]):
        state.open[i] = stop[at + i]


@jit
def named_since(plan, space, chosen, state, g):
    """Group g has got its unit after the state was kept. What has been delivered to it was counted
    without transition times, for it had no unit: they are added now."""
    if space.in_start[g + 1] - space.in_start[g] > 1:
        n = space.network[g]
        for repeat in range(space.repeats[n]):
            place = space.first_instance[n] + repeat * space.size[n] + g - space.first[n]
            if (
                state.place[place * PLACE_WIDTH + MISSING]
                < plan.instance[place * INSTANCE_WIDTH + INCOMING]
            ):
                state.place[place * PLACE_WIDTH + READY] = _delivered(
                    plan, space, chosen, state, place, g
                )


@jit
def go_on(plan, space, chosen, state):
    """After :func:`load_stop` and the choice that was open: open groups that have a unit now are
    put where they wait."""
    state.scalar[OPEN_UNIT] = -1
    count = state.scalar[OPEN_COUNT]
    state.scalar[OPEN_COUNT] = 0
    # What is still open is written back into the same list, never before what is read.
    for i in range(count):
        place = state.open[i]
        g = state.place[place * PLACE_WIDTH + PLACE_GROUP]
        ready = state.place[place * PLACE_WIDTH + READY]
        if (
            chosen.group[g * GROUP_WIDTH + UNIT] >= 0
            and plan.instance[place * INSTANCE_WIDTH + INCOMING] > 0
        ):
            ready = _delivered(plan, space, chosen, state, place, g)
        enqueue(plan, chosen, state, state.scalar[NOW], place, place, g, np.int64(0), ready)


@jit
def _delivered(plan, space, chosen, state, place, g):
    """When all that has ended so far of what feeds the instance has arrived."""
    ready = np.int64(0)
    v = chosen.group[g * GROUP_WIDTH + UNIT]
    for i in range(space.in_start[g], space.in_start[g + 1]):
        source = space.in_group[i]
        end = state.log[(place - g + source) * LOG_WIDTH + LOG_END]
        if end >= 0:
            u = chosen.group[source * GROUP_WIDTH + UNIT]
            end += plan.transition_ps[space.in_edge[i] + u * plan.units + v]
            ready = max(ready, end)
    return ready

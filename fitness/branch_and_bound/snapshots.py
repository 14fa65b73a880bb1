"""The state of a timeline that has stopped at an open choice: kept, and gone on from; compiled.

So a search plays a beginning that many choices share once. Only what changes from stop to stop is
kept, of one frame alone.
"""

import numpy as np

from fitness.simulator.general import enqueue
from fitness.simulator.jit import jit


@jit
def save_stop(plan, state, stop):
    """Writes the state into ``stop`` [words]."""
    at = np.int64(0)
    for i in range(state.run_words.shape[0]):
        stop[at + i] = state.run_words[i]
    at += state.run_words.shape[0]
    for i in range(state.unit_words.shape[0]):
        stop[at + i] = state.unit_words[i]
    at += state.unit_words.shape[0]
    for heap in range(plan.units):
        for i in range(state.unit[heap].queued):
            stop[at] = state.heap[heap, i].ready
            stop[at + 1] = state.heap[heap, i].priority
            stop[at + 2] = state.heap[heap, i].place
            at += 3
    for i in range(plan.instances):
        stop[at] = state.place[i].ready
        stop[at + 1] = state.place[i].missing
        stop[at + 2] = state.log[i].end
        at += 3
    for i in range(state.job_words.shape[0]):
        stop[at + i] = state.job_words[i]
    at += state.job_words.shape[0]
    stop[at] = state.slot[0].frame
    stop[at + 1] = state.slot[0].networks_left
    stop[at + 2] = state.slot[0].release
    stop[at + 3] = state.frame_end[0]
    at += 4
    for n in range(plan.networks):
        stop[at + n] = state.latency[0, n]
    at += plan.networks
    for i in range(state.run.open_count):
        stop[at + i] = state.open[i]


@jit
def load_stop(plan, state, stop):
    """Sets the state to what :func:`save_stop` has written."""
    at = np.int64(0)
    for i in range(state.run_words.shape[0]):
        state.run_words[i] = stop[at + i]
    at += state.run_words.shape[0]
    for i in range(state.unit_words.shape[0]):
        state.unit_words[i] = stop[at + i]
    at += state.unit_words.shape[0]
    for heap in range(plan.units):
        for i in range(state.unit[heap].queued):
            state.heap[heap, i].ready = stop[at]
            state.heap[heap, i].priority = stop[at + 1]
            state.heap[heap, i].place = stop[at + 2]
            at += 3
    for i in range(plan.instances):
        state.place[i].ready = stop[at]
        state.place[i].missing = stop[at + 1]
        state.log[i].end = stop[at + 2]
        at += 3
    for i in range(state.job_words.shape[0]):
        state.job_words[i] = stop[at + i]
    at += state.job_words.shape[0]
    state.slot[0].frame = stop[at]
    state.slot[0].networks_left = stop[at + 1]
    state.slot[0].release = stop[at + 2]
    state.frame_end[0] = stop[at + 3]
    at += 4
    for n in range(plan.networks):
        state.latency[0, n] = stop[at + n]
    at += plan.networks
    for i in range(state.run.open_count):
        state.open[i] = stop[at + i]


@jit
def named_since(plan, space, chosen, state, g):
    """Group g has got its unit after the state was kept. What has been delivered to it was counted
    without transition times, for it had no unit: they are added now."""
    if space.in_start[g + 1] - space.in_start[g] > 1:
        n = space.network[g]
        for repeat in range(space.repeats[n]):
            place = space.first_instance[n] + repeat * space.size[n] + g - space.first[n]
            if state.place[place].missing < plan.instance[place].incoming:
                state.place[place].ready = _delivered(plan, space, chosen, state, place, g)


@jit
def go_on(plan, space, chosen, state):
    """After :func:`load_stop` and the choice that was open: open groups that have a unit now are
    put where they wait."""
    state.run.open_unit = -1
    count = state.run.open_count
    state.run.open_count = 0
    # What is still open is written back into the same list, never before what is read.
    for i in range(count):
        place = state.open[i]
        g = state.place[place].group
        ready = state.place[place].ready
        if chosen.group[g].unit >= 0 and plan.instance[place].incoming > 0:
            ready = _delivered(plan, space, chosen, state, place, g)
        enqueue(plan, chosen, state, place, place, g, np.int64(0), ready)


@jit
def _delivered(plan, space, chosen, state, place, g):
    """When all that has ended so far of what feeds the instance has arrived."""
    ready = np.int64(0)
    v = chosen.group[g].unit
    for i in range(space.in_start[g], space.in_start[g + 1]):
        source = space.in_group[i]
        end = state.log[place - g + source].end
        if end >= 0:
            u = chosen.group[source].unit
            end += plan.transition_ps[space.in_edge[i] + u * plan.units + v]
            ready = max(ready, end)
    return ready

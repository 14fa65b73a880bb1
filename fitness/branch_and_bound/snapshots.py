"""Snapshots of a simulation at an open choice, to resume from. Compiled.

With them a search simulates a beginning that many choices share only once. A snapshot keeps only
values that change, of one frame alone.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.queues import (
    continues,
    enqueue,
    enqueue_engine,
    joins_engines,
)


@jit
def save_snapshot(plan, state, snapshot):
    """Write the state into ``snapshot`` [words]."""
    at = np.int64(0)
    for i in range(state.run_words.shape[0]):
        snapshot[at + i] = state.run_words[i]
    at += state.run_words.shape[0]
    for i in range(state.unit_words.shape[0]):
        snapshot[at + i] = state.unit_words[i]
    at += state.unit_words.shape[0]
    for heap in range(plan.queues):
        for i in range(state.unit[heap].queued):
            snapshot[at] = state.heap[heap, i].ready
            snapshot[at + 1] = state.heap[heap, i].order
            snapshot[at + 2] = state.heap[heap, i].place
            at += 3
    for i in range(plan.instances):
        snapshot[at] = state.place[i].ready
        snapshot[at + 1] = state.place[i].missing
        snapshot[at + 2] = state.log[i].end
        at += 3
    for i in range(state.job_words.shape[0]):
        snapshot[at + i] = state.job_words[i]
    at += state.job_words.shape[0]
    snapshot[at] = state.slot[0].frame
    snapshot[at + 1] = state.slot[0].networks_left
    snapshot[at + 2] = state.slot[0].release
    snapshot[at + 3] = state.frame_end[0]
    at += 4
    for n in range(plan.networks):
        snapshot[at + n] = state.latency[0, n]
    at += plan.networks
    for i in range(state.run.open_count):
        snapshot[at + i] = state.open[i]


@jit
def load_snapshot(plan, state, snapshot):
    """Set the state to the one that :func:`save_snapshot` has written."""
    at = np.int64(0)
    for i in range(state.run_words.shape[0]):
        state.run_words[i] = snapshot[at + i]
    at += state.run_words.shape[0]
    for i in range(state.unit_words.shape[0]):
        state.unit_words[i] = snapshot[at + i]
    at += state.unit_words.shape[0]
    for heap in range(plan.queues):
        for i in range(state.unit[heap].queued):
            state.heap[heap, i].ready = snapshot[at]
            state.heap[heap, i].order = snapshot[at + 1]
            state.heap[heap, i].place = snapshot[at + 2]
            at += 3
    for i in range(plan.instances):
        state.place[i].ready = snapshot[at]
        state.place[i].missing = snapshot[at + 1]
        state.log[i].end = snapshot[at + 2]
        at += 3
    for i in range(state.job_words.shape[0]):
        state.job_words[i] = snapshot[at + i]
    at += state.job_words.shape[0]
    state.slot[0].frame = snapshot[at]
    state.slot[0].networks_left = snapshot[at + 1]
    state.slot[0].release = snapshot[at + 2]
    state.frame_end[0] = snapshot[at + 3]
    at += 4
    for n in range(plan.networks):
        state.latency[0, n] = snapshot[at + n]
    at += plan.networks
    for i in range(state.run.open_count):
        state.open[i] = snapshot[at + i]


@jit
def assigned_since(plan, rules, chosen, state, g):
    """Group g was assigned after the snapshot. Deliveries to it were counted without transition
    times, since it had no unit: they are added now."""
    n = rules.network[g]
    first = rules.first_instance[n] + g - rules.first[n]
    # The first repeat waits for hand-overs, too.
    if plan.instance[first].incoming > 1:
        for repeat in range(rules.repeats[n]):
            place = first + repeat * rules.size[n]
            if state.place[place].missing < plan.instance[place].incoming:
                state.place[place].ready = _delivered(plan, chosen, state, place, g)


@jit
def resume(plan, rules, chosen, state):
    """Queue the open groups that have a unit now, after :func:`load_snapshot` and the choice."""
    state.run.open_unit = -1
    count = state.run.open_count
    state.run.open_count = 0
    for i in range(count):
        place = state.open[i]
        g = state.place[place].group
        if chosen.group[g].unit >= 0 and plan.instance[place].incoming > 0:
            state.place[place].ready = _delivered(plan, chosen, state, place, g)
    # Open groups are written back into the same list, never before the place that is read.
    for i in range(count):
        place = state.open[i]
        if plan.has_engines and joins_engines(plan, chosen, place):
            enqueue_engine(plan, chosen, state, np.int64(0), place, np.int64(0))
            continue
        ready = state.place[place].ready
        g = state.place[place].group
        enqueue(plan, chosen, state, place, place, g, np.int64(0), ready)


@jit
def _delivered(plan, chosen, state, place, g):
    """Return when the data of all ended predecessors of an instance has arrived at its unit."""
    # A delivery without a transition was there no later.
    ready = state.place[place].ready
    v = chosen.group[g].unit
    for i in range(plan.input_start[place], plan.input_start[place + 1]):
        source = np.int64(plan.input[i].source)
        end = state.log[source].end
        # It leaves its engine as that ends.
        while end >= 0 and plan.has_engines and continues(plan, chosen, source + 1):
            source += 1
            end = state.log[source].end
        if end >= 0:
            u = chosen.group[plan.input[i].group].unit
            end += plan.transition_ps[plan.input[i].edge_row + u * plan.units + v]
            ready = max(ready, end)
    return ready

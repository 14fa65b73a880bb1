"""Whether a state recurs, of a pipeline or of networks with rates, relative to the instant.

The *form* of a state is all that its future depends on: of every frame in flight, the
oldest first, its number and release; of every group in it when it becomes ready if it waits for
that or for its unit, the work left if it runs, and, if it waits for inputs, how many and the latest
one so far; of every repeat of a network what it waits for and how many of its last groups have not
ended. What has ended and what has not begun follows from these. Instants are relative to the
present one, frames to the oldest.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.state import (
    JOINING,
    RUNNING,
    WAITING,
)


@jit
def write_form(plan, state):
    """Writes the form of the present state to the first half of ``state.form``: of one stream, or
    of several with one frame in flight."""
    now, ring, streams = state.run.now, state.run.in_flight, state.run.streams
    slots = ring * streams
    for i in range(state.form.shape[0] // 2):
        state.form[i] = 0
    oldest = state.slot[0].frame
    for slot in range(1, slots):
        oldest = min(oldest, state.slot[slot].frame)
    for slot in range(slots):
        frame = state.slot[slot].frame
        age = np.int64(0)
        if streams == 1:
            for other in range(ring):
                age += state.slot[other].frame < frame
        state.slot[slot].age = age
        at = 2 * (age if streams == 1 else np.int64(slot))
        state.form[at] = frame - oldest
        state.form[at + 1] = state.slot[slot].release - now
    for position in range(ring):
        age = state.slot[position * streams].age
        for job in range(plan.jobs):
            at = 2 * (slots + ring * plan.instances + age * plan.jobs + job)
            row = position * plan.jobs + job
            state.form[at] = state.job[row].waits
            state.form[at + 1] = state.job[row].left
        for k in range(plan.join.shape[0]):
            place = position * plan.instances + plan.join[k]
            missing = state.place[place].missing
            if 0 < missing < plan.instance[plan.join[k]].incoming:
                _write(plan, state, place, JOINING + missing, _ready(state, place) - now)
    for u in range(plan.units):
        for i in range(state.unit[u].queued):
            ready = state.heap[u, i].ready - now
            _write(plan, state, state.heap[u, i].place, WAITING, ready)
    for u in range(plan.units):
        if not state.unit[u].free:
            since = now - state.unit[u].since
            left = state.unit[u].work - state.unit[u].rate * since
            _write(plan, state, state.unit[u].place, RUNNING, left)


@jit
def _ready(state, place):
    return state.place[place].ready


@jit
def _write(plan, state, place, what, figure):
    age = state.slot[state.place[place].slot].age
    instance = state.place[place].instance
    at = 2 * (state.run.in_flight * state.run.streams + age * plan.instances + instance)
    state.form[at] = what
    state.form[at + 1] = figure


@jit
def keep_form(state):
    """Store the form."""
    half = state.form.shape[0] // 2
    for i in range(half):
        state.form[half + i] = state.form[i]


@jit
def is_kept_form(state):
    """Whether the form is the stored one."""
    half = state.form.shape[0] // 2
    differ = np.int64(0)
    for i in range(half):
        differ |= state.form[half + i] ^ state.form[i]
    return differ == 0

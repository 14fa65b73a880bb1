"""Whether a pipeline's state has been there before, relative to the instant; compiled.

The *form* of a state is what its future depends on, and nothing else: of every frame in flight, the
oldest first, its number and release; of every group in it when it becomes ready if it waits for
that or for its unit, the work left if it runs, and, if it waits for inputs, how many and the latest
one so far; of every repeat of a network what it waits for and how many of its last groups have not
ended. What has ended and what has not begun follows from these. Instants are relative to the
present one, frames to the oldest.
"""

import numpy as np

from fitness.simulator.jit import jit
from fitness.simulator.layout import INCOMING, INSTANCE_WIDTH
from fitness.simulator.state import (
    AGE,
    FRAME,
    FREE,
    HEAP_PLACE,
    HEAP_READY,
    HEAP_SIZE,
    HEAP_WIDTH,
    IN_FLIGHT,
    IN_TRANSITION,
    JOB_LEFT,
    JOB_STATE_WIDTH,
    JOB_WAITS,
    JOINING,
    MISSING,
    NOW,
    PLACE,
    PLACE_INSTANCE,
    PLACE_SLOT,
    PLACE_WIDTH,
    QUEUED,
    RATE,
    READY,
    RELEASE,
    RUNNING,
    SINCE,
    SLOT_WIDTH,
    UNIT_WIDTH,
    WAITING,
    WORK,
)


@jit
def write_form(plan, state):
    """Writes the form of the present state to the first half of ``state.form``; one stream."""
    now, ring = state.scalar[NOW], state.scalar[IN_FLIGHT]
    for i in range(len(state.form) // 2):
        state.form[i] = 0
    oldest = state.slot[FRAME]
    for slot in range(1, ring):
        oldest = min(oldest, state.slot[slot * SLOT_WIDTH + FRAME])
    for slot in range(ring):
        frame = state.slot[slot * SLOT_WIDTH + FRAME]
        age = np.int64(0)
        for other in range(ring):
            age += state.slot[other * SLOT_WIDTH + FRAME] < frame
        state.slot[slot * SLOT_WIDTH + AGE] = age
        state.form[2 * age] = frame - oldest
        state.form[2 * age + 1] = state.slot[slot * SLOT_WIDTH + RELEASE] - now
        for job in range(plan.jobs):
            at = 2 * (ring + ring * plan.instances + age * plan.jobs + job)
            row = (slot * plan.jobs + job) * JOB_STATE_WIDTH
            state.form[at] = state.job[row + JOB_WAITS]
            state.form[at + 1] = state.job[row + JOB_LEFT]
        for k in range(plan.join.shape[0]):
            place = slot * plan.instances + plan.join[k]
            missing = state.place[place * PLACE_WIDTH + MISSING]
            if 0 < missing < plan.instance[plan.join[k] * INSTANCE_WIDTH + INCOMING]:
                _write(plan, state, place, JOINING + missing, _ready(state, place) - now)
    for u in range(plan.units + 1):
        count = state.scalar[IN_TRANSITION]
        if u < plan.units:
            count = state.unit[u * UNIT_WIDTH + QUEUED]
        for i in range(count):
            entry = u * state.scalar[HEAP_SIZE] + i * HEAP_WIDTH
            ready = state.heap[entry + HEAP_READY] - now
            _write(plan, state, state.heap[entry + HEAP_PLACE], WAITING, ready)
    for u in range(plan.units):
        if not state.unit[u * UNIT_WIDTH + FREE]:
            since = now - state.unit[u * UNIT_WIDTH + SINCE]
            left = state.unit[u * UNIT_WIDTH + WORK] - state.unit[u * UNIT_WIDTH + RATE] * since
            _write(plan, state, state.unit[u * UNIT_WIDTH + PLACE], RUNNING, left)


@jit
def _ready(state, place):
    return state.place[place * PLACE_WIDTH + READY]


@jit
def _write(plan, state, place, what, figure):
    age = state.slot[state.place[place * PLACE_WIDTH + PLACE_SLOT] * SLOT_WIDTH + AGE]
    instance = state.place[place * PLACE_WIDTH + PLACE_INSTANCE]
    at = 2 * (state.scalar[IN_FLIGHT] + age * plan.instances + instance)
    state.form[at] = what
    state.form[at + 1] = figure


@jit
def keep_form(state):
    """Keeps what was written."""
    half = len(state.form) // 2
    for i in range(half):
        state.form[half + i] = state.form[i]


@jit
def is_kept_form(state):
    """Whether what was written is what was kept."""
    half = len(state.form) // 2
    differ = np.int64(0)
    for i in range(half):
        differ |= state.form[half + i] ^ state.form[i]
    return differ == 0

"""What is counted where every network is a stream of its own; compiled.

See :mod:`fitness.simulate_free_running`.
"""

import numpy as np

from fitness.simulator.jit import jit
from fitness.simulator.state import (
    COUNT_FROM,
    COUNTS,
    DYNAMIC,
    DYNAMIC_FJ,
    DYNAMIC_HIGH,
    ENDED,
    FOURTH_FJ,
    FOURTH_HIGH,
    FOURTH_PS,
    FRAMES,
    FRAMES_LEFT,
    FREE,
    GROUP_WIDTH,
    LOGGED,
    MARKED,
    NOW,
    PLACE,
    PLACE_GROUP,
    PLACE_WIDTH,
    STARTED,
    TWELFTH_PS,
    UNIT_WIDTH,
)


@jit
def begin_streams(plan, state):
    """No frame has ended yet."""
    state.scalar[FRAMES_LEFT] = plan.networks
    state.scalar[DYNAMIC_HIGH] = 0
    state.scalar[MARKED] = 0
    state.scalar[LOGGED] = 0
    for n in range(plan.networks):
        state.stream[n * (COUNTS + plan.networks) + ENDED] = 0


@jit
def end_stream_frame(plan, state, now, network):
    """A frame of the network has ended now."""
    row = network * (COUNTS + plan.networks)
    ended = state.stream[row + ENDED] + 1
    state.stream[row + ENDED] = ended
    if ended == state.scalar[COUNT_FROM]:
        state.stream[row + FOURTH_PS] = now
        state.scalar[MARKED] += 1
    elif ended == state.scalar[FRAMES]:
        state.stream[row + TWELFTH_PS] = now
        state.scalar[FRAMES_LEFT] -= 1


@jit
def dynamic_so_far(plan, chosen, state):
    """Dynamic energy up to this instant, what runs counted in part; without its high part, fJ."""
    now = state.scalar[NOW]
    energy = state.scalar[DYNAMIC_FJ]
    for u in range(plan.units):
        if not state.unit[u * UNIT_WIDTH + FREE]:
            place = np.uint32(state.unit[u * UNIT_WIDTH + PLACE])
            group = np.uint32(state.place[place * PLACE_WIDTH + PLACE_GROUP])
            ran = now - state.unit[u * UNIT_WIDTH + STARTED]
            energy += chosen.group[group * GROUP_WIDTH + DYNAMIC] * ran
    return energy


@jit
def mark_beginnings(plan, chosen, state):
    """Here a window may begin: all ends of this instant have been counted, and some network has
    ended the last frame that is not. Which window counts is known at its end only."""
    energy = dynamic_so_far(plan, chosen, state)
    width = COUNTS + plan.networks
    for n in range(plan.networks):
        row = n * width
        ended = state.stream[row + ENDED] >= state.scalar[COUNT_FROM]
        if ended and state.stream[row + FOURTH_PS] == state.scalar[NOW]:
            state.stream[row + FOURTH_FJ] = energy
            state.stream[row + FOURTH_HIGH] = state.scalar[DYNAMIC_HIGH]
            for m in range(plan.networks):
                state.stream[row + COUNTS + m] = state.stream[m * width + ENDED]
    state.scalar[MARKED] = 0


@jit
def slowest_stream(plan, state):
    """The network whose last frame ends last, the first of several."""
    slowest = np.int64(0)
    width = COUNTS + plan.networks
    for n in range(1, plan.networks):
        if state.stream[n * width + TWELFTH_PS] > state.stream[slowest * width + TWELFTH_PS]:
            slowest = n
    return slowest

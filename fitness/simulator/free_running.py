"""Networks that run freely, from rows to what their window holds; compiled.

No other kernel takes anything from here, so this file is not among those that all machine code
depends on (:mod:`fitness.simulator.jit`): numba looks at it by itself.
"""

import numpy as np

from fitness.simulator.general import advance, begin
from fitness.simulator.jit import jit
from fitness.simulator.lookup import choose, idle_power
from fitness.simulator.state import (
    COUNTS,
    DYNAMIC_HIGH,
    ENDED,
    FOURTH_FJ,
    FOURTH_HIGH,
    FOURTH_PS,
    FRAMES_LEFT,
    FREE,
    LOG_START,
    LOG_WIDTH,
    LOGGED,
    MARKED,
    NEVER,
    NOW,
    STARTED,
    UNIT_WIDTH,
)
from fitness.simulator.streams import dynamic_so_far, mark_beginnings, slowest_stream


@jit
def evaluate_streams(plan, rows, chosen, state, possible, window, inferences, dynamic, high, idle):
    """Plays every row [groups + domains] until the slowest network has ended its last frame, and
    writes its window, inferences [rows, networks], dynamic energy (``high`` in units of 2**62 fJ)
    and idle power.

    ``possible`` [rows] is 0 where a unit cannot run a group; the rest is then left as it is.
    """
    for r in range(rows.shape[0]):
        row = rows[r]
        possible[r] = choose(plan, row, chosen)
        if not possible[r]:
            continue
        begin(plan, chosen, state)
        while state.scalar[FRAMES_LEFT] > 0:
            if not advance(plan, chosen, state):
                break
            if state.scalar[MARKED]:
                mark_beginnings(plan, chosen, state)
        width = COUNTS + plan.networks
        at = slowest_stream(plan, state) * width
        window[r] = state.scalar[NOW] - state.stream[at + FOURTH_PS]
        for n in range(plan.networks):
            inferences[r, n] = state.stream[n * width + ENDED] - state.stream[at + COUNTS + n]
        dynamic[r] = dynamic_so_far(plan, chosen, state) - state.stream[at + FOURTH_FJ]
        high[r] = state.scalar[DYNAMIC_HIGH] - state.stream[at + FOURTH_HIGH]
        idle[r] = idle_power(plan, row, chosen.domain_on)


@jit
def play_shown(plan, chosen, state, most, instants, inferences):
    """Plays to the window's end, and until all has ended that started before the first of
    ``instants``; only that is logged.

    Writes to ``instants`` [3] what is shown until (the window's end, or when ``most`` executions
    have ended), and the window's beginning and end; to ``inferences`` [networks] the frames in it.
    """
    begin(plan, chosen, state)
    width = COUNTS + plan.networks
    instants[0] = NEVER
    kept = np.int64(0)
    playing = True
    while playing or _runs_from_before(plan, state, instants[0]):
        if not advance(plan, chosen, state):
            break
        if state.scalar[MARKED]:
            mark_beginnings(plan, chosen, state)
        for i in range(kept, state.scalar[LOGGED]):
            if state.log[i * LOG_WIDTH + LOG_START] < instants[0]:
                state.logged[kept] = state.logged[i]
                for k in range(LOG_WIDTH):
                    state.log[kept * LOG_WIDTH + k] = state.log[i * LOG_WIDTH + k]
                kept += 1
        state.scalar[LOGGED] = kept
        ends = playing and state.scalar[FRAMES_LEFT] == 0
        if instants[0] == NEVER and (kept >= most or ends):
            instants[0] = state.scalar[NOW]
        if ends:
            playing = False
            at = slowest_stream(plan, state) * width
            instants[1] = state.stream[at + FOURTH_PS]
            instants[2] = state.scalar[NOW]
            for n in range(plan.networks):
                inferences[n] = state.stream[n * width + ENDED] - state.stream[at + COUNTS + n]


@jit
def _runs_from_before(plan, state, instant):
    """Whether something still runs that started before the instant."""
    for u in range(plan.units):
        if not state.unit[u * UNIT_WIDTH + FREE] and state.unit[u * UNIT_WIDTH + STARTED] < instant:
            return True
    return False

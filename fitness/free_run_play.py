"""Networks that run freely, from rows to what their window holds; compiled.

No other kernel takes anything from here, so this file is not among those that all machine code
depends on (:mod:`fitness.jit`): numba looks at it by itself.
"""

from fitness.design_kernel import choose, idle_power
from fitness.jit import jit
from fitness.stream_kernel import dynamic_so_far, mark_beginnings, slowest_stream
from fitness.timeline_kernel import advance, begin
from fitness.timeline_state import (
    COUNTS,
    DYNAMIC_HIGH,
    ENDED,
    FOURTH_FJ,
    FOURTH_HIGH,
    FOURTH_PS,
    FRAMES_LEFT,
    LOGGED,
    MARKED,
    NOW,
)


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
def play_beginning(plan, chosen, state, most):
    """Plays until every network has ended a frame, or ``most`` executions have ended, and all that
    ends at that instant."""
    begin(plan, chosen, state)
    width = COUNTS + plan.networks
    left = True
    while left and state.scalar[LOGGED] < most:
        if not advance(plan, chosen, state):
            break
        left = False
        for n in range(plan.networks):
            left |= state.stream[n * width + ENDED] == 0

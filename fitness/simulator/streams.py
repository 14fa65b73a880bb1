"""What is counted where frames never run out; compiled.

See :mod:`fitness.simulate_long_run`.
"""

import numpy as np

from fitness.simulator.jit import jit
from fitness.simulator.recurrence import is_kept_form, keep_form, write_form
from fitness.simulator.state import (
    ALONE,
    AT_BEGIN,
    AT_KEPT,
    BEGUN,
    BEHIND,
    DYNAMIC,
    EXECUTIONS,
    FREE,
    GROUP_WIDTH,
    HIGH_FJ,
    IN_FLIGHT,
    KEPT,
    LOGGED,
    NOW,
    OF_ONE_STREAM,
    OF_SEVERAL,
    PLACE,
    PLACE_GROUP,
    PLACE_SLOT,
    PLACE_WIDTH,
    RATE,
    ROUND,
    ROUND_OVER,
    SINCE,
    SO_FAR,
    STARTED,
    STREAMS,
    UNIT_WIDTH,
    WORK,
)
from results.problem.problem import WORK_PER_PS


@jit
def least_rounds(in_flight):
    """Rounds that are over at least where a window begins, and where it ends."""
    return in_flight + 2, 2 * in_flight + 8


@jit
def least_executions(streams):
    """Executions that have ended at least where a window begins, and where it ends."""
    return OF_ONE_STREAM if streams == 1 else OF_SEVERAL


@jit
def begin_streams(plan, state):
    """Nothing has ended yet."""
    state.scalar[ROUND] = 0
    state.scalar[BEHIND] = state.scalar[STREAMS]
    state.scalar[ROUND_OVER] = 0
    state.scalar[EXECUTIONS] = 0
    state.scalar[BEGUN] = 0
    state.scalar[KEPT] = 0
    state.scalar[LOGGED] = 0
    for stream in range(state.scalar[STREAMS]):
        state.ended[stream] = 0
    for column in range(account_width(plan, state)):
        state.account[column] = 0


@jit
def account_width(plan, state):
    """Columns of the account."""
    return 1 + (2 + state.scalar[STREAMS]) * plan.units


@jit
def end_stream_frame(state, stream):
    """A frame of the stream has ended now."""
    ended = state.ended[stream] + 1
    state.ended[stream] = ended
    if ended != state.scalar[ROUND] + 1:
        return
    state.scalar[BEHIND] -= 1
    if state.scalar[BEHIND] > 0:
        return
    least = ended
    for other in range(state.scalar[STREAMS]):
        least = min(least, state.ended[other])
    for other in range(state.scalar[STREAMS]):
        state.scalar[BEHIND] += state.ended[other] == least
    state.scalar[ROUND] = least
    state.scalar[ROUND_OVER] = 1


@jit
def count_execution(plan, chosen, state, u, group, stream, ran):
    """A group has ended on unit ``u`` that ran so long."""
    state.scalar[EXECUTIONS] += 1
    state.account[1 + u] += chosen.group[group * GROUP_WIDTH + DYNAMIC] * ran
    if state.account[1 + u] >= HIGH_FJ:
        state.account[1 + u] -= HIGH_FJ
        state.account[1 + plan.units + u] += 1
    at = 1 + (2 + stream) * plan.units + u
    state.account[at] += chosen.group[group * GROUP_WIDTH + ALONE]


@jit
def take_account(plan, chosen, state, row):
    """Writes to a row of the account what has been executed by this instant, what runs counted in
    part, stand-alone times in whole ps, rounded down."""
    now = state.scalar[NOW]
    base = row * account_width(plan, state)
    for column in range(1, account_width(plan, state)):
        state.account[base + column] = state.account[column]
    state.account[base] = now
    for u in range(plan.units):
        if state.unit[u * UNIT_WIDTH + FREE]:
            continue
        place = np.uint32(state.unit[u * UNIT_WIDTH + PLACE])
        group = np.uint32(state.place[place * PLACE_WIDTH + PLACE_GROUP])
        stream = state.place[place * PLACE_WIDTH + PLACE_SLOT] % state.scalar[STREAMS]
        ran = now - state.unit[u * UNIT_WIDTH + STARTED]
        since = now - state.unit[u * UNIT_WIDTH + SINCE]
        left = state.unit[u * UNIT_WIDTH + WORK] - state.unit[u * UNIT_WIDTH + RATE] * since
        alone = chosen.group[group * GROUP_WIDTH + ALONE]
        at = base + 1 + (2 + stream) * plan.units + u
        state.account[base + 1 + u] += chosen.group[group * GROUP_WIDTH + DYNAMIC] * ran
        state.account[at] += (alone * WORK_PER_PS - left) // WORK_PER_PS


@jit
def end_round(plan, chosen, state):
    """A round is over at this instant, all ends of which have been counted. Returns the row of the
    account at which the window begins that ends here, or SO_FAR where play goes on."""
    state.scalar[ROUND_OVER] = 0
    over = state.scalar[ROUND]
    if len(state.form):
        write_form(plan, state)
        if state.scalar[KEPT] > 0 and is_kept_form(state):
            return AT_KEPT
        if over >= 2 * state.scalar[KEPT]:
            keep_form(state)
            take_account(plan, chosen, state, AT_KEPT)
            state.scalar[KEPT] = over
    before, enough = least_rounds(state.scalar[IN_FLIGHT])
    executions = state.scalar[EXECUTIONS]
    few, many = least_executions(state.scalar[STREAMS])
    if state.scalar[BEGUN]:
        if over >= enough and executions >= many:
            return AT_BEGIN
    elif over >= before and executions >= few:
        take_account(plan, chosen, state, AT_BEGIN)
        state.scalar[BEGUN] = 1
    return SO_FAR

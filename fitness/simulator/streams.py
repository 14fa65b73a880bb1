"""Accounting of endless streams of frames; compiled.

See :mod:`fitness.simulate_long_run`.
"""

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import alone_time
from paretosoc.fitness.simulator.recurrence import is_kept_form, keep_form, write_form
from paretosoc.fitness.simulator.state import (
    AT_BEGIN,
    AT_KEPT,
    HIGH_FJ,
    OF_ONE_STREAM,
    OF_SEVERAL,
    SO_FAR,
)
from paretosoc.results.problem.arithmetic import WORK_PER_PS


@jit
def min_rounds(in_flight):
    """Minimum of rounds that are over where a window begins, and where it ends."""
    return in_flight + 2, 2 * in_flight + 8


@jit
def min_executions(streams):
    """Minimum of executions that have ended where a window begins, and where it ends."""
    return OF_ONE_STREAM if streams == 1 else OF_SEVERAL


@jit
def begin_streams(plan, state):
    """Reset the counts."""
    state.run.rounds = 0
    state.run.behind = state.run.streams
    state.run.round_over = 0
    state.run.executions = 0
    state.run.begun = 0
    state.run.kept = 0
    state.run.logged = 0
    for stream in range(state.run.streams):
        state.ended[stream] = 0
    for column in range(account_width(plan, state)):
        state.account[column] = 0


@jit
def account_width(plan, state):
    """Columns of the account."""
    return 1 + (2 + state.run.streams) * plan.units


@jit
def end_stream_frame(state, stream):
    """A frame of the stream has ended now."""
    ended = state.ended[stream] + 1
    state.ended[stream] = ended
    if ended != state.run.rounds + 1:
        return
    state.run.behind -= 1
    if state.run.behind > 0:
        return
    least = ended
    for other in range(state.run.streams):
        least = min(least, state.ended[other])
    for other in range(state.run.streams):
        state.run.behind += state.ended[other] == least
    state.run.rounds = least
    state.run.round_over = 1


@jit
def count_execution(plan, chosen, state, u, place, stream, ran):
    """Count a group that ended on unit ``u`` after running for ``ran``."""
    group = state.place[place].group
    state.run.executions += 1
    state.run.busy_ps += ran
    state.account[1 + u] += chosen.group[group].dynamic_mw * ran
    if state.account[1 + u] >= HIGH_FJ:
        state.account[1 + u] -= HIGH_FJ
        state.account[1 + plan.units + u] += 1
    at = 1 + (2 + stream) * plan.units + u
    state.account[at] += alone_time(plan, chosen, state, place)


@jit
def take_account(plan, chosen, state, row):
    """Writes to a row of the account what has been executed by this instant, what runs counted in
    part, stand-alone times in integer ps, rounded down."""
    now = state.run.now
    base = row * account_width(plan, state)
    for column in range(1, account_width(plan, state)):
        state.account[base + column] = state.account[column]
    state.account[base] = now
    for u in range(plan.units):
        if state.unit[u].free:
            continue
        place = state.unit[u].place
        group = state.place[place].group
        stream = state.place[place].slot % state.run.streams
        ran = now - state.unit[u].started
        since = now - state.unit[u].since
        left = state.unit[u].work - state.unit[u].rate * since
        alone = alone_time(plan, chosen, state, place)
        at = base + 1 + (2 + stream) * plan.units + u
        state.account[base + 1 + u] += chosen.group[group].dynamic_mw * ran
        state.account[at] += (alone * WORK_PER_PS - left) // WORK_PER_PS


@jit
def end_round(plan, chosen, state):
    """A round is over at this instant, all ends of which have been counted. Returns the row of the
    account at which the window begins that ends here, or SO_FAR if the simulation continues."""
    state.run.round_over = 0
    over = state.run.rounds
    if state.form.shape[0]:
        write_form(plan, state)
        if state.run.kept > 0 and is_kept_form(state):
            return AT_KEPT
        if over >= 2 * state.run.kept:
            keep_form(state)
            take_account(plan, chosen, state, AT_KEPT)
            state.run.kept = over
            state.run.responded = 0
            state.run.busy_ps = 0
    if plan.period_ps:
        return SO_FAR
    before, enough = min_rounds(state.run.in_flight)
    executions = state.run.executions
    few, many = min_executions(state.run.streams)
    if state.run.begun:
        if over >= enough and executions >= many:
            return AT_BEGIN
    elif over >= before and executions >= few:
        take_account(plan, chosen, state, AT_BEGIN)
        state.run.begun = 1
    return SO_FAR

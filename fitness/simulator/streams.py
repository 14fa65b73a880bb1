"""Accounting of endless streams of frames (:mod:`fitness.simulate_long_run`), and the check that
the state of a pipeline or of networks with rates recurs. Compiled.

The *form* of a state is all that its future depends on:

* for every frame in flight, the oldest first, its number and release;
* for every group in it, when it becomes ready if it waits for that or for its unit, the work left
  if it runs, and, if it waits for inputs, how many and the latest one so far;
* for every repeat of a network, how many ends it waits for and how many of its last groups have not
  ended.

Ended groups and groups that have not begun follow from these. Instants are relative to the present
one, frames to the oldest.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import alone_time
from paretosoc.fitness.simulator.state import (
    AT_BEGIN,
    AT_KEPT,
    HIGH_FJ,
    JOINING,
    OF_ONE_STREAM,
    OF_SEVERAL,
    RUNNING,
    SO_FAR,
    WAITING,
)
from paretosoc.results.problem.arithmetic import WORK_PER_PS


@jit
def min_rounds(in_flight):
    """Return the least number of rounds that are over as a window begins, and as it ends."""
    return in_flight + 2, 2 * in_flight + 8


@jit
def min_executions(streams):
    """Return the least number of executions that have ended as a window begins, and as it ends."""
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
    """Return the number of columns of the account."""
    return 1 + (2 + state.run.streams) * plan.units


@jit
def end_stream_frame(state, stream):
    """Count a frame of the stream that has ended now, and note if it ends a round."""
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
    """Count a group of queue ``u`` that ended after running for ``ran``."""
    group = state.place[place].group
    u = plan.queue_unit[u]
    state.run.executions += 1
    # The energy of shared units is accounted from interval to interval.
    if state.unit[u].sharing == 0:
        state.run.busy_ps += ran
        state.account[1 + u] += chosen.group[group].dynamic_mw * ran
        if state.account[1 + u] >= HIGH_FJ:
            state.account[1 + u] -= HIGH_FJ
            state.account[1 + plan.units + u] += 1
    at = 1 + (2 + stream) * plan.units + u
    state.account[at] += alone_time(plan, chosen, state, place)


@jit
def take_account(plan, chosen, state, row):
    """Write the work executed by this instant to a row of the account.

    Running groups count in part, in stand-alone times in integer ps, rounded down.
    """
    now = state.run.now
    base = row * account_width(plan, state)
    for column in range(1, account_width(plan, state)):
        state.account[base + column] = state.account[column]
    state.account[base] = now
    for q in range(plan.queues):
        if state.unit[q].free:
            continue
        u = plan.queue_unit[q]
        place = state.unit[q].place
        group = state.place[place].group
        stream = state.place[place].slot % state.run.streams
        ran = now - state.unit[q].started
        since = now - state.unit[q].since
        left = state.unit[q].work - state.unit[q].rate * since
        alone = alone_time(plan, chosen, state, place)
        at = base + 1 + (2 + stream) * plan.units + u
        if state.unit[u].sharing == 0:
            state.account[base + 1 + u] += chosen.group[group].dynamic_mw * ran
        state.account[at] += (alone * WORK_PER_PS - left) // WORK_PER_PS


@jit
def end_round(plan, chosen, state):
    """End a round at this instant, all ends of which have been counted.

    Returns the row of the account at which the window begins that ends here, or SO_FAR if the
    simulation continues.
    """
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


@jit
def write_form(plan, state):
    """Write the form of the present state to the first half of ``state.form``: of one stream, or
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
                _write(plan, state, place, JOINING + missing, state.place[place].ready - now)
    for u in range(plan.queues):
        for i in range(state.unit[u].queued):
            ready = state.heap[u, i].ready - now
            _write(plan, state, state.heap[u, i].place, WAITING, ready)
    for u in range(plan.queues):
        if not state.unit[u].free:
            since = now - state.unit[u].since
            left = state.unit[u].work - state.unit[u].rate * since
            _write(plan, state, state.unit[u].place, RUNNING, left)


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
    """Return whether the form is the stored one."""
    half = state.form.shape[0] // 2
    differ = np.int64(0)
    for i in range(half):
        differ |= state.form[half + i] ^ state.form[i]
    return differ == 0

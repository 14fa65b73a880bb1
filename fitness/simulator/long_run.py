"""Frames that never run out, from rows to the contents of their window. Compiled.

No other kernel takes anything from here, so this file is not among those that all machine code
depends on (:mod:`fitness.simulator.jit`).
"""

import numpy as np

from paretosoc.fitness.simulator.general import advance, begin
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import choose, idle_power
from paretosoc.fitness.simulator.state import NEVER, SO_FAR
from paretosoc.fitness.simulator.streams import account_width, end_round, take_account


@jit
def evaluate_streams(plan, rows, chosen, state, possible, window, executed, dynamic, high, idle):
    """Simulate every row [groups + domains] to the end of its window, and write its results.

    They are the window, the time executed in it [rows, streams x units], dynamic energy [rows,
    units] (``high`` in units of 2**62 fJ) and idle power.

    ``possible`` [rows] is 0 if a unit cannot run a group. Its other results are then left as they
    are.
    """
    for r in range(rows.shape[0]):
        row = rows[r]
        possible[r] = choose(plan, row, chosen)
        if not possible[r]:
            continue
        begin(plan, chosen, state)
        since = np.int64(SO_FAR)
        while since == SO_FAR and advance(plan, chosen, state):
            if state.run.round_over:
                since = end_round(plan, chosen, state)
        take_account(plan, chosen, state, SO_FAR)
        first = since * account_width(plan, state)
        window[r] = state.account[0] - state.account[first]
        for u in range(plan.units):
            at = 1 + u
            dynamic[r, u] = state.account[at] - state.account[first + at]
            at += plan.units
            high[r, u] = state.account[at] - state.account[first + at]
        for i in range(executed.shape[1]):
            at = 1 + 2 * plan.units + i
            executed[r, i] = state.account[at] - state.account[first + at]
        idle[r] = idle_power(plan, row, chosen.domain_on)


@jit
def simulate_shown(plan, chosen, state, most, instants):
    """Simulate to the window's end, and until all logged executions have ended.

    Executions are logged if they start before the first of ``instants``.

    Writes to ``instants`` [3] the end of the log (the window's end, or when ``most`` executions
    have ended), and the window's beginning and end.
    """
    begin(plan, chosen, state)
    instants[0] = NEVER
    kept = np.int64(0)
    running_on = True
    while running_on or _runs_from_before(plan, state, instants[0]):
        if not advance(plan, chosen, state):
            break
        for i in range(kept, state.run.logged):
            if state.log[i].start < instants[0]:
                state.logged[kept] = state.logged[i]
                state.log[kept] = state.log[i]
                kept += 1
        state.run.logged = kept
        since = np.int64(SO_FAR)
        if running_on and state.run.round_over:
            since = end_round(plan, chosen, state)
        ends = since != SO_FAR
        if instants[0] == NEVER and (kept >= most or ends):
            instants[0] = state.run.now
        if ends:
            running_on = False
            instants[1] = state.account[since * account_width(plan, state)]
            instants[2] = state.run.now


@jit
def _runs_from_before(plan, state, instant):
    """Return whether a group still runs that started before the instant."""
    for u in range(plan.queues):
        if not state.unit[u].free and state.unit[u].started < instant:
            return True
    return False

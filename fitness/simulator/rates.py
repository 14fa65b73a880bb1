"""Networks with rates of their own, from rows to their responses. Compiled.

No other kernel takes anything from here, so this file is not among those that all machine code
depends on (:mod:`fitness.simulator.jit`).
"""

import numpy as np

from paretosoc.fitness.simulator.general import advance, begin, simulate
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import choose, idle_power
from paretosoc.fitness.simulator.state import AT_KEPT, HIGH_FJ, NEVER, SO_FAR
from paretosoc.fitness.simulator.streams import account_width, end_round, take_account
from paretosoc.results.problem.arithmetic import MAX_PERIODS

GONE = np.int64(-1)


@jit
def evaluate_rates(
    plan,
    rows,
    chosen,
    first,
    state,
    possible,
    makespan,
    latency,
    dynamic,
    busy,
    idle,
    percentile,
    jitter,
    misses,
    recurs,
    periods,
):
    """Simulate every row [groups + domains] until its state recurs, and write its results.

    Those of ``evaluate_rows`` are of a period of the recurring window. The responses of each
    network in the window [rows, networks] give the longest, the 95th percentile, the longest less
    the shortest, and the number of late ones. ``recurs`` is the window's end, and ``periods`` its
    number of periods.

    ``makespan`` is of the first period alone, simulated in ``first``. If that does not reach over
    the period's end, it is the recurring window. If nothing recurs, the other results are of it,
    too.
    """
    for r in range(rows.shape[0]):
        row = rows[r]
        possible[r] = choose(plan, row, chosen)
        if not possible[r]:
            continue
        simulate(plan, chosen, first)
        makespan[r] = first.frame_end[0]
        dynamic[r] = first.run.dynamic_fj
        busy[r] = first.run.busy_ps
        idle[r] = idle_power(plan, row, chosen.domain_on)
        recurs[r], periods[r] = plan.period_ps, 1
        if makespan[r] > plan.period_ps:
            recurs[r], periods[r] = (MAX_PERIODS - 1) * plan.period_ps + makespan[r], 0
            # Each period would leave more to the next.
            overloaded = _largest_load(plan, chosen) > plan.period_ps
            if not overloaded and play_until_it_recurs(plan, chosen, state):
                window = state.run.now - state.account[AT_KEPT * account_width(plan, state)]
                recurs[r], periods[r] = state.run.now, window // plan.period_ps
                dynamic[r] = _dynamic_of_a_period(plan, state, periods[r])
                busy[r] = state.run.busy_ps // periods[r]
        if periods[r] > 0 and makespan[r] > plan.period_ps:
            _write_responses(plan, state, latency[r], percentile[r], jitter[r], misses[r])
            for n in range(plan.networks):
                misses[r, n] = -(-misses[r, n] // periods[r])
        else:
            _write_responses(plan, first, latency[r], percentile[r], jitter[r], misses[r])


@jit
def play_until_it_recurs(plan, chosen, state):
    """Simulate until a state at the end of a round is that of an earlier one.

    Returns False if that does not happen within ``MAX_PERIODS`` periods. The window lasts from the
    earlier state, ``AT_KEPT``, to the present.
    """
    begin(plan, chosen, state)
    since = np.int64(SO_FAR)
    while since == SO_FAR and state.run.now < MAX_PERIODS * plan.period_ps:
        if not advance(plan, chosen, state):
            break
        if state.run.round_over:
            since = end_round(plan, chosen, state)
    take_account(plan, chosen, state, SO_FAR)
    return since == AT_KEPT


@jit
def _largest_load(plan, chosen):
    """Return the largest sum over units of the stand-alone times of a period."""
    largest = np.int64(0)
    for u in range(plan.units):
        load = np.int64(0)
        for i in range(plan.instances):
            group = plan.instance[i].group
            if plan.unit_of[chosen.group[group].unit] == u:
                load += chosen.group[group].alone_ps
        largest = max(largest, load)
    return largest


@jit
def _dynamic_of_a_period(plan, state, periods):
    """Return the energy above idle per period of the window, each unit's rounded down."""
    total, base = np.int64(0), AT_KEPT * account_width(plan, state)
    for u in range(plan.units):
        at = np.int64(1 + u)
        low = state.account[at] - state.account[base + at]
        at += plan.units
        high = state.account[at] - state.account[base + at]
        total += high * (HIGH_FJ // periods) + (high * (HIGH_FJ % periods) + low) // periods
    return total


@jit
def _write_responses(plan, state, latency, percentile, jitter, misses):
    for n in range(plan.networks):
        count, late, least, most = np.int64(0), np.int64(0), NEVER, np.int64(0)
        for i in range(state.run.responded):
            if state.response[i].network == n:
                response = state.response[i].ps
                count += 1
                late += response > plan.network[n].late_ps
                least, most = min(least, response), max(most, response)
        latency[n] = most
        jitter[n] = most - least
        misses[n] = late
        # By nearest rank a twentieth, rounded down, is above the percentile.
        for _ in range(count // 20):
            _take_longest(state, n)
        percentile[n] = _take_longest(state, n)


@jit
def _take_longest(state, n):
    """Remove the longest response of a network and return it."""
    longest, at = np.int64(-1), np.int64(0)
    for i in range(state.run.responded):
        if state.response[i].network == n and state.response[i].ps > longest:
            longest, at = state.response[i].ps, np.int64(i)
    state.response[at].network = GONE
    return longest

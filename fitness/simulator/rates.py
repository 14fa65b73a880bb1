"""Networks with rates of their own, from rows to their responses; compiled."""

import numpy as np

from fitness.simulator.general import simulate
from fitness.simulator.jit import jit
from fitness.simulator.lookup import choose, idle_power
from fitness.simulator.state import NEVER

GONE = np.int64(-1)


@jit
def evaluate_rates(
    plan,
    rows,
    chosen,
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
):
    """Simulates one period for every row [groups + domains] and writes what it gave, as
    ``evaluate_rows``, and of the responses of each network [rows, networks] the longest, the 95th
    percentile, the longest less the shortest, and how many are too late."""
    for r in range(rows.shape[0]):
        row = rows[r]
        possible[r] = choose(plan, row, chosen)
        if not possible[r]:
            continue
        simulate(plan, chosen, state)
        makespan[r] = state.frame_end[0]
        dynamic[r] = state.run.dynamic_fj
        busy[r] = state.run.busy_ps
        idle[r] = idle_power(plan, row, chosen.domain_on)
        for n in range(plan.networks):
            count, late, least, most = np.int64(0), np.int64(0), NEVER, np.int64(0)
            for i in range(state.run.responded):
                if state.response[i].network == n:
                    response = state.response[i].ps
                    count += 1
                    late += response > plan.network[n].late_ps
                    least, most = min(least, response), max(most, response)
            latency[r, n] = most
            jitter[r, n] = most - least
            misses[r, n] = late
            # By nearest rank a twentieth, rounded down, is above the percentile.
            for _ in range(count // 20):
                _take_longest(state, n)
            percentile[r, n] = _take_longest(state, n)


@jit
def _take_longest(state, n):
    """Removes the longest response of a network and returns it."""
    longest, at = np.int64(-1), np.int64(0)
    for i in range(state.run.responded):
        if state.response[i].network == n and state.response[i].ps > longest:
            longest, at = state.response[i].ps, np.int64(i)
    state.response[at].network = GONE
    return longest

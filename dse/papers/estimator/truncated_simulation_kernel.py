"""The short play of networks that run freely. Compiled. See
:mod:`dse.papers.estimator.truncated_simulation`.

Everything is in this file: the cache of machine code ignores others in this package.
"""

import numpy as np

from paretosoc.fitness.simulator.jit import jit

NORMAL, TOTAL, BALANCE, PEAK, MINOR, PROPORTIONAL, INTENSIVE = range(7)
MAX_LOSS = 0.95


@jit
def _lost(own, others, parameters, u, m):
    """Return the share of its rate that a unit loses (PCCS as fitness.contention, unrounded)."""
    if others <= 0.0:
        return 0.0
    total = parameters[u, m, TOTAL]
    balance = parameters[u, m, BALANCE]
    loss = min(others, parameters[u, m, PEAK]) * parameters[u, m, MINOR]
    span = own + balance - total
    if own >= parameters[u, m, NORMAL] and span > 0.0:
        if own < total:
            heavy = min(max(own + others - total, 0.0), span) * parameters[u, m, PROPORTIONAL]
        else:
            heavy = span * min(others, balance) * parameters[u, m, INTENSIVE]
        loss = max(loss, heavy)
    return min(loss, MAX_LOSS)


@jit
def simulate_rows(
    unit,
    time,
    demand,
    dynamic,
    transition,
    first,
    size,
    parameters,
    memory,
    in_flight,
    events,
    warm_up,
    at,
    ready,
    running,
    left,
    kept,
    rate,
    power,
    late_rate,
    late_power,
    busy,
    loss,
    residence,
):
    """Simulate ``events`` events of every row and average over those after ``warm_up``.

    An event is an end, or a frame that becomes ready after a transition.

    Scratch: ``at`` (the group that a frame is at) and ``ready`` are [networks * in_flight],
    ``running`` (a frame's index, or -1), ``left`` and ``kept`` are [units].
    Results, zeros at first: ``rate`` [n, N] frames per second, ``power`` [n] above idle, both of
    the later half of events again, ``busy`` [n, U] shares of the time, ``loss`` [n, U] mean share
    of its rate that a unit loses while busy, ``residence`` [n, G] seconds per pass.
    """
    rows = time.shape[0]
    networks = first.shape[0]
    units = parameters.shape[0]
    jobs = networks * in_flight
    half = (events + warm_up) // 2
    for r in range(rows):
        now = 0.0
        clock = 0.0
        late_clock = 0.0
        for f in range(in_flight):
            for n in range(networks):
                at[f * networks + n] = first[n]
                ready[f * networks + n] = 0.0
        for u in range(units):
            running[u] = -1
            left[u] = 0.0
        for event in range(events):
            # Each free unit takes the frame that has waited longest. A running frame has no ready
            # time.
            for u in range(units):
                if running[u] < 0:
                    longest = np.int64(-1)
                    for j in range(jobs):
                        waits = ready[j] <= now and unit[r, at[j]] == u
                        if waits and (longest < 0 or ready[j] < ready[longest]):
                            longest = np.int64(j)
                    if longest >= 0:
                        running[u] = longest
                        ready[longest] = np.inf
                        left[u] = time[r, at[longest]]
            everything = 0.0
            for u in range(units):
                if running[u] >= 0:
                    everything += demand[r, at[running[u]]]
            passed = np.inf
            for u in range(units):
                kept[u] = 1.0
                if running[u] >= 0:
                    own = demand[r, at[running[u]]]
                    kept[u] -= _lost(own, everything - own, parameters, u, memory[r])
                    passed = min(passed, left[u] / kept[u])
            for j in range(jobs):
                if ready[j] > now and ready[j] < np.inf:
                    passed = min(passed, ready[j] - now)
            if event >= warm_up:
                late = event >= half
                clock += passed
                if late:
                    late_clock += passed
                for u in range(units):
                    if running[u] >= 0:
                        g = at[running[u]]
                        n = running[u] % networks
                        busy[r, u] += passed
                        loss[r, u] += passed * (1.0 - kept[u])
                        power[r] += passed * dynamic[r, g]
                        rate[r, n] += passed * kept[u]
                        if late:
                            late_power[r] += passed * dynamic[r, g]
                            late_rate[r, n] += passed * kept[u]
                for j in range(jobs):
                    if ready[j] <= now or ready[j] == np.inf:
                        residence[r, at[j]] += passed
            then = now + passed
            for u in range(units):
                if running[u] >= 0:
                    j = running[u]
                    n = j % networks
                    left[u] -= passed * kept[u]
                    if left[u] <= 1e-9 * time[r, at[j]]:
                        running[u] = -1
                        ready[j] = then
                        if at[j] == first[n] + size[n] - 1:
                            at[j] = first[n]
                        else:
                            at[j] += 1
                            ready[j] = then + transition[r, at[j]]
            for j in range(jobs):
                # The next frame to be ready is so now, whatever the rounding of the sum.
                if ready[j] > now and ready[j] - now <= passed:
                    ready[j] = min(ready[j], then)
            now = then
        clock = max(clock, 1e-300)
        late_clock = max(late_clock, 1e-300)
        for n in range(networks):
            total = 0.0
            for g in range(first[n], first[n] + size[n]):
                total += time[r, g]
            passes = rate[r, n] / total
            for g in range(first[n], first[n] + size[n]):
                residence[r, g] /= max(passes, 1e-9)
            rate[r, n] = passes / clock
            late_rate[r, n] = late_rate[r, n] / total / late_clock
        power[r] /= clock
        late_power[r] /= late_clock
        for u in range(units):
            if busy[r, u] > 0.0:
                loss[r, u] /= busy[r, u]
            busy[r, u] /= clock

"""The compiled analysis: a late and an early timeline that advance side by side.

The rules are on the page docs/concepts/guarantee.md, and in plain form in
:mod:`fitness.check.members.guarantee`. At every instant the *late* timeline is behind, and the
*early* one ahead of, every run that keeps the order:

* all groups from the first that has not ended late to the last that has started early may run;
* a group that runs late has the rate beside the largest demand of these on every other unit,
  without those that must end before it starts or start after it ends;
* a group that runs early has the rate beside those that run for certain: they have started late and
  not ended early.
"""

import numpy as np

from paretosoc.fitness.guarantee.layout import EARLY, LATE
from paretosoc.fitness.simulator.contention import (
    excess_loss,
    heavy_slope,
    lost_products,
    rate_after,
)
from paretosoc.fitness.simulator.general import simulate
from paretosoc.fitness.simulator.heap import sift_down, sift_up
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.lookup import choose
from paretosoc.fitness.simulator.state import NEVER
from paretosoc.results.problem.arithmetic import WORK_PER_PS


@jit
def _up(numerator, denominator):
    return -((-numerator) // denominator)


@jit
def _unit_of(plan, chosen, i):
    """Return the entry of the unit that an instance runs on, with its number format."""
    return np.int64(chosen.group[np.int64(plan.instance[i].group)].unit)


@jit
def _shares(plan, unit):
    """Return whether a unit is shared."""
    return plan.share[unit * (plan.networks + 1) + 1] > 0


@jit
def _find_engines(plan, chosen, tracks):
    """Find the first and last instance of every engine."""
    for i in range(plan.instances):
        tracks.head[i] = i
        tracks.tail[i] = i
        unit = _unit_of(plan, chosen, i)
        if (
            i > 0
            and plan.runs_engines[unit] == 1
            and plan.instance[i - 1].job == plan.instance[i].job
            and _unit_of(plan, chosen, i - 1) == unit
        ):
            tracks.head[i] = tracks.head[i - 1]
    for k in range(plan.instances):
        i = plan.instances - 1 - k
        if tracks.head[i] != i:
            tracks.tail[i - 1] = tracks.tail[i]


@jit
def _keep_order(plan, rules, chosen, state, tracks):
    """Find the order of every queue from the log: by start, those that take no time first, each
    after its inputs."""
    count = plan.instances
    for q in range(plan.queues):
        tracks.queue[q].count = 0
    for i in range(count):
        takes = 1 if state.log[i].end > state.log[i].start else 0
        sift_up(tracks.heap, i, state.log[i].start, takes * count + rules.rank[i], i)
        unit = plan.unit_of[_unit_of(plan, chosen, i)]
        q = plan.queue_of[rules.network[i] * plan.units + unit]
        tracks.queue_at[i] = q
        tracks.queue[q].count += 1
    start = np.int64(0)
    for q in range(plan.queues):
        tracks.queue[q].start = start
        start += tracks.queue[q].count
        tracks.queue[q].count = 0
    for k in range(count):
        i = np.int64(tracks.heap[0].place)
        if count - 1 - k > 0:
            sift_down(tracks.heap, count - 1 - k)
        tracks.sorted[k] = i
        q = tracks.queue_at[i]
        tracks.position[i] = tracks.queue[q].count
        tracks.queued[tracks.queue[q].start + tracks.queue[q].count] = i
        tracks.queue[q].count += 1


@jit
def _relate(plan, rules, tracks):
    """Find which entries of every queue end before an instance starts, and which await its end."""
    for k in range(plan.instances):
        i = tracks.sorted[k]
        for q in range(plan.queues):
            tracks.behind[i, q] = 0
            tracks.ahead[i, q] = tracks.queue[q].count
        q = tracks.queue_at[i]
        if tracks.position[i] > 0:
            _follow(plan, tracks, i, tracks.queued[tracks.queue[q].start + tracks.position[i] - 1])
        if tracks.head[i] == i:
            for e in range(rules.input_start[i], rules.input_start[tracks.tail[i] + 1]):
                source = rules.source[e]
                if tracks.head[source] != i:
                    _follow(plan, tracks, i, tracks.tail[source])
    for k in range(plan.instances):
        i = tracks.sorted[plan.instances - 1 - k]
        q = tracks.queue_at[i]
        if tracks.position[i] > 0:
            _precede(plan, tracks, tracks.queued[tracks.queue[q].start + tracks.position[i] - 1], i)
        if tracks.head[i] == i:
            for e in range(rules.input_start[i], rules.input_start[tracks.tail[i] + 1]):
                source = rules.source[e]
                if tracks.head[source] != i:
                    _precede(plan, tracks, tracks.tail[source], i)


@jit
def _follow(plan, tracks, i, source):
    """Let instance ``i`` wait for the end of ``source``, and all that ``source`` waits for."""
    for q in range(plan.queues):
        tracks.behind[i, q] = max(tracks.behind[i, q], tracks.behind[source, q])
    q = tracks.queue_at[source]
    tracks.behind[i, q] = max(tracks.behind[i, q], tracks.position[source] + 1)


@jit
def _precede(plan, tracks, source, i):
    """Let instance ``source`` precede ``i``, and so all that waits for ``i``."""
    for q in range(plan.queues):
        tracks.ahead[source, q] = min(tracks.ahead[source, q], tracks.ahead[i, q])
    q = tracks.queue_at[i]
    tracks.ahead[source, q] = min(tracks.ahead[source, q], tracks.position[i])


@jit
def _ready(plan, rules, chosen, tracks, side, i):
    """Return when all inputs of a queue's next instance are there, or -1 if one has not ended."""
    if tracks.head[i] != i:
        return np.int64(0)
    ready = np.int64(0)
    for m in range(i, tracks.tail[i] + 1):
        late_by = rules.late_by_ps[m] if side == LATE else 0
        ready = max(ready, rules.release_ps[m] + late_by)
        unit = _unit_of(plan, chosen, m)
        for e in range(rules.input_start[m], rules.input_start[m + 1]):
            source = rules.source[e]
            if tracks.head[source] == i:
                continue
            end = tracks.end[side, tracks.tail[source]]
            if end < 0:
                return np.int64(-1)
            if rules.edge_row[e] >= 0:
                row = rules.edge_row[e] + _unit_of(plan, chosen, source) * plan.units
                end += plan.transition_ps[row + unit]
            ready = max(ready, end)
    return ready


@jit
def _start(plan, rules, chosen, tracks, side, q, now):
    """Start the next of a queue if it is ready, else return when it will be or ``NEVER``."""
    track = tracks.track[side, q]
    if track.running >= 0 or track.next == tracks.queue[q].count:
        return NEVER
    i = tracks.queued[tracks.queue[q].start + track.next]
    if track.ready < 0:
        tracks.track[side, q].ready = _ready(plan, rules, chosen, tracks, side, i)
    ready = tracks.track[side, q].ready
    if ready < 0:
        return NEVER
    if ready > now:
        return ready
    group = np.int64(plan.instance[i].group)
    time = np.int64(chosen.group[group].alone_ps)
    if plan.grows:
        row = chosen.table_row[chosen.group[group].unit] + group
        time += plan.instance[i].repeat * plan.step_ps[row]
    if side == LATE:
        time = -((-time * rules.most_permille) // 1000)
    else:
        time = time * rules.least_permille // 1000
    tracks.track[side, q].running = i
    tracks.track[side, q].left = time * WORK_PER_PS
    tracks.track[side, q].next = track.next + 1
    tracks.track[side, q].ready = -1
    return NEVER


@jit
def _demand(plan, chosen, i):
    return np.int64(chosen.group[np.int64(plan.instance[i].group)].demand_kbps)


@jit
def _certain(tracks, q):
    """Return the instance that runs on a queue in every run, or -1."""
    late = tracks.track[LATE, q].running
    return late if late >= 0 and tracks.track[EARLY, q].running == late else np.int64(-1)


@jit
def _first_possible(tracks, q):
    """Return the first position of a queue that may not have ended."""
    return tracks.track[LATE, q].next - (1 if tracks.track[LATE, q].running >= 0 else 0)


@jit
def _largest(plan, chosen, tracks, q, i):
    """Return the largest possible demand on a queue while instance ``i`` runs, or -1 if none."""
    first = max(_first_possible(tracks, q), tracks.behind[i, q])
    end = min(tracks.track[EARLY, q].next, tracks.ahead[i, q])
    largest = np.int64(-1)
    for p in range(first, end):
        largest = max(largest, _demand(plan, chosen, tracks.queued[tracks.queue[q].start + p]))
    return largest


@jit
def _most_of_unit(plan, chosen, tracks, u, i):
    """Return the largest demand that a unit may have while instance ``i`` runs elsewhere."""
    most = np.int64(0)
    for n in range(plan.networks if _shares(plan, u) else 1):
        most = max(most, _largest(plan, chosen, tracks, plan.queue_of[n * plan.units + u], i))
    return most


@jit
def _least_of_unit(plan, chosen, tracks, u):
    """Return the demand that a unit has in every run."""
    least = np.int64(0)
    for n in range(plan.networks if _shares(plan, u) else 1):
        sure = _certain(tracks, plan.queue_of[n * plan.units + u])
        if sure >= 0:
            least = max(least, _demand(plan, chosen, sure))
    return least


@jit
def _rate(plan, chosen, tracks, side, q):
    """Return the smallest (late) or largest (early) rate of the running instance of a queue."""
    i = tracks.track[side, q].running
    unit = np.int64(plan.queue_unit[q])
    others, count = np.int64(0), np.int64(1)
    for u in range(plan.units):
        if u != unit and plan.unit_of[u] == u:
            if side == LATE:
                others += _most_of_unit(plan, chosen, tracks, u, i)
            else:
                others += _least_of_unit(plan, chosen, tracks, u)
    if _shares(plan, unit):
        for n in range(plan.networks):
            beside = plan.queue_of[n * plan.units + unit]
            if beside != q:
                if side == LATE:
                    count += _largest(plan, chosen, tracks, beside, i) >= 0
                else:
                    count += _certain(tracks, beside) >= 0
    rate = np.int64(WORK_PER_PS)
    table = chosen.contention[unit]
    if others > 0 and table.minor_den > 0:
        own = _demand(plan, chosen, i)
        num, den, offset, cap = heavy_slope(table, own)
        minor, heavy = lost_products(others, table.peak_kbps, table.minor_num, offset, cap, num)
        excess = excess_loss(own + others, table.memory_kbps)
        rate = rate_after(max(_up(minor, table.minor_den), excess), _up(heavy, den))
    if count > 1:
        rate = max(rate * plan.share[unit * (plan.networks + 1) + count] // WORK_PER_PS, 1)
    return rate


@jit
def bound(plan, rules, chosen, state, tracks):
    """Set ``tracks.end``: bounds on the ends of all instances, of :func:`choose` and
    :func:`simulate` with a log."""
    _find_engines(plan, chosen, tracks)
    _keep_order(plan, rules, chosen, state, tracks)
    _relate(plan, rules, tracks)
    for i in range(plan.instances):
        tracks.end[LATE, i] = -1
        tracks.end[EARLY, i] = -1
    for q in range(plan.queues):
        for side in range(2):
            tracks.track[side, q].next = 0
            tracks.track[side, q].running = -1
            tracks.track[side, q].ready = -1
    now, left = np.int64(0), np.int64(plan.instances)
    while left > 0:
        then = NEVER
        for q in range(plan.queues):
            for side in range(2):
                then = min(then, _start(plan, rules, chosen, tracks, side, q, now))
        for q in range(plan.queues):
            for side in range(2):
                if tracks.track[side, q].running >= 0:
                    rate = _rate(plan, chosen, tracks, side, q)
                    tracks.track[side, q].rate = rate
                    then = min(then, now + _up(tracks.track[side, q].left, rate))
        for q in range(plan.queues):
            for side in range(2):
                i = tracks.track[side, q].running
                if i >= 0:
                    done = tracks.track[side, q].rate * (then - now)
                    tracks.track[side, q].left -= done
                    if tracks.track[side, q].left <= 0:
                        tracks.end[side, i] = then
                        tracks.track[side, q].running = -1
                        left -= 1 if side == LATE else 0
        now = then
        if now == NEVER:
            # No schedule has this order.
            break


@jit
def bound_rows(plan, rules, rows, chosen, state, tracks, possible, makespan, latency):
    """Bound the makespan and the latencies of every row [groups + domains], which are 0 before.

    ``possible`` [rows] is 0 if a unit cannot run a group of the row. Its bounds are then left as
    they are.
    """
    for r in range(rows.shape[0]):
        possible[r] = choose(plan, rows[r], chosen)
        if not possible[r]:
            continue
        simulate(plan, chosen, state)
        bound(plan, rules, chosen, state, tracks)
        for i in range(plan.instances):
            end = tracks.end[LATE, i] if tracks.end[LATE, i] >= 0 else NEVER
            makespan[r] = max(makespan[r], end)
            n = rules.network[i]
            latency[r, n] = max(latency[r, n], end - rules.due_ps[i])

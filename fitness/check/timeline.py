"""The timeline of a node, from that of the node above it until a choice matters.

The rules are those of :mod:`fitness.reference.timeline`, for one frame alone. All arrays of a
problem are short: what comes next is looked for by going through all instances.

A timeline *stops* at the first instant at which

* a group instance whose unit is open becomes eligible: all that it waits for has ended; its
  transitions and its network's arrival need not have passed; or
* a group is about to start on a unit one of whose clocks, or the memory's, has several operating
  points left.

What has happened until then, ends at that instant included, happens in *every* design point with
the node's choices. Nothing is dispatched at the instant of the stop. A node with one choice more
resumes from there.
"""

import numpy as np

from paretosoc.fitness.check.work import (
    AT_CLOCK,
    AT_UNIT,
    ELIGIBLE,
    ENDED,
    FAR,
    LOCKED,
    OVER,
    RUNNING,
    WAITING,
)
from paretosoc.fitness.simulator.jit import jit
from paretosoc.results.problem.arithmetic import LOSS_LIMIT, WORK_PER_PS


@jit
def begin_timeline(facts, work):
    """Row 0: nothing has happened yet."""
    work.now[0] = 0
    work.ended_fj[0] = 0
    for i in range(facts.instances):
        work.missing[0, i] = facts.input_start[i + 1] - facts.input_start[i]
        work.status[0, i] = LOCKED if work.missing[0, i] > 0 else ELIGIBLE
        work.instant[0, i] = 0
    for u in range(facts.units):
        work.running[0, u] = -1
        work.left[0, u] = 0
        work.demand[0, u] = 0


@jit
def _copy_row(facts, work, row):
    """Row ``row`` becomes a copy of the one before it."""
    work.now[row] = work.now[row - 1]
    work.ended_fj[row] = work.ended_fj[row - 1]
    for i in range(facts.instances):
        work.status[row, i] = work.status[row - 1, i]
        work.instant[row, i] = work.instant[row - 1, i]
        work.missing[row, i] = work.missing[row - 1, i]
    for u in range(facts.units):
        work.running[row, u] = work.running[row - 1, u]
        work.left[row, u] = work.left[row - 1, u]
        work.demand[row, u] = work.demand[row - 1, u]


@jit
def resume_timeline(facts, work, depth):
    """Advances the timeline of the node at this depth, in row depth + 1, until a choice matters or
    nothing is left to happen; ``work.stop`` says why."""
    row = depth + 1
    _copy_row(facts, work, row)
    costs = work.costs_at[depth]
    while True:
        if not _queue_eligible(facts, work, row):
            return
        later = _find_starts(facts, work, row)
        for u in range(facts.units):
            if work.starting[u] >= 0 and work.choice[costs, u] < 0:
                work.stop[0] = AT_CLOCK
                work.stop[1] = u
                return
        _start(facts, work, row, costs)
        if not _advance(facts, work, row, costs, later):
            work.stop[0] = OVER
            return


@jit
def _queue_eligible(facts, work, row):
    """What is eligible waits for its unit from its ready time on; False where a unit is open."""
    for i in range(facts.instances):
        if work.status[row, i] == ELIGIBLE and work.units[facts.group_of[i]] < 0:
            work.stop[0] = AT_UNIT
            work.stop[1] = facts.group_of[i]
            return False
    for i in range(facts.instances):
        if work.status[row, i] != ELIGIBLE:
            continue
        unit = work.units[facts.group_of[i]]
        ready = facts.arrival_of[i]
        for k in range(facts.input_start[i], facts.input_start[i + 1]):
            ended = work.instant[row, facts.input[k]]
            if facts.input_edge[k] >= 0:
                source = work.units[facts.group_of[facts.input[k]]]
                at = (facts.input_edge[k] * facts.units + source) * facts.units + unit
                ended += facts.transition_ps[at]
            ready = max(ready, ended)
        work.instant[row, i] = ready
        work.status[row, i] = WAITING
    return True


@jit
def _find_starts(facts, work, row):
    """For every free unit what starts now: of what is ready the first by (priority, ready time,
    instance). Returns the first later ready time."""
    now, later = work.now[row], FAR
    for u in range(facts.units):
        work.starting[u] = -1
    for i in range(facts.instances):
        if work.status[row, i] != WAITING:
            continue
        if work.instant[row, i] > now:
            later = min(later, work.instant[row, i])
            continue
        u = facts.unit_of[work.units[facts.group_of[i]]]
        if work.running[row, u] < 0:
            other = work.starting[u]
            if other < 0 or _is_before(facts, work, row, i, other):
                work.starting[u] = i
    return later


@jit
def _is_before(facts, work, row, i, other):
    """Whether instance i starts before another one of a smaller number."""
    if facts.priority_of[i] != facts.priority_of[other]:
        return facts.priority_of[i] < facts.priority_of[other]
    return work.instant[row, i] < work.instant[row, other]


@jit
def _start(facts, work, row, costs):
    for u in range(facts.units):
        i = work.starting[u]
        if i >= 0:
            g = facts.group_of[i]
            at = work.choice[costs, work.units[g]]
            work.status[row, i] = RUNNING
            work.instant[row, i] = work.now[row]
            work.start[i] = work.now[row]
            work.running[row, u] = i
            time = facts.time_ps[at, g] + facts.repeat_of[i] * facts.step_ps[at, g]
            work.left[row, u] = time * WORK_PER_PS
            work.demand[row, u] = facts.demand_kbps[at, g]


@jit
def _advance(facts, work, row, costs, later):
    """To the next end, or to ``later`` before it; False where there is neither."""
    total = np.int64(0)
    for u in range(facts.units):
        if work.running[row, u] >= 0:
            total += work.demand[row, u]
    now, point = work.now[row], work.memory_point[costs]
    instant = later
    for u in range(facts.units):
        if work.running[row, u] >= 0:
            # The rate, kept where nothing starts any more at this instant.
            own = work.demand[row, u]
            rate = WORK_PER_PS - _lost_rate(facts, u, point, own, total - own)
            work.starting[u] = rate
            instant = min(instant, now - (-work.left[row, u]) // rate)
    if instant == FAR:
        return False
    work.now[row] = instant
    for u in range(facts.units):
        if work.running[row, u] >= 0:
            work.left[row, u] -= work.starting[u] * (instant - now)
            if work.left[row, u] <= 0:
                _end(facts, work, row, costs, u)
    return True


@jit
def _end(facts, work, row, costs, u):
    i = work.running[row, u]
    ran = work.now[row] - work.instant[row, i]
    g = facts.group_of[i]
    work.ended_fj[row] += ran * facts.dynamic_mw[work.choice[costs, work.units[g]], g]
    work.running[row, u] = -1
    work.status[row, i] = ENDED
    work.instant[row, i] = work.now[row]
    for k in range(facts.follower_start[i], facts.follower_start[i + 1]):
        follower = facts.follower[k]
        work.missing[row, follower] -= 1
        if work.missing[row, follower] == 0:
            work.status[row, follower] = ELIGIBLE


@jit
def _up(numerator, denominator):
    return -((-numerator) // denominator)


@jit
def _lost_rate(facts, u, point, own, others):
    """See :class:`results.problem.problem.ContentionTable`, whose fields are in this order."""
    if others == 0 or facts.contention[u, point, 0] < 0:
        return np.int64(0)
    total = facts.contention[u, point, 1]
    balance = facts.contention[u, point, 2]
    minor = min(others, facts.contention[u, point, 3]) * facts.contention[u, point, 4]
    loss = _up(minor, facts.contention[u, point, 5])
    span = own + balance - total
    if own >= facts.contention[u, point, 0] and span > 0:
        if own < total:
            over = min(max(own + others - total, np.int64(0)), span)
            heavy = over * facts.contention[u, point, 6]
            loss = max(loss, _up(heavy, facts.contention[u, point, 7]))
        else:
            heavy = span * min(others, balance) * facts.contention[u, point, 8]
            loss = max(loss, _up(heavy, facts.contention[u, point, 9]))
    return min(loss, np.int64(LOSS_LIMIT))

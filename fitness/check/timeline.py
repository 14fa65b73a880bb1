"""The timeline of frames: self-timed execution under contention, until a choice matters.

The rules, which docs/concepts/model.md states:

* at one instant, first all ends happen, then instances whose ready time has come may start, then
  each free unit starts the one with the smallest (priority, ready time, frame, network, repeat,
  group);
* a running group's work, the stand-alone time of its repeat x 2**16, shrinks at 2**16 - loss per
  picosecond, the loss from its own demand and the sum of all others'.

A *stream* is a sequence of frames, ``facts.in_flight`` of them at a time in *slots* of its own:
when one ends, the next is released in its slot. Instances are numbered by slot, so that smaller
numbers come first within a frame. Eligible and waiting instances are in ``work.queue``.

If choices are open, there is one frame, and its timeline *stops* at the first instant at which

* a group instance whose unit is open becomes eligible: all instances that it waits for have ended,
  although its transitions and its network's arrival need not have passed; or
* a group is about to start on a unit, and one of the unit's clocks, or the memory's, has several
  operating points left, or the unit does the transitions to others, and the unit of a group that
  this one feeds is open.

All events until then, ends at that instant included, happen in *every* design point with the node's
choices. Nothing is dispatched at the instant of the stop. A node with one choice more resumes from
there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from paretosoc.common.arrays import IntArray
    from paretosoc.fitness.check.facts import Facts
    from paretosoc.fitness.check.work import Int, Work


@jit
def begin_timeline(facts: Facts, work: Work) -> None:
    """Set row 0 to the state in which nothing has happened yet."""
    work.now[0] = 0
    work.ended_fj[0] = 0
    work.queued[0] = 0
    for q in range(facts.queues):
        work.running[0, q] = -1
        work.left[0, q] = 0
        work.demand[0, q] = 0
    for u in range(facts.units):
        work.shared_fj[u] = 0
        work.shared_ps[u] = 0
    for slot in range(facts.slots):
        work.frame[slot] = 0
    for slot in range(facts.slots):
        _release_frame(facts, work, 0, slot, 1 + slot // facts.streams)


@jit
def _release_frame(facts: Facts, work: Work, row: Int, slot: Int, frame: Int) -> None:
    first, end = facts.slot_start[slot], facts.slot_start[slot + 1]
    work.frame[slot] = frame
    work.release[slot] = (frame - 1) * facts.due_ps if facts.due_ps > 0 else work.now[row]
    work.unended[slot] = end - first
    for i in range(first, end):
        work.status[row, i] = LOCKED
        work.instant[row, i] = 0
    for i in range(first, end):
        missing = np.int64(0)
        for k in range(facts.input_start[i], facts.input_start[i + 1]):
            source = facts.input[k]
            there = work.frame[facts.slot_of[source]]
            missing += there < frame or (there == frame and not _has_left(facts, work, row, source))
        work.missing[row, i] = missing
        if missing == 0 and not facts.joins_engines[facts.network_of[i]]:
            _make_eligible(work, row, i)


@jit
def continues(facts: Facts, work: Work, i: Int) -> bool | np.bool_:
    """Return whether an instance belongs to the engine of the one before it: the same network,
    repeat, frame, unit and number format."""
    if i == 0 or i == facts.instances:
        return False
    g = facts.group_of[i]
    unit = work.units[g]
    return (
        unit >= 0
        and facts.runs_engines[unit] == 1
        and g > facts.first_group[facts.network_of[i]]
        and work.units[g - 1] == unit
    )


@jit
def leaves_with(facts: Facts, work: Work, i: Int) -> Int:
    """Return the instance with whose end the result of this one is there for others: in a network
    that engines may join in their middle, the last one of its engine."""
    if facts.joins_engines[facts.network_of[i]]:
        while continues(facts, work, i + 1):
            i += 1
    return i


@jit
def _has_left(facts: Facts, work: Work, row: Int, i: Int) -> bool | np.bool_:
    """Return whether the result of an instance is there for others."""
    return work.status[row, leaves_with(facts, work, i)] == ENDED


@jit
def first_open(facts: Facts, work: Work, n: Int) -> Int:
    """Return the first group of a network whose unit is open, or -1."""
    for g in range(facts.first_group[n], facts.end_group[n]):
        if work.units[g] < 0:
            return np.int64(g)
    return np.int64(-1)


@jit
def moving_ps(facts: Facts, work: Work, g: Int) -> Int:
    """Return how much longer a group takes for transitions that are its unit's work, of those whose
    two units are chosen."""
    time = np.int64(0)
    n, u = facts.network_of_group[g], work.units[g]
    if facts.moves[u]:
        for e in range(facts.edge_start[n], facts.edge_start[n + 1]):
            source, target = facts.edge_source[e], facts.edge_target[e]
            k = facts.edge_number[e]
            if target == g and work.units[source] >= 0:
                time += facts.target_ps[k, work.units[source], u]
            if source == g and work.units[target] >= 0:
                time += facts.source_ps[k, u, work.units[target]]
    return time


@jit
def add_moving(facts: Facts, work: Work, times_ps: IntArray) -> None:
    """Add to the time of each group, [groups], that of the transitions that its unit does."""
    for g in range(facts.groups):
        times_ps[g] += moving_ps(facts, work, g)


@jit
def _open_follower(facts: Facts, work: Work, i: Int) -> Int:
    """Return the first open group that an instance feeds, if its unit does the transitions to
    others, else the number of groups: the instance's time is open, too."""
    g, first = facts.group_of[i], np.int64(facts.groups)
    n = facts.network_of_group[g]
    if facts.moves[work.units[g]]:
        for e in range(facts.edge_start[n], facts.edge_start[n + 1]):
            if facts.edge_source[e] == g and work.units[facts.edge_target[e]] < 0:
                first = min(first, facts.edge_target[e])
    return first


@jit
def _find_engines(facts: Facts, work: Work, row: Int, first: Int) -> Int:
    """Make engines eligible that wait for nothing else, of networks that they may join in their
    middle. Return the first instance, at most ``first``, that waits for nothing while a group of
    its network is open."""
    for i in range(facts.instances):
        n = facts.network_of[i]
        if facts.joins_engines[n] and work.status[row, i] == LOCKED and work.missing[row, i] == 0:
            if first_open(facts, work, n) >= 0:
                first = min(first, np.int64(i))
            elif not continues(facts, work, i) and _has_all(facts, work, row, i):
                _make_eligible(work, row, i)
    return first


@jit
def _has_all(facts: Facts, work: Work, row: Int, first: Int) -> bool:
    """Return whether all that the engine beginning with an instance reads from elsewhere has left
    its engine."""
    i = first
    while True:
        inside = np.int64(0)
        for k in range(facts.input_start[i], facts.input_start[i + 1]):
            inside += first <= facts.input[k] and facts.input[k] < i
        if work.missing[row, i] > inside:
            return False
        i += 1
        if not continues(facts, work, i):
            return True


@jit
def _make_eligible(work: Work, row: Int, i: Int) -> None:
    work.status[row, i] = ELIGIBLE
    work.queue[row, work.queued[row]] = i
    work.queued[row] += 1


@jit
def _copy_row(facts: Facts, work: Work, row: Int) -> None:
    """Make row ``row`` a copy of the one before it."""
    work.now[row] = work.now[row - 1]
    work.ended_fj[row] = work.ended_fj[row - 1]
    work.queued[row] = work.queued[row - 1]
    for k in range(work.queued[row]):
        work.queue[row, k] = work.queue[row - 1, k]
    for i in range(facts.instances):
        work.status[row, i] = work.status[row - 1, i]
        work.instant[row, i] = work.instant[row - 1, i]
        work.missing[row, i] = work.missing[row - 1, i]
    for q in range(facts.queues):
        work.running[row, q] = work.running[row - 1, q]
        work.left[row, q] = work.left[row - 1, q]
        work.demand[row, q] = work.demand[row - 1, q]


@jit
def resume_timeline(facts: Facts, work: Work, depth: Int) -> None:
    """Advance the timeline of the node at this depth, in row depth + 1, until a choice matters or
    nothing is left to happen. ``work.stop`` says why it ended.
    """
    row = depth + 1
    _copy_row(facts, work, row)
    costs = work.costs_at[depth]
    while True:
        if not queue_eligible(facts, work, row):
            return
        later = _find_starts(facts, work, row)
        if _is_open(facts, work, costs):
            return
        _start(facts, work, row, costs)
        if not _advance(facts, work, row, costs, later):
            work.stop[0] = OVER
            return


@jit
def _is_open(facts: Facts, work: Work, costs: Int) -> bool:
    """Return whether the time of an instance that starts now depends on an open choice. The first
    such choice is in ``work.stop``: of the first unit, a clock before a group."""
    first, follower = np.int64(facts.units), np.int64(facts.groups)
    for q in range(facts.queues):
        u = facts.queue_unit[q]
        if work.starting[q] >= 0 and u <= first:
            open_group = _open_follower(facts, work, work.starting[q])
            if work.choice[costs, u] < 0 or open_group < facts.groups:
                follower = open_group if u < first else min(follower, open_group)
                first = u
    if first == facts.units:
        return False
    work.stop[0], work.stop[1] = AT_CLOCK, first
    if work.choice[costs, first] >= 0:
        work.stop[0], work.stop[1] = AT_UNIT, follower
    return True


@jit
def next_round(facts: Facts, work: Work, until_ps: Int) -> bool:
    """Go from instant to instant in row 0 until each stream has ended one more of its frames.

    No choice may be open. Instances that have ended are in ``work.executed``, in the order of their
    ends. Stop earlier at the first instant from ``until_ps`` on (``NONE``: never), and if no room
    is left for those that another instant ends.

    Returns False if nothing is left to happen.
    """
    work.executions[0] = 0
    rounds = _ended_rounds(facts, work)
    while work.executions[0] + facts.queues <= work.executed.shape[0]:
        later = _find_starts(facts, work, 0)
        _start(facts, work, 0, 0)
        if not (_advance(facts, work, 0, 0, later) and queue_eligible(facts, work, 0)):
            return False
        if 0 <= until_ps <= work.now[0] or _ended_rounds(facts, work) > rounds:
            break
    return True


@jit
def _ended_rounds(facts: Facts, work: Work) -> Int:
    least = work.ended_frames[0]
    for stream in range(1, facts.streams):
        least = min(least, work.ended_frames[stream])
    return least


@jit
def queue_eligible(facts: Facts, work: Work, row: Int) -> bool:
    """Let eligible instances wait for their units from their ready times on.

    Returns False if the unit of one is open.
    """
    first = np.int64(facts.instances)
    if facts.has_joins:
        first = _find_engines(facts, work, row, first)
    for k in range(work.queued[row]):
        i = work.queue[row, k]
        if work.status[row, i] == ELIGIBLE and work.units[facts.group_of[i]] < 0:
            first = min(first, i)
    if first < facts.instances:
        work.stop[0] = AT_UNIT
        work.stop[1] = facts.group_of[first]
        if work.units[work.stop[1]] >= 0:
            work.stop[1] = first_open(facts, work, facts.network_of[first])
        return False
    for k in range(work.queued[row]):
        i = work.queue[row, k]
        if work.status[row, i] == ELIGIBLE:
            # The last end that it has waited for is this instant.
            ready, last = work.now[row], i
            if not continues(facts, work, i):
                last = leaves_with(facts, work, i)
            unit = work.units[facts.group_of[i]]
            for k in range(i, last + 1):
                ready = max(ready, work.release[facts.slot_of[k]] + facts.arrival_of[k])
                for e in range(facts.input_start[k], facts.input_start[k + 1]):
                    source = facts.input[e]
                    if facts.input_edge[e] >= 0 and not (i <= source and source < k):
                        ready = max(ready, _handed_over(facts, work, row, e, unit))
            work.instant[row, i] = ready
            work.status[row, i] = WAITING
    return True


@jit
def _handed_over(facts: Facts, work: Work, row: Int, e: Int, unit: Int) -> Int:
    """Return when input ``e``, which comes along an edge, has left its engine for a unit."""
    source = work.units[facts.group_of[facts.input[e]]]
    at = (facts.input_edge[e] * facts.units + source) * facts.units + unit
    left = leaves_with(facts, work, facts.input[e])
    return work.instant[row, left] + facts.delay_ps[at]


@jit
def _find_starts(facts: Facts, work: Work, row: Int) -> Int:
    """Find the instance that each free queue starts now. Return the first later ready time."""
    now, later = work.now[row], FAR
    for q in range(facts.queues):
        work.starting[q] = -1
    for k in range(work.queued[row]):
        i = work.queue[row, k]
        if work.instant[row, i] > now:
            later = min(later, work.instant[row, i])
            continue
        q = facts.queue_of[facts.network_of[i], work.units[facts.group_of[i]]]
        if work.running[row, q] < 0:
            other = work.starting[q]
            if other < 0 or _is_before(facts, work, row, i, other):
                work.starting[q] = i
    return later


@jit
def _is_before(facts: Facts, work: Work, row: Int, i: Int, other: Int) -> bool | np.bool_:
    """Return whether instance i starts before another: first one that continues an engine on a unit
    just free."""
    if continues(facts, work, i) or continues(facts, work, other):
        return continues(facts, work, i)
    a, b = work.priority[facts.group_of[i]], work.priority[facts.group_of[other]]
    if a != b:
        return a < b
    if work.instant[row, i] != work.instant[row, other]:
        return work.instant[row, i] < work.instant[row, other]
    if facts.of_frames:
        a, b = work.frame[facts.slot_of[i]], work.frame[facts.slot_of[other]]
        if a != b:
            return a < b
    return i < other


@jit
def _start(facts: Facts, work: Work, row: Int, costs: Int) -> None:
    for q in range(facts.queues):
        i = work.starting[q]
        if i >= 0:
            g = facts.group_of[i]
            at = work.choice[costs, work.units[g]]
            if facts.of_frames:
                work.ready[i] = work.instant[row, i]
            work.status[row, i] = RUNNING
            work.instant[row, i] = work.now[row]
            work.start[i] = work.now[row]
            work.running[row, q] = i
            time = facts.time_ps[at, g] + facts.repeat_of[i] * facts.step_ps[at, g]
            time += moving_ps(facts, work, g)
            work.left[row, q] = time * WORK_PER_PS
            work.demand[row, q] = facts.demand_kbps[at, g]
    kept = np.int64(0)
    for k in range(work.queued[row]):
        if work.status[row, work.queue[row, k]] == WAITING:
            work.queue[row, kept] = work.queue[row, k]
            kept += 1
    work.queued[row] = kept


@jit
def _advance(facts: Facts, work: Work, row: Int, costs: Int, later: Int) -> bool:
    """Advance to the next end, or to an earlier ``later``. Return False if there is neither."""
    for u in range(facts.units):
        work.sharing[u] = 0
        work.seen_kbps[u] = 0
        work.sum_mw[u] = 0
    for q in range(facts.queues):
        i = work.running[row, q]
        if i >= 0:
            u, g = facts.queue_unit[q], facts.group_of[i]
            work.sharing[u] += 1
            work.seen_kbps[u] = max(work.seen_kbps[u], work.demand[row, q])
            work.sum_mw[u] += facts.dynamic_mw[work.choice[costs, work.units[g]], g]
    total = np.int64(0)
    for u in range(facts.units):
        total += work.seen_kbps[u]
    now, point = work.now[row], work.memory_point[costs]
    instant = later
    for q in range(facts.queues):
        if work.running[row, q] >= 0:
            # The rate is kept if nothing more starts at this instant.
            u = facts.queue_unit[q]
            others = total - work.seen_kbps[u]
            rate = WORK_PER_PS - lost_rate(facts, u, point, work.demand[row, q], others)
            if work.sharing[u] > 1:
                rate = _shared_rate(facts, work, u, rate)
            work.starting[q] = rate
            instant = min(instant, now - (-work.left[row, q]) // rate)
    if instant == FAR:
        return False
    work.now[row] = instant
    for u in range(facts.units):
        if facts.sharing_permille[u] >= 0 and work.sharing[u] > 0:
            # The power is the mean over the running groups.
            drawn = _up(work.sum_mw[u], work.sharing[u]) * (instant - now)
            work.ended_fj[row] += drawn
            work.shared_fj[u] += drawn
            work.shared_ps[u] += instant - now
    for q in range(facts.queues):
        if work.running[row, q] >= 0:
            work.left[row, q] -= work.starting[q] * (instant - now)
            if work.left[row, q] <= 0:
                _end(facts, work, row, costs, q)
    return True


@jit
def _shared_rate(facts: Facts, work: Work, u: Int, rate: Int) -> Int:
    """Return the rate of each of several groups that share a unit."""
    whole = 1000 * np.int64(WORK_PER_PS)
    share = whole // (work.sharing[u] * (1000 + facts.sharing_permille[u]))
    return max(rate * share // WORK_PER_PS, np.int64(1))


@jit
def _end(facts: Facts, work: Work, row: Int, costs: Int, q: Int) -> None:
    i = work.running[row, q]
    g, slot = facts.group_of[i], facts.slot_of[i]
    frame = work.frame[slot]
    if facts.sharing_permille[facts.queue_unit[q]] < 0:
        ran = work.now[row] - work.instant[row, i]
        work.ended_fj[row] += ran * facts.dynamic_mw[work.choice[costs, work.units[g]], g]
    work.running[row, q] = -1
    work.status[row, i] = ENDED
    work.instant[row, i] = work.now[row]
    if not facts.joins_engines[facts.network_of[i]]:
        _deliver(facts, work, row, i, i)
    elif continues(facts, work, i + 1):
        work.missing[row, i + 1] = 0
        _make_eligible(work, row, i + 1)
    else:
        first = i
        while continues(facts, work, first):
            first -= 1
        _deliver(facts, work, row, first, i)
    if facts.of_frames:
        k = work.executions[0]
        work.executed[k, 0] = frame
        work.executed[k, 1] = i
        work.executed[k, 2] = work.ready[i]
        work.executed[k, 3] = work.start[i]
        work.executed[k, 4] = work.now[row]
        work.executions[0] += 1
        work.unended[slot] -= 1
        if work.unended[slot] == 0:
            work.ended_frames[slot % facts.streams] += 1
            if facts.last_frame < 0 or frame + facts.in_flight <= facts.last_frame:
                _release_frame(facts, work, row, slot, frame + facts.in_flight)


@jit
def _deliver(facts: Facts, work: Work, row: Int, first: Int, last: Int) -> None:
    """Hand the results of these instances over as their engine ends."""
    frame = work.frame[facts.slot_of[last]]
    for i in range(first, last + 1):
        for k in range(facts.follower_start[i], facts.follower_start[i + 1]):
            follower = facts.follower[k]
            if first <= follower and follower <= last:
                continue
            if facts.of_frames and work.frame[facts.slot_of[follower]] != frame:
                # It is behind: its frame looks for this when it is released.
                continue
            work.missing[row, follower] -= 1
            joins = facts.joins_engines[facts.network_of[follower]]
            if work.missing[row, follower] == 0 and not joins:
                _make_eligible(work, row, follower)


@jit
def _up(numerator: Int, denominator: Int) -> Int:
    return -((-numerator) // denominator)


@jit
def lost_rate(facts: Facts, u: Int, point: Int, own: Int, others: Int) -> Int:
    """Return the rate that a group loses, in 1/65536.

    The columns of ``facts.contention`` are the fields of
    :class:`results.problem.problem.ContentionTable`, in their order.
    """
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
    asked, memory = own + others, facts.contention[u, point, 10]
    if asked > memory:
        loss = max(loss, _up((asked - memory) * WORK_PER_PS, asked))
    return min(loss, np.int64(LOSS_LIMIT))

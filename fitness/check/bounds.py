"""Check whether a lemma holds.

A lemma is a node's choices. It is simulated as far as these decide it
(:mod:`fitness.check.timeline`), and the rest is bounded from below.

docs/concepts/certificate.md (Lemmas) has the bounds and the reasons that close a lemma. They hold
for every design point with the lemma's choices. Up to the instant at which the timeline stops, each
started instance had one time, one demand and one slowdown over all of them, and no group with an
open unit was eligible. Nothing is compared *between* design points, as the timeline is not
monotone. By induction along the waiting no instance ends before its least end: it cannot start
before the instances that it waits for end, and its rate is at most 2**16.

Limits of transitions, segments and accuracy play no part here: :mod:`fitness.check.choices` follows
them. If every choice that matters has one value, the timeline is simulated to its end, and the
bound is the makespan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.units import UHZ_PS
from paretosoc.fitness.check.choices import least_loss, least_memory
from paretosoc.fitness.check.facts import (
    ENERGY,
    LOSS,
    MAKESPAN,
    MEMORY,
    NETWORK,
    RATES,
    TOKEN_ENERGY,
    TOKEN_TIME,
)
from paretosoc.fitness.check.priced import add_priced, fill_rest, find_open
from paretosoc.fitness.check.timeline import continues, first_open, leaves_with, moving_ps
from paretosoc.fitness.check.trade_off import closed_by_trade_off, last_step
from paretosoc.fitness.check.work import ENDED, FAR, OVER, RUNNING
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.types.vectors import all_lanes, put
from paretosoc.results.front.proof_tree import MEMBERS, POWER_LIMIT, TIME_LIMIT
from paretosoc.results.problem.arithmetic import WORK_PER_PS

if TYPE_CHECKING:
    from paretosoc.fitness.check.facts import Facts
    from paretosoc.fitness.check.work import Int, Work


@jit
def is_closed(facts: Facts, work: Work, depth: Int, kind: Int) -> bool:
    """Return whether the node at this depth, whose timeline has stopped, is closed for a reason.

    Leaves its bounds in ``work.least`` and, unless ``kind`` is ``TIME_LIMIT``, in ``work.vector``.
    """
    row, costs = depth + 1, work.costs_at[depth]
    makespan = _time_bounds(facts, work, row, costs)
    work.least[0] = makespan
    if kind == TIME_LIMIT:
        return _breaks_time_limit(facts, work, makespan)
    idle, dynamic = np.int64(0), np.int64(0)
    if facts.needs_power:
        idle = _idle_power(facts, work, costs)
        dynamic = _dynamic_energy(facts, work, row, costs)
    work.least[1], work.least[2] = idle, dynamic
    _fill_vector(facts, work, row, costs, makespan, idle, dynamic)
    if kind == MEMBERS:
        return _closed_by_a_member(facts, work)
    if kind == POWER_LIMIT:
        return _breaks_power_limit(facts, work, makespan, idle, dynamic)
    if facts.steps.shape[0] == 0:
        return False
    return closed_by_trade_off(facts, work, row, costs, makespan, idle, dynamic)


@jit
def _left_ps(work: Work, row: Int, u: Int) -> Int:
    return -((-work.left[row, u]) // WORK_PER_PS)


@jit
def _time_bounds(facts: Facts, work: Work, row: Int, costs: Int) -> Int:
    """Fill ``work.network_end`` and return the bound of the makespan."""
    now, total = work.now[row], np.int64(0)
    for u in range(facts.units):
        work.busy[u] = 0
    for n in range(facts.networks):
        work.network_end[n] = 0
    put(work.priced, 0, all_lanes(0))
    for n in range(facts.networks):
        find_open(facts, work, n)
        fill_rest(facts, work, costs, n, work.open_from[n], np.int64(0))
    for k in range(facts.instances):
        i = facts.order[k]
        unit = work.units[facts.group_of[i]]
        if work.status[row, i] == ENDED:
            least = work.instant[row, i]
        else:
            if work.status[row, i] == RUNNING:
                queue = facts.queue_of[facts.network_of[i], unit]
                least, time = now, _left_ps(work, row, queue)
            else:
                where = unit if unit >= 0 else facts.units
                time = work.smallest_ps[costs, where, facts.group_of[i]]
                if facts.grows:
                    step = work.step_ps[costs, where, facts.group_of[i]]
                    time += facts.repeat_of[i] * step
                if unit >= 0:
                    time += moving_ps(facts, work, facts.group_of[i])
                least = _least_start(facts, work, i, unit, now)
            total += time
            work.takes_ps[i], work.waits_ps[i] = time, least - now
            add_priced(facts, work, row, costs, i, np.int64(0))
            if unit >= 0:
                work.busy[facts.unit_of[unit]] += time
            least += time
        work.least_end[i] = least
        n = facts.network_of[i]
        work.network_end[n] = max(work.network_end[n], least)
    bound = now - (-total) // facts.unit_count
    for u in range(facts.units):
        bound = max(bound, now + work.busy[u])
    for p in range(facts.price_rows[0]):
        bound = max(bound, now - (-work.priced[p]) // facts.price_sum[0, p])
    for n in range(facts.networks):
        bound = max(bound, work.network_end[n])
    return bound


@jit
def _least_start(facts: Facts, work: Work, i: Int, unit: Int, now: Int) -> Int:
    start, last = now, i
    if continues(facts, work, i):
        start = max(start, work.least_end[i - 1])
    elif unit >= 0 and _knows_engines(facts, work, facts.network_of[i]):
        # An engine waits for all inputs that any of its groups reads from elsewhere.
        last = leaves_with(facts, work, i)
    for k in range(i, last + 1):
        start = max(start, facts.arrival_of[k])
        for e in range(facts.input_start[k], facts.input_start[k + 1]):
            source = facts.input[e]
            if i <= source and source < k:
                continue
            left = leaves_with(facts, work, source)
            if source < i and i <= left:
                # Both are in one engine.
                left = source
            instant = work.least_end[left]
            if facts.input_edge[e] >= 0 and unit >= 0:
                other = work.units[facts.group_of[source]]
                if other >= 0:
                    at = (facts.input_edge[e] * facts.units + other) * facts.units + unit
                    instant += facts.delay_ps[at]
            start = max(start, instant)
    return start


@jit
def _knows_engines(facts: Facts, work: Work, n: Int) -> bool:
    """Return whether engines may join network n in their middle, and all its groups have units."""
    return bool(facts.joins_engines[n]) and first_open(facts, work, n) < 0


@jit
def _breaks_time_limit(facts: Facts, work: Work, makespan: Int) -> bool:
    if facts.period_ps >= 0 and makespan > facts.period_ps:
        return True
    for n in range(facts.networks):
        latency = work.network_end[n] - facts.arrival_ps[n]
        if facts.deadline_ps[n] >= 0 and latency > facts.deadline_ps[n]:
            return True
    return False


@jit
def _idle_power(facts: Facts, work: Work, costs: Int) -> Int:
    for d in range(facts.domains):
        work.needed[d] = 1 - facts.may_be_off[d]
    for u in range(facts.units):
        if work.groups_on[u] > 0:
            for c in range(facts.clock_start[u], facts.clock_start[u + 1]):
                work.needed[facts.clock[c]] = 1
    power = np.int64(facts.board_mw)
    for d in range(facts.domains):
        if work.needed[d]:
            power += work.static_mw[costs, d]
    for u in range(facts.units):
        if work.needed[facts.clock[facts.clock_start[u]]]:
            power += work.idle_mw[costs, u]
    return power


@jit
def _dynamic_energy(facts: Facts, work: Work, row: Int, costs: Int) -> Int:
    started, later = work.ended_fj[row], np.int64(0)
    for i in range(facts.instances):
        if work.status[row, i] == ENDED:
            continue
        g = facts.group_of[i]
        unit = work.units[g]
        if work.status[row, i] == RUNNING:
            ran = _left_ps(work, row, facts.queue_of[facts.network_of[i], unit])
            if facts.sharing_permille[facts.unit_of[unit]] < 0:
                ran += work.now[row] - work.instant[row, i]
            started += work.dynamic_mw[costs, unit, g] * ran
        else:
            where = unit if unit >= 0 else facts.units
            later += work.smallest_fj[costs, where, g]
            if unit >= 0:
                later += work.dynamic_mw[costs, unit, g] * moving_ps(facts, work, g)
            if facts.grows:
                later += facts.repeat_of[i] * work.step_fj[costs, where, g]
    work.least[3] = started
    return started + later


@jit
def _token_time(facts: Facts, work: Work, row: Int, costs: Int, n: Int) -> Int:
    """Return the least time per repeat of network n from the ends it waits for. Overwrites
    ``work.least_end``."""
    begin, has_begun, span = facts.arrival_ps[n], True, np.int64(0)
    for k in range(facts.instances):
        i = facts.order[k]
        if facts.network_of[i] != n:
            continue
        unit, least = work.units[facts.group_of[i]], np.int64(0)
        for e in range(facts.input_start[i], facts.input_start[i + 1]):
            source, edge = facts.input[e], facts.input_edge[e]
            if facts.network_of[source] == n:
                instant = work.least_end[source]
                other = work.units[facts.group_of[source]]
                if edge >= 0 and unit >= 0 and other >= 0:
                    instant += facts.delay_ps[(edge * facts.units + other) * facts.units + unit]
                least = max(least, instant)
            elif edge < 0:
                has_begun &= work.status[row, source] == ENDED
                begin = max(begin, work.instant[row, source])
        where = unit if unit >= 0 else facts.units
        least += work.smallest_ps[costs, where, facts.group_of[i]]
        if facts.grows:
            least += facts.repeat_of[i] * work.step_ps[costs, where, facts.group_of[i]]
        if unit >= 0:
            least += moving_ps(facts, work, facts.group_of[i])
        work.least_end[i] = least
        span = max(span, least)
    if has_begun:
        span = work.network_end[n] - begin
    return -((-span) // facts.repeats[n])


@jit
def _fill_vector(
    facts: Facts, work: Work, row: Int, costs: Int, makespan: Int, idle: Int, dynamic: Int
) -> None:
    time = facts.period_ps if facts.period_ps >= 0 else makespan
    for j in range(facts.objective.shape[0]):
        kind, n = facts.objective[j], facts.objective_network[j]
        if kind == MAKESPAN:
            work.vector[j] = makespan
        elif kind == NETWORK:
            work.vector[j] = work.network_end[n] - facts.arrival_ps[n]
        elif kind == TOKEN_TIME:
            work.vector[j] = _token_time(facts, work, row, costs, n)
        elif kind == RATES:
            total = np.int64(0)
            for m in range(facts.networks):
                latency = work.network_end[m] - facts.arrival_ps[m]
                total += UHZ_PS // max(latency, np.int64(1))
            work.vector[j] = -total
        elif kind == LOSS:
            work.vector[j] = np.int64(0)
            for m in range(facts.networks):
                if n < 0 or n == m:
                    work.vector[j] += least_loss(facts, work, m)
        elif kind == MEMORY:
            work.vector[j] = least_memory(facts, work, 0)
        else:
            energy = idle * time + dynamic
            if kind == TOKEN_ENERGY:
                energy //= facts.repeats[n]
            elif kind != ENERGY:
                # Mean power: a thousandfold remainder stays in int64.
                energy = energy // time * 1000 + energy % time * 1000 // time
            work.vector[j] = energy


@jit
def _closed_by_a_member(facts: Facts, work: Work) -> bool:
    if facts.objective.shape[0] == 2:
        # Second values fall: of the members up to the first bound the last closes most.
        member = last_step(facts.closing, work.vector[0])
        return member >= 0 and facts.closing[member, 1] <= work.vector[1]
    for member in range(facts.closing.shape[0]):
        if facts.closing[member, 0] > work.vector[0]:
            # Members are in the order of their first values.
            return False
        closes = True
        for j in range(1, facts.objective.shape[0]):
            closes &= facts.closing[member, j] <= work.vector[j]
        if closes:
            return True
    return False


@jit
def _closing_makespan(facts: Facts, work: Work) -> Int:
    """Return the smallest makespan of a member that closes all other bounds, or FAR."""
    smallest = FAR
    if facts.makespan_column >= 0:
        for member in range(facts.closing.shape[0]):
            closes = True
            for j in range(facts.objective.shape[0]):
                below = facts.closing[member, j] <= work.vector[j]
                closes &= below or j == facts.makespan_column
            if closes:
                smallest = min(smallest, facts.closing[member, facts.makespan_column])
    return smallest


@jit
def _breaks_power_limit(
    facts: Facts, work: Work, makespan: Int, idle: Int, dynamic: Int
) -> bool | np.bool_:
    time = facts.period_ps if facts.period_ps >= 0 else makespan
    if facts.cap_mw >= 0:
        if facts.period_ps >= 0 or work.stop[0] == OVER:
            if dynamic > (facts.cap_mw - idle) * time:
                return True
        elif dynamic > 0:
            closing = _closing_makespan(facts, work)
            if closing < FAR and dynamic >= (facts.cap_mw - idle) * closing:
                return True
    return facts.budget_fj >= 0 and idle * time + dynamic > facts.budget_fj

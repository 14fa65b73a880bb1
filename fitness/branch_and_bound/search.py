"""Branch and bound over units and operating points, with one objective or several; compiled.

A node is a partial choice. Its timeline is played until a choice matters. If a member is nowhere
above its bounds, it is closed, which makes a lemma; else the open choice is branched on: a group on
each unit that it may have, or the operating points of a domain in two halves. A complete choice
that no member closes becomes a member.
"""

import numpy as np

from fitness.branch_and_bound.archive import closing_makespan, is_closed, join
from fitness.branch_and_bound.bounds import (
    choose_points,
    choose_units,
    fill_anywhere,
    fill_paths,
    fill_unit,
    makespan_bound,
    rate_sum_bound,
)
from fitness.branch_and_bound.limits import (
    breaks_power_limits,
    fill_static,
    least_dynamic_energy,
    least_idle_power,
)
from fitness.branch_and_bound.search_space import ENERGY, MAKESPAN, NETWORK_LATENCY, POWER
from fitness.branch_and_bound.search_state import (
    DONE,
    FASTER_FIRST,
    LEMMAS_FULL,
    MEMBERS_FULL,
    NODE_LIMIT,
    SLOWER_FIRST,
    UNIT_CHOICE,
)
from fitness.branch_and_bound.snapshots import go_on, load_stop, named_since, save_stop
from fitness.branch_and_bound.trade_off import fill_gains, is_traded_off
from fitness.simulator.general import advance, begin
from fitness.simulator.jit import jit
from fitness.simulator.state import (
    NEVER,
)

CLOSED, OPEN = range(2)


@jit
def _name(plan, space, b, g, u):
    """Puts group g on unit u; False where a rule forbids it. The caller undoes it either way."""
    b.units[g] = u
    b.named_on[u] += 1
    n = space.network[g]
    b.network_known[n] = 0
    begins = True
    for i in range(space.in_start[g], space.in_start[g + 1]):
        other = b.units[space.in_group[i]]
        if other == u:
            begins = False
        elif other >= 0:
            b.transitions[n] += 1
    for i in range(space.out_start[g], space.out_start[g + 1]):
        other = b.units[space.out_group[i]]
        if other >= 0 and other != u:
            b.transitions[n] += 1
    if begins:
        b.segments[u] += 1
    if space.limit[n] >= 0 and b.transitions[n] > space.limit[n]:
        return False
    return space.segments[u] < 0 or b.segments[u] <= space.segments[u]


@jit
def _unname(plan, space, b, g):
    u = b.units[g]
    b.named_on[u] -= 1
    n = space.network[g]
    b.network_known[n] = 0
    begins = True
    for i in range(space.in_start[g], space.in_start[g + 1]):
        other = b.units[space.in_group[i]]
        if other == u:
            begins = False
        elif other >= 0:
            b.transitions[n] -= 1
    for i in range(space.out_start[g], space.out_start[g + 1]):
        other = b.units[space.out_group[i]]
        if other >= 0 and other != u:
            b.transitions[n] -= 1
    if begins:
        b.segments[u] -= 1
    b.units[g] = -1


@jit
def _take(plan, space, b, level):
    """Makes the next choice of a level that the rules allow; False where none is left."""
    if b.kind[level] != UNIT_CHOICE:
        d = b.subject[level]
        half = b.option[level]
        b.option[level] += 1
        if half > 1:
            return False
        # The faster half: bits above the middle of the set.
        mask, count = b.saved[level], np.int64(0)
        for k in range(space.ladder[d]):
            count += (mask >> k) & 1
        upper, seen = np.int64(0), np.int64(0)
        for k in range(space.ladder[d]):
            if (mask >> k) & 1:
                seen += 1
                if 2 * seen > count:
                    upper |= np.int64(1) << k
        upper_now = (half == 0) == (b.kind[level] == FASTER_FIRST)
        b.points[d] = upper if upper_now else mask ^ upper
        b.clock_known[d] = 0
        return True
    g = b.subject[level]
    while b.option[level] < plan.units:
        u = b.option[level]
        b.option[level] += 1
        if space.allowed[g * plan.units + u] == 0:
            continue
        fits = _name(plan, space, b, g, u)
        n = space.network[g]
        if fits and space.is_chain[n] and b.transitions[n] == space.limit[n]:
            # No transition is left, so the rest of the chain stays here.
            for h in range(g + 1, space.first[n] + space.size[n]):
                if b.units[h] < 0 and fits:
                    fits = space.allowed[h * plan.units + u] == 1
                    if fits:
                        fits = _name(plan, space, b, h, u)
                        b.forced[h] = level + 1
        if fits:
            return True
        _take_back(plan, space, b, level)
    return False


@jit
def _take_back(plan, space, b, level):
    """Undoes the choice of a level."""
    if b.kind[level] != UNIT_CHOICE:
        b.points[b.subject[level]] = b.saved[level]
        b.clock_known[b.subject[level]] = 0
        return
    g = b.subject[level]
    n = space.network[g]
    last = space.first[n] + space.size[n] - 1
    for h in range(last, g, -1):
        if b.forced[h] == level + 1:
            _unname(plan, space, b, h)
            b.forced[h] = 0
    _unname(plan, space, b, g)


@jit
def _look_up(plan, space, chosen, b):
    """Brings costs and paths up to the present choice, where it has changed."""
    changed = False
    for d in range(plan.domains):
        if b.clock_known[d] == 0:
            changed = True
            fill_static(plan, space, d, b)
    if changed:
        for u in range(plan.units):
            known = True
            for c in range(plan.clock.shape[1]):
                known &= plan.clock[u, c] < 0 or b.clock_known[plan.clock[u, c]] == 1
            if not known:
                fill_unit(plan, space, u, b)
        fill_anywhere(plan, b)
        fill_gains(plan, space, b)
        choose_points(plan, b.points, chosen)
        for n in range(plan.networks):
            b.network_known[n] = 0
        for d in range(plan.domains):
            b.clock_known[d] = 1
    for n in range(plan.networks):
        if b.network_known[n] == 0:
            choose_units(plan, space, b.units, n, chosen)
            fill_paths(plan, space, n, b)
            b.network_known[n] = 1


@jit
def _play_on(plan, space, chosen, state, b):
    """Goes on from the stop at which the last choice was open, until another one matters."""
    level = b.progress.depth - 1
    if level < 0:
        begin(plan, chosen, state)
    else:
        load_stop(plan, state, b.stop[level])
        if b.kind[level] == UNIT_CHOICE:
            g = b.subject[level]
            named_since(plan, space, chosen, state, g)
            n = space.network[g]
            for h in range(g + 1, space.first[n] + space.size[n]):
                if b.forced[h] == level + 1:
                    named_since(plan, space, chosen, state, h)
        go_on(plan, space, chosen, state)
    while state.run.frames_left > 0:
        if not advance(plan, chosen, state):
            break


@jit
def _objective_bounds(plan, space, b, makespan, idle, energy):
    """Fills ``b.vector`` from the bounds of the makespan and of the ends of networks, and the least
    idle power and dynamic energy; where it is the makespan's, or -1."""
    column = -1
    time = space.period_ps if space.period_ps >= 0 else makespan
    for j in range(b.vector.shape[0]):
        kind = space.objective[j]
        if kind == MAKESPAN:
            b.vector[j] = makespan
            column = j
        elif kind == NETWORK_LATENCY:
            n = space.objective_network[j]
            b.vector[j] = b.end[n] - plan.network[n].arrival_ps
        elif kind == ENERGY:
            b.vector[j] = idle * time + energy
        elif kind == POWER:
            whole = idle * time + energy
            b.vector[j] = (whole // time) * 1000 + (whole % time) * 1000 // time
        else:
            b.vector[j] = rate_sum_bound(plan, b.end)
    return column


@jit
def _bound_here(plan, space, chosen, state, b):
    """Plays the present choice until another matters and bounds what lies below it: whether a
    member or a limit closes it."""
    _look_up(plan, space, chosen, b)
    _play_on(plan, space, chosen, state, b)
    makespan = makespan_bound(plan, space, b.units, state, b.least, b.tail, b.path, b.end, b.load)
    if makespan == NEVER:
        return CLOSED
    idle, energy = np.int64(0), np.int64(0)
    if space.needs_power:
        idle = least_idle_power(plan, b, chosen)
        energy = least_dynamic_energy(plan, b, chosen, state)
    column = _objective_bounds(plan, space, b, makespan, idle, energy)
    if space.power_cap_mw >= 0 or space.energy_budget_fj >= 0:
        complete = state.run.frames_left == 0
        closing = NEVER
        if space.power_cap_mw >= 0 and space.period_ps < 0:
            closing = closing_makespan(b, b.vector, column)
        if breaks_power_limits(space, idle, energy, makespan, complete, closing):
            return CLOSED
    if is_closed(b, b.closing, b.vector):
        return CLOSED
    if space.rate_mw.shape[0] == 0 or state.run.frames_left == 0:
        return OPEN
    return CLOSED if is_traded_off(plan, space, b, idle, energy) else OPEN


@jit
def _open_power_domain(plan, space, b, chosen):
    """A domain that is on, whose operating points are open although the timeline is complete; -1
    where there is none, or power does not count."""
    if space.needs_power:
        for d in range(plan.domains):
            if chosen.domain_on[d] and (b.points[d] & (b.points[d] - 1)) != 0:
                return np.int64(d)
    return np.int64(-1)


@jit
def _open_level(plan, state, b, power_domain):
    """The choice that the timeline has stopped at becomes a level, or the domain given."""
    level = b.progress.depth
    if power_domain >= 0:
        b.kind[level] = SLOWER_FIRST
        b.subject[level] = power_domain
        b.saved[level] = b.points[power_domain]
    elif state.run.open_count > 0:
        b.kind[level] = UNIT_CHOICE
        b.subject[level] = state.place[state.open[0]].group
    else:
        u = state.run.open_unit
        d = np.int64(plan.memory_domain)
        for c in range(plan.clock.shape[1]):
            clock = plan.clock[u, plan.clock.shape[1] - 1 - c]
            if clock >= 0 and (b.points[clock] & (b.points[clock] - 1)) != 0:
                d = clock
        b.kind[level] = FASTER_FIRST
        b.subject[level] = d
        b.saved[level] = b.points[d]
    b.option[level] = 0
    for j in range(b.vector.shape[0]):
        b.bound[level, j] = b.vector[j]
    save_stop(plan, state, b.stop[level])
    b.progress.depth = level + 1


@jit
def _close(plan, b):
    """The present choice becomes a lemma."""
    at = b.progress.lemmas
    for g in range(plan.groups):
        b.lemma_units[at, g] = b.units[g]
    for d in range(plan.domains):
        b.lemma_points[at, d] = b.points[d]
    b.progress.lemmas = at + 1
    b.progress.backtracking = 1


@jit
def search_on(plan, space, chosen, state, b, nodes):
    """Searches on for at most ``nodes`` nodes; why it ended: DONE, NODE_LIMIT, LEMMAS_FULL or
    MEMBERS_FULL.

    Lemmas say "no better than a member", and stay true when a better member takes its place.
    """
    stop = b.progress.nodes + nodes
    while True:
        if b.progress.backtracking:
            level = b.progress.depth - 1
            if level < 0:
                return DONE
            _take_back(plan, space, b, level)
            if _take(plan, space, b, level):
                b.progress.backtracking = 0
            else:
                b.progress.depth = level
                # What is closed is closed: the level above goes on.
                b.kind[level] = -1
                if level == 0:
                    return DONE
            continue
        if b.progress.lemmas == b.lemma_units.shape[0]:
            return LEMMAS_FULL
        if b.progress.members == b.objectives.shape[0]:
            return MEMBERS_FULL
        if b.progress.nodes >= stop:
            return NODE_LIMIT
        b.progress.nodes += 1
        if _bound_here(plan, space, chosen, state, b) == CLOSED:
            _close(plan, b)
            continue
        power_domain = np.int64(-1)
        if state.run.frames_left == 0:
            power_domain = _open_power_domain(plan, space, b, chosen)
            if power_domain < 0:
                # Near enough is closed already: what comes here is better than all members.
                join(b, b.vector, space.tolerance_ppm)
                _close(plan, b)
                continue
        _open_level(plan, state, b, power_domain)
        level = b.progress.depth - 1
        if not _take(plan, space, b, level):
            b.progress.depth = level
            b.progress.backtracking = 1


@jit
def keep_stop(plan, space, chosen, state, b, level):
    """Plays the choice that was made before ``level`` was opened, and keeps its stop there; for a
    search that goes on from a file."""
    b.progress.depth = level
    for d in range(plan.domains):
        b.clock_known[d] = 0
    _look_up(plan, space, chosen, b)
    _play_on(plan, space, chosen, state, b)
    save_stop(plan, state, b.stop[level])

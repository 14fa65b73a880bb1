"""Branch and bound over units and operating points; compiled.

A node is a partial choice. It is played from the start until a choice matters; its bound either
closes it, which makes a lemma, or the open choice is branched on: a group on each unit that it may
have, or the operating points of a domain in two halves. Playing from the start costs a microsecond
and spares copies of the state.
"""

import numpy as np

from fitness.bound_kernel import (
    choose_points,
    choose_units,
    fill_fastest,
    fill_paths,
    makespan_bound,
    rate_sum_bound,
)
from fitness.branching import (
    BACKTRACKING,
    BEST,
    DEPTH,
    DONE,
    FASTEST_KNOWN,
    LEMMAS,
    LEMMAS_FULL,
    NODE_LIMIT,
    NODES,
    POINT_CHOICE,
    UNIT_CHOICE,
)
from fitness.constraint_kernel import breaks_power_limits, fill_least_power
from fitness.jit import jit
from fitness.timeline_kernel import advance, begin
from fitness.timeline_state import (
    FRAMES_LEFT,
    NEVER,
    OPEN_COUNT,
    OPEN_UNIT,
    PLACE_GROUP,
    PLACE_WIDTH,
)


@jit
def _name(plan, space, b, g, u):
    """Puts group g on unit u; False where a rule forbids it. The caller undoes it either way."""
    b.units[g] = u
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
    if b.kind[level] == POINT_CHOICE:
        d = b.subject[level]
        half = b.option[level]
        b.option[level] += 1
        if half > 1:
            return False
        # The faster half first: bits above the middle of the set.
        mask, count = b.saved[level], np.int64(0)
        for k in range(space.ladder[d]):
            count += (mask >> k) & 1
        upper, seen = np.int64(0), np.int64(0)
        for k in range(space.ladder[d]):
            if (mask >> k) & 1:
                seen += 1
                if 2 * seen > count:
                    upper |= np.int64(1) << k
        b.points[d] = upper if half == 0 else mask ^ upper
        b.scalar[FASTEST_KNOWN] = 0
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
    if b.kind[level] == POINT_CHOICE:
        b.points[b.subject[level]] = b.saved[level]
        b.scalar[FASTEST_KNOWN] = 0
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
def _bound_here(plan, space, chosen, state, b):
    """Plays the present choice until another matters, and bounds what lies below it."""
    limited = space.power_cap_mw >= 0 or space.energy_budget_fj >= 0
    if b.scalar[FASTEST_KNOWN] == 0:
        fill_fastest(plan, space, b.points, b.fastest)
        if limited:
            fill_least_power(plan, space, b.points, b.least_energy, b.least_idle, b.least_static)
        choose_points(plan, b.points, chosen)
        for n in range(plan.networks):
            b.network_known[n] = 0
        b.scalar[FASTEST_KNOWN] = 1
    for n in range(plan.networks):
        if b.network_known[n] == 0:
            choose_units(plan, space, b.units, n, chosen)
            fill_paths(plan, space, b.units, n, b.fastest, b.least, b.tail, b.path)
            b.network_known[n] = 1
    begin(plan, chosen, state)
    while state.scalar[FRAMES_LEFT] > 0:
        if not advance(plan, chosen, state):
            break
    bound = makespan_bound(plan, space, b.units, state, b.least, b.tail, b.path, b.end, b.load)
    if bound == NEVER:
        return bound
    if limited and breaks_power_limits(
        plan,
        space,
        b.units,
        chosen,
        state,
        bound,
        b.scalar[BEST],
        space.sums_rates == 0,
        b.least_energy,
        b.least_idle,
        b.least_static,
    ):
        return NEVER
    if space.sums_rates:
        return rate_sum_bound(plan, b.end)
    return bound


@jit
def _open_level(plan, state, b, bound):
    """The choice that the timeline has stopped at becomes a level."""
    level = b.scalar[DEPTH]
    if state.scalar[OPEN_COUNT] > 0:
        b.kind[level] = UNIT_CHOICE
        b.subject[level] = state.place[state.open[0] * PLACE_WIDTH + PLACE_GROUP]
    else:
        u = state.scalar[OPEN_UNIT]
        d = np.int64(plan.memory_domain)
        for c in range(plan.clock.shape[1]):
            clock = plan.clock[u, plan.clock.shape[1] - 1 - c]
            if clock >= 0 and (b.points[clock] & (b.points[clock] - 1)) != 0:
                d = clock
        b.kind[level] = POINT_CHOICE
        b.subject[level] = d
        b.saved[level] = b.points[d]
    b.option[level] = 0
    b.bound[level] = bound
    b.scalar[DEPTH] = level + 1


@jit
def search_on(plan, space, chosen, state, b, nodes):
    """Searches on for at most ``nodes`` nodes; why it ended: DONE, NODE_LIMIT or LEMMAS_FULL.

    A complete choice that is faster than the best becomes the best; lemmas say "not faster than the
    best", and what was no faster than an earlier best is no faster than a later one's makespan
    either, since that is smaller.
    """
    stop = b.scalar[NODES] + nodes
    while True:
        if b.scalar[BACKTRACKING]:
            level = b.scalar[DEPTH] - 1
            if level < 0:
                return DONE
            _take_back(plan, space, b, level)
            if _take(plan, space, b, level):
                b.scalar[BACKTRACKING] = 0
            else:
                b.scalar[DEPTH] = level
                # What is closed is closed: the level above goes on.
                b.kind[level] = -1
                if level == 0:
                    return DONE
            continue
        if b.scalar[LEMMAS] == b.lemma_units.shape[0]:
            return LEMMAS_FULL
        if b.scalar[NODES] >= stop:
            return NODE_LIMIT
        b.scalar[NODES] += 1
        bound = _bound_here(plan, space, chosen, state, b)
        if state.scalar[FRAMES_LEFT] == 0 and bound < b.scalar[BEST]:
            b.scalar[BEST] = bound
            for g in range(plan.groups):
                b.best_units[g] = b.units[g]
            for d in range(plan.domains):
                b.best_points[d] = b.points[d]
        if bound >= b.scalar[BEST]:
            at = b.scalar[LEMMAS]
            for g in range(plan.groups):
                b.lemma_units[at, g] = b.units[g]
            for d in range(plan.domains):
                b.lemma_points[at, d] = b.points[d]
            b.scalar[LEMMAS] = at + 1
            b.scalar[BACKTRACKING] = 1
            continue
        _open_level(plan, state, b, bound)
        level = b.scalar[DEPTH] - 1
        if not _take(plan, space, b, level):
            b.scalar[DEPTH] = level
            b.scalar[BACKTRACKING] = 1

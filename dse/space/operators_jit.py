"""Crossover, mutation and repair of rows, row by row. Compiled."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.simulator.jit import jit, rare
from paretosoc.fitness.simulator.types.tables import Tables
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS

TRANSITION, STRETCH, GROUP, STEP, DRAW = range(5)
"""Kinds of mutation: a transition point moves, a segment or a single group goes to another unit, a
clock steps, a clock is redrawn."""
WITH_CLOCKS = (0.25, 0.5, 0.6, 0.9)
WITHOUT_CLOCKS = (0.4, 0.8, 1.0, 1.0)
"""Cumulative shares of the kinds, with and without a choice of clocks."""
SECOND_CHANGE = 0.4
"""The probability of a second mutation of a row."""
KEPT = 0.3
"""The probability that parents exchange nothing of a network."""
ORDERED = 0.5
"""The share of changes of clocks that change priorities instead, if each group has one."""
MAX_MOVED = 3
"""Groups that a transition point moves by, at most."""


@dataclass(frozen=True, eq=False)
class SpaceTables(Tables):
    """A design space in flat arrays, all int64."""

    groups: int
    units: int
    settings: int
    """Domains, then priorities."""
    priorities: int
    """Networks or groups, or 0 if priorities are not searched."""
    orders_groups: int
    """1 if each group has a priority of its own."""
    networks: int
    first: IntArray
    """[networks]: its first group."""
    size: IntArray
    """[networks]: its groups."""
    limit: IntArray
    """[networks]: largest number of transitions; -1: any number."""
    owner: IntArray
    """[groups]: its network."""
    allowed: IntArray
    """[groups, units]"""
    best_unit: IntArray
    """[groups]"""
    unit_of: IntArray
    """[units]: the first entry of the same unit, in another number format perhaps."""
    drives: IntArray
    """[settings, units]: 1 if the unit's costs depend on the domain."""
    may_be_off: IntArray
    """[settings]"""
    rests: IntArray
    """[settings]: 1 if it has a choice and draws power even if nothing needs it."""
    free: IntArray
    """Settings with a choice, but for the priorities of groups."""
    point_count: IntArray
    """[settings]: operating points, or priorities, that may be chosen."""
    point_at: IntArray
    """[settings, places]: these."""
    place_of_point: IntArray
    """[settings, points]"""
    used: IntArray
    """[2, settings]: scratch."""
    stream: NDArray[np.uint64]
    """[1]: the state of the random numbers."""


@jit
def _draw(stream):
    """Draw 64 random bits by SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). ``stream`` is its
    state."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit
def below(stream, count):
    """Draw an integer from 0 up to ``count``, that not included, or 0 if ``count`` is 0."""
    return np.int64(((_draw(stream) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@jit
def chance(stream):
    """Draw a number from 0 up to 1."""
    return np.float64(_draw(stream) >> np.uint64(11)) * 2.0**-53


@jit
def _begin_stream(stream, seed, row):
    """Begin a stream for each row, so that draws for one row change nothing for the others."""
    stream[0] = np.uint64(seed) + np.uint64(row) * np.uint64(0xD1342543DE82EF95)
    stream[0] = _draw(stream)


@jit
def mark_row(space, row, used):
    """Set ``used`` [settings] to 1 if a unit with a group depends on it."""
    units = np.int64(0)
    for g in range(space.groups):
        units |= np.int64(1) << row[g]
    for d in range(space.settings):
        used[d] = 0
        for u in range(space.units):
            used[d] |= space.drives[d, u] & (units >> u)


@rare
def _cross(space, stream, a, b, used, used_b):
    """Exchange a segment of each network, often none or all, and half of the clocks both need."""
    mark_row(space, a, used)
    mark_row(space, b, used_b)
    for n in range(space.networks):
        size = space.size[n]
        one, other = below(stream, size + 1), below(stream, size + 1)
        whole = chance(stream)
        begin = np.int64(0) if whole < 0.5 else min(one, other)
        end = size if whole < 0.25 else max(one, other)
        if chance(stream) < KEPT:
            end = begin
        for g in range(space.first[n] + begin, space.first[n] + end):
            a[g], b[g] = b[g], a[g]
            if space.orders_groups:
                level = g + space.settings
                a[level], b[level] = b[level], a[level]
    # Priorities of groups have gone with them.
    for d in range(space.settings - space.orders_groups * space.groups):
        g = space.groups + d
        here, there = a[g], b[g]
        if used[d] == used_b[d]:
            if chance(stream) < 0.5:
                a[g], b[g] = there, here
        elif used[d]:
            b[g] = here
        else:
            a[g] = there


@jit
def _remap(space, stream, row, kind):
    """Put a segment on another unit as far as its groups may run there, also if there is no
    transition to move."""
    n = below(stream, space.networks)
    size = space.size[n]
    one, other = below(stream, size), below(stream, size)
    whole = chance(stream) < 1.0 / 3.0
    begin = space.first[n] + (np.int64(0) if whole else min(one, other))
    end = space.first[n] + (size if whole else max(one, other) + 1)
    if kind == GROUP:
        end = begin + 1
    # Another unit than the first group's, so that something changes.
    unit = (row[begin] + 1 + below(stream, space.units - 1)) % space.units
    if kind == TRANSITION:
        count = np.int64(0)
        for g in range(1, space.groups):
            count += space.owner[g] == space.owner[g - 1] and row[g] != row[g - 1]
        if count:
            left = below(stream, count)
            cut = np.int64(0)
            for g in range(1, space.groups):
                if space.owner[g] == space.owner[g - 1] and row[g] != row[g - 1]:
                    if left == 0:
                        cut = np.int64(g)
                        break
                    left -= 1
            n = space.owner[cut]
            distance = 1 + below(stream, MAX_MOVED)
            if chance(stream) < 0.5:
                begin, end = cut, min(cut + distance, space.first[n] + space.size[n])
                unit = row[cut - 1]
            else:
                begin, end = max(cut - distance, space.first[n]), cut
                unit = row[cut]
    for g in range(begin, end):
        if space.allowed[g, unit]:
            row[g] = unit


@jit
def _reorder(space, stream, row):
    """Give one priority to groups of a network that follow each other."""
    n = below(stream, space.networks)
    one, other = below(stream, space.size[n]), below(stream, space.size[n])
    level = below(stream, np.int64(PRIORITY_LEVELS))
    for g in range(space.first[n] + min(one, other), space.first[n] + max(one, other) + 1):
        row[g + space.settings] = level


@jit
def _reclock(space, stream, row, steps):
    """Move one clock a point or two with ``steps``, else redraw it, one time in three the
    fastest."""
    d = space.free[below(stream, space.free.shape[0])]
    g, count = space.groups + d, space.point_count[d]
    place = np.int64(0)
    if steps:
        here = space.place_of_point[d, row[g]]
        way = 1 + below(stream, 2)
        if chance(stream) < 0.5:
            way = -way
        if here + way < 0 or here + way >= count:
            way = -way
        place = min(max(here + way, 0), count - 1)
    else:
        place = count - 1 if chance(stream) < 1.0 / 3.0 else below(stream, count)
    row[g] = space.point_at[d, place]


@rare
def _mutate(space, stream, row):
    """Make one or two changes."""
    for change in range(2):
        if change and chance(stream) >= SECOND_CHANGE:
            break
        odds = chance(stream)
        clocks = space.free.shape[0]
        shares = WITH_CLOCKS if clocks or space.orders_groups else WITHOUT_CLOCKS
        kind = TRANSITION
        for limit in range(4):
            kind += odds >= shares[limit]
        if kind <= GROUP:
            _remap(space, stream, row, kind)
        elif space.orders_groups and (clocks == 0 or chance(stream) < ORDERED):
            _reorder(space, stream, row)
        elif clocks:
            _reclock(space, stream, row, kind == STEP)


@jit
def _join(space, stream, row, n):
    """Join random neighbouring segments of a network until its limit on transitions holds."""
    first, size = space.first[n], space.size[n]
    for _ in range(2 * size):
        count = np.int64(0)
        for g in range(first + 1, first + size):
            count += space.unit_of[row[g]] != space.unit_of[row[g - 1]]
        if count <= space.limit[n]:
            break
        chosen = below(stream, count)
        before, cut, after = first, first, first + size
        for g in range(first + 1, first + size):
            if space.unit_of[row[g]] != space.unit_of[row[g - 1]]:
                if chosen > 0:
                    before = g
                elif chosen == 0:
                    cut = np.int64(g)
                else:
                    after = g
                    break
                chosen -= 1
        begin, end, unit = cut, after, row[cut - 1]
        if cut - before < after - cut:
            begin, end, unit = before, cut, row[cut]
        fits = True
        for g in range(begin, end):
            fits &= space.allowed[g, unit] != 0
        if fits:
            row[begin:end] = unit


@jit
def _rest(space, plan, row, used, d):
    """Set an idle clock to the point at which least power is drawn: nothing else depends on it."""
    best, least = np.int64(-1), np.int64(0)
    for place in range(space.point_count[d]):
        point = space.point_at[d, place]
        power = plan.static_mw[plan.static_start[d] + point]
        for u in range(space.units):
            own = plan.clock[u, 0]
            if not space.drives[d, u] or (space.may_be_off[own] and not used[own]):
                continue
            at = plan.idle_start[u]
            for c in range(plan.clock.shape[1]):
                clock = plan.clock[u, c]
                if clock >= 0:
                    there = point if clock == d else row[space.groups + clock]
                    at += there * plan.clock_stride[u, c]
            power += plan.idle_mw[at]
        if best < 0 or power < least:
            best, least = point, power
    row[space.groups + d] = best


@rare
def repair_row(space, plan, stream, row, awake, used):
    """Make a row possible, canonical, and within its transitions.

    ``awake`` [settings]: 0 if its point was chosen for nothing, so that another one is drawn if the
    mapping needs it now.
    """
    for g in range(space.groups):
        if space.allowed[g, row[g]]:
            continue
        n, unit = space.owner[g], space.best_unit[g]
        if g + 1 < space.groups and space.owner[g + 1] == n and space.allowed[g, row[g + 1]]:
            unit = row[g + 1]
        if g and space.owner[g - 1] == n and space.allowed[g, row[g - 1]]:
            unit = row[g - 1]
        row[g] = unit
    for n in range(space.networks):
        if space.limit[n] >= 0:
            _join(space, stream, row, n)
    mark_row(space, row, used)
    for f in range(space.free.shape[0]):
        d = space.free[f]
        if used[d] and not awake[d]:
            count = space.point_count[d]
            place = count - 1 if chance(stream) < 1.0 / 3.0 else below(stream, count)
            row[space.groups + d] = space.point_at[d, place]
    for d in range(space.settings):
        if space.may_be_off[d] and not used[d]:
            row[space.groups + d] = space.point_at[d, 0]
    for d in range(space.settings):
        if space.rests[d] and not used[d]:
            _rest(space, plan, row, used, d)
    if space.priorities:
        _rank(space, plan, row)


@jit
def _rank(space, plan, row):
    """Close the gaps between priorities, from 0 on. Those of groups count in one queue and by the
    first group of an engine, so each queue is ranked alone."""
    begin, end = row.shape[0] - space.priorities, row.shape[0]
    if not space.orders_groups:
        levels = np.int64(0)
        for g in range(begin, end):
            levels |= np.int64(1) << row[g]
        for g in range(begin, end):
            row[g] = _rank_among(levels, row[g])
        return
    for g in range(1, space.groups):
        if (
            plan.runs_engines[row[g]]
            and row[g] == row[g - 1]
            and space.owner[g] == space.owner[g - 1]
        ):
            row[begin + g] = row[begin + g - 1]
    for queue in range(plan.queues):
        levels = np.int64(0)
        for g in range(space.groups):
            if plan.queue_of[space.owner[g] * plan.units + row[g]] == queue:
                levels |= np.int64(1) << row[begin + g]
        for g in range(space.groups):
            if plan.queue_of[space.owner[g] * plan.units + row[g]] == queue:
                row[begin + g] = _rank_among(levels, row[begin + g])


@jit
def _rank_among(levels, level):
    """Return how many of the levels, one per bit, are below this one."""
    rank = np.int64(0)
    for lower in range(level):
        rank += (levels >> np.int64(lower)) & 1
    return rank


@jit
def cross_rows(space, seed, a, b):
    """Cross each pair of rows of ``a`` and ``b`` [n, width], in place."""
    for r in range(a.shape[0]):
        _begin_stream(space.stream, seed, r)
        _cross(space, space.stream, a[r], b[r], space.used[0], space.used[1])


@jit
def mutate_rows(space, seed, rows):
    """Mutate ``rows`` [n, width], in place."""
    for r in range(rows.shape[0]):
        _begin_stream(space.stream, seed, r)
        _mutate(space, space.stream, rows[r])


@jit
def repair_rows(space, plan, seed, rows, awake):
    """Repair ``rows`` [n, width], in place. ``awake`` [n, settings]."""
    for r in range(rows.shape[0]):
        _begin_stream(space.stream, seed, r)
        repair_row(space, plan, space.stream, rows[r], awake[r], space.used[0])


@jit
def breed_pair(space, plan, first, second, crossover_rate, mutations, a, b):
    """Fill ``a`` and ``b`` [width]: children of two rows, crossed at a rate, mutated this often,
    repaired."""
    stream, used = space.stream, space.used
    for g in range(a.shape[0]):
        a[g], b[g] = first[g], second[g]
    if chance(stream) < crossover_rate:
        _cross(space, stream, a, b, used[0], used[1])
    for which in range(2):
        child = b if which else a
        mark_row(space, child, used[1])
        for _ in range(mutations):
            _mutate(space, stream, child)
        repair_row(space, plan, stream, child, used[1], used[0])


@jit
def mark_used(space, rows, used):
    """Set ``used`` [n, settings] if a unit with a group depends on the setting."""
    for r in range(rows.shape[0]):
        mark_row(space, rows[r], used[r])


@jit
def rank_rows(space, plan, rows):
    """Close the gaps between the priorities of ``rows`` [n, width], in place."""
    for r in range(rows.shape[0]):
        _rank(space, plan, rows[r])

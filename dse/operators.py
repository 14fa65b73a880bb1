"""Crossover and mutation of whole arrays of rows that know what a mapping looks like.

A network's mapping is a sequence of stretches on one unit each; good mappings have few. So parents
exchange stretches, and mutations move a transition point, run a stretch on another unit, or step a
clock, rather than change single genes at random.
"""

from __future__ import annotations

import numpy as np

from dse.design_space import DesignSpace, Random
from results.problem import BoolArray, IntArray

TRANSITION, STRETCH, GROUP, STEP, DRAW = range(5)
"""Kinds of mutation; those up to ``GROUP`` change the mapping."""
WITH_CLOCKS = (0.25, 0.25, 0.1, 0.3, 0.1)
WITHOUT_CLOCKS = (0.4, 0.4, 0.2)
"""How often each kind comes, where clocks can be chosen and where not."""
CHANGES = (1.0, 0.4)
"""The probability of a first and a second mutation of a row."""
STEPS = np.array([-2, -1, 1, 2])


def segment_crossover(
    space: DesignSpace, rng: Random, first: IntArray, second: IntArray
) -> tuple[IntArray, IntArray]:
    """Two children for each pair of parents [n, width]: in every network a random stretch of groups
    (often none or all of it) changes sides, and so does each clock with even odds. A clock that
    only one parent has a use for comes from that parent."""
    n, networks = len(first), len(space.problem.networks)
    position = np.arange(space.groups) - space.first[space.owner]
    drawn = (rng.random((2, n, networks)) * (space.size + 1)).astype(np.int64)
    whole = rng.random((n, networks))
    begin = np.where(whole < 0.5, 0, drawn.min(axis=0))
    end = np.where(whole < 0.25, space.size, drawn.max(axis=0))
    end = np.where(rng.random((n, networks)) < 0.3, begin, end)
    swap = np.empty((n, space.width), dtype=np.bool_)
    begin, end = begin[:, space.owner], end[:, space.owner]
    swap[:, : space.groups] = (position >= begin) & (position < end)
    odds = rng.random((n, space.width - space.groups)) < 0.5
    mine, theirs = space.domains_used(first), space.domains_used(second)
    swap[:, space.groups :] = np.where(mine == theirs, odds, theirs)
    a = np.where(swap, second, first)
    swap[:, space.groups :] = np.where(mine == theirs, odds, mine)
    return a, np.where(swap, first, second)


def mutate(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Each row [n, width] gets one or two of: a moved transition point, a stretch on another unit,
    a single group on another unit, a stepped clock, a clock drawn anew."""
    rows = rows.copy()
    edges = np.cumsum(WITH_CLOCKS if len(space.free_domains) else WITHOUT_CLOCKS)
    for share in CHANGES:
        kind = np.searchsorted(edges, rng.random(len(rows)) * edges[-1], side="right")
        active = rng.random(len(rows)) < share
        chosen = np.flatnonzero(active & (kind <= GROUP))
        rows[chosen] = _remapped(space, rng, rows[chosen], kind[chosen])
        chosen = np.flatnonzero(active & (kind > GROUP))
        if len(chosen):
            rows[chosen] = _reclocked(space, rng, rows[chosen], kind[chosen] == STEP)
    return rows


def _remapped(space: DesignSpace, rng: Random, rows: IntArray, kind: IntArray) -> IntArray:
    """One stretch of groups of each row on another unit, as far as these may run there. What is
    asked to move a transition point and has none moves a stretch."""
    n = len(rows)
    begin, end = _random_stretch(space, rng, n)
    end = np.where(kind == GROUP, begin + 1, end)
    # Another unit than the first group's, so that something changes.
    units = len(space.problem.units)
    unit = rows[np.arange(n), begin] + 1 + (rng.random(n) * (units - 1)).astype(np.int64)
    unit %= units
    moved = np.flatnonzero(kind == TRANSITION)
    if len(moved) and space.groups > 1:
        has, low, high, taken = _transition_moves(space, rng, rows[moved, : space.groups])
        begin[moved] = np.where(has, low, begin[moved])
        end[moved] = np.where(has, high, end[moved])
        unit[moved] = np.where(has, taken, unit[moved])
    position = np.arange(space.groups)
    inside = (position >= begin[:, None]) & (position < end[:, None])
    if not space.all_allowed:
        inside &= space.allowed_on[unit]
    rows[:, : space.groups] = np.where(inside, unit[:, None], rows[:, : space.groups])
    return rows


def _random_stretch(space: DesignSpace, rng: Random, n: int) -> tuple[IntArray, IntArray]:
    """[n] begins and ends: a stretch of a random network; a third of the time all of it."""
    network = (rng.random(n) * len(space.first)).astype(np.int64)
    first, size = space.first[network], space.size[network]
    ends = (rng.random((2, n)) * size).astype(np.int64)
    whole = rng.random(n) < 1 / 3
    begin = np.where(whole, 0, ends.min(axis=0))
    end = np.where(whole, size, ends.max(axis=0) + 1)
    return first + begin, first + end


def _transition_moves(
    space: DesignSpace, rng: Random, mapping: IntArray
) -> tuple[BoolArray, IntArray, IntArray, IntArray]:
    """For each row a transition point drawn at random and moved by up to three groups: whether it
    has one, and begin, end and unit of the groups that change sides."""
    change = (mapping[:, 1:] != mapping[:, :-1]) & (space.owner[1:] == space.owner[:-1])
    cut = np.where(change, rng.random(change.shape, np.float32), -1.0).argmax(axis=1) + 1
    n = np.arange(len(mapping))
    distance = rng.integers(1, 4, len(mapping))
    right = rng.random(len(mapping)) < 0.5
    network = space.owner[cut]
    first, size = space.first[network], space.size[network]
    begin = np.where(right, cut, np.maximum(cut - distance, first))
    end = np.where(right, np.minimum(cut + distance, first + size), cut)
    unit = mapping[n, np.where(right, cut - 1, cut)]
    return change[n, cut - 1], begin, end, unit


def _reclocked(space: DesignSpace, rng: Random, rows: IntArray, step: BoolArray) -> IntArray:
    """One clock of each row a point or two up or down where ``step``, else drawn anew, its fastest
    point a third of the time."""
    n = len(rows)
    domain = space.free_domains[rng.integers(0, len(space.free_domains), n)]
    gene, count = space.groups + domain, space.point_count[domain]
    # A domain that was off has point 0, which may not be allowed: it counts as the nearest.
    here = space.place_of_point[domain, rows[np.arange(n), gene]]
    way = STEPS[rng.integers(0, len(STEPS), n)]
    outside = (here + way < 0) | (here + way >= count)
    stepped = np.clip(np.where(outside, here - way, here + way), 0, count - 1)
    drawn = (rng.random(n) * count).astype(np.int64)
    drawn = np.where(rng.random(n) < 1 / 3, count - 1, drawn)
    rows[np.arange(n), gene] = space.point_at[domain, np.where(step, stepped, drawn)]
    return rows

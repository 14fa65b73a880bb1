"""Crossover and mutation of whole arrays of rows that know what a mapping looks like.

A network's mapping is a sequence of stretches on one unit each; good mappings have few. So parents
exchange stretches, and mutations move a transition point, run a stretch on another unit, or step a
clock, rather than change single genes at random.
"""

from __future__ import annotations

import numpy as np

from dse.design_space import DesignSpace, Random
from results.problem import IntArray


def segment_crossover(
    space: DesignSpace, rng: Random, first: IntArray, second: IntArray
) -> tuple[IntArray, IntArray]:
    """Two children for each pair of parents [n, width]: in every network a random stretch of groups
    (often none or all of it) changes sides, and so does each clock with even odds."""
    n, networks = len(first), len(space.problem.networks)
    position = np.arange(space.groups) - space.first[space.owner]
    ends = np.sort(rng.integers(0, space.size[:, None] + 1, (n, networks, 2)), axis=2)
    whole = rng.random((n, networks))
    ends[:, :, 0] = np.where(whole < 0.5, 0, ends[:, :, 0])
    ends[:, :, 1] = np.where(whole < 0.25, space.size, ends[:, :, 1])
    keep = rng.random((n, networks)) < 0.3
    ends[:, :, 1] = np.where(keep, ends[:, :, 0], ends[:, :, 1])
    swap = np.empty((n, space.width), dtype=np.bool_)
    begin, end = ends[:, space.owner, 0], ends[:, space.owner, 1]
    swap[:, : space.groups] = (position >= begin) & (position < end)
    swap[:, space.groups :] = rng.random((n, space.width - space.groups)) < 0.5
    return np.where(swap, second, first), np.where(swap, first, second)


def mutate(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Each row [n, width] gets one or two of: a moved transition point, a stretch on another unit,
    a single group on another unit, a stepped clock, a clock drawn anew."""
    rows = rows.copy()
    moves = [_move_transition, _remap_stretch, _remap_group]
    weights = [0.4, 0.4, 0.2]
    if len(space.free_domains):
        moves += [_step_clock, _draw_clock]
        weights = [0.25, 0.25, 0.1, 0.3, 0.1]
    edges = np.cumsum(weights)
    for share in (1.0, 0.4):
        kind = np.searchsorted(edges, rng.random(len(rows)) * edges[-1], side="right")
        active = rng.random(len(rows)) < share
        for index, move in enumerate(moves):
            chosen = np.flatnonzero(active & (kind == index))
            if len(chosen):
                rows[chosen] = move(space, rng, rows[chosen])
    return rows


def _one_network(space: DesignSpace, rng: Random, n: int) -> tuple[IntArray, IntArray]:
    """For each of n rows a network drawn at random: its first group and its size."""
    network = rng.integers(0, len(space.problem.networks), n)
    return space.first[network], space.size[network]


def _assign(space: DesignSpace, rows: IntArray, inside: np.ndarray, unit: IntArray) -> IntArray:
    """Puts the groups ``inside`` [n, groups] on ``unit`` [n] where they may run there."""
    may = space.problem.allowed[:, unit].T
    mapping = rows[:, : space.groups]
    rows[:, : space.groups] = np.where(inside & may, unit[:, None], mapping)
    return rows


def _move_transition(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Moves one transition point by up to three groups; rows without one get a new stretch."""
    if space.groups == 1:
        return _remap_stretch(space, rng, rows)
    mapping = rows[:, : space.groups]
    same_network = space.owner[1:] == space.owner[:-1]
    change = (mapping[:, 1:] != mapping[:, :-1]) & same_network
    with_change = change.any(axis=1)
    without = np.flatnonzero(~with_change)
    if len(without):
        rows[without] = _remap_stretch(space, rng, rows[without])
    n = len(rows)
    cut = np.where(change, rng.random(change.shape), -1.0).argmax(axis=1) + 1
    distance = rng.integers(1, 4, n)
    right = rng.random(n) < 0.5
    begin = np.where(right, cut, cut - distance)
    end = np.where(right, cut + distance, cut)
    unit = np.where(right, mapping[np.arange(n), cut - 1], mapping[np.arange(n), cut])
    position = np.arange(space.groups)
    inside = (position >= begin[:, None]) & (position < end[:, None])
    inside &= space.owner == space.owner[cut][:, None]
    return _assign(space, rows, inside & with_change[:, None], unit)


def _remap_stretch(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Runs a random stretch of one network on a random unit; a third of the time all of it."""
    n = len(rows)
    first, size = _one_network(space, rng, n)
    ends = np.sort(rng.integers(0, size[:, None] + 1, (n, 2)), axis=1)
    whole = rng.random(n) < 1 / 3
    begin = np.where(whole, 0, ends[:, 0])
    end = np.where(whole, size, ends[:, 1])
    position = np.arange(space.groups) - first[:, None]
    inside = (position >= begin[:, None]) & (position < end[:, None])
    return _assign(space, rows, inside, rng.integers(0, len(space.problem.units), n))


def _remap_group(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Runs one group on a random unit."""
    n = len(rows)
    inside = np.arange(space.groups) == rng.integers(0, space.groups, n)[:, None]
    return _assign(space, rows, inside, rng.integers(0, len(space.problem.units), n))


def _clock_genes(
    space: DesignSpace, rng: Random, rows: IntArray
) -> tuple[IntArray, IntArray, list[IntArray]]:
    """A domain with a choice for each row, its gene, and the rows of each such domain."""
    domain = space.free_domains[rng.integers(0, len(space.free_domains), len(rows))]
    return domain, space.groups + domain, [np.flatnonzero(domain == d) for d in space.free_domains]


def _step_clock(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Moves one clock one or two points up or down its ladder."""
    _, gene, members = _clock_genes(space, rng, rows)
    step = rng.choice(np.array([-2, -1, 1, 2]), len(rows))
    for d, chosen in zip(space.free_domains, members, strict=True):
        points = space.points[d]
        # A domain that was off has point 0, which may not be allowed: it counts as the nearest.
        at = np.minimum(np.searchsorted(points, rows[chosen, gene[chosen]]), len(points) - 1)
        rows[chosen, gene[chosen]] = points[np.clip(at + step[chosen], 0, len(points) - 1)]
    return rows


def _draw_clock(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Draws one clock anew; its fastest point a third of the time."""
    _, gene, members = _clock_genes(space, rng, rows)
    draw, fastest = rng.random(len(rows)), rng.random(len(rows)) < 1 / 3
    for d, chosen in zip(space.free_domains, members, strict=True):
        points = space.points[d]
        at = (draw[chosen] * len(points)).astype(np.int64)
        at = np.where(fastest[chosen], len(points) - 1, at)
        rows[chosen, gene[chosen]] = points[at]
    return rows

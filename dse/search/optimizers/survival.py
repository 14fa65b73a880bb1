"""Survival and tournament selection of NSGA-II, vectorised.

Deb, Pratap, Agarwal, Meyarivan: A fast and elitist multiobjective genetic algorithm, IEEE TEVC
6(2), 2002. Objectives are minimised; they are compared as floats, which decides what is tried next
and never what the front is. ``violation``: 0 for what keeps all constraints, else by how much it
does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common.arrays import FloatArray, IntArray
from dse.space.design_space import Random


@dataclass(frozen=True, eq=False)
class Survivors:
    """Positions of those that stay: feasible ones by rising rank, then the others."""

    chosen: IntArray
    """[at most size]"""
    crowding: FloatArray
    """[chosen]: distance to the neighbours within the rank; 0 where infeasible."""


def survive(objectives: FloatArray, violation: FloatArray, size: int) -> Survivors:
    """The ``size`` best of n: feasible before infeasible, these by violation, those by rank, and
    of the last rank that fits in part the least crowded ones."""
    import moocore

    feasible = np.flatnonzero(violation <= 0.0)
    rest = np.flatnonzero(violation > 0.0)
    kept, crowding = feasible[:0], np.zeros(0)
    if len(feasible):
        rank = moocore.pareto_rank(objectives[feasible]).astype(np.int64)
        order = np.argsort(rank, kind="stable")
        last = rank[order[min(size, len(order)) - 1]]
        order = order[: np.searchsorted(rank[order], last, side="right")]
        distance = crowding_distances(objectives[feasible[order]], rank[order])
        certain = int(np.searchsorted(rank[order], last))
        best = certain + np.argsort(-distance[certain:], kind="stable")[: size - certain]
        kept = feasible[np.concatenate((order[:certain], order[best]))]
        crowding = np.concatenate((distance[:certain], distance[best]))
    missing = size - len(kept)
    if missing > 0 and len(rest):
        rest = rest[np.argsort(violation[rest], kind="stable")[:missing]]
        kept = np.concatenate((kept, rest))
        crowding = np.concatenate((crowding, np.zeros(len(rest))))
    return Survivors(kept.astype(np.int64), crowding)


def crowding_distances(values: FloatArray, rank: IntArray) -> FloatArray:
    """[n]: for each row of ``values`` [n, m] the mean over the objectives of the distance between
    its two neighbours of the same rank, as a share of that rank's range. ``rank`` rises.

    Infinite at the ends of a range and in ranks of one or two; an objective that is the same in all
    of a rank counts 0.
    """
    count, width = values.shape
    distance = np.zeros(count)
    first = np.ones(count, dtype=np.bool_)
    first[1:] = rank[1:] != rank[:-1]
    last = np.append(first[1:], True)
    members = np.diff(np.append(np.flatnonzero(first), count))
    for column in values.T:
        # Rows of a rank stay together, so ``first`` and ``last`` hold for the sorted ones, too.
        order = np.lexsort((column, rank))
        value = column[order]
        span = np.repeat(value[last] - value[first], members)
        step = np.diff(value)
        after = np.where(last, np.inf, np.append(step, np.inf))
        before = np.where(first, np.inf, np.append(np.inf, step))
        flat = span == 0.0
        span[flat] = 1.0
        distance[order] += np.where(flat, 0.0, before / span + after / span)
    distance /= width
    return np.where(np.repeat(members, members) <= 2, np.inf, distance)


def tournament(
    rng: Random, objectives: FloatArray, violation: FloatArray, crowding: FloatArray, count: int
) -> IntArray:
    """[count]: winners of pairs drawn at random. The smaller violation wins where there is any;
    else the one that dominates the other, else the less crowded one, else either."""
    from dse.search.optimizers.selection_jit import choose_winners

    size = len(objectives)
    rounds = -(-2 * count // size)
    drawn = np.concatenate([rng.permutation(size) for _ in range(rounds)])[: 2 * count]
    winners = np.empty(count, dtype=np.int64)
    choose_winners(objectives, violation, crowding, drawn, rng.random(count), winners)
    return winners

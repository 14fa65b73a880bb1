"""Survival and tournament selection of NSGA-II, and rows that were proposed before, vectorised.

Deb, Pratap, Agarwal, Meyarivan: A fast and elitist multiobjective genetic algorithm, IEEE TEVC
6(2), 2002. Objectives are minimised. They are compared as floats, which decides which rows are
tried next and never which are in the front. ``violation``: 0 for rows that keep all constraints,
else a measure of the excess.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import BoolArray, FloatArray, IntArray
from paretosoc.dse.space.design_space import Random


@dataclass(frozen=True, eq=False)
class Survivors:
    """Positions of those that stay: feasible ones by rising rank, then the others."""

    chosen: IntArray
    """[at most size]"""
    crowding: FloatArray
    """[chosen]: mean distance between the neighbours within the rank, as a share of its range. It
    is infinite at the ends, and 0 if infeasible."""


def survive(objectives: FloatArray, violation: FloatArray, size: int) -> Survivors:
    """Return the ``size`` best of the rows of ``objectives`` [n, m].

    Feasible rows come before infeasible ones, which are ordered by ``violation`` [n]. Feasible ones
    are ordered by rank. Of the last rank, which fits only in part, the least crowded survive.
    """
    from paretosoc.dse.search.optimizers.selection_jit import choose_survivors

    count = len(objectives)
    chosen = np.empty(min(size, count), dtype=np.int64)
    crowding = np.empty(len(chosen))
    choose_survivors(
        objectives,
        violation[:, None],
        size,
        np.empty((5, count), dtype=np.int64),
        np.empty((count, 1)),
        chosen,
        crowding,
    )
    return Survivors(chosen, crowding)


def tournament(
    rng: Random, objectives: FloatArray, violation: FloatArray, crowding: FloatArray, count: int
) -> IntArray:
    """Return [count]: winners of pairs drawn at random.

    The smaller violation wins if there is any. Otherwise the row that dominates the other wins,
    else the less crowded one, else either.
    """
    from paretosoc.dse.search.optimizers.selection_jit import choose_winners

    size = len(objectives)
    rounds = -(-2 * count // size)
    drawn = np.concatenate([rng.permutation(size) for _ in range(rounds)])[: 2 * count]
    winners = np.empty(count, dtype=np.int64)
    choose_winners(objectives, violation, crowding, drawn, rng.random(count), winners)
    return winners


Hashes = NDArray[np.uint64]

SLOTS = 1 << 20
"""Entries remembered. A newer one may replace an older one, whose row may then come again."""
SHIFT = 64 - (SLOTS - 1).bit_length()
"""A hash shifted by this many bits is its slot."""


class SeenRows:
    """A set of rows that may forget, and may take one row in 2^64 for another."""

    def __init__(self, width: int) -> None:
        # A fixed seed: hashes are the same in every process.
        factors = np.random.default_rng(width).integers(0, 1 << 64, width, np.uint64)
        self._factors: Hashes = factors | np.uint64(1)
        self._table: Hashes = np.zeros(SLOTS, dtype=np.uint64)

    def first_seen(self, rows: IntArray) -> BoolArray:
        """Return [n]: whether rows [n, width] are new, the first of equal ones. Remember them."""
        from paretosoc.dse.search.optimizers.selection_jit import mark_new

        new = np.zeros(len(rows), dtype=np.bool_)
        mark_new(np.ascontiguousarray(rows), self._factors, self._table, SHIFT, new)
        return new

    @property
    def entries(self) -> Hashes:
        """Return the remembered hashes."""
        kept: Hashes = self._table[self._table != 0]
        return kept

    @entries.setter
    def entries(self, hashes: Hashes) -> None:
        self._table[:] = 0
        self._table[self._slots(hashes)] = hashes

    def _slots(self, hashes: Hashes) -> NDArray[np.intp]:
        return (hashes >> np.uint64(SHIFT)).astype(np.intp)

"""Survival in NSGA-II, and rows that were proposed before.

Deb, Pratap, Agarwal, Meyarivan: A fast and elitist multiobjective genetic algorithm, IEEE TEVC
6(2), 2002. Objectives are minimised. They are compared as floats, which decides which rows are
tried next and never which are in the front. ``violation``: 0 for rows that keep all constraints,
else a measure of the excess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import BoolArray, FloatArray, IntArray
from paretosoc.dse.search.optimizers.selection_jit import SHIFT, SLOTS, choose_survivors, mark_new


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


Hashes = NDArray[np.uint64]
ATTEMPTS = 20
"""Draws in a row without a new row before there are taken to be none."""


class SeenRows:
    """A set of rows that may forget, and may take one row in 2^64 for another."""

    def __init__(self, width: int) -> None:
        # A fixed seed: hashes are the same in every process.
        factors = np.random.default_rng(width).integers(0, 1 << 64, width, np.uint64)
        self.factors: Hashes = factors | np.uint64(1)
        """[width]: of the genes in a row's hash."""
        self.table: Hashes = np.zeros(SLOTS, dtype=np.uint64)
        """Hashes, 0 if there is none."""

    def first_seen(self, rows: IntArray) -> BoolArray:
        """Return [n]: whether rows [n, width] are new, the first of equal ones. Remember them."""
        new = np.zeros(len(rows), dtype=np.bool_)
        mark_new(np.ascontiguousarray(rows), self.factors, self.table, new)
        return new

    def new_of(self, draw: Callable[[], IntArray]) -> IntArray:
        """Return the new rows of a draw. Draw again if it has none, at most ``ATTEMPTS`` times."""
        for _ in range(ATTEMPTS):
            rows = draw()
            rows = rows[self.first_seen(rows)]
            if len(rows):
                break
        return rows

    @property
    def entries(self) -> Hashes:
        """Return the remembered hashes."""
        kept: Hashes = self.table[self.table != 0]
        return kept

    @entries.setter
    def entries(self, hashes: Hashes) -> None:
        self.table[:] = 0
        self.table[(hashes >> np.uint64(SHIFT)).astype(np.intp)] = hashes

"""Rows that were proposed before, by 64-bit hashes: vectorised, in bounded memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import BoolArray, IntArray

Hashes = NDArray[np.uint64]

SLOTS = 1 << 20
"""Entries remembered; a newer one may take an older one's place, whose row may then come again."""
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
        """[n]: True for rows [n, width] that are new, the first of equal ones; now they are not."""
        from paretosoc.dse.search.optimizers.selection_jit import mark_new

        new = np.zeros(len(rows), dtype=np.bool_)
        mark_new(np.ascontiguousarray(rows), self._factors, self._table, SHIFT, new)
        return new

    @property
    def entries(self) -> Hashes:
        """What is remembered."""
        kept: Hashes = self._table[self._table != 0]
        return kept

    @entries.setter
    def entries(self, hashes: Hashes) -> None:
        self._table[:] = 0
        self._table[self._slots(hashes)] = hashes

    def _slots(self, hashes: Hashes) -> NDArray[np.intp]:
        return (hashes >> np.uint64(SHIFT)).astype(np.intp)

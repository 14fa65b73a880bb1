"""New rows, and the better of two parents. Compiled."""

import numpy as np

from paretosoc.fitness.simulator.jit import jit

SLOTS = 1 << 20
"""Hashes of rows remembered. A newer one may replace an older one, whose row may then come
again."""
SHIFT = 64 - (SLOTS - 1).bit_length()
"""A hash shifted by this many bits is its slot."""


@jit
def mark_new(rows, factors, table, new):
    """Set ``new`` [n] if a row is not in ``table``, and put it there."""
    for r in range(rows.shape[0]):
        new[r] = is_new(rows[r], factors, table)


@jit
def is_new(row, factors, table):
    """Return whether the hash of a row is not in its place of ``table``, and put it there.

    A hash is a sum of multiples of the genes by ``factors`` [width] modulo 2^64, and never 0.
    """
    value = np.uint64(0)
    for g in range(row.shape[0]):
        value += np.uint64(row[g]) * factors[g]
    value = max(value, np.uint64(1))
    slot = np.int64(value >> np.uint64(SHIFT))
    new = table[slot] != value
    table[slot] = value
    return new


@jit
def wins(objectives, violation, crowding, a, b, coin):
    """Return whether row ``a`` wins a tournament against row ``b``.

    The smaller violation wins if there is any. Otherwise the row that dominates the other wins,
    else the larger crowding distance, else ``coin`` decides.
    """
    if violation[a] != violation[b]:
        return violation[a] < violation[b]
    if violation[a] > 0.0:
        return coin
    a_first, b_first = True, True
    for c in range(objectives.shape[1]):
        a_first &= objectives[a, c] <= objectives[b, c]
        b_first &= objectives[b, c] <= objectives[a, c]
    if a_first != b_first:
        return a_first
    if crowding[a] != crowding[b]:
        return crowding[a] > crowding[b]
    return coin

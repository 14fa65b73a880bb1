"""Which rows are new, and which of two is the better parent; compiled."""

import numpy as np

from fitness.simulator.jit import jit


@jit
def mark_new(rows, factors, table, shift, new):
    """Sets ``new`` [n] where the hash of a row is not in its place of ``table``, and puts it there.
    A hash is a sum of multiples of the genes by ``factors`` [width] modulo 2^64, and never 0."""
    for r in range(rows.shape[0]):
        value = np.uint64(0)
        for g in range(rows.shape[1]):
            value += np.uint64(rows[r, g]) * factors[g]
        value = max(value, np.uint64(1))
        slot = np.int64(value >> np.uint64(shift))
        new[r] = table[slot] != value
        table[slot] = value


@jit
def choose_winners(objectives, violation, crowding, drawn, coin, winners):
    """Fills ``winners`` [n] from the pairs ``drawn`` [2 n]: the smaller violation where there is
    any, else the one that dominates the other, else the larger crowding distance, else by
    ``coin``."""
    for pair in range(winners.shape[0]):
        a, b = drawn[2 * pair], drawn[2 * pair + 1]
        a_first, b_first = True, True
        for c in range(objectives.shape[1]):
            a_first &= objectives[a, c] <= objectives[b, c]
            b_first &= objectives[b, c] <= objectives[a, c]
        first = coin[pair] > 0.5
        if violation[a] != violation[b]:
            first = violation[a] < violation[b]
        elif violation[a] > 0.0:
            pass
        elif a_first != b_first:
            first = a_first
        elif crowding[a] != crowding[b]:
            first = crowding[a] > crowding[b]
        winners[pair] = a if first else b

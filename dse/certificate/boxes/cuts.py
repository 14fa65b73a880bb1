"""The best multipliers for one corner of one box by a linear program with cuts.

Least sums over mappings are concave in the weights, the right sides of configurations are convex.
The program maximises the least sums over the mappings found so far. The configurations found so
far, and every time that the corner leaves, limit the right side to 1. Each round asks both sides at
a point between its optimum and the best weights so far, which settles sooner than the optimum
itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.multipliers.arrays import BoxArrays
from paretosoc.fitness.multipliers.structure import Networks, Scratch

MAX_ROUNDS = 60
INWARDS = 0.8
"""From the optimum of the program towards the best weights so far."""
CONFIGURATIONS_EACH = 3


def optimise_shares(
    networks: Sequence[Networks],
    arrivals: FloatArray,
    box: BoxArrays,
    space: FloatArray,
    allowed: FloatArray,
    sides: FloatArray,
    makespan: float,
    kinds: int,
    start: FloatArray,
    accuracy: float,
    scratch: Scratch,
) -> FloatArray:
    """Return the best shares [resources] of ``space`` [resources], beginning with ``start``.

    Args:
        networks: one for each network, without arrivals.
        arrivals: [resources]: the use of arrivals, whatever the mapping.
        allowed: [rows, resources]: the room left at each time that counts. The first class of
            demand has the time itself.
        sides: [rows]: 1, or 0 if a row has the growth with the time.
        makespan: the time of ``space``.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    from paretosoc.fitness.multipliers.kernels import LARGE, least_sum

    count, parts = len(space), len(networks)
    limited = space > 0
    per_share = np.divide(1.0, space, out=np.zeros(count), where=limited)
    of_kinds = slice(1, 1 + kinds)
    lost = makespan * per_share[0] * box.lost_mw
    # Variables: shares, allowances of configurations, least sums.
    rows, limits = [], sides.tolist()
    for room in allowed:
        row = np.zeros(count + 1 + parts)
        row[:count] = room * per_share
        row[of_kinds] = 0.0
        row[count] = room[1] / makespan
        rows.append(row)
    for k in range(1, 1 + kinds):
        # A class that runs alone loses nothing.
        row = np.zeros(count + 1 + parts)
        row[[k, count]] = 1.0, -1.0
        rows.append(row)
        limits.append(0.0)
    objective = np.zeros(count + 1 + parts)
    objective[:count] = -arrivals * per_share
    objective[count + 1 :] = -1.0
    used = np.zeros(count)
    best, shares = -1.0, start
    at = start
    for _ in range(MAX_ROUNDS):
        left = -objective[:count] @ at
        for n, network in enumerate(networks):
            found = least_sum(network, box, at * per_share, kinds, scratch, used)
            left += found
            if found >= LARGE:
                return start
            row = np.zeros(count + 1 + parts)
            row[:count] = -used * per_share
            row[count + 1 + n] = 1.0
            rows.append(row)
            limits.append(0.0)
        values = (box.rate * at[1 + box.running]).sum(axis=1) - at[0] * lost
        largest = values.max()
        for c in np.argsort(values)[-CONFIGURATIONS_EACH:]:
            row = np.zeros(count + 1 + parts)
            np.add.at(row, 1 + box.running[c], box.rate[c])
            row[0] -= lost[c]
            row[count] = -1.0
            rows.append(row)
            limits.append(0.0)
        rights = [row[:count] @ at + row[count] * largest for row in rows[: len(allowed)]]
        right = max(value for value, side in zip(rights, limits, strict=False) if side)
        if right > 0 and left / right > best:
            best, shares = left / right, at / right
        solved = linprog(
            objective,
            A_ub=csr_array(np.array(rows)),
            b_ub=np.array(limits),
            bounds=[(0.0, 1e3 * is_limited) for is_limited in limited]
            + [(None, None)]
            + [(None, 1e3)] * parts,
            method="highs-ds",
            options={"presolve": False},
        )
        if solved.x is None or -solved.fun < best * (1 + accuracy):
            break
        at = INWARDS * shares + (1 - INWARDS) * np.maximum(solved.x[:count], 0.0)
    return shares

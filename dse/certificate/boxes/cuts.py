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
    from paretosoc.dse.certificate.boxes.highs import Program
    from paretosoc.fitness.multipliers.kernels import LARGE, least_sum

    count, parts = len(space), len(networks)
    limited = space > 0
    per_share = np.divide(1.0, space, out=np.zeros(count), where=limited)
    of_kinds = slice(1, 1 + kinds)
    lost = makespan * per_share[0] * box.lost_mw
    # Variables: shares, allowances of configurations, least sums.
    program = Program()
    columns = np.arange(count + 1 + parts, dtype=np.int32)

    def limit(row: FloatArray, most: float) -> None:
        held = columns[row != 0]
        program.addRow(-np.inf, most, len(held), held, row[held])

    objective = np.zeros(count + 1 + parts)
    objective[:count] = -arrivals * per_share
    objective[count + 1 :] = -1.0
    program.addCols(
        len(columns),
        objective,
        np.concatenate((np.zeros(count), np.full(1 + parts, -np.inf))),
        np.concatenate((1e3 * limited, [np.inf], np.full(parts, 1e3))),
        *(0, columns[:0], columns[:0], objective[:0]),
    )
    times = []
    for room, side in zip(allowed, sides.tolist(), strict=True):
        row = np.zeros(count + 1 + parts)
        row[:count] = room * per_share
        row[of_kinds] = 0.0
        row[count] = room[1] / makespan
        times.append((row, side))
        limit(row, side)
    for k in range(1, 1 + kinds):
        # A class that runs alone loses nothing.
        row = np.zeros(count + 1 + parts)
        row[[k, count]] = 1.0, -1.0
        limit(row, 0.0)
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
            limit(row, 0.0)
        values = (box.rate * at[1 + box.running]).sum(axis=1) - at[0] * lost
        largest = values.max()
        for c in np.argsort(values)[-CONFIGURATIONS_EACH:]:
            row = np.zeros(count + 1 + parts)
            np.add.at(row, 1 + box.running[c], box.rate[c])
            row[0] -= lost[c]
            row[count] = -1.0
            limit(row, 0.0)
        right = max(row[:count] @ at + row[count] * largest for row, side in times if side)
        if right > 0 and left / right > best:
            best, shares = left / right, at / right
        # It goes on from the optimum without the new rows.
        program.run()
        solution = program.getSolution()
        if not solution.value_valid or -program.getObjectiveValue() < best * (1 + accuracy):
            break
        found_shares = np.array(solution.col_value[:count])
        at = INWARDS * shares + (1 - INWARDS) * np.maximum(found_shares, 0.0)
    return shares

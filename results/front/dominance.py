"""Dominance of objective vectors: the front, its knee, and its hypervolume.

All objectives are minimised. Those of fronts are integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import FloatArray, IntArray

Values = IntArray | FloatArray
Rows = TypeVar("Rows", IntArray, FloatArray)


def non_dominated(objectives: Values) -> IntArray:
    """Return indices of the non-dominated rows of ``objectives`` [n, m], rising.

    A row is dominated if another is not larger in any column and smaller in one. Of equal rows the
    first one stays. Exact, for all int64 and floats."""
    count, width = objectives.shape
    if count == 0 or width == 0:
        return np.arange(min(count, 1), dtype=np.int64)
    # np.lexsort sorts by its last key first and is stable, so of equal rows the first comes first.
    order = np.lexsort(objectives.T[::-1])
    rows = objectives[order]
    fresh = np.ones(count, dtype=np.bool_)
    fresh[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    order, rows = order[fresh], rows[fresh]
    if width <= 2:
        # Rows are sorted: those whose last value is below all before them.
        below = rows[1:, -1] < np.minimum.accumulate(rows[:, -1])[:-1]
        kept = np.flatnonzero(np.concatenate(([True], below)))
    else:
        kept = _survivors(rows)
    return np.sort(order[kept]).astype(np.int64)


def _survivors(rows: Values) -> NDArray[np.intp]:
    """Return the positions of non-dominated rows, which are different."""
    import moocore

    # Ranks compare as the values do, and are exact as floats.
    ranks = [np.unique(column, return_inverse=True)[1] for column in rows.T]
    return np.flatnonzero(moocore.is_nondominated(np.stack(ranks, axis=1).astype(np.float64)))


def knee(objectives: IntArray) -> int:
    """Return the index of the knee of a front [n, m], n >= 1: the row furthest towards the ideal
    point from the line (plane) between the extremes, in coordinates normalised to [0, 1] (Das,
    1999).

    In these coordinates the line is x + y = 1, so the knee is the row with the least sum. Computed
    exactly. The first row wins a tie.

    Raises:
        ValueError: if there is no row.
    """
    if len(objectives) == 0:
        raise ValueError("a knee needs one objective vector at least, got none")
    columns = [[int(value) for value in column] for column in objectives.T]
    lows = [min(column) for column in columns]
    spans = [max(column) - low for column, low in zip(columns, lows, strict=True)]
    # Sum of (value - low) / span over a common denominator. A span of 0 adds nothing.
    product = 1
    for span in spans:
        product *= span or 1
    weights = [product // span if span else 0 for span in spans]
    sums = [
        sum((value - low) * weight for value, low, weight in zip(row, lows, weights, strict=True))
        for row in zip(*columns, strict=True)
    ]
    return sums.index(min(sums))


def nadir(objectives: Values) -> Values:
    """Return the largest value [m] of each objective over the non-dominated rows of [n, m], n >=
    1."""
    worst: Values = objectives[non_dominated(objectives)].max(axis=0)
    return worst


def reference_point(objectives: Values) -> FloatArray:
    """Return 1.1 x the nadir [m]. If that is negative (a maximised rate), the point is as far
    beyond it."""
    worst = nadir(objectives).astype(np.float64)
    return worst + 0.1 * np.abs(worst)


def hypervolume(objectives: Values, reference: FloatArray | None = None) -> float:
    """Return the volume that the rows [n, m] dominate up to ``reference`` [m], by default
    :func:`reference_point`. Rows beyond it count nothing."""
    if reference is None and len(objectives):
        reference = reference_point(objectives)
    if reference is not None:
        objectives = objectives[(objectives < reference).all(axis=1)]
    if len(objectives) == 0:
        return 0.0
    rows = objectives.astype(np.float64)
    if reference is not None and rows.shape[1] == 2:
        # Strips from left to right. moocore alone would take 40 ms to load.
        x, y = rows[np.lexsort(rows.T[::-1])].T
        lowest = np.minimum.accumulate(y)
        return float(np.diff(x, append=reference[0]) @ (reference[1] - lowest))
    import moocore

    return float(moocore.hypervolume(rows, ref=reference))


def hypervolume_shares(fronts: Sequence[Rows]) -> list[float]:
    """Return each hypervolume as a share of that of all fronts, up to 1.1 x their nadir, or 1 if
    that has no extent."""
    together: Rows = np.concatenate(fronts)
    together = together[non_dominated(together)]
    reference = reference_point(together)
    whole = hypervolume(together, reference)
    return [hypervolume(front, reference) / whole if whole else 1.0 for front in fronts]

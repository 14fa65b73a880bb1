"""The rows that join a front, and those that leave it. Compiled."""

import numpy as np

from paretosoc.fitness.simulator.jit import jit


@jit
def join_front(front, rows, may_join, stays, joins):
    """Mark the rows of ``front`` that stay and those of ``rows`` that join it. Return how many
    join.

    No row of ``front`` [m, objectives] dominates another. Of equal ``rows`` [n, objectives] that
    ``may_join`` [n] the first joins.
    """
    joined = np.int64(0)
    for m in range(front.shape[0]):
        stays[m] = True
    for r in range(rows.shape[0]):
        joins[r] = may_join[r] and not (
            _is_covered(front, front.shape[0], stays, rows, r)
            or _is_covered(rows, r, joins, rows, r)
        )
        if joins[r]:
            joined += 1
            joined -= _drop_covered(rows, r, joins, rows, r)
            _drop_covered(front, front.shape[0], stays, rows, r)
    return joined


@jit
def _is_covered(front, count, inside, rows, r):
    """Return whether one of the first ``count`` rows of ``front`` that are ``inside`` covers row
    ``r``."""
    m = np.int64(0)
    while m < count and not (inside[m] and _covers(front, m, rows, r)):
        m += 1
    return m < count


@jit
def _drop_covered(front, count, inside, rows, r):
    """Take out of the first ``count`` rows of ``front`` those that row ``r`` covers."""
    dropped = np.int64(0)
    for m in range(count):
        if inside[m] and _covers(rows, r, front, m):
            inside[m] = False
            dropped += 1
    return dropped


@jit
def _covers(these, a, those, b):
    """Return whether no entry of row ``a`` of ``these`` is above that of row ``b`` of ``those``."""
    c = np.int64(0)
    while c < these.shape[1] and these[a, c] <= those[b, c]:
        c += 1
    return c == these.shape[1]

"""Which rows join a front, and which leave it; compiled."""

import numpy as np

from paretosoc.fitness.simulator.jit import jit


@jit
def join_front(front, rows, stays, joins):
    """Marks which of ``front`` [m, objectives], where no row dominates another, stay, and which of
    ``rows`` [n, objectives] join it; of equal rows the first. Returns how many join."""
    joined = np.int64(0)
    for m in range(front.shape[0]):
        stays[m] = True
    for r in range(rows.shape[0]):
        joins[r] = not (
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
    """Whether one of the first ``count`` rows of ``front`` that are ``inside`` is nowhere larger
    than row ``r``."""
    m = np.int64(0)
    while m < count and not (inside[m] and _covers(front, m, rows, r)):
        m += 1
    return m < count


@jit
def _drop_covered(front, count, inside, rows, r):
    """Takes out of the first ``count`` rows of ``front`` those that row ``r`` covers."""
    dropped = np.int64(0)
    for m in range(count):
        if inside[m] and _covers(rows, r, front, m):
            inside[m] = False
            dropped += 1
    return dropped


@jit
def _covers(these, a, those, b):
    """Whether row ``a`` of ``these`` is nowhere larger than row ``b`` of ``those``."""
    c = np.int64(0)
    while c < these.shape[1] and these[a, c] <= those[b, c]:
        c += 1
    return c == these.shape[1]

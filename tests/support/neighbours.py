"""The neighbours of rows, as the local search of NSGA-II draws them."""

import numpy as np

from paretosoc.dse.space.neighbourhood_jit import draw_neighbours

MOST = 100_000


def neighbours(space, rng, rows, most=MOST):
    """Return at most this many neighbours of rows [n, width], repaired."""
    wanted, at, source = (np.empty(size, dtype=np.int64) for size in (most, 2, most))
    near = np.empty((most, space.width), dtype=np.int64)
    stream = rng.integers(1 << 63, size=1, dtype=np.uint64)
    count = draw_neighbours(space.tables, stream, rows, wanted, at, near, source)
    return space.repair(rng, near[:count], space.domains_used(rows)[source[:count]])

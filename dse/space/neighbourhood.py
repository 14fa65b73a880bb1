"""Neighbourhoods of design points for local search on the front."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.space.design_space import DesignSpace, Random


def neighbours(
    space: DesignSpace, rng: Random, rows: IntArray, *, most: int | None = None
) -> IntArray:
    """Rows one change away from ``rows`` [n, width]: one group, or one segment, on another unit; a
    transition point moved by two or three groups; two units exchanged, in all networks or in one;
    one clock moved by one or two points or to an end; two clocks moved by one point each.

    Repaired, so some may be equal to each other or to what they came from. ``most``: of more
    changes this many are drawn.
    """
    rows = np.ascontiguousarray(rows)
    count = count_neighbours(space, rows)
    wanted = np.arange(count)
    if most is not None and count > most:
        wanted = np.sort(rng.choice(count, most, replace=False))
    near, source = _enumerated(space, rows, wanted)[1:]
    return space.repair(rng, near, space.domains_used(rows)[source])


def count_neighbours(space: DesignSpace, rows: IntArray) -> int:
    """How many neighbours rows [n, width] have in all."""
    return _enumerated(space, rows, np.zeros(0, dtype=np.int64))[0]


def _enumerated(
    space: DesignSpace, rows: IntArray, wanted: IntArray
) -> tuple[int, IntArray, IntArray]:
    """How many changes there are, the wanted ones as rows [wanted, width], not repaired, and the
    rows that they come from [wanted]."""
    from paretosoc.dse.space.neighbourhood_jit import enumerate_neighbours

    near = np.empty((len(wanted), space.width), dtype=np.int64)
    at, source = np.empty(2, dtype=np.int64), np.empty(len(wanted), dtype=np.int64)
    enumerate_neighbours(space.tables, rows, wanted, at, near, source)
    return int(at[0]), near, source

"""Crossover and mutation of rows that know what a mapping looks like.

A network's mapping is a sequence of segments on one unit each; good mappings have few. So parents
exchange segments, and mutations move a transition point, run a segment on another unit, or step a
clock, rather than change single genes at random. :mod:`dse.space.operators_jit` does the work.
"""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.space.design_space import DesignSpace, Random, drawn_seed


def segment_crossover(
    space: DesignSpace, rng: Random, first: IntArray, second: IntArray
) -> tuple[IntArray, IntArray]:
    """Two children for each pair of parents [n, width]: in every network a random segment of groups
    (often none or all of it) changes sides, and so does each clock with even odds. A clock that
    only one parent has a use for comes from that parent."""
    from paretosoc.dse.space.operators_jit import cross_rows

    a, b = np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)
    cross_rows(space.tables, drawn_seed(rng), a, b, *space.scratch)
    return a, b


def mutate(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Each row [n, width] gets one or two of: a moved transition point, a segment on another unit,
    a single group on another unit, a stepped clock, a clock redrawn."""
    from paretosoc.dse.space.operators_jit import mutate_rows

    rows = np.array(rows, dtype=np.int64)
    mutate_rows(space.tables, drawn_seed(rng), rows, space.scratch.stream)
    return rows


def breed(
    space: DesignSpace,
    rng: Random,
    rows: IntArray,
    parents: IntArray,
    *,
    crossover_rate: float,
    mutations: int,
) -> IntArray:
    """[parents, width]: children of each two of ``parents``, an even number of positions in
    ``rows`` [n, width]: crossed at that rate, mutated this often, and repaired."""
    from paretosoc.dse.space.operators_jit import breed as breed_rows

    children = np.empty((len(parents), space.width), dtype=np.int64)
    breed_rows(
        space.tables,
        space.plan,
        drawn_seed(rng),
        rows,
        parents,
        crossover_rate,
        mutations,
        children,
        *space.scratch,
    )
    return children

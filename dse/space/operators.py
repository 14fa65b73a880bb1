"""Crossover and mutation of rows that respect the structure of mappings.

A network's mapping is a sequence of segments on one unit each, and good mappings have few. So
parents exchange segments, and mutations move a transition point, run a segment on another unit, or
step a clock, rather than change single genes at random. The work is done by
:mod:`dse.space.operators_jit`.
"""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.space.design_space import DesignSpace, Random, drawn_seed


def segment_crossover(
    space: DesignSpace, rng: Random, first: IntArray, second: IntArray
) -> tuple[IntArray, IntArray]:
    """Return two children for each pair of parents [n, width].

    In every network a random segment of groups (often none or all of it) changes sides, and so does
    each clock with even odds. A clock that only one parent has a use for comes from that parent.
    """
    from paretosoc.dse.space.operators_jit import cross_rows

    a, b = np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)
    cross_rows(space.tables, drawn_seed(rng), a, b)
    return a, b


def mutate(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Return rows [n, width] with one or two mutations each.

    A mutation moves a transition point, puts a segment or a single group on another unit, steps a
    clock, or redraws one.
    """
    from paretosoc.dse.space.operators_jit import mutate_rows

    rows = np.array(rows, dtype=np.int64)
    mutate_rows(space.tables, drawn_seed(rng), rows)
    return rows

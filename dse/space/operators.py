"""Crossover, mutation and neighbourhoods of rows that respect the structure of mappings.

A network's mapping is a sequence of segments on one unit each, and good mappings have few. So
parents exchange segments, and mutations move a transition point, run a segment on another unit, or
step a clock, rather than change single genes at random. :mod:`dse.space.operators_jit` and
:mod:`dse.space.neighbourhood_jit` do the work.
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
    cross_rows(space.tables, drawn_seed(rng), a, b, *space.scratch)
    return a, b


def mutate(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Return rows [n, width] with one or two mutations each.

    A mutation moves a transition point, puts a segment or a single group on another unit, steps a
    clock, or redraws one.
    """
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
    """Return [parents, width]: children of each two of ``parents``, repaired.

    ``parents`` is an even number of positions in ``rows`` [n, width]. Children are crossed at
    ``crossover_rate`` and mutated ``mutations`` times.
    """
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


def neighbours(
    space: DesignSpace, rng: Random, rows: IntArray, *, most: int | None = None
) -> IntArray:
    """Return rows one change away from ``rows`` [n, width], repaired.

    A change puts one group, or one segment, on another unit, moves a transition point by two or
    three groups, exchanges two units in all networks or in one, moves one clock by one or two
    points or to an end, or moves two clocks by one point each.

    After the repair some may equal each other or their original. ``most``: if there are more
    changes, this many are drawn.
    """
    rows = np.ascontiguousarray(rows)
    count = count_neighbours(space, rows)
    wanted = np.arange(count)
    if most is not None and count > most:
        wanted = np.sort(rng.choice(count, most, replace=False))
    near, source = _enumerated(space, rows, wanted)[1:]
    return space.repair(rng, near, space.domains_used(rows)[source])


def count_neighbours(space: DesignSpace, rows: IntArray) -> int:
    """Return the number of all neighbours of rows [n, width]."""
    return _enumerated(space, rows, np.zeros(0, dtype=np.int64))[0]


def _enumerated(
    space: DesignSpace, rows: IntArray, wanted: IntArray
) -> tuple[int, IntArray, IntArray]:
    """Return the number of changes, the wanted ones as rows [wanted, width], and their original
    rows.

    The rows are not repaired.
    """
    from paretosoc.dse.space.neighbourhood_jit import enumerate_neighbours

    near = np.empty((len(wanted), space.width), dtype=np.int64)
    at, source = np.empty(2, dtype=np.int64), np.empty(len(wanted), dtype=np.int64)
    enumerate_neighbours(space.tables, rows, wanted, at, near, source)
    return int(at[0]), near, source

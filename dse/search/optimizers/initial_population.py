"""The obvious answers, so that no search ends behind them."""

from __future__ import annotations

import itertools

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.base import clipped_times
from paretosoc.dse.baselines.evaluate_all import baseline_rows
from paretosoc.dse.search.surrogate.free_running_seeds import free_running_seeds
from paretosoc.dse.search.surrogate.load_balancing import balanced_rows
from paretosoc.dse.space.design_space import DesignSpace, Random, unique_rows

BALANCED = 60
"""Balanced rows, at most."""
MAX_ASSIGNMENTS = 64
"""Maximum number of assignments of networks to units for which all are tried."""


def heuristic_seeds(space: DesignSpace) -> IntArray:
    """Return rows of simple mappings, each at the fastest, the slowest and three clocks between.

    The mappings are each unit alone, each network on its best unit, every group on its fastest
    unit, and, if these are few, whole networks on units in every way.
    """
    problem = space.problem
    units = range(len(problem.units))
    networks = len(problem.networks)
    mappings = [_whole_networks(space, [u] * networks) for u in units]
    best = [_fastest_unit(space, n) for n in range(networks)]
    mappings += [_whole_networks(space, best), space.best_unit]
    if len(problem.units) ** networks <= MAX_ASSIGNMENTS:
        mappings += [
            _whole_networks(space, list(choice))
            for choice in itertools.product(units, repeat=networks)
        ]
    clocks = [
        [points[round(share * (len(points) - 1))] for points in space.points]
        for share in (1.0, 0.0, 0.75, 0.5, 0.25)
    ]
    rows = [np.concatenate((mapping, chosen)) for chosen in clocks for mapping in mappings]
    return np.array(rows, dtype=np.int64)


def initial_population(space: DesignSpace, rng: Random, size: int) -> IntArray:
    """Return [at most size, width]: the rows to begin a search with, none twice.

    Up to half are, in this order, the rows that the search is to start from, seeds for networks
    that run freely, baselines, and heuristic rows. Then come ``BALANCED`` balanced rows, and random
    ones.

    Known rows, such as baselines, come as they are, and once more after repair for the constraints
    on the mapping.
    """
    known = baseline_rows(space)
    if not space.problem.execution.has_frame:
        known = np.concatenate((free_running_seeds(space, rng), known))
    if space.start is not None:
        known = np.concatenate((space.start, known))
    repaired = space.repair(rng, np.concatenate((known, heuristic_seeds(space))))
    obvious = np.concatenate((known, repaired))
    obvious = obvious[unique_rows(obvious)][: size - size // 2]
    balanced = space.repair(rng, balanced_rows(space, rng, min(BALANCED, size - len(obvious))))
    rows = np.concatenate((obvious, balanced, space.random(rng, 2 * size)))
    return rows[unique_rows(rows)][:size]


def _fastest_unit(space: DesignSpace, network: int) -> int:
    """Return the unit on which the whole network is fastest. Groups that it cannot run count with
    their own fastest unit."""
    begin, end = space.first[network], space.first[network] + space.size[network]
    return int(clipped_times(space)[begin:end].sum(axis=0).argmin())


def _whole_networks(space: DesignSpace, units: list[int]) -> IntArray:
    """Return [groups]: network n on ``units[n]``. Repair moves groups that cannot run there."""
    return np.array(units, dtype=np.int64)[space.owner]

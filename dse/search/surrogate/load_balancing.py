"""Mappings that balance the work by an estimate, as a start for searches and as one of their moves.

At given clocks no mapping ends before the largest load of a unit, nor before the longest network
has gone through its groups and transitions. Weights p_u on the units and q_n on the networks, all
of them adding up to 1, make one bound of that: the sum over groups of (p_u + q_n) x time, plus q_n
x transitions. The best mapping of each network minimises its part alone, by dynamic programming
along its groups. Weights that grow with the loads and paths that they multiply (multiplicative
weights: Arora, Hazan, Kale 2012) raise the bound round by round, and mappings near it appear on the
way. Contention and queueing are left to the evaluation.
"""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.search.surrogate.load_balancing_jit import (
    FIRST_ENTRY,
    Balance,
    fill_costs,
    map_chains,
    measure_mappings,
)
from paretosoc.dse.space.design_space import DesignSpace, Random

ROUNDS = 6


def balanced_rows(space: DesignSpace, rng: Random, count: int) -> IntArray:
    """Return [count, width]: the best of ``ROUNDS`` mappings at clocks drawn at random.

    They are not repaired. Energy is of random importance.
    """
    settings = np.arange(len(space.points))
    # The larger of two draws: fast clocks more often.
    drawn = rng.random((2, count, len(settings))).max(axis=0)
    points = space.point_at[settings, (drawn * space.point_count).astype(np.int64)]
    rows = np.concatenate((np.zeros((count, space.groups), np.int64), points), axis=1)
    balance = make_balance(space, count)
    fill_costs(space.plan, space.tables, rows, balance)
    importance = rng.random(count) ** 2
    networks, units = len(space.first), len(space.problem.units)
    weights = np.full((count, units + networks), 1.0 / (units + networks))
    entry = np.full((count, units), FIRST_ENTRY)
    best = np.full(count, np.inf)
    mapping, found = np.zeros((2, count, space.groups), dtype=np.int64)
    row, network = np.repeat(np.arange(count), networks), np.tile(np.arange(networks), count)
    usual = balance.usual[row]
    slow = (1.0 - importance[row]) / usual[:, 0]
    lengths, energy, crowded = balance.lengths, balance.total, balance.crowded
    for _ in range(ROUNDS):
        path = slow * weights[row, units + network]
        map_chains(
            found,
            row,
            space.first[network],
            space.size[network],
            balance,
            slow[:, None] * weights[row, :units] + path[:, None],
            importance[row] / usual[:, 1],
            path,
            entry,
        )
        measure_mappings(space.tables, found, balance)
        value = (1.0 - importance) * lengths.max(axis=1) + importance * energy
        value += np.maximum(crowded.max(axis=1) - 1.0, 0.0)
        better = value < best
        best[better], mapping[better] = value[better], found[better]
        weights *= np.exp(lengths / lengths.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        entry *= np.exp(np.clip(crowded, 0.0, 2.0) - 1.0)
    return np.concatenate((mapping, points), axis=1)


def make_balance(space: DesignSpace, rows: int) -> Balance:
    """Return the tables and scratch arrays for a number of rows of which networks are mapped."""
    groups, units = space.problem.allowed.shape
    networks = len(space.first)
    # If no segment is allowed, one counts as twice too many.
    most = [
        np.inf if unit.max_segments is None else max(unit.max_segments, 0.5)
        for unit in space.problem.units
    ]
    return Balance(
        time=np.empty((rows, groups, units)),
        energy=np.empty((rows, groups, units)),
        usual=np.empty((rows, 2)),
        lengths=np.empty((rows, units + networks)),
        total=np.empty(rows),
        crowded=np.empty((rows, units)),
        most=np.array(most, dtype=np.float64),
        transition_before=space.transition_before,
        time_share=np.empty(units),
        entry=np.empty(units),
        sums=np.empty((2, units)),
        came_from=np.empty((groups, units), dtype=np.int64),
    )

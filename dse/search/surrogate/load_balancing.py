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

from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.space.design_space import DesignSpace, Random

ROUNDS = 6
FIRST_ENTRY = 0.01
"""Cost of entering a unit at first. If segments are limited it grows while there are too many, and
otherwise it shrinks to nothing."""
SHARPNESS = (1.0, 20.0)
"""Between these: how much the largest load of a mapping dominates its weights."""


def balanced_rows(space: DesignSpace, rng: Random, count: int) -> IntArray:
    """Return [count, width]: the best of ``ROUNDS`` mappings at clocks drawn at random.

    They are not repaired. Energy is of random importance.
    """
    settings = np.arange(len(space.points))
    # The larger of two draws: fast clocks more often.
    drawn = rng.random((2, count, len(settings))).max(axis=0)
    points = space.point_at[settings, (drawn * space.point_count).astype(np.int64)]
    costs = _Costs.at(space, np.concatenate((np.zeros((count, space.groups), np.int64), points), 1))
    importance = rng.random(count) ** 2
    networks, units = len(space.first), len(space.problem.units)
    weights = np.full((count, units + networks), 1.0 / (units + networks))
    entry = np.full((count, units), FIRST_ENTRY)
    best = np.full(count, np.inf)
    mapping = np.zeros((count, space.groups), dtype=np.int64)
    every = np.repeat(np.arange(count), networks), np.tile(np.arange(networks), count)
    for _ in range(ROUNDS):
        found = np.empty_like(mapping)
        costs.map_networks(found, *every, weights, importance, entry)
        lengths, energy, crowded = costs.lengths(found)
        value = (1.0 - importance) * lengths.max(axis=1) + importance * energy
        value += np.maximum(crowded.max(axis=1) - 1.0, 0.0)
        better = value < best
        best[better], mapping[better] = value[better], found[better]
        weights *= np.exp(lengths / lengths.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        entry *= np.exp(np.clip(crowded, 0.0, 2.0) - 1.0)
    return np.concatenate((mapping, points), axis=1)


def rebalanced_rows(space: DesignSpace, rng: Random, rows: IntArray) -> IntArray:
    """Return the rows [n, width] with one network each remapped, not repaired.

    The network gets its best mapping under weights that represent the loads of the row. Energy is
    of random importance.
    """
    costs = _Costs.at(space, rows)
    mapping = rows[:, : space.groups].copy()
    lengths, _, crowded = costs.lengths(mapping)
    low, high = SHARPNESS
    sharpness = low * (high / low) ** rng.random((len(rows), 1))
    weights = np.exp(sharpness * (lengths / lengths.max(axis=1, keepdims=True) - 1.0))
    weights /= weights.sum(axis=1, keepdims=True)
    importance = rng.random(len(rows)) ** 2
    # A unit that nothing more may begin on is dear.
    entry = FIRST_ENTRY * rng.random((len(rows), 1)) * np.where(crowded >= 1.0, 20.0, 1.0)
    network = rng.integers(0, len(space.first), len(rows))
    costs.map_networks(mapping, np.arange(len(rows)), network, weights, importance, entry)
    return np.concatenate((mapping, rows[:, space.groups :]), axis=1)


@dataclass(frozen=True, eq=False)
class _Costs:
    """Costs at n choices of clocks, as shares of usual costs, so that they can be added."""

    space: DesignSpace
    time: FloatArray
    """[n, groups, units]: in ps, infinite if not allowed."""
    energy: FloatArray
    """[n, groups, units]: above idle, infinite if not allowed."""
    usual: FloatArray
    """[n, 2]: time and energy of all groups on their best units."""

    @classmethod
    def at(cls, space: DesignSpace, rows: IntArray) -> _Costs:
        """Return the costs at the clocks of rows [n, width]."""
        from paretosoc.dse.search.surrogate.load_balancing_jit import fill_costs

        shape = len(rows), *space.problem.allowed.shape
        costs = cls(space, np.empty(shape), np.empty(shape), np.empty((len(rows), 2)))
        rows = np.ascontiguousarray(rows)
        fill_costs(space.plan, space.tables, rows, costs.time, costs.energy, costs.usual)
        return costs

    def map_networks(
        self,
        mapping: IntArray,
        row: IntArray,
        network: IntArray,
        weights: FloatArray,
        importance: FloatArray,
        entry: FloatArray,
    ) -> None:
        """Sets, in ``mapping`` [n, groups], the groups of ``network`` [k] in ``row`` [k] to the
        cheapest units under weights [n, units + networks], with ``importance`` [n] of energy and
        ``entry`` [n, units] to be paid for each segment."""
        from paretosoc.dse.search.surrogate.load_balancing_jit import map_chains

        space, units = self.space, len(self.space.problem.units)
        slow = (1.0 - importance[row])[:, None]
        path = slow * weights[row, units + network, None]
        load = slow * weights[row, :units] + path
        usual = self.usual[row]
        map_chains(
            mapping,
            row,
            space.first[network],
            space.size[network],
            self.time,
            self.energy,
            space.transition_before,
            load / usual[:, :1],
            importance[row] / usual[:, 1],
            path[:, 0] / usual[:, 0],
            entry,
            np.empty((2, units)),
            np.empty((space.groups, units), dtype=np.int64),
        )

    def lengths(self, mapping: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return loads and path lengths, energies, and segments of mappings [n, groups].

        They are [n, units + networks], [n], and [n, units] as shares of the most allowed.
        """
        from paretosoc.dse.search.surrogate.load_balancing_jit import measure_mappings

        space, count = self.space, len(mapping)
        units, networks = len(space.problem.units), len(space.first)
        # If no segment is allowed, one counts as twice too many.
        most = [
            np.inf if unit.max_segments is None else max(unit.max_segments, 0.5)
            for unit in space.problem.units
        ]
        found = np.empty((count, units + networks)), np.empty(count), np.empty((count, units))
        measure_mappings(
            space.tables,
            mapping,
            self.time,
            self.energy,
            self.usual,
            space.transition_before,
            np.array(most),
            *found,
        )
        return found

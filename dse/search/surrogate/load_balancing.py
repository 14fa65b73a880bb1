"""Mappings that share the work out well on paper, as a start for searches and as a move of theirs.

At given clocks no mapping ends before the largest load of a unit, nor before the longest network
has gone through its groups and transitions. Weights p_u on the units and q_n on the networks, all
of them adding up to 1, make of that one bound: the sum over groups of (p_u + q_n) x time, plus
q_n x transitions, which the best mapping of each network minimises alone, by dynamic programming
along its groups. Weights that grow with what they weigh (multiplicative weights: Arora, Hazan,
Kale 2012) raise the bound round by round, and mappings near it appear on the way. Contention and
queueing are left to the evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from common.arrays import FloatArray, IntArray
from dse.space.design_space import DesignSpace, Random
from results.problem.problem import ProblemUnit

ROUNDS = 6
FIRST_ENTRY = 0.01
"""What entering a unit costs at first; where segments are limited it grows while they are too many,
and else it shrinks away."""
SHARPNESS = (1.0, 20.0)
"""Between these: how much the largest load of a mapping dominates its weights."""


def balanced_rows(space: DesignSpace, rng: Random, count: int) -> IntArray:
    """[count, width]: clocks drawn at random, energy of random importance, and for these the best
    of ``ROUNDS`` mappings; not repaired."""
    domains = np.arange(len(space.problem.domains))
    # The larger of two draws: fast clocks more often.
    drawn = rng.random((2, count, len(domains))).max(axis=0)
    points = space.point_at[domains, (drawn * space.point_count).astype(np.int64)]
    costs = _Costs(space, points)
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
    """The same rows [n, width], one network each remapped: what is best for it under weights
    that represent the loads of the row; energy is of random importance. Not repaired."""
    costs = _Costs(space, rows[:, space.groups :])
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
    """Costs at n choices of clocks, as shares of what is usual, so that they can be added."""

    space: DesignSpace
    points: IntArray
    """[n, domains]"""

    @cached_property
    def _time(self) -> FloatArray:
        """[n, groups, units]: in ps; infinite where not allowed."""
        allowed = self.space.problem.allowed
        table = np.empty((len(self.points), *allowed.shape))
        for u, unit in enumerate(self.space.problem.units):
            table[:, :, u] = unit.time_ps[self._at(unit)].T
        table[:, ~allowed] = np.inf
        return table

    @cached_property
    def _energy(self) -> FloatArray:
        """[n, groups, units]: above idle; infinite where not allowed."""
        power = np.ones_like(self._time)
        for u, unit in enumerate(self.space.problem.units):
            power[:, :, u] = np.maximum(unit.dynamic_mw[self._at(unit)].T, 1)
        return self._time * power

    def _at(self, unit: ProblemUnit) -> tuple[Any, ...]:
        """Where the unit's tables hold the costs of all groups at the n choices."""
        return (slice(None), *(self.points[:, clock] for clock in unit.clocks))

    @cached_property
    def _usual(self) -> tuple[FloatArray, FloatArray]:
        """[n, 1, 1] each: what all groups take on their best units, in time and in energy."""
        time, energy = (
            np.maximum(table.min(axis=2).sum(axis=1), 1.0)[:, None, None]
            for table in (self._time, self._energy)
        )
        return time, energy

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
        from dse.search.surrogate.load_balancing_jit import map_chains

        space, units = self.space, len(self.space.problem.units)
        first, size = space.first[network], space.size[network]
        slow = (1.0 - importance[row])[:, None]
        path = slow * weights[row, units + network, None]
        load = slow * weights[row, :units] + path
        energy_share = importance[row, None] / self._usual[1][row, 0]
        time_share = load / self._usual[0][row, 0]
        along = path[:, 0] / self._usual[0][row, 0, 0]
        map_chains(
            mapping,
            row,
            first,
            size,
            self._time,
            self._energy,
            space.transition_before,
            time_share,
            energy_share[:, 0],
            along,
            entry,
            np.empty((2, units)),
            np.empty((space.groups, units), dtype=np.int64),
        )

    def lengths(self, mapping: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """([n, units + networks] loads and path lengths, [n] energies, [n, units] segments as
        shares of the most allowed) of mappings [n, groups]."""
        space = self.space
        problem, groups = space.problem, np.arange(space.groups)
        row = np.arange(len(mapping))[:, None]
        time = self._time[row, groups, mapping] / self._usual[0][:, :, 0]
        units = range(len(problem.units))
        on = [mapping == u for u in units]
        loads = np.stack([np.where(on[u], time, 0.0).sum(axis=1) for u in units], axis=1)
        before = np.roll(mapping, 1, axis=1)
        moving = space.transition_before[groups, before, mapping] / self._usual[0][:, :, 0]
        paths = np.add.reduceat(time + moving, space.first, axis=1)
        begins = np.ones(mapping.shape, dtype=np.bool_)
        same_network = space.owner[1:] == space.owner[:-1]
        begins[:, 1:] = (mapping[:, 1:] != mapping[:, :-1]) | ~same_network
        # Of none allowed, one is twice too many.
        limits = np.array(
            [np.inf if u.max_segments is None else max(u.max_segments, 0.5) for u in problem.units]
        )
        segments = np.stack([(begins & on[u]).sum(axis=1) for u in units], axis=1)
        return (
            np.concatenate((loads, paths), axis=1),
            self._energy[row, groups, mapping].sum(axis=1) / self._usual[1][:, 0, 0],
            segments / limits,
        )

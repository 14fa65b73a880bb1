"""Mappings that share the work out well on paper, as a start for searches.

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
from typing import Any

import numpy as np

from dse.design_space import DesignSpace, Random
from results.dominance import FloatArray
from results.problem import IntArray

ROUNDS = 12
FIRST_ENTRY = 0.01
"""What entering a unit costs at first; where segments are limited it grows while they are too many,
and else it shrinks away."""
STEP = 1.0
"""Growth of the weight of what is as large as the largest, per round, in the exponent."""


def balanced_rows(space: DesignSpace, rng: Random, count: int) -> IntArray:
    """[count, width]: clocks drawn at random, energy of random importance, and for these the best
    of ``ROUNDS`` mappings; not repaired."""
    domains = np.arange(len(space.problem.domains))
    # The larger of two draws: fast clocks more often.
    drawn = rng.random((2, count, len(domains))).max(axis=0)
    places = (drawn * space.point_count).astype(np.int64)
    points = space.point_at[domains, places]
    costs = _costs(space, points)
    importance = rng.random(count) ** 2
    networks, units = len(space.first), len(space.problem.units)
    weights = np.full((count, units + networks), 1.0 / (units + networks))
    limits = np.array([unit.max_segments or np.inf for unit in space.problem.units])
    entry = np.full((count, units), FIRST_ENTRY)
    best = np.full(count, np.inf)
    mapping = np.zeros((count, space.groups), dtype=np.int64)
    for _ in range(ROUNDS):
        found = _best_paths(space, costs, weights, importance, entry)
        lengths, energy = _lengths(space, costs, found)
        crowded = _segments(space, found) / limits
        value = (1.0 - importance) * lengths.max(axis=1) + importance * energy
        value += np.maximum(crowded.max(axis=1) - 1.0, 0.0)
        better = value < best
        best[better], mapping[better] = value[better], found[better]
        weights *= np.exp(STEP * lengths / lengths.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        entry *= np.exp(np.clip(crowded, 0.0, 2.0) - 1.0)
    return np.concatenate((mapping, points), axis=1)


@dataclass(frozen=True, eq=False)
class _Costs:
    """Costs at n choices of clocks, as shares of what is usual, so that they can be added."""

    time: FloatArray
    """[n, groups, units]; infinite where not allowed."""
    energy: FloatArray
    """[n, groups, units]; above idle."""
    transition: FloatArray
    """[n, groups, units, units]: from the group before, where that is an edge, else 0."""


def _costs(space: DesignSpace, points: IntArray) -> _Costs:
    problem = space.problem
    shape = (len(points), space.groups, len(problem.units))
    time, energy = np.empty(shape), np.empty(shape)
    for u, unit in enumerate(problem.units):
        at: tuple[Any, ...] = (slice(None), *(points[:, clock] for clock in unit.clocks))
        time[:, :, u] = unit.time_ps[at].T
        energy[:, :, u] = time[:, :, u] * unit.dynamic_mw[at].T
    # What all groups take on their best units: one for times and transitions, one for energies.
    allowed = problem.allowed[None]
    usual_time = np.where(allowed, time, np.inf).min(axis=2).sum(axis=1)
    usual_energy = np.where(allowed, energy, np.inf).min(axis=2).sum(axis=1)
    transition = np.zeros((space.groups, shape[2], shape[2]))
    for edge, (source, target) in enumerate(problem.edges):
        if source == target - 1:
            transition[target] = problem.transition_ps[edge]
    scale = np.maximum(usual_time, 1.0)[:, None, None]
    return _Costs(
        time=np.where(allowed, time / scale, np.inf),
        energy=energy / np.maximum(usual_energy, 1.0)[:, None, None],
        transition=transition[None] / scale[..., None],
    )


def _best_paths(
    space: DesignSpace,
    costs: _Costs,
    weights: FloatArray,
    importance: FloatArray,
    entry: FloatArray,
) -> IntArray:
    """[n, groups]: for each network the cheapest units under the weights [n, units + networks]."""
    units = costs.time.shape[2]
    p, q = weights[:, None, :units], weights[:, units:]
    slow = (1.0 - importance)[:, None, None]
    along = q[:, space.owner, None]
    node = slow * (p + along) * costs.time + importance[:, None, None] * costs.energy
    edge = (slow * along)[..., None] * costs.transition
    n, networks, most = len(weights), len(space.first), int(space.size.max())
    # All networks step by step together; a network that has ended keeps what it has.
    total = node[:, space.first] + entry[:, None]
    entering = entry[:, None, None, :] * ~np.eye(units, dtype=np.bool_)
    came_from = np.zeros((most, n, networks, units), dtype=np.int64)
    came_from[:] = np.arange(units)
    for step in range(1, most):
        going = np.flatnonzero(space.size > step)
        group = space.first[going] + step
        reached = total[:, going, :, None] + edge[:, group] + entering
        came_from[step][:, going] = reached.argmin(axis=2)
        total[:, going] = reached.min(axis=2) + node[:, group]
    mapping = np.empty((n, space.groups), dtype=np.int64)
    unit = total.argmin(axis=2)
    for step in range(most - 1, -1, -1):
        going = np.flatnonzero(space.size > step)
        mapping[:, space.first[going] + step] = unit[:, going]
        unit = np.take_along_axis(came_from[step], unit[..., None], axis=2)[..., 0]
    return mapping


def _segments(space: DesignSpace, mapping: IntArray) -> FloatArray:
    """[n, units]: stretches of groups on each unit."""
    begins = np.ones(mapping.shape, dtype=np.bool_)
    same_network = space.owner[1:] == space.owner[:-1]
    begins[:, 1:] = (mapping[:, 1:] != mapping[:, :-1]) | ~same_network
    units = range(len(space.problem.units))
    return np.stack([(begins & (mapping == u)).sum(axis=1) for u in units], axis=1).astype(
        np.float64
    )


def _lengths(space: DesignSpace, costs: _Costs, mapping: IntArray) -> tuple[FloatArray, FloatArray]:
    """([n, units + networks] loads and path lengths, [n] energies) of mappings [n, groups]."""
    n, units = len(mapping), costs.time.shape[2]
    rows = np.arange(n)[:, None]
    groups = np.arange(space.groups)
    time = costs.time[rows, groups, mapping]
    before = np.roll(mapping, 1, axis=1)
    moving = np.broadcast_to(costs.transition, (n, *costs.transition.shape[1:]))[
        rows, groups, before, mapping
    ]
    loads = [np.where(mapping == u, time, 0.0).sum(axis=1) for u in range(units)]
    paths = np.add.reduceat(time + moving, space.first, axis=1)
    lengths = np.concatenate((np.stack(loads, axis=1), paths), axis=1)
    return lengths, costs.energy[rows, groups, mapping].sum(axis=1)

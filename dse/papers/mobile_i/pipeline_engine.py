"""``--engine mobile-i``: mappings that balance the units' loads, as Mobile-I's initial schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.search.archive import Archive
from paretosoc.dse.search.base import EngineState, generator_from, state_of
from paretosoc.dse.search.optimizers.selection import SeenRows
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes
from paretosoc.results.problem.limits import constraints_of

BATCH = 200
WAYS = 3
"""Row i of a batch is placed in way i modulo this: longest first, dearest second best first, by
prices."""
ROUNDS = 30
"""Rounds in which prices change."""
SPREAD = 0.3
"""Standard deviation of the logarithms by which units count as slower or faster than they are."""
FASTEST = 0.25
"""Share of proposals at the fastest clocks."""
STAY = 0.5
"""Share of proposals at the clocks of a member of the front, one of which may move."""


class MobileIEngine:
    """Algorithm III.1 on units that are not alike.

    The longest group comes first, onto the unit that its time at the chosen clocks loads least. The
    algorithm places all groups at any clocks, and retiming keeps their dependences. The search
    covers choices that the paper does not have: the clocks, and the weights of each unit and of the
    memory bandwidth that a group asks for, which makes room for contention. Units differ, so there
    are two more ways to share the work out, and in all of them groups leave the busiest unit while
    that helps. The driver has the timeline judge the rows. Some are at the fastest clocks, the
    others at random ones, later half of these next to those of the front.
    """

    name = "mobile-i"

    def __init__(self, space: DesignSpace, *, seed: int, batch: int = BATCH) -> None:
        self._space = space
        self._batch = batch
        self._rng = np.random.default_rng(seed)
        self._seen = SeenRows(space.width)
        self._archive = Archive(
            space.width, len(space.problem.objectives), len(constraints_of(space.problem))
        )

    def ask(self) -> IntArray:
        """Return the next rows, or none if no new one was drawn."""
        return self._seen.new_of(self._proposals)

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Continue at the clocks of the front's members."""
        self._archive.add(rows, outcomes)

    def _proposals(self) -> IntArray:
        space, rng, n = self._space, self._rng, self._batch
        settings = np.arange(len(space.points))
        places = (rng.random((n, len(settings))) * space.point_count).astype(np.int64)
        spread = rng.random((n, 1)) * SPREAD
        fast = rng.random(n) < FASTEST
        if len(self._archive.rows) == 0:
            # The times as they are, too, in every way of placing.
            fast[:WAYS] = True
            spread[:WAYS] = 0.0
        points = space.point_at[settings, places]
        if len(self._archive.rows):
            near = np.flatnonzero(rng.random(n) < STAY)
            member = rng.integers(0, len(self._archive.rows), len(near))
            points[near] = self._archive.rows[member, space.groups :]
            moved = rng.random((len(near), len(settings))) < 0.5 / len(settings)
            points[near] = np.where(moved, space.point_at[settings, places[near]], points[near])
        points[fast] = space.point_at[settings, space.point_count - 1]
        weights = np.exp(rng.standard_normal((n, len(space.problem.units))) * spread)
        bandwidth = rng.random((n, 1, 1)) * spread[:, :, None] * rng.integers(0, 2, (n, 1, 1))
        mapping = self._balanced(points, weights, bandwidth)
        rows = np.concatenate((mapping, points), axis=1)
        return space.repair(rng, rows)

    def _balanced(self, points: IntArray, weights: FloatArray, bandwidth: FloatArray) -> IntArray:
        """Return [n, groups]: Algorithm III.1 at operating points [n, domains], units slower by
        ``weights`` [n, units], groups by their share of the largest demand times ``bandwidth`` [n,
        1, 1]."""
        space = self._space
        n, groups, units = len(points), space.groups, len(space.problem.units)
        time = np.empty((n, groups, units))
        demand = np.empty_like(time)
        for u, unit in enumerate(space.problem.units):
            at: tuple[Any, ...] = (slice(None), *(points[:, clock] for clock in unit.clocks))
            time[:, :, u] = unit.time_ps[at].T
            demand[:, :, u] = unit.demand_kbps[at].T
        demand /= np.maximum(demand.max(axis=(1, 2), keepdims=True), 1.0)
        repeats = np.array([network.repeats for network in space.problem.networks])[space.owner]
        cost = time * weights[:, None, :] * (1.0 + bandwidth * demand) * repeats[:, None]
        cost[:, ~space.problem.allowed] = np.inf
        every = np.arange(n)
        load = np.zeros((n, units))
        mapping = np.empty((n, groups), dtype=np.int64)
        order = self._order(cost)
        for step in range(groups):
            group = order[:, step]
            reached = load + cost[every, group]
            unit_of = reached.argmin(axis=1)
            mapping[every, group] = unit_of
            load[every, unit_of] = reached[every, unit_of]
        priced = every % WAYS == WAYS - 1
        mapping[priced], load[priced] = _by_prices(cost[priced])
        _move_while_it_helps(mapping, cost, load)
        return mapping

    def _order(self, cost: FloatArray) -> IntArray:
        """Return [n, groups]: longest first, by the time on the best unit (Algorithm III.1, line
        1), every third row by the addition of the second best unit."""
        best = cost.min(axis=2)
        if cost.shape[2] > 1:
            second = np.partition(cost, 1, axis=2)[:, :, 1]
            finite = np.where(np.isfinite(second), second, 2.0 * best.sum(axis=1, keepdims=True))
            best[1::WAYS] = (finite - best)[1::WAYS]
        return np.argsort(-best, axis=1, kind="stable")

    def state(self) -> EngineState:
        """Return hashes of the rows drawn, and the front."""
        return EngineState(
            {"seen": self._seen.entries, **self._archive.arrays("archive_")}, state_of(self._rng)
        )

    def restore(self, state: EngineState) -> None:
        """Continue from a state."""
        self._seen.entries = state.array("seen", np.uint64, (None,))
        self._archive.restore(state, "archive_", self._space)
        self._rng = generator_from(state.generator)


def _by_prices(cost: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return units [n, groups] and loads [n, units] of the best of ``ROUNDS`` mappings. Every group
    goes where its time costs least, at prices of the units that rise and fall with their loads."""
    n, groups, units = cost.shape
    price = np.ones((n, units))
    mapping, load = np.zeros((n, groups), dtype=np.int64), np.full((n, units), np.inf)
    for step in range(ROUNDS):
        found = (cost * price[:, None, :]).argmin(axis=2)
        time = np.take_along_axis(cost, found[:, :, None], axis=2)[:, :, 0]
        loads = np.stack(
            [np.where(found == u, time, 0.0).sum(axis=1) for u in range(units)], axis=1
        )
        better = loads.max(axis=1) < load.max(axis=1)
        mapping[better], load[better] = found[better], loads[better]
        price *= np.exp(loads / loads.max(axis=1, keepdims=True) / (2.0 + step))
        price /= price.max(axis=1, keepdims=True)
    return mapping, load


def _move_while_it_helps(mapping: IntArray, cost: FloatArray, load: FloatArray) -> None:
    """Move groups off the unit with the largest load while that makes it smaller, one at a time."""
    n, groups, units = cost.shape
    rows = np.arange(n)
    for _ in range(groups):
        busiest = load[rows].argmax(axis=1)
        largest = load[rows, busiest]
        on_it = mapping[rows] == busiest[:, None]
        own = np.take_along_axis(cost[rows], busiest[:, None, None], axis=2)[:, :, 0]
        left = largest[:, None] - np.where(on_it, own, 0.0)
        reached = np.maximum(load[rows][:, None, :] + cost[rows], left[:, :, None])
        reached[~on_it] = np.inf
        np.put_along_axis(reached, busiest[:, None, None], np.inf, axis=2)
        choice = reached.reshape(len(rows), -1).argmin(axis=1)
        better = reached.reshape(len(rows), -1)[np.arange(len(rows)), choice] < largest
        rows, choice, busiest = rows[better], choice[better], busiest[better]
        if len(rows) == 0:
            return
        group, unit = choice // units, choice % units
        load[rows, busiest] -= cost[rows, group, busiest]
        load[rows, unit] += cost[rows, group, unit]
        mapping[rows, group] = unit

"""Prices of units' and networks' time that are worth trying in bounds of makespan and energy.

In any schedule every unit is busy, and every chain of groups runs, at most as long as the makespan
T. With prices w of units and v of chains, T times the sum of the prices is therefore at least the
priced time of all groups, with the transitions between those of chains. Prices in mW bound the
energy, too: it is at least the least sum of priced times and energies, less T times the sum of the
prices. The best prices are the optimum of a linear program. Multiplicative updates come near to it:
they raise the prices of what the cheapest mapping uses most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.branch_and_bound.choices import (
    PRICE_TIMES_TIME,
    chains_of,
    has_trade_off,
)
from paretosoc.fitness.multipliers.arrays import BoxArrayTables
from paretosoc.fitness.multipliers.structure import Networks, make_scratch
from paretosoc.results.problem.interchangeable import interchangeable_before
from paretosoc.results.problem.problem import Problem

MOST_PRICES = 6
SCALE = 1024
"""Prices are integers, and those of a row add up to about this."""
LEAST_GAIN = 1e-2
"""A row raises the mean bound of what may be left by this share at least."""
ROUNDS, STEP = 200, 0.5
LEVELS = (1.0, 0.75, 0.5, 0.25)
"""Shares of the networks that may be left. Some networks are one level behind the others."""
MOST_SUBSETS = 16
"""With more sets of networks that may be behind, only one network at a time is."""
ENERGY_ROUNDS, ENERGY_TURNS = 60, 5
ENERGY_RISE = 1.003
"""The bound of the energy is searched for again while it rises by this factor."""
FIRST_ENERGY_ROWS, MOST_ENERGY_ROWS = 8, 16
"""The first rows are for whole networks."""
LEAST_RISE = 5e-4
"""A row of energy raises the mean bound by this share of the best bound at least."""
LONGER = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0)
"""Makespans for rows of energy, over the bound of the makespan."""
LONGER_WHOLE = (1.02, 1.05, 1.1, 1.17, 1.25, 1.4, 1.7, 2.2, 3.0)
"""The same for whole networks."""
ALONE = (0.9, 0.5, 0.25)
"""Shares of one network that may be left if the others have ended."""


def load_prices(problem: Problem, objectives: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return rows: 1 if it is of energy, or 0; prices of every unit, number formats apart; prices
    of every network.

    They are the best ones for what is left of the networks at some points of the search. There are
    rows of energy if makespan and energy are the objectives.
    """
    rows = _rows_of_makespan(problem)
    return (*rows, *_rows_of_energy(problem)) if has_trade_off(problem, objectives) else rows


# One problem is searched again and again: in slices, for another claim, by another solver.
@lru_cache(maxsize=2)
def _rows_of_makespan(problem: Problem) -> tuple[tuple[int, ...], ...]:
    if _longest_ps(problem) > PRICE_TIMES_TIME // (2 * SCALE):
        return ()
    left = _Left(problem)
    shares = _what_may_be_left(len(problem.networks))
    states = [state for state in shares if any(left.groups_left(state))]
    rows = sorted({row for state in states if sum(row := left.best_prices(state))})
    if not rows:
        return ()
    values = np.array([[left.bound(row, state) for state in states] for row in rows])
    best, chosen = np.array([left.plain_bound(state) for state in states]), []
    for _ in range(MOST_PRICES):
        gains = (np.maximum(values, best) / best - 1.0).mean(axis=1)
        index = int(gains.argmax())
        if gains[index] < LEAST_GAIN:
            break
        chosen.append(rows[index])
        best = np.maximum(best, values[index])
    return tuple((0, *left.by_entry(row)) for row in chosen)


@lru_cache(maxsize=2)
def _rows_of_energy(problem: Problem) -> tuple[tuple[int, ...], ...]:
    longest, left = _longest_ps(problem), _Left(problem)
    makespan_rows = [left.by_unit(row[1:]) for row in _rows_of_makespan(problem)]
    found: list[tuple[tuple[float, ...], float]] = []
    rows: dict[tuple[int, ...], None] = {}
    all_left = (1.0,) * len(problem.networks)
    alone = tuple(tuple(r) for share in ALONE for r in share * np.eye(len(problem.networks)))
    states = dict.fromkeys((*_what_may_be_left(len(problem.networks)), *alone))
    for state in (state for state in states if any(left.groups_left(state))):
        bounds = [left.bound(row, state) for row in makespan_rows]
        shortest = max(left.plain_bound(state), *bounds, 0.0)
        for longer in LONGER_WHOLE if state == all_left else LONGER:
            row = left.best_energy_prices(state, longer * shortest)
            if 0 < 2 * sum(row) <= PRICE_TIMES_TIME // longest:
                found.append((state, longer * shortest))
                rows[row] = None
    if not rows:
        return ()
    candidates = list(rows)
    values = left.energies(candidates, found)
    values += left.idle_mw * np.array([makespan for _, makespan in found])
    none = left.energies([(0,) * len(candidates[0])], found)[0]
    best = none + left.idle_mw * np.array([makespan for _, makespan in found])
    top = np.maximum(values.max(axis=0), best)
    whole, chosen = np.array([state == all_left for state, _ in found]), []
    for turn in range(MOST_ENERGY_ROWS):
        counted = whole if turn < FIRST_ENERGY_ROWS and whole.any() else np.ones(len(found), bool)
        rise = (np.maximum(values, best) - best) / top
        rises = rise[:, counted].mean(axis=1)
        index = int(rises.argmax())
        if rises[index] >= LEAST_RISE:
            chosen.append(candidates[index])
            best = np.maximum(best, values[index])
    return tuple((1, *left.by_entry(row)) for row in chosen)


def _longest_ps(problem: Problem) -> int:
    """Return a time that no sum of executions, delays and arrivals exceeds."""
    slowest = [
        problem.frame_ps(u).reshape(problem.group_count, -1).max(axis=1)
        for u in range(len(problem.units))
    ]
    often = [problem.networks[problem.network_of[source]].repeats for source, _ in problem.edges]
    delays = problem.transition_ps.max(axis=(1, 2), initial=0)
    arrivals = sum(network.arrival_ps for network in problem.networks)
    return int(np.max(slowest, axis=0).sum()) + int(delays @ np.array(often, int)) + arrivals


def _what_may_be_left(networks: int) -> list[tuple[float, ...]]:
    """Return states: the share of every network that has not run yet. They progress together."""
    subsets = list(product((0.0, 0.25), repeat=networks)) if 1 << networks <= MOST_SUBSETS else []
    subsets = subsets or [(0.0,) * networks, *map(tuple, 0.25 * np.eye(networks))]
    states = [tuple(level - less for less in behind) for level in LEVELS for behind in subsets]
    return list(dict.fromkeys(states))


class _Left:
    """Bounds of the makespan of what is left of the networks."""

    def __init__(self, problem: Problem) -> None:
        groups, units = problem.group_count, len(problem.units)
        self._units = sorted(set(problem.unit_of))
        self._unit = [self._units.index(first) for first in problem.unit_of]
        self._groups = [network.groups for network in problem.networks]
        times = [problem.frame_ps(u).reshape(groups, -1).min(axis=1) for u in range(units)]
        self._fastest = np.where(problem.allowed, np.stack(times, axis=1), np.inf)
        counts = len(self._groups)
        self._chains = np.array(chains_of(problem))
        delays = np.zeros((groups, units, units))
        limits = np.full(counts, -1)
        for n in np.flatnonzero(self._chains).tolist():
            network = problem.networks[n]
            for e, (source, target) in enumerate(problem.edges):
                if source in network.groups:
                    delays[target] = network.repeats * problem.transition_ps[e]
            if network.max_transitions is not None:
                limits[n] = network.max_transitions
        self._networks = Networks(
            path=np.arange(groups),
            first=np.cumsum([0, *map(len, self._groups)]),
            beside=np.arange(0),
            transition_ps=delays,
            limit=limits,
            counts_segments=np.zeros(counts, dtype=np.int64),
            member=np.eye(counts),
            chain_end=np.arange(counts),
            arrival_ps=np.zeros(counts),
            unit_of=np.array(problem.unit_of),
            figure=np.zeros((0, groups, units)),
        )
        kinds = len(self._units)
        self._scratch = make_scratch(self._networks, kinds)
        self._box = BoxArrayTables(problem, ()).over(problem.allowed_points)
        self.idle_mw = self._box.idle_mw
        self._alike: list[list[int]] = []
        for place, unit in enumerate(self._units):
            before = interchangeable_before(problem)[unit]
            own = next((c for c in self._alike if before >= 0 and self._unit[before] in c), None)
            if own is None:
                self._alike.append([place])
            else:
                own.append(place)
        self._parts: dict[tuple[float, ...], Networks] = {}

    def best_prices(self, state: tuple[float, ...]) -> tuple[int, ...]:
        """Return near the best prices, of units and networks, for what a state leaves."""
        from paretosoc.fitness.multipliers.kernels import improve

        kinds, part = len(self._units), self._part(state)
        room = self._weights(0.0, np.ones(kinds), 1.0 * self._chains)
        shares = room / room.sum()
        improve(part, self._box, room, 1.0, kinds, shares, ROUNDS, STEP, self._scratch)
        return self._rounded(SCALE * shares)

    def best_energy_prices(self, state: tuple[float, ...], makespan_ps: float) -> tuple[int, ...]:
        """Return near the best prices in mW for the energy at a makespan."""
        from paretosoc.fitness.multipliers.kernels import improve

        kinds, part, box = len(self._units), self._part(state), self._box
        energy = self.least_energy((0,) * (kinds + len(self._chains)), state, 0.0)
        room = self._weights(
            energy, np.full(kinds, makespan_ps), np.where(self._chains, makespan_ps, 0.0)
        )
        shares = (room > 0) / np.count_nonzero(room)
        best, weights = energy, np.zeros(len(room))
        for _ in range(ENERGY_TURNS if energy > 0 else 0):
            room[0] = energy
            improve(part, box, room, makespan_ps, kinds, shares, ENERGY_ROUNDS, STEP, self._scratch)
            if shares[0] <= 0.0:
                break
            found = np.divide(shares, room, out=np.zeros(len(room)), where=room > 0)
            found /= found[0]
            energy = self.least_energy(found[1 : 1 + kinds + len(self._chains)], state, makespan_ps)
            if energy > best:
                weights = found
            if energy < ENERGY_RISE * best:
                break
            best = energy
        return self._rounded(np.minimum(weights, PRICE_TIMES_TIME))

    def _rounded(self, weights: FloatArray) -> tuple[int, ...]:
        prices = weights[1 : 1 + len(self._units) + len(self._chains)].copy()
        for alike in self._alike:
            # They may change places in a proof, so their prices are equal.
            prices[alike] = prices[alike].mean()
        return tuple(int(price) for price in np.rint(prices))

    def bound(self, prices: Sequence[int], state: tuple[float, ...]) -> float:
        """Return the bound of a row of prices for what a state leaves."""
        from paretosoc.fitness.multipliers.kernels import least_sum

        kinds, row = len(self._units), np.array(prices, dtype=float)
        weights = self._weights(0.0, row[:kinds], row[kinds:])
        least = least_sum(
            self._part(state), self._box, weights, kinds, self._scratch, self._scratch.used
        )
        return float(least) / float(row.sum())

    def least_energy(
        self, prices: Sequence[float] | FloatArray, state: tuple[float, ...], makespan_ps: float
    ) -> float:
        """Return the bound of the energy of what a state leaves, by prices in mW."""
        from paretosoc.fitness.multipliers.kernels import least_sum

        kinds, row = len(self._units), np.array(prices, dtype=float)
        weights = self._weights(1.0, row[:kinds], row[kinds:])
        least = least_sum(
            self._part(state), self._box, weights, kinds, self._scratch, self._scratch.used
        )
        return float(least) - float(row.sum()) * makespan_ps

    def energies(
        self,
        rows: Iterable[tuple[int, ...]],
        places: Sequence[tuple[tuple[float, ...], float]],
    ) -> FloatArray:
        """Return [rows, places]: the same for states and makespans."""
        table = []
        for row in rows:
            least = {state: self.least_energy(row, state, 0.0) for state in dict(places)}
            table.append([least[state] - sum(row) * makespan for state, makespan in places])
        return np.array(table)

    def plain_bound(self, state: tuple[float, ...]) -> float:
        """Return the largest of the paths, and the work on all units alike."""
        left = self.groups_left(state)
        work = [float(self._fastest[list(groups)].min(axis=1).sum()) for groups in left]
        paths = [time for time, chain in zip(work, self._chains, strict=True) if chain]
        return max(*paths, sum(work) / len(self._units), 1.0)

    def by_entry(self, row: Sequence[int]) -> tuple[int, ...]:
        """Return the prices of one row with those of units repeated for their number formats."""
        return (*(row[u] for u in self._unit), *row[len(self._units) :])

    def by_unit(self, row: Sequence[int]) -> tuple[int, ...]:
        """Return a row by :meth:`by_entry` with the prices of units once."""
        units = len(self._unit)
        return (*(row[first] for first in self._units), *row[units:])

    def _weights(self, energy: float, units: FloatArray, networks: FloatArray) -> FloatArray:
        """Return [resources]: those of segments are 0."""
        segments = np.zeros(self._fastest.shape[1])
        return np.concatenate(([energy], units, networks, segments))

    def groups_left(self, state: tuple[float, ...]) -> list[range]:
        """Return [networks]: the groups that a state leaves."""
        counts = [
            round(share * len(groups)) for share, groups in zip(state, self._groups, strict=True)
        ]
        return [
            groups[len(groups) - count :]
            for count, groups in zip(counts, self._groups, strict=True)
        ]

    def _part(self, state: tuple[float, ...]) -> Networks:
        """Return what a state leaves of the networks, without those of which nothing is left."""
        if state not in self._parts:
            groups, networks = self.groups_left(state), self._networks
            kept = [n for n, left in enumerate(groups) if left]
            path = np.concatenate([groups[n] for n in kept])
            self._parts[state] = replace(
                networks,
                path=path,
                first=np.cumsum([0, *(len(groups[n]) for n in kept)]),
                transition_ps=networks.transition_ps[path],
                limit=networks.limit[kept],
                counts_segments=networks.counts_segments[kept],
                member=np.ascontiguousarray(networks.member[:, kept]),
            )
        return self._parts[state]

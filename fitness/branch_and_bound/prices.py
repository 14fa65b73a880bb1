"""Prices of units' and networks' time that are worth trying in a bound of the makespan.

In any schedule every unit is busy, and every chain of groups runs, at most as long as the makespan.
With prices w of units and v of chains the makespan is at least the priced time of all groups, with
the transitions between those of chains, over the sum of the prices. The best prices are the optimum
of a linear program. Multiplicative updates come near to it: they raise the prices of what the
cheapest mapping uses most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.branch_and_bound.choices import chains_of
from paretosoc.fitness.multipliers.arrays import BoxArrays
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
PRICE_TIMES_TIME = 1 << 61


# One problem is searched again and again: in slices, for another claim, by another solver.
@lru_cache(maxsize=2)
def load_prices(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Return rows of prices: of every unit, number formats apart, then of every network.

    They are the best ones for what is left of the networks at some points of the search.
    """
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
    return tuple(left.by_entry(row) for row in chosen)


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
        start = np.arange(groups * units).reshape(groups, units)
        self._box = BoxArrays(
            start=start,
            end=start + problem.allowed,
            time_ps=np.where(problem.allowed, self._fastest, 0.0).reshape(-1),
            energy_fj=np.zeros(groups * units),
            kind=np.tile(np.array(self._unit), groups),
            running=np.arange(kinds)[None, :],
            rate=np.ones((1, kinds)),
            lost_mw=np.zeros(1),
            idle_mw=0,
        )
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
        room = self._weights(np.ones(kinds), 1.0 * self._chains)
        shares = room / room.sum()
        improve(part, self._box, room, 1.0, kinds, shares, ROUNDS, STEP, self._scratch)
        prices = shares[1 : 1 + kinds + len(self._chains)]
        for alike in self._alike:
            # They may change places in a proof, so their prices are equal.
            prices[alike] = prices[alike].mean()
        return tuple(np.rint(prices * SCALE).astype(int).tolist())

    def bound(self, prices: Sequence[int], state: tuple[float, ...]) -> float:
        """Return the bound of a row of prices for what a state leaves."""
        from paretosoc.fitness.multipliers.kernels import least_sum

        kinds, row = len(self._units), np.array(prices, dtype=float)
        weights = self._weights(row[:kinds], row[kinds:])
        least = least_sum(
            self._part(state), self._box, weights, kinds, self._scratch, self._scratch.used
        )
        return float(least) / float(row.sum())

    def plain_bound(self, state: tuple[float, ...]) -> float:
        """Return the largest of the paths, and the work on all units alike."""
        left = self.groups_left(state)
        work = [float(self._fastest[list(groups)].min(axis=1).sum()) for groups in left]
        paths = [time for time, chain in zip(work, self._chains, strict=True) if chain]
        return max(*paths, sum(work) / len(self._units), 1.0)

    def by_entry(self, row: Sequence[int]) -> tuple[int, ...]:
        """Return the prices of one row with those of units repeated for their number formats."""
        return (*(row[u] for u in self._unit), *row[len(self._units) :])

    def _weights(self, units: FloatArray, networks: FloatArray) -> FloatArray:
        """Return [resources]: those of energy and of segments are 0."""
        segments = np.zeros(self._fastest.shape[1])
        return np.concatenate(([0.0], units, networks, segments))

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

"""Prices of units' and networks' time that are worth trying in a bound of the makespan.

In any schedule every unit is busy, and every chain of groups runs, at most as long as the makespan.
With prices w of units and v of chains the makespan is at least the priced time of all groups over
the sum of the prices. The best prices are the optimum of a linear program. Multiplicative updates
come near to it: they raise the prices of what the cheapest mapping uses most.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.results.problem.interchangeable import interchangeable_before
from paretosoc.results.problem.problem import Problem

MOST_PRICES = 6
SCALE = 256
"""Prices are integers, and those of a row add up to about this."""
LEAST_GAIN = 2e-3
"""A row raises the mean bound of what may be left by this share at least."""
ROUNDS, STEP = 200, 0.3
MOST_STATES = 100
PRICE_TIMES_TIME = 1 << 61


# One problem is searched again and again: in slices, for another claim, by another solver.
@lru_cache(maxsize=2)
def load_prices(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Return rows of prices: of every unit, number formats apart, then of every network.

    They are the best ones for what is left of the networks at some points of the search.
    """
    groups, units = problem.group_count, len(problem.units)
    times = [problem.frame_ps(u).reshape(groups, -1) for u in range(units)]
    slowest = np.max([table.max(axis=1) for table in times], axis=0)
    if int(slowest.sum()) > PRICE_TIMES_TIME // (2 * SCALE):
        return ()
    least = np.stack([table.min(axis=1) for table in times], axis=1)
    fastest = np.where(problem.allowed, least, np.inf)
    place = _Left(problem, fastest)
    left = _what_may_be_left(problem)
    rows = sorted({tuple(row) for row in place.best_prices(left).tolist() if sum(row)})
    if not rows:
        return ()
    found = np.array(rows)
    values = place.bounds(found, left)
    best, chosen = place.plain_bounds(left), []
    for _ in range(MOST_PRICES):
        gains = (np.maximum(values, best) / best - 1.0).mean(axis=1)
        index = int(gains.argmax())
        if gains[index] < LEAST_GAIN:
            break
        chosen.append(rows[index])
        best = np.maximum(best, values[index])
    return tuple(place.by_entry(row) for row in chosen)


def _what_may_be_left(problem: Problem) -> FloatArray:
    """Return [states, groups]: 1 for groups that have not run yet."""
    shares = (1.0, 0.5, 0.0) if len(problem.networks) <= 4 else (1.0, 0.0)
    states: list[FloatArray] = []
    for left in product(shares, repeat=len(problem.networks)):
        state = np.zeros(problem.group_count)
        for share, network in zip(left, problem.networks, strict=True):
            count = round(share * len(network.groups))
            state[network.groups.stop - count : network.groups.stop] = 1.0
        if state.any() and len(states) < MOST_STATES:
            states.append(state)
    return np.array(states)


class _Left:
    """Bounds of the makespan of what is left of the networks."""

    def __init__(self, problem: Problem, fastest: FloatArray) -> None:
        self._fastest = fastest
        self._finite = np.where(np.isfinite(fastest), fastest, 0.0)
        self._blocked = np.where(np.isfinite(fastest), 0.0, np.inf)
        self._first = sorted(set(problem.unit_of))
        self._unit = np.array([self._first.index(first) for first in problem.unit_of])
        self._network = np.array([n for n, one in enumerate(problem.networks) for _ in one.groups])
        self._alike: list[list[int]] = []
        for place, unit in enumerate(self._first):
            before = interchangeable_before(problem)[unit]
            own = next((c for c in self._alike if before >= 0 and self._unit[before] in c), None)
            if own is None:
                self._alike.append([place])
            else:
                own.append(place)
        edges = set(problem.edges)
        self._chain = np.array(
            [
                {(g, g + 1) for g in network.groups[:-1]}
                == {edge for edge in edges if edge[0] in network.groups}
                for network in problem.networks
            ]
        )
        # Only chains have a price: paths of other networks are shorter than their work.
        self._groups_of = (self._network[:, None] == np.arange(len(self._chain))) * (
            1.0 * self._chain
        )

    def best_prices(self, left: FloatArray) -> IntArray:
        """Return [states, units + networks]: near the best prices for every state."""
        states, units = len(left), len(self._first)
        prices = np.ones((states, units + len(self._chain)))
        prices[:, units:] *= self._chain
        prices /= prices.sum(axis=1, keepdims=True)
        best, value = prices.copy(), np.zeros(states)
        for k in range(ROUNDS):
            used = self._used(prices, left)
            bound = (used * prices).sum(axis=1)
            better = bound > value
            best[better], value[better] = prices[better], bound[better]
            most = np.maximum(used.max(axis=1, keepdims=True), 1e-300)
            prices = prices * np.exp(STEP / np.sqrt(1.0 + k) * used / most)
            prices /= prices.sum(axis=1, keepdims=True)
        for alike in self._alike:
            # They may change places in a proof, so their prices are equal.
            best[:, alike] = best[:, alike].mean(axis=1, keepdims=True)
        return np.rint(best * SCALE).astype(np.int64)

    def _used(self, prices: FloatArray, left: FloatArray) -> FloatArray:
        """Return [states, units + networks]: time of each in the mapping that is cheapest."""
        states, width = prices.shape
        chosen = self._costs(prices).argmin(axis=2)
        time = self._finite[np.arange(len(self._network)), chosen] * left
        place = np.arange(states)[:, None] * width + self._unit[chosen]
        # The stubs know counts only, not sums of weights.
        summed: Any = np.bincount(place.ravel(), time.ravel(), states * width)
        used: FloatArray = summed.reshape(states, width)
        used[:, len(self._first) :] = time @ self._groups_of
        return used

    def _costs(self, prices: FloatArray) -> FloatArray:
        """Return [prices, groups, units]: the priced time of each group on each unit."""
        units = len(self._first)
        of_unit, of_group = prices[:, :units], prices[:, units:] @ self._groups_of.T
        costs: FloatArray = of_unit[:, None, self._unit] + of_group[:, :, None]
        costs *= self._finite
        costs += self._blocked
        return costs

    def bounds(self, prices: IntArray, left: FloatArray) -> FloatArray:
        """Return [prices, states]: the bound of each row of prices for each state."""
        rows = prices.astype(float)
        bound: FloatArray = self._costs(rows).min(axis=2) @ left.T / rows.sum(axis=1)[:, None]
        return bound

    def plain_bounds(self, left: FloatArray) -> FloatArray:
        """Return [states]: the largest of the paths, and the work on all units alike."""
        work = self._fastest.min(axis=1) * left
        paths = [work[:, self._network == n].sum(axis=1) for n in np.flatnonzero(self._chain)]
        longest: FloatArray = np.max([*paths, work.sum(axis=1) / len(self._first)], axis=0)
        return longest

    def by_entry(self, row: tuple[int, ...]) -> tuple[int, ...]:
        """Return the prices of one row with those of units repeated for their number formats."""
        units = len(self._first)
        return (*(row[u] for u in self._unit), *row[units:])

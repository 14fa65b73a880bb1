"""The best multipliers for one corner of one box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.dse.certificate.boxes.corners import Corners, Lines, Room
from paretosoc.dse.certificate.boxes.cuts import optimise_shares
from paretosoc.fitness.multipliers.arrays import BoxArrays
from paretosoc.fitness.multipliers.structure import (
    Networks,
    make_scratch,
    networks_apart,
    networks_of_streams,
)
from paretosoc.results.front.bounds import Multipliers
from paretosoc.results.problem.problem import Problem

LARGEST_WEIGHT = 10**7
MAX_SEGMENT_WEIGHT = 2.0**62
"""Largest weight of a segment. It may be above ``LARGEST_WEIGHT``, by the time that a segment may
cost, and files have int64."""
TURNS, RATE = 8, 0.5
MIXES, MIX_RATE = 5, 2.0


class WeightFinder:
    """Find multipliers. One finder serves a problem, and uses its work arrays again."""

    def __init__(
        self, problem: Problem, networks: Networks, class_start: Sequence[int], corners: Corners
    ) -> None:
        self._problem = problem
        self._networks = networks
        self._class_start = [int(at) for at in class_start]
        self._kinds = self._class_start[-1]
        self._corners = corners
        self._scratch = make_scratch(networks, self._kinds)
        self.resources = len(self._scratch.used)
        # Weights are of energy, classes of demand, chains, segments on units, and figures.
        ends = np.cumsum([1, self._kinds, len(networks.member), len(problem.units)]).tolist()
        self._of_chains, self._of_segments = slice(*ends[1:3]), slice(*ends[2:])
        self._of_figures = slice(ends[3], None)
        self._segments = np.array([unit.max_segments or 0 for unit in problem.units], dtype=float)
        self._limited = np.array([unit.max_segments is not None for unit in problem.units])
        self._apart = networks_apart(problem, networks)
        self._streams: list[Networks] = []
        if not problem.execution.has_frame:
            self._streams = networks_of_streams(problem, networks)
            self._all_streams = replace(
                networks,
                transition_ps=np.zeros_like(networks.transition_ps),
                arrival_ps=np.zeros_like(networks.arrival_ps),
                counts_segments=np.zeros_like(networks.counts_segments),
                member=networks.member * networks.counts_segments,
            )
            self._limited[:] = False

    def lines(self, box: BoxArrays, weights: Sequence[FloatArray]) -> Lines:
        """Return the inequalities that weights [resources] give over a box."""
        from paretosoc.fitness.multipliers.kernels import LARGE, least_sum

        table = np.array(weights).reshape(-1, self.resources)
        sums = np.empty((len(table), max(len(self._streams), 1)))
        for index, row in enumerate(table):
            for n, networks in enumerate(self._streams or [self._networks]):
                sums[index, n] = least_sum(
                    networks, box, row, self._kinds, self._scratch, self._scratch.used
                )
        images = np.array(self._problem.images if self._streams else (1,))
        each = np.floor(sums / images).min(axis=1, keepdims=True)
        least = sums.shape[1] * each[:, 0]
        # Rounded sums may come out below the part that all networks have.
        beyond = np.maximum(sums - each * images, 0)[:, : len(self._streams)]
        segments = table[:, self._of_segments] @ self._segments
        least = np.where(least >= LARGE, np.inf, least - segments)
        time = [
            ((row[1 + box.running] * box.rate).sum(axis=1) - row[0] * box.lost_mw).max()
            for row in table
        ]
        return Lines(
            least=least,
            time=np.array(time),
            energy=table[:, 0],
            chains=table[:, self._of_chains],
            beyond=beyond,
            figures=table[:, self._of_figures],
        )

    def find(
        self, box: BoxArrays, room: Room, start: FloatArray, rounds: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return integer weights [resources] for the room of one corner, and their shares of the
        room.

        Other searches can start from the shares. If the time is free, the room depends on it, and
        the best time is searched for too.
        """
        from paretosoc.fitness.multipliers.kernels import improve

        given = self._problem.execution.period_ps
        longest = self._longest(room)
        energy = float(room.energy_fj[0])
        low, high = 0.0, longest
        if given is None and np.isfinite(energy) and box.idle_mw:
            high = min(high, energy / box.idle_mw)
        if not np.isfinite(high):
            high = 4.0 * float(box.time_ps.sum())
        time, shares = high, start.copy()
        best: tuple[float, FloatArray, FloatArray] | None = None
        for _ in range(TURNS):
            space = self._space(box, room, time)
            if space is None:
                high = time
                time = (low + high) / 2
                continue
            mix = np.ones(len(self._streams))
            for _ in range(MIXES if self._streams else 1):
                networks, costs = self._mixed(box, room, time, mix)
                ratio = improve(
                    networks, costs, space, time, self._kinds, shares, rounds, RATE, self._scratch
                )
                weights = self._rounded(box, room, shares, space, longest)
                reach = self._reach(box, room, weights)
                if best is None or reach > best[0]:
                    best = reach, weights, shares.copy()
                beyond = self.lines(box, [weights]).beyond[0]
                mix = mix * np.exp(-MIX_RATE * beyond / max(beyond.max(initial=0.0), 1e-300))
            slope = self._slope(box, room, weights, time)
            if (time >= longest and slope >= 0) or given is not None or ratio >= 1e299:
                break
            if slope > 0:
                low = time
            else:
                high = time
            if high - low < 0.01 * high:
                break
            time = (low + high) / 2
        if best is None:
            # Idle power alone is too much.
            only = np.zeros(self.resources)
            only[0] = 1.0
            return only, start
        return best[1], best[2]

    def optimise(
        self, box: BoxArrays, room: Room, known: Sequence[FloatArray], accuracy: float
    ) -> FloatArray | None:
        """Return integer weights [resources] by a linear program, from the best of some.

        Returns None if networks run freely, or nothing limits the time.
        """
        longest = last = self._longest(room)
        energy, power = float(room.energy_fj[0]), float(room.power_mw[0])
        if np.isinf(longest) and np.isfinite(energy) and box.idle_mw:
            last = energy / box.idle_mw
        if self._streams or np.isinf(last) or (room.figures < 0).any():
            return None
        ends = room.ends_ps[0][self._networks.chain_end]
        # Times at which the right side bends: see :mod:`fitness.check.boxes.limits`.
        times = {1.0, last, energy / max(power, 1e-9)}
        if np.isfinite(self._corners.flow):
            times |= set((ends / self._corners.flow).tolist())
        allowed = [
            self._allowed(box, room, time) for time in sorted(t for t in times if 0 < t <= last)
        ]
        sides = [1.0] * len(allowed)
        if np.isinf(longest):
            # Whatever the time, the right side must not rise further.
            allowed.append(self._allowed(box, room, 2 * last) - self._allowed(box, room, last))
            sides.append(0.0)
        arrivals = np.zeros(self.resources)
        arrivals[self._of_chains] = self._networks.arrival_ps
        space = self._allowed(box, room, last)
        space[0] = min(energy, power * last) if np.isfinite(min(energy, power)) else 0.0
        start = max(known, key=lambda weights: self._reach(box, room, weights))
        shares = optimise_shares(
            self._apart,
            arrivals,
            box,
            space,
            np.array(allowed),
            np.array(sides),
            last,
            self._kinds,
            start * space,
            accuracy,
            self._scratch,
        )
        return self._rounded(box, room, shares, space, longest)

    def _allowed(self, box: BoxArrays, room: Room, time: float) -> FloatArray:
        """Return [resources]: the room left in a time, 0 without a limit, below 0 if energy is
        short."""
        given = self._problem.execution.period_ps
        left = min(float(room.energy_fj[0]), float(room.power_mw[0]) * time)
        left -= box.idle_mw * (time if given is None else given)
        return self._rows(room, left, time)

    def _rows(self, room: Room, left: float, time: float, least_end: float = -np.inf) -> FloatArray:
        """Return [resources]: the energy that is left, the time for each class, the ends of chains,
        segments and figures, 0 without a limit."""
        ends = np.minimum(room.ends_ps[0][self._networks.chain_end], self._corners.flow * time)
        rows = (
            [left],
            np.full(self._kinds, time),
            np.maximum(ends, least_end),
            np.where(self._limited, np.maximum(self._segments, 0.5), 0),
            np.maximum(room.figures[0], 0.5),
        )
        allowed = np.concatenate(rows)
        return np.where(np.isinf(allowed), 0.0, allowed)

    def _mixed(
        self, box: BoxArrays, room: Room, time: float, mix: FloatArray
    ) -> tuple[Networks, BoxArrays]:
        """Return the networks and costs over which weights are searched: if networks run freely, a
        frame of each at its least rate, and the rest of all rates shared out by ``mix``
        [networks]."""
        if not self._streams:
            return self._networks, box
        shares = room.rates[0] * time / len(mix)
        shares = shares + max(1 - shares.sum(), 0.0) * mix / mix.sum()
        scale = np.ones(len(box.time_ps))
        for n, network in enumerate(self._problem.networks):
            for g in network.groups:
                for first, last in zip(box.start[g], box.end[g], strict=True):
                    scale[first:last] = shares[n]
        costs = replace(box, time_ps=scale * box.time_ps, energy_fj=scale * box.energy_fj)
        return self._all_streams, costs

    def _longest(self, room: Room) -> float:
        """Return the longest time that a corner leaves."""
        limited = bool(np.isfinite(room.energy_fj[0]) or np.isfinite(room.power_mw[0]))
        return float(self._corners.longest(room, with_energy=limited)[0])

    def _space(self, box: BoxArrays, room: Room, time: float) -> FloatArray | None:
        """Return [resources]: the room left in a time, or None if idle power takes all energy."""
        given = self._problem.execution.period_ps
        left = float(room.energy_fj[0]) - box.idle_mw * (time if given is None else given)
        left = min(left, (float(room.power_mw[0]) - box.idle_mw) * time)
        if left <= 0:
            return None
        # Without a limit on time or energy, the times of units and chains are not limited either.
        if np.isinf(left) and np.isinf(self._longest(room)):
            time = np.inf
        space = self._rows(room, left, time, least_end=1.0)
        short = room.figures[0] < 0
        if short.any():
            # No sum is below 0: such a figure alone contradicts the corner.
            space[:] = 0
            space[self._of_figures] = short
        return space

    def _rounded(
        self,
        box: BoxArrays,
        room: Room,
        shares: FloatArray,
        space: FloatArray,
        longest: float,
    ) -> FloatArray:
        """Round weights to integers. Without a limit on the time, the right side must not rise with
        it."""
        count = self._of_chains.stop
        weights = np.divide(shares, space, out=np.zeros_like(shares), where=space > 0)
        # If no other weight is above 0, take those of figures alone.
        largest = weights[:count].max() or weights.max()
        weights *= LARGEST_WEIGHT / max(largest, 1e-300)
        weights = np.minimum(np.floor(weights), MAX_SEGMENT_WEIGHT)
        if np.isinf(longest) and weights[0] > 0:
            slope = self._slope(box, room, weights, np.inf) + float(weights[0]) * box.idle_mw
            allowed = weights[0] * box.idle_mw
            if slope > allowed:
                weights[1:count] = np.floor(weights[1:count] * (allowed / slope) * (1 - 1e-9))
        return weights

    def _reach(self, box: BoxArrays, room: Room, weights: FloatArray) -> float:
        """Return the least sum by the largest right side: above 1, the corner is closed."""
        lines = self.lines(box, [weights])
        right = float(
            self._corners.largest(lines, self._networks.chain_end, box.idle_mw, room)[0, 0]
        )
        least = float(lines.least[0])
        return least / right if right > 0 else np.inf

    def _slope(self, box: BoxArrays, room: Room, weights: FloatArray, time: float) -> float:
        """Return the slope of the right side in the time."""
        lines, flow = self.lines(box, [weights]), self._corners.flow
        slope = float(lines.time[0] - lines.beyond[0] @ room.rates[0])
        if np.isfinite(flow):
            ends = room.ends_ps[0][self._networks.chain_end]
            slope += flow * float(lines.chains[0] @ (ends >= flow * time))
        slope -= float(weights[0]) * box.idle_mw
        power = float(room.power_mw[0])
        if np.isfinite(power) and power * time < room.energy_fj[0]:
            slope += float(weights[0]) * power
        return slope

    def multipliers(self, weights: FloatArray) -> Multipliers:
        """Return weights in the form of a proof."""
        numbers = [int(value) for value in weights]
        pairs = zip(self._class_start, self._class_start[1:], strict=False)
        return Multipliers(
            energy=numbers[0],
            units=tuple(tuple(numbers[1 + a : 1 + b]) for a, b in pairs),
            chains=tuple(numbers[self._of_chains]),
            segments=tuple(numbers[self._of_segments]),
            figures=tuple(numbers[self._of_figures]),
        )

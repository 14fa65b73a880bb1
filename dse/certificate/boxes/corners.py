"""Corners that members leave open, and which of them inequalities close, in floating point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import BoolArray, FloatArray, IntArray
from paretosoc.common.units import PPM, UHZ_PS, UW_PER_MW
from paretosoc.fitness.check.boxes.frame_time import FrameTime
from paretosoc.results.problem.limits import additive_figures, additive_limit
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.rates import times_alone_ps

MAX_EPSILON = 1e3
STEPS = 24
LARGE, ROUNDING = 1e300, 1e-9
LARGE_SUM = 1e200
"""Stands for no limit on a figure. Weights of figures are up to 2**62."""
SCALE_KINDS = {
    ObjectiveKind.LATENCY,
    ObjectiveKind.THROUGHPUT,
    ObjectiveKind.ENERGY,
    ObjectiveKind.EFFICIENCY,
}
"""Objectives by which all that a corner leaves grows."""


@dataclass(frozen=True, eq=False)
class Room:
    """The room that corners leave to a design point, infinite without a limit."""

    makespan_ps: FloatArray
    """[corners]"""
    period_ps: FloatArray
    """[corners]: of a pipeline."""
    ends_ps: FloatArray
    """[corners, networks]"""
    energy_fj: FloatArray
    """[corners]: idle energy included."""
    power_mw: FloatArray
    """[corners]: limit of energy over time, used if the time is not given."""
    rates: FloatArray
    """[corners, networks]: of networks that run freely, at least, per ps."""
    figures: FloatArray
    """[corners, figures]: limits of the figures that are sums over groups."""

    def at(self, index: int) -> Room:
        """Return the room of one corner."""
        return Room(*(values[index : index + 1] for values in vars(self).values()))


@dataclass(frozen=True, eq=False)
class Lines:
    """Inequalities of one box, see :mod:`fitness.check.boxes`, arrays [lines, ...]."""

    least: FloatArray
    time: FloatArray
    energy: FloatArray
    chains: FloatArray
    """[lines, chains]"""
    beyond: FloatArray
    """[lines, networks]: no networks unless they run freely."""
    figures: FloatArray
    """[lines, figures]: of sums over groups."""


def _longest_response(problem: Problem, n: int) -> float:
    """Return the time that a network's limits leave to its shortest response, in ps."""
    network = problem.networks[n]
    limits = [network.deadline_95_ps, network.deadline_ps if network.max_misses is None else None]
    if network.max_misses is not None and network.max_misses < problem.releases(n):
        limits.append(problem.late_ps(n))
    return min((float(most) for most in limits if most is not None), default=np.inf)


class Corners:
    """Corners [corners, objectives] by the values of members, infinite if any value will do."""

    def __init__(
        self, problem: Problem, columns: Sequence[int], values: FloatArray, time: FrameTime
    ) -> None:
        self._problem = problem
        self._time = time
        self.flow = np.inf
        """Paths that fit in a time one after the other."""
        if time.in_flight is not None:
            self.flow = time.in_flight * time.counted / time.executed
        self._objectives = [problem.objectives[column] for column in columns]
        self._values = values
        self._period = problem.execution.period_ps
        self._figures = additive_figures(problem)
        self._scales = (
            self._period is None
            and problem.power_cap_mw is None
            and problem.energy_budget_fj is None
            and all(n.deadline_ps is None and n.min_rate_uhz is None for n in problem.networks)
            and all(
                objective.kind is ObjectiveKind.ACCURACY_LOSS
                or (objective.network is None and objective.kind in SCALE_KINDS)
                for objective in self._objectives
            )
            and all(
                figure.kind is ObjectiveKind.ACCURACY_LOSS
                and additive_limit(problem, figure) is None
                for figure in self._figures
            )
        )

    def __len__(self) -> int:
        return len(self._values)

    def room(self, epsilon: FloatArray, paths_ps: FloatArray) -> Room:
        """Return the room left if a member may be worse by ``epsilon`` [corners].

        Args:
            paths_ps: [networks]: least latencies.
        """
        problem, count = self._problem, len(self._values)
        makespan = np.full(count, np.inf if self._period is None else float(self._period))
        ends = np.full((count, len(problem.networks)), np.inf)
        for n, network in enumerate(problem.networks):
            if problem.has_rates:
                ends[:, n] = problem.releases(n) * _longest_response(problem, n)
            elif network.deadline_ps is not None:
                ends[:, n] = network.arrival_ps + network.deadline_ps
        budget = problem.energy_budget_fj
        energy = np.full(count, np.inf if budget is None else float(budget))
        cap = problem.power_cap_mw
        period, power = np.full(count, np.inf), np.full(count, np.inf if cap is None else cap)
        streams = len(problem.networks) if self._time.of_streams else 0
        least_rates = np.zeros((count, streams))
        images = np.array(problem.images)
        for n in range(streams):
            least_rates[:, n] = (problem.networks[n].min_rate_uhz or 0) / UHZ_PS / images[n]
        for j, objective in enumerate(self._objectives):
            value = self._values[:, j]
            value = np.where(value < 0, value * (1 + epsilon), value / (1 + epsilon))
            match objective.kind, objective.network:
                case ObjectiveKind.LATENCY | ObjectiveKind.GUARANTEED_LATENCY, None:
                    makespan = np.minimum(makespan, value)
                case ObjectiveKind.LATENCY | ObjectiveKind.GUARANTEED_LATENCY, int(n):
                    end = problem.networks[n].arrival_ps + value
                    ends[:, n] = np.minimum(ends[:, n], end)
                case ObjectiveKind.ENERGY, _:
                    energy = np.minimum(energy, value)
                case ObjectiveKind.EFFICIENCY, _:
                    energy = np.minimum(energy, value * (1 if streams else images.sum()))
                case (
                    (
                        ObjectiveKind.RESPONSE
                        | ObjectiveKind.GUARANTEED_RESPONSE
                        | ObjectiveKind.RESPONSE_95
                    ),
                    one,
                ):
                    for n in range(len(problem.networks)) if one is None else [one]:
                        ends[:, n] = np.minimum(ends[:, n], problem.releases(n) * value)
                case ObjectiveKind.MISSES, one:
                    # Misses are whole numbers below the corner. No network has a negative number of
                    # them.
                    most = np.ceil(value) - 1
                    for n in range(len(problem.networks)) if one is None else [one]:
                        releases = problem.releases(n)
                        in_time = np.where(most < releases, problem.late_ps(n), np.inf)
                        each = np.where(most < 0, 0.0, in_time)
                        ends[:, n] = np.minimum(ends[:, n], releases * each)
                case ObjectiveKind.RELATIVE_RESPONSE, one:
                    of_all = (value + 1) * float(self._period or 0) / PPM
                    for n in range(len(problem.networks)) if one is None else [one]:
                        ends[:, n] = np.minimum(ends[:, n], of_all)
                case ObjectiveKind.TOKEN_ENERGY, int(n):
                    energy = np.minimum(energy, value * problem.networks[n].repeats)
                case ObjectiveKind.FAIRNESS, _:
                    alone = np.array(times_alone_ps(problem), dtype=float)
                    shares = np.where(np.isinf(value), 0.0, -value)[:, None] / (PPM * alone)
                    least_rates = np.maximum(least_rates, shares)
                case ObjectiveKind.THROUGHPUT, _:
                    of_frame = 1 if streams else images.mean()
                    period = np.minimum(period, value * of_frame)
                case ObjectiveKind.POWER, _:
                    power = np.minimum(power, value / UW_PER_MW)
                case ObjectiveKind.INVERSE_LATENCY, _:
                    rates = UHZ_PS / np.maximum(paths_ps, 1)
                    left = -value[:, None] - (rates.sum() - rates)
                    arrivals = np.array([n.arrival_ps for n in problem.networks])
                    limit = np.where(left > 0, UHZ_PS / np.maximum(left, 1e-9), np.inf)
                    ends = np.minimum(ends, arrivals + limit)
        if not problem.has_rates:
            makespan = np.minimum(makespan, ends.max(axis=1))
        if self._period is not None:
            energy = np.minimum(energy, power * self._period)
            energy = energy + len(problem.units) * problem.has_rates
            power = np.full(count, np.inf)
        if streams:
            energy = streams * energy
            total = least_rates @ images
            room = np.divide(streams, total, out=np.full(count, np.inf), where=total > 0)
            period = np.minimum(period, room)
        return Room(
            makespan,
            period,
            np.minimum(ends, makespan[:, None]),
            energy,
            power,
            least_rates,
            self._room_of_figures(epsilon),
        )

    def _room_of_figures(self, epsilon: FloatArray) -> FloatArray:
        """Return [corners, figures]: the room of figures, in whole numbers below the corner, since
        figures may be small."""
        problem, room = self._problem, np.empty((len(self._values), len(self._figures)))
        for q, figure in enumerate(self._figures):
            limit = additive_limit(problem, figure)
            room[:, q] = np.inf if limit is None else limit
            if figure in self._objectives:
                value = self._values[:, self._objectives.index(figure)]
                room[:, q] = np.minimum(room[:, q], np.ceil(value / (1 + epsilon)) - 1)
            if figure.kind is ObjectiveKind.MEMORY:
                room[:, q] -= sum(network.activation_bytes for network in problem.networks)
        return room

    def longest(self, room: Room, *, with_energy: bool) -> FloatArray:
        """Return [corners]: the longest time of a frame left to inequalities with or without
        energy.

        Without energy, an inequality on a pipeline's period holds for the makespan, too.
        """
        if not self._time.is_period:
            return room.makespan_ps
        if with_energy:
            return room.period_ps
        return np.minimum(room.period_ps, room.makespan_ps)

    def closing(self, lines: Lines, chain_end: IntArray, idle_mw: int, room: Room) -> BoolArray:
        """Return [lines, corners]: whether a line leaves no room in a corner."""
        right = self.largest(lines, chain_end, idle_mw, room)
        least = lines.least[:, None]
        # If a limit holds with equality, rounding must not close a corner that no epsilon closes.
        least = np.where(least > 0, least * (1 - ROUNDING), least * (1 + ROUNDING))
        return np.asarray(right < least)

    def closed(self, lines: Lines, chain_end: IntArray, idle_mw: int, room: Room) -> BoolArray:
        """Return [corners]: whether some line leaves no room in a corner."""
        return np.asarray(self.closing(lines, chain_end, idle_mw, room).any(axis=0))

    def largest(self, lines: Lines, chain_end: IntArray, idle_mw: int, room: Room) -> FloatArray:
        """Return [lines, corners]: the largest right side over all times."""
        has_energy = lines.energy > 0
        if not self._time.is_period or has_energy.all() or not has_energy.any():
            longest = self.longest(room, with_energy=bool(has_energy.any()))
            return self._largest(lines, chain_end, idle_mw, room, longest)
        rows = [
            self._largest(lines, chain_end, idle_mw, room, self.longest(room, with_energy=has))
            for has in (True, False)
        ]
        return np.where(has_energy[:, None], *rows)

    def _largest(
        self, lines: Lines, chain_end: IntArray, idle_mw: int, room: Room, longest: FloatArray
    ) -> FloatArray:
        ends, energy, power = room.ends_ps[:, chain_end], room.energy_fj, room.power_mw
        breaks = [np.zeros(len(longest)), longest]
        if np.isfinite(self.flow) and (ends < self.flow * longest[:, None]).any():
            breaks += list(ends.T / self.flow)
        has_energy, has_power = np.isfinite(energy), np.isfinite(power)
        if has_power.any():
            both = has_energy & has_power & (power > 0)
            breaks.append(np.divide(energy, power, out=longest.copy(), where=both))
        largest = np.full((len(lines.least), len(longest)), -np.inf)
        per_time = lines.time[:, None] - lines.beyond @ room.rates.T
        figures = lines.figures @ np.minimum(room.figures, LARGE_SUM).T
        for instant in breaks:
            at = np.minimum(instant, longest)
            finite = np.isfinite(at)
            time = np.where(finite, at, 0.0)
            right = per_time * time
            paths = ends
            if np.isfinite(self.flow):
                paths = np.minimum(self.flow * time[:, None], ends)
            right = right + lines.chains @ np.minimum(paths, LARGE).T
            right = right + figures
            if self._period is not None:
                left = energy - idle_mw * self._period
            else:
                drawn = np.where(has_power, power, 0.0) * time
                left = np.minimum(energy, np.where(has_power, drawn, np.inf)) - idle_mw * time
            limited = np.isfinite(left)
            weighted = lines.energy[:, None] * np.where(limited, left, 0.0)
            right = right + np.where(limited | (lines.energy[:, None] == 0), weighted, np.inf)
            largest = np.maximum(largest, np.where(finite, right, -np.inf))
        # Without a limit on the time the right side must not rise for ever.
        flow = self.flow if np.isfinite(self.flow) else 0.0
        slope = per_time + flow * (lines.chains @ np.isinf(ends).T)
        if self._period is None:
            slope = slope - lines.energy[:, None] * idle_mw
            slope = slope + lines.energy[:, None] * np.where(has_power & ~has_energy, power, 0)
        return np.where(np.isinf(longest) & (slope > 0), np.inf, largest)

    def epsilon(
        self,
        lines: Lines,
        chain_end: IntArray,
        idle_mw: int,
        paths_ps: FloatArray,
        until: float = MAX_EPSILON,
    ) -> FloatArray:
        """Return [corners]: the smallest epsilon with which the lines close them, infinite above
        ``until``."""
        if not len(lines.least):
            return np.full(len(self._values), np.inf)
        if self._scales:
            # All remaining limits shrink by 1 + epsilon, and so does the right side. Losses of
            # accuracy shrink at least as much, as whole numbers below the corner.
            room = self.room(np.zeros(len(self._values)), paths_ps)
            above = replace(room, figures=room.figures + 1)
            right = self.largest(lines, chain_end, idle_mw, above)
            least = lines.least[:, None]
            # A line with a least sum of 0 or less closes its corners at once, or none.
            ratio = np.divide(right, least, out=np.full(right.shape, np.inf), where=least > 0)
            found = np.maximum(ratio.min(axis=0) - 1, 0.0)
            if self._figures:
                found[self.closed(lines, chain_end, idle_mw, room)] = 0.0
            return np.where(found <= until, found, np.inf)
        low = np.zeros(len(self._values))
        high = np.full(len(self._values), np.log1p(until))

        def closed(at: FloatArray) -> BoolArray:
            room = self.room(np.expm1(at), paths_ps)
            return self.closed(lines, chain_end, idle_mw, room)

        never = ~closed(high)
        done = closed(low)
        for _ in range(STEPS):
            middle = (low + high) / 2
            shut = closed(middle)
            high = np.where(shut, middle, high)
            low = np.where(shut, low, middle)
        return np.where(never, np.inf, np.where(done, 0.0, np.expm1(high)))

"""Corners that members leave open, and which of them inequalities close, in floating point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from common.arrays import BoolArray, FloatArray, IntArray
from common.units import UHZ_PS
from results.problem.objectives import ObjectiveKind
from results.problem.problem import Problem

MAX_EPSILON = 1e3
STEPS = 24


@dataclass(frozen=True, eq=False)
class Room:
    """What corners leave: infinite where there is no limit."""

    makespan_ps: FloatArray
    """[corners]"""
    ends_ps: FloatArray
    """[corners, networks]"""
    energy_fj: FloatArray
    """[corners]: idle energy included."""

    def at(self, index: int) -> Room:
        """That of one corner."""
        part = slice(index, index + 1)
        return Room(self.makespan_ps[part], self.ends_ps[part], self.energy_fj[part])


@dataclass(frozen=True, eq=False)
class Lines:
    """Inequalities of one box, see :mod:`fitness.bound_checker`, arrays [lines, ...]."""

    least: FloatArray
    makespan: FloatArray
    energy: FloatArray
    chains: FloatArray
    """[lines, chains]"""


class Corners:
    """Corners [corners, objectives] by the values of members, infinite where any value will do."""

    def __init__(self, problem: Problem, columns: Sequence[int], values: FloatArray) -> None:
        self._problem = problem
        self._objectives = [problem.objectives[column] for column in columns]
        self._values = values
        self._period = problem.execution.period_ps
        self._cap = problem.power_cap_mw
        self._scales = (
            self._period is None
            and problem.power_cap_mw is None
            and problem.energy_budget_fj is None
            and all(network.deadline_ps is None for network in problem.networks)
            and all(
                objective.network is None
                and objective.kind in (ObjectiveKind.LATENCY, ObjectiveKind.ENERGY)
                for objective in self._objectives
            )
        )

    def __len__(self) -> int:
        return len(self._values)

    def room(self, epsilon: FloatArray, paths_ps: FloatArray) -> Room:
        """What is left when a member may be worse by ``epsilon`` [corners].

        Args:
            paths_ps: [networks]: least latencies.
        """
        problem, count = self._problem, len(self._values)
        makespan = np.full(count, np.inf if self._period is None else float(self._period))
        ends = np.full((count, len(problem.networks)), np.inf)
        for n, network in enumerate(problem.networks):
            if network.deadline_ps is not None:
                ends[:, n] = network.arrival_ps + network.deadline_ps
        budget = problem.energy_budget_fj
        energy = np.full(count, np.inf if budget is None else float(budget))
        if self._period is not None and self._cap is not None:
            energy = np.minimum(energy, self._cap * self._period)
        for j, objective in enumerate(self._objectives):
            value = self._values[:, j]
            value = np.where(value < 0, value * (1 + epsilon), value / (1 + epsilon))
            match objective.kind, objective.network:
                case ObjectiveKind.LATENCY, None:
                    makespan = np.minimum(makespan, value)
                case ObjectiveKind.LATENCY, int(n):
                    end = problem.networks[n].arrival_ps + value
                    ends[:, n] = np.minimum(ends[:, n], end)
                case ObjectiveKind.ENERGY, _:
                    energy = np.minimum(energy, value)
                case ObjectiveKind.POWER, _:
                    assert self._period is not None
                    energy = np.minimum(energy, value / 1000 * self._period)
                case ObjectiveKind.INVERSE_LATENCY, _:
                    rates = UHZ_PS / np.maximum(paths_ps, 1)
                    left = -value[:, None] - (rates.sum() - rates)
                    arrivals = np.array([n.arrival_ps for n in problem.networks])
                    limit = np.where(left > 0, UHZ_PS / np.maximum(left, 1e-9), np.inf)
                    ends = np.minimum(ends, arrivals + limit)
        makespan = np.minimum(makespan, ends.max(axis=1))
        return Room(makespan, np.minimum(ends, makespan[:, None]), energy)

    def closed(self, lines: Lines, chain_end: IntArray, idle_mw: int, room: Room) -> BoolArray:
        """[corners]: whether some line leaves nothing of what a corner leaves."""
        if not len(lines.least):
            return np.zeros(len(self._values), dtype=np.bool_)
        right = self.largest(lines, chain_end, idle_mw, room)
        return np.asarray((right < lines.least[:, None]).any(axis=0))

    def largest(self, lines: Lines, chain_end: IntArray, idle_mw: int, room: Room) -> FloatArray:
        """[lines, corners]: the largest right side over all makespans."""
        ends = room.ends_ps[:, chain_end]
        longest, energy = room.makespan_ps, room.energy_fj
        breaks = [np.zeros(len(longest)), longest]
        if (ends < longest[:, None]).any():
            breaks += list(ends.T)
        has_energy = np.isfinite(energy)
        cap = None if self._period is not None else self._cap
        if cap:
            breaks.append(np.where(has_energy, energy / cap, longest))
        largest = np.full((len(lines.least), len(longest)), -np.inf)
        for makespan in breaks:
            at = np.minimum(makespan, longest)
            finite = np.isfinite(at)
            time = np.where(finite, at, 0.0)
            right = lines.makespan[:, None] * time
            right = right + lines.chains @ np.minimum(time[:, None], ends).T
            if self._period is not None:
                left = energy - idle_mw * self._period
            else:
                left = energy if cap is None else np.minimum(energy, cap * time)
                left = left - idle_mw * time
            limited = np.isfinite(left)
            weighted = lines.energy[:, None] * np.where(limited, left, 0.0)
            right = right + np.where(limited | (lines.energy[:, None] == 0), weighted, np.inf)
            largest = np.maximum(largest, np.where(finite, right, -np.inf))
        # Without a limit on the makespan the right side must not rise for ever.
        slope = lines.makespan[:, None] + lines.chains @ np.isinf(ends).T
        if self._period is None:
            slope = slope - lines.energy[:, None] * idle_mw
            if cap:
                slope = slope + lines.energy[:, None] * np.where(has_energy, 0, cap)
        return np.where(np.isinf(longest) & (slope > 0), np.inf, largest)

    def epsilon(
        self,
        lines: Lines,
        chain_end: IntArray,
        idle_mw: int,
        paths_ps: FloatArray,
        until: float = MAX_EPSILON,
    ) -> FloatArray:
        """[corners]: the smallest epsilon with which the lines close them; infinite above
        ``until``."""
        if not len(lines.least):
            return np.full(len(self._values), np.inf)
        if self._scales:
            # All that is left shrinks by 1 + epsilon, and so does the right side.
            room = self.room(np.zeros(len(self._values)), paths_ps)
            right = self.largest(lines, chain_end, idle_mw, room)
            ratio = (right / np.maximum(lines.least, 1e-9)[:, None]).min(axis=0)
            found = np.maximum(ratio - 1, 0.0)
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

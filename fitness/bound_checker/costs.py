"""What groups cost over a box, and what units that run side by side do to each other there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from fitness.bound_checker.boxes import Box, off_bit, points_of
from fitness.contention import lost_rate, parameters_at
from results.front.bounds import BoundProof, owners_of_classes
from results.problem.arithmetic import WORK_PER_PS
from results.problem.problem import ContentionTable, Problem

Points = tuple[int, ...]


class Cost(NamedTuple):
    """What all repeats of a group cost at one choice of clocks."""

    demand_class: int
    time_ps: int
    energy_fj: int


class ClassMinima(NamedTuple):
    """Smallest figures of a class of demand on a unit, over groups and operating points."""

    demand_kbps: int
    power_mw: int


Rates = tuple[tuple[tuple[int, int, int, int], ...], ...]
"""Configurations: per running unit (unit, class, rate in 1/65536, power x lost rate)."""


@dataclass(frozen=True)
class BoxCosts:
    """Costs over one box.

    ``costs`` [groups]: (unit, its costs on the lower hull) for every unit that may run the group;
    one entry for each number format of a unit.
    ``configurations``: None where contention is not counted.
    """

    costs: tuple[tuple[tuple[int, tuple[Cost, ...]], ...], ...]
    configurations: Rates | None
    idle_mw: int


class BoxCostTables:
    """Makes :class:`BoxCosts`; a unit's part only once per choice of its points."""

    def __init__(self, problem: Problem, proof: BoundProof) -> None:
        self._problem = problem
        self._classes = proof.classes
        self._owners = [owners_of_classes(begins) for begins in proof.classes]
        self._owner = [0] * problem.group_count
        for owner, n in enumerate(proof.apart, start=1):
            for g in proof.paths[n]:
                self._owner[g] = owner
        self._repeats = [n.repeats for n in problem.networks for _ in n.groups]
        self._units: dict[
            tuple[int, tuple[Points, ...]],
            tuple[list[tuple[Cost, ...] | None], dict[int, ClassMinima]],
        ] = {}
        self._rates: dict[tuple[tuple[tuple[int, int, ClassMinima], ...], Points], Rates] = {}

    def over(self, box: Box) -> BoxCosts:
        """Costs over a box."""
        problem = self._problem
        sets = [points_of(d, bits) for d, bits in zip(problem.domains, box, strict=True)]
        per_unit: dict[int, list[tuple[Cost, ...] | None]] = {}
        of_class: dict[tuple[int, int], ClassMinima] = {}
        for u, unit in enumerate(problem.units):
            if all(sets[clock] for clock in unit.clocks):
                per_unit[u], least = self._unit(u, tuple(sets[clock] for clock in unit.clocks))
                for k, one in least.items():
                    key = problem.unit_of[u], k
                    of_class[key] = _smaller(of_class.get(key, one), one)
        minima = [(u, k, of_class[u, k]) for u, k in sorted(of_class)]
        costs = tuple(
            tuple((u, found) for u, table in per_unit.items() if (found := table[g]) is not None)
            for g in range(problem.group_count)
        )
        if not self._classes:
            return BoxCosts(costs, None, self._idle_mw(box, sets))
        memory = problem.memory_domain
        memory_points = (0,) if memory is None else sets[memory]
        known = (tuple(minima), memory_points)
        if known not in self._rates:
            self._rates[known] = self._configurations(minima, memory_points)
        return BoxCosts(costs, self._rates[known], self._idle_mw(box, sets))

    def _unit(
        self, u: int, points: tuple[Points, ...]
    ) -> tuple[list[tuple[Cost, ...] | None], dict[int, ClassMinima]]:
        found = self._units.get((u, points))
        if found is None:
            found = self._units[u, points] = self._make_unit(u, points)
        return found

    def _make_unit(
        self, u: int, points: tuple[Points, ...]
    ) -> tuple[list[tuple[Cost, ...] | None], dict[int, ClassMinima]]:
        unit = self._problem.units[u]
        first = self._problem.unit_of[u]
        begins = [(0, 0)]
        if self._classes:
            begins = list(zip(self._owners[first], self._classes[first], strict=True))
        time, steps, power, demand = (
            rows[np.ix_(range(len(rows)), *points)].reshape(len(rows), -1).tolist()
            for rows in (unit.time_ps, unit.steps_ps, unit.dynamic_mw, unit.demand_kbps)
        )
        if not self._problem.execution.has_frame:
            power = self._least_power(u, points)
        table: list[tuple[Cost, ...] | None] = []
        minima: dict[int, ClassMinima] = {}
        for g, repeats in enumerate(self._repeats):
            if not self._problem.allowed[g, u]:
                table.append(None)
                continue
            found = []
            for ps, step, mw, kbps in zip(time[g], steps[g], power[g], demand[g], strict=True):
                k = bisect_right(begins, (self._owner[g] if self._classes else 0, kbps)) - 1
                total = repeats * ps + repeats * (repeats - 1) // 2 * step
                found.append(Cost(k, total, total * mw))
                one = ClassMinima(kbps, mw)
                minima[k] = _smaller(minima.get(k, one), one)
            table.append(_lower_hull(found))
        return table, minima

    def _least_power(self, u: int, points: tuple[Points, ...]) -> list[list[int]]:
        """[groups][points]: the least power of a group of the same network, in any number format
        of the unit; nothing where none may be there."""
        problem = self._problem
        own = [v for v, first in enumerate(problem.unit_of) if first == problem.unit_of[u]]
        least: list[list[int]] = []
        for network in problem.networks:
            there = [
                problem.units[v].dynamic_mw[g][np.ix_(*points)].reshape(-1).tolist()
                for v in own
                for g in network.groups
                if problem.allowed[g, v]
            ]
            row = [min(column) for column in zip(*there, strict=True)]
            least += [row] * len(network.groups)
        return least

    def _configurations(
        self, minima: Sequence[tuple[int, int, ClassMinima]], memory_points: Points
    ) -> Rates:
        """All choices of a class or nothing for every unit that can be, with the largest rates."""
        units = range(len(self._problem.units))
        options = [[None, *(entry for entry in minima if entry[0] == u)] for u in units]
        configurations = []
        for choice in product(*options):
            running = [entry for entry in choice if entry is not None]
            apart = [self._owners[u][k] for u, k, _ in running if self._owners[u][k]]
            if len(set(apart)) < len(apart):
                continue
            total = sum(least.demand_kbps for _, _, least in running)
            rows = []
            for u, k, least in running:
                table = self._problem.units[u].contention
                own = least.demand_kbps
                lost = _least_loss(table, memory_points, own, total - own)
                rows.append((u, k, WORK_PER_PS - lost, least.power_mw * lost))
            configurations.append(tuple(rows))
        return tuple(configurations)

    def _idle_mw(self, box: Box, sets: Sequence[Points]) -> int:
        """The board, domains that are on at all points of the box, and their units."""
        problem = self._problem
        on = [not bits & off_bit(domain) for domain, bits in zip(problem.domains, box, strict=True)]
        idle = problem.board_mw
        for domain, points, is_on in zip(problem.domains, sets, on, strict=True):
            if is_on:
                idle += min(int(domain.static_mw[k]) for k in points)
        for unit in problem.units:
            if on[unit.clocks[0]]:
                # A host that is off changes no idle power.
                own = [sets[d] or (problem.domains[d].point_when_off,) for d in unit.clocks]
                idle += min(int(unit.idle_mw[at]) for at in product(*own))
        return idle


def _smaller(one: ClassMinima, other: ClassMinima) -> ClassMinima:
    return ClassMinima(min(one[0], other[0]), min(one[1], other[1]))


def _least_loss(
    table: ContentionTable | None, memory_points: Points, own_kbps: int, others_kbps: int
) -> int:
    """The smallest loss over the memory's points; 0 where parameters may not be monotone."""
    if table is None:
        return 0
    return min(
        lost_rate(table, m, own_kbps, others_kbps) if _rises(table, m) else 0 for m in memory_points
    )


@lru_cache(maxsize=1024)
def _rises(table: ContentionTable, memory_point: int) -> bool:
    """Whether the loss is monotone where a demand becomes an intensive one."""
    _, _, balance, _, _, _, *slopes = parameters_at(table, memory_point)
    proportional_num, proportional_den, intensive_num, intensive_den = slopes
    return intensive_num * balance * proportional_den >= proportional_num * intensive_den


def _lower_hull(costs: list[Cost]) -> tuple[Cost, ...]:
    """Of each class what has the least sum of time and energy at some weights."""
    hull: list[Cost] = []
    first = 0
    for cost in sorted(costs):
        if hull and cost.demand_class != hull[-1].demand_class:
            first = len(hull)
        if len(hull) > first and cost.energy_fj >= hull[-1].energy_fj:
            continue
        while len(hull) > first + 1 and _is_above(hull[-1], hull[-2], cost):
            hull.pop()
        hull.append(cost)
    return tuple(hull)


def _is_above(middle: Cost, left: Cost, right: Cost) -> bool:
    """Whether a cost is on or above the line between two others."""
    return (middle.energy_fj - left.energy_fj) * (right.time_ps - left.time_ps) >= (
        right.energy_fj - left.energy_fj
    ) * (middle.time_ps - left.time_ps)

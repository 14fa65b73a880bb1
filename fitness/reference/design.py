"""What a design point chooses, looked up once: where both plain timelines begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paretosoc.fitness.contention import lost_rate
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True)
class PlainDesign:
    """Units, costs and edges by group."""

    problem: Problem
    unit_of: tuple[int, ...]
    """[groups]"""
    alone_ps: tuple[int, ...]
    """[groups]: stand-alone times at the chosen clocks, of a first repeat."""
    step_ps: tuple[int, ...]
    """[groups]: what each further repeat takes longer."""
    demand_kbps: tuple[int, ...]
    """[groups]"""
    memory_point: int
    """The memory's operating point, 0 where there is none."""
    priorities: tuple[int, ...]
    """[networks]"""
    edges_into: tuple[tuple[int, ...], ...]
    """[groups]: positions of the edges that end there."""
    left_to: tuple[tuple[int, ...], ...]
    """[groups]: positions of the hand-overs that end there."""

    def place_of(self, group: int) -> int:
        """The unit that the group keeps busy, in whichever number format: its first entry."""
        return self.problem.unit_of[self.unit_of[group]]

    def time_ps(self, group: int, repeat: int) -> int:
        """The stand-alone time of a repeat, counted from 1."""
        return self.alone_ps[group] + (repeat - 1) * self.step_ps[group]

    def handover_sources(self, group: int) -> list[tuple[int, int, int, int]]:
        """(network, its last repeat, group, delay) of what hands over to the group's first
        repeat."""
        networks, of_group = self.problem.networks, self.problem.network_of
        sources = []
        for h in self.left_to[group]:
            source = self.problem.handovers[h][0]
            units = self.unit_of[source], self.unit_of[group]
            n = of_group[source]
            delay = int(self.problem.handovers_ps[(h, *units)])
            sources.append((n, networks[n].repeats, source, delay))
        return sources

    def rates(self, group_on: Mapping[int, int]) -> dict[int, int]:
        """How much work each busy unit does in a picosecond; ``group_on``: what each of them runs.

        The loss is that of the group's own demand beside the sum of all others'.
        """
        rates = {}
        for unit, group in group_on.items():
            others = sum(self.demand_kbps[g] for u, g in group_on.items() if u != unit)
            table = self.problem.units[unit].contention
            own = self.demand_kbps[group]
            lost = 0 if table is None else lost_rate(table, self.memory_point, own, others)
            rates[unit] = WORK_PER_PS - lost
        return rates


def look_up(problem: Problem, design: DesignPoint) -> PlainDesign:
    """The design's costs at its clocks.

    Raises:
        ValueError: where it puts a group on a unit that cannot run it.
    """
    points = [int(point) for point in design.operating_points]
    unit_of = tuple(int(unit) for unit in design.units)
    alone, step, demand = [], [], []
    for group, u in enumerate(unit_of):
        unit = problem.units[u]
        at = (group, *(points[clock] for clock in unit.clocks))
        if unit.time_ps[at] < 0:
            raise ValueError(f"group {group} cannot run on unit {unit.name}")
        alone.append(int(unit.time_ps[at]))
        step.append(int(unit.steps_ps[at]))
        demand.append(int(unit.demand_kbps[at]))
    edges_into: list[list[int]] = [[] for _ in unit_of]
    for i, (_, target) in enumerate(problem.edges):
        edges_into[target].append(i)
    left_to: list[list[int]] = [[] for _ in unit_of]
    for i, (_, target) in enumerate(problem.handovers):
        left_to[target].append(i)
    return PlainDesign(
        problem=problem,
        unit_of=unit_of,
        alone_ps=tuple(alone),
        step_ps=tuple(step),
        demand_kbps=tuple(demand),
        memory_point=0 if problem.memory_domain is None else points[problem.memory_domain],
        priorities=problem.priorities(design),
        edges_into=tuple(map(tuple, edges_into)),
        left_to=tuple(map(tuple, left_to)),
    )

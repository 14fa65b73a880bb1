"""Layers with all that may be chosen for them: units, number formats and clocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

from paretosoc.dse.certificate.formulation.frame import Frame
from paretosoc.fitness.contention import lost_rate
from paretosoc.results.problem.arithmetic import WORK_PER_PS


@dataclass(frozen=True)
class Choice:
    """The unit and clocks of a group: all that its time, demand and thresholds depend on.

    ``points`` holds (domain, operating point) pairs in the order of the domains.
    """

    option: int
    """Its entry of ``Problem.units``: a unit in a number format, where these are chosen."""
    unit: int
    """The first entry of its unit."""
    points: tuple[tuple[int, int], ...]
    memory_point: int
    work: int
    """Stand-alone time x 2**16."""
    demand_kbps: int

    @property
    def alone_ps(self) -> int:
        """Return the stand-alone time in ps."""
        return self.work // WORK_PER_PS

    def agrees(self, other: Choice) -> bool:
        """Return whether both can hold at once: another unit, and no clock at two points."""
        mine = dict(self.points)
        return self.unit != other.unit and all(mine.get(d, p) == p for d, p in other.points)


class WholeFrame(Frame):
    """The layers of one frame, and what may be chosen for each group."""

    def least_latency_ps(self, n: int) -> int:
        """Return the longest path of the network's smallest stand-alone times, without transitions
        and waiting."""
        ends: dict[int, int] = {}
        for i, layer in enumerate(self.executions):
            if layer.network == n:
                least = min((choice.alone_ps for choice in self.choices[layer.group]), default=1)
                before = [j for _, j in layer.inputs] + list(layer.waits)
                ends[i] = least + max((ends[j] for j in before if j in ends), default=0)
        return max(ends[i] for i in self.last_executions(n))

    @cached_property
    def meetings(self) -> tuple[tuple[int, ...], ...]:
        """Sets of two and more layers that may run at the same time, as increasing tuples."""
        count = len(self.executions)
        found = []
        for size in range(2, len(set(self.problem.unit_of)) + 1):
            for layers in combinations(range(count), size):
                if not any(self.ordered(i, j) for i, j in combinations(layers, 2)):
                    found.append(layers)
        return tuple(found)

    @cached_property
    def choices(self) -> tuple[tuple[Choice, ...], ...]:
        """Return all allowed choices of each group."""
        return tuple(
            tuple(
                choice
                for u in range(len(self.problem.units))
                if self.problem.allowed[group, u]
                for choice in self._choices(group, u)
            )
            for group in range(self.problem.group_count)
        )

    def _choices(self, group: int, u: int) -> list[Choice]:
        unit = self.problem.units[u]
        memory = self.problem.memory_domain
        domains = set(unit.clocks)
        if memory is not None and unit.contention is not None:
            domains.add(memory)
        result = []
        for points in product(*(self.points(d) for d in sorted(domains))):
            at = dict(zip(sorted(domains), points, strict=True))
            entry = (group, *(at[clock] for clock in unit.clocks))
            result.append(
                Choice(
                    option=u,
                    unit=self.problem.unit_of[u],
                    points=tuple(sorted(at.items())),
                    memory_point=0 if memory is None else at.get(memory, 0),
                    work=int(unit.time_ps[entry]) * WORK_PER_PS,
                    demand_kbps=int(unit.demand_kbps[entry]),
                )
            )
        return result

    def points(self, d: int) -> list[int]:
        """Return the allowed operating points of a domain, slowest first."""
        domain = self.problem.domains[d]
        return [p for p in range(len(domain.allowed)) if domain.allowed[p]]

    def lost(self, own: Choice, others: tuple[Choice, ...]) -> int:
        """Return the rate that ``own`` loses beside ``others``, in 1/65536 (``cont_model`` of Eq.
        7)."""
        table = self.problem.units[own.unit].contention
        if table is None:
            return 0
        demand = sum(other.demand_kbps for other in others)
        return lost_rate(table, own.memory_point, own.demand_kbps, demand)

    def lost_together(self, own: Choice, others: tuple[Choice, ...]) -> int:
        """Return the loss beside all of ``others`` that no smaller set of them explains.

        The loss beside a set is the sum of this over the set's subsets (inclusion-exclusion), so
        that overlaps of single layers, pairs, triples may simply be added up.
        """
        return sum(
            (-1) ** (len(others) - size) * self.lost(own, some)
            for size in range(1, len(others) + 1)
            for some in combinations(others, size)
        )

"""One period of a periodic schedule under contention, in Python integers.

Every unit runs its list of groups back to back from the begin of the period, and then idles until
the period ends. Rates are those of the timeline: work, the stand-alone time x 2**16, shrinks at
2**16 - loss per picosecond, with the loss by :func:`fitness.contention.lost_rate` from a group's
own demand and the sum of all others'. As dependences are left to retiming, groups wait for nothing
else, so the least period of these lists is the last end. It shares no code with the timelines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paretosoc.fitness.contention import lost_rate
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True)
class SimulatedPeriod:
    """Per unit and place in its list: start and end, ps from the begin of the period."""

    start_ps: tuple[tuple[int, ...], ...]
    end_ps: tuple[tuple[int, ...], ...]

    @property
    def period_ps(self) -> int:
        """Return the last end, at least 1."""
        return max((ends[-1] for ends in self.end_ps if ends), default=1)


class PeriodSimulator:
    """A simulator of lists of groups of one design point. Costs and rates are looked up once.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """

    def __init__(self, problem: Problem, design: DesignPoint) -> None:
        self._problem = problem
        points = [int(point) for point in design.operating_points]
        self._memory_point = 0 if problem.memory_domain is None else points[problem.memory_domain]
        self.unit_of = [int(unit) for unit in design.units]
        self.alone_ps: list[int] = []
        """Per group."""
        self._demand: list[int] = []
        for group, u in enumerate(self.unit_of):
            unit = problem.units[u]
            at = (group, *(points[clock] for clock in unit.clocks))
            if unit.time_ps[at] < 0:
                raise ValueError(f"group {group} cannot run on unit {unit.name}")
            self.alone_ps.append(int(unit.time_ps[at]))
            self._demand.append(int(unit.demand_kbps[at]))
        self._rates: dict[tuple[int, int, int], int] = {}

    def _rate(self, unit: int, own: int, others: int) -> int:
        key = (unit, own, others)
        if key not in self._rates:
            table = self._problem.units[unit].contention
            lost = 0 if table is None else lost_rate(table, self._memory_point, own, others)
            self._rates[key] = WORK_PER_PS - lost
        return self._rates[key]

    def simulate(self, lists: Sequence[Sequence[int]]) -> SimulatedPeriod:
        """Simulate ``lists``: the groups of each unit in order. One that runs twice a period is
        there twice."""
        start: list[list[int]] = [[] for _ in lists]
        end: list[list[int]] = [[] for _ in lists]
        left = [0] * len(lists)
        now = 0
        while True:
            for u, groups in enumerate(lists):
                if left[u] <= 0 and len(end[u]) < len(start[u]):
                    end[u].append(now)
                if left[u] <= 0 and len(start[u]) < len(groups):
                    left[u] = self.alone_ps[groups[len(start[u])]] * WORK_PER_PS
                    start[u].append(now)
            busy = [u for u, ends in enumerate(end) if len(ends) < len(start[u])]
            if not busy:
                break
            own = {u: self._demand[lists[u][len(end[u])]] for u in busy}
            total = sum(own.values())
            rates = {u: self._rate(u, own[u], total - own[u]) for u in busy}
            step = min(-(-left[u] // rates[u]) for u in busy)
            for u in busy:
                left[u] -= rates[u] * step
            now += step
        return SimulatedPeriod(tuple(map(tuple, start)), tuple(map(tuple, end)))

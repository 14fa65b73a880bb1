"""Mobile-I's retiming for pipelines on a chip's own units: CPU, GPU, DLA.

A design point has the units of groups and the clocks. Any order of a unit's groups inside the
period is possible, since retiming keeps every dependence across periods (Eq. 2, a transition being
c_ij). The least period of an order is the load of the busiest unit, slowed by contention, and the
deepest r says how many frames are in flight. Transitions lengthen no period, they only deepen it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

from paretosoc.common.units import PS_PER_S
from paretosoc.dse.certificate.formulation.frame import Execution, Frame
from paretosoc.dse.papers.mobile_i.periodic import (
    EngineArray,
    PeriodicSchedule,
    Task,
    TaskGraph,
    Transfer,
)
from paretosoc.dse.papers.mobile_i.schedule.placement import Placement, distances, least_ahead
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
    """A simulator of one period of a design point's lists of groups under contention, in Python
    integers. Costs and rates are looked up once.

    Every unit runs its list back to back from the begin of the period, and then idles until the
    period ends. Rates are those of the timeline: work, the stand-alone time x 2**16, shrinks at
    2**16 - loss per picosecond, with the loss by :func:`fitness.contention.lost_rate` from a
    group's own demand and the sum of all others'. As dependences are left to retiming, groups wait
    for nothing else, so the least period of these lists is the last end. It shares no code with the
    timelines.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """

    def __init__(self, problem: Problem, design: DesignPoint) -> None:
        self._problem = problem
        memory = problem.memory_domain
        self._memory_point = 0 if memory is None else int(design.operating_points[memory])
        self.unit_of = [int(unit) for unit in design.units]
        self.alone_ps: list[int] = []
        """Per group."""
        self._demand: list[int] = []
        for group in range(problem.group_count):
            unit, at = design.place_of(problem, group)
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


METHOD = "mobile-i"
ORDERS = 300
"""Default number of orders that are tried."""


@dataclass(frozen=True)
class Dependence:
    """Places in :attr:`FrameGraph.executions`, and the ``edge`` of the problem. That is None if
    nothing passes: between repeats, and between networks that wait for others.
    """

    source: int
    target: int
    edge: int | None


@dataclass(frozen=True)
class FrameGraph:
    """All executions of one frame, in an order of execution, and their dependences."""

    executions: tuple[Execution, ...]
    dependences: tuple[Dependence, ...]


@dataclass(frozen=True, eq=False)
class PeriodicPipeline:
    """A periodic schedule of a design point.

    ``schedule`` has a task per execution with its time under contention, engines are units.
    """

    design: DesignPoint
    frame: FrameGraph
    schedule: PeriodicSchedule
    frames_in_flight: int
    """Frames that are at work at the same time, arrivals included."""
    load_ps: tuple[int, ...]
    """Per unit, its time per frame without contention."""

    @property
    def frames_per_s(self) -> float:
        """Return the frames per second: one frame ends in every period."""
        return PS_PER_S / self.schedule.period_ps


def frame_graph(problem: Problem) -> FrameGraph:
    """Return the executions of one frame and their dependences."""
    executions = Frame(problem).executions
    before: list[list[tuple[int, int | None]]] = [
        [*((source, None) for source in each.waits), *((source, e) for e, source in each.inputs)]
        for each in executions
    ]
    graph = {target: [source for source, _ in into] for target, into in enumerate(before)}
    order = list(TopologicalSorter(graph).static_order())
    place = {position: number for number, position in enumerate(order)}
    return FrameGraph(
        tuple(executions[position] for position in order),
        tuple(
            Dependence(place[source], place[target], edge)
            for target, into in enumerate(before)
            for source, edge in into
        ),
    )


class _Pipeline:
    """One design point, any orders."""

    def __init__(self, problem: Problem, design: DesignPoint) -> None:
        self.problem = problem
        self.frame = frame_graph(problem)
        self.simulator = PeriodSimulator(problem, design)
        unit_of = self.simulator.unit_of
        self.unit = [unit_of[execution.group] for execution in self.frame.executions]
        self.delay = [
            0
            if entry.edge is None
            else int(
                problem.transition_ps[entry.edge, self.unit[entry.source], self.unit[entry.target]]
            )
            for entry in self.frame.dependences
        ]

    def in_order(self) -> list[list[int]]:
        """Return the executions of each unit, in an order of execution."""
        orders: list[list[int]] = [[] for _ in self.problem.units]
        for number, unit in enumerate(self.unit):
            orders[unit].append(number)
        return orders

    def simulate(self, orders: Sequence[Sequence[int]]) -> SimulatedPeriod:
        executions = self.frame.executions
        return self.simulator.simulate([[executions[n].group for n in order] for order in orders])

    def retimed(
        self, orders: Sequence[Sequence[int]], simulated: SimulatedPeriod
    ) -> PeriodicSchedule:
        """Return the schedule with the least periods ahead."""
        start, end = [0] * len(self.unit), [0] * len(self.unit)
        for order, starts, ends in zip(orders, simulated.start_ps, simulated.end_ps, strict=True):
            for number, first, last in zip(order, starts, ends, strict=True):
                start[number], end[number] = first, last
        names = self.problem.networks
        graph = TaskGraph(
            " + ".join(network.name for network in names),
            tuple(
                Task(f"{names[at.network].name} {at.repeat}: {at.group}", last - first)
                for at, first, last in zip(self.frame.executions, start, end, strict=True)
            ),
            tuple(
                Transfer(entry.source, entry.target, 0, delay, delay)
                for entry, delay in zip(self.frame.dependences, self.delay, strict=True)
            ),
        )
        placement = Placement(simulated.period_ps, tuple(self.unit), tuple(start))
        return PeriodicSchedule(
            method=METHOD,
            graph=graph,
            array=EngineArray(len(self.problem.units), 0),
            copies=1,
            period_ps=placement.period_ps,
            engine=placement.engine,
            start_ps=placement.start_ps,
            ahead=tuple(least_ahead(graph, distances(graph, placement, ()))),
            cached=(),
        )

    def frames_in_flight(self, schedule: PeriodicSchedule) -> int:
        """Return the periods from a frame's release to its end.

        It is released so early that no network starts before it arrives.
        """
        deepest = max(schedule.ahead)
        for number, at in enumerate(self.frame.executions):
            arrival = self.problem.networks[at.network].arrival_ps
            late = -((schedule.start_ps[number] - arrival) // schedule.period_ps)
            deepest = max(deepest, schedule.ahead[number] + late)
        return deepest + 1

    def loads(self) -> tuple[int, ...]:
        loads = [0] * len(self.problem.units)
        for at, unit in zip(self.frame.executions, self.unit, strict=True):
            loads[unit] += self.simulator.alone_ps[at.group]
        return tuple(loads)


def periodic_pipeline(
    problem: Problem, design: DesignPoint, *, orders: int = ORDERS, seed: int = 0
) -> PeriodicPipeline:
    """Return the design point as a periodic schedule: the shortest period found, then the fewest
    frames.

    Starting with an order of execution, one execution of a unit goes elsewhere in its list,
    ``orders`` times. A change that lengthens neither the period, nor the number of frames at the
    same period, is kept. Without contention every order has the same period, the largest load, and
    only frames change.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it, or networks are
            phases of one model.
    """
    if problem.has_phases:
        raise ValueError("repeats that take longer and longer, or hand-overs between networks")
    pipeline = _Pipeline(problem, design)
    draw = random.Random(seed)
    best = pipeline.in_order()
    schedule = pipeline.retimed(best, pipeline.simulate(best))
    frames = pipeline.frames_in_flight(schedule)
    movable = [u for u, order in enumerate(best) if len(order) > 1]
    for _ in range(orders if movable else 0):
        unit = draw.choice(movable)
        order = list(best[unit])
        moved = order.pop(draw.randrange(len(order)))
        order.insert(draw.randrange(len(order) + 1), moved)
        tried = [order if u == unit else other for u, other in enumerate(best)]
        simulated = pipeline.simulate(tried)
        if simulated.period_ps > schedule.period_ps:
            continue
        found = pipeline.retimed(tried, simulated)
        needed = pipeline.frames_in_flight(found)
        if (found.period_ps, needed) <= (schedule.period_ps, frames):
            best, schedule, frames = tried, found, needed
    return PeriodicPipeline(design, pipeline.frame, schedule, frames, pipeline.loads())

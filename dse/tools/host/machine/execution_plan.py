"""A design point to be executed: the unit of each group instance, and the instances that it
follows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from paretosoc.common.units import PS_PER_NS
from paretosoc.fitness.execution import schedule_of
from paretosoc.fitness.simulate import make_evaluator, simulate
from paretosoc.results.errors import ResultError
from paretosoc.results.front.schedule import ScheduledGroup
from paretosoc.results.problem.problem import DesignPoint, Problem

Key = tuple[int, int, int, int]
"""Frame, network, repeat, group."""


class Dispatch(Enum):
    """Choice of the next group of a free unit."""

    PLANNED = "planned"
    """The next of the order that the timeline predicts, even if another one is ready before."""
    FIFO = "fifo"
    """The ready group with the smallest (priority, ready time, frame, network, repeat, group)
    starts."""


@dataclass(frozen=True)
class Instance:
    """One execution of a group. Frame and repeat count from 1. Other fields are indices."""

    frame: int
    network: int
    repeat: int
    group: int
    unit: int
    after: tuple[int, ...]
    """Instances whose end it waits for."""
    release_after: tuple[int, ...]
    """Instances whose end releases its frame; none for the first frames."""
    arrival_ns: int | None
    """How long after that release it may start; None if only ``after`` counts."""
    priority: int = 0
    start_ps: int = 0
    """As predicted, from the start of the first frame."""


@dataclass(frozen=True)
class ExecutionPlan:
    """Instances in the order (frame, network, repeat, group), and each unit's order of them."""

    instances: tuple[Instance, ...]
    order: tuple[tuple[int, ...], ...]
    """[units]: instances by predicted start."""
    frames: int
    in_flight: int


def make_execution_plan(
    problem: Problem, design: DesignPoint, *, frames: int, in_flight: int
) -> ExecutionPlan:
    """Return the plan of ``frames`` frames, at most ``in_flight`` of them at a time.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    rows = simulate(problem, design, frames=frames, in_flight=in_flight).schedule.groups
    starts = {(row.frame, row.network, row.repeat, row.group): row.start_ps for row in rows}
    return _planned(problem, design, starts, frames, in_flight, period_ps=None)


def make_release_plan(problem: Problem, design: DesignPoint, *, periods: int) -> ExecutionPlan:
    """Return the plan of so many periods of networks with rates: every release waits for its
    instant, for the one before it and for those of other networks that its network waits for.

    Raises:
        ResultError: if the design is overloaded.
        ValueError: if it puts a group on a unit that cannot run it.
    """
    rows = predicted_releases(problem, design, periods=periods)
    starts = {key: row.start_ps for key, row in rows.items()}
    return _planned(problem, design, starts, periods, 1, period_ps=problem.execution.period_ps)


def _planned(
    problem: Problem,
    design: DesignPoint,
    starts: Mapping[Key, int],
    frames: int,
    in_flight: int,
    *,
    period_ps: int | None,
) -> ExecutionPlan:
    """Return the plan of instances with these predicted starts. With a period, frames are released
    by the clock, else by the ends of earlier ones."""
    place = {key: i for i, key in enumerate(sorted(starts))}
    feeding: dict[int, list[int]] = defaultdict(list)
    for source, target in problem.edges:
        feeding[target].append(source)

    def ends(frame: int, n: int, repeat: int) -> tuple[int, ...]:
        return tuple(place[frame, n, repeat, group] for group in problem.networks[n].groups)

    ends_of_frame = [
        tuple(i for n, network in enumerate(problem.networks) for i in ends(f, n, network.repeats))
        for f in range(1, frames + 1)
    ]
    priorities = problem.group_priorities(design).tolist()
    instances = []
    for frame, n, repeat, group in place:
        network = problem.networks[n]
        release: tuple[int, ...] = ()
        arrival = None
        if group in feeding:
            after = [place[frame, n, repeat, source] for source in feeding[group]]
        else:
            awaited = [(frame, *entry) for entry in problem.awaited(n, repeat)]
            if repeat == 1 and period_ps is not None and frame > 1:
                awaited.append((frame - 1, n, network.repeats))
            after = [i for entry in awaited for i in ends(*entry)]
            if repeat == 1 or network.paced:
                ready = problem.ready_ps(n, repeat - 1)
                if period_ps is not None:
                    ready += (frame - 1) * period_ps
                elif frame > in_flight:
                    release = ends_of_frame[frame - in_flight - 1]
                arrival = ready // PS_PER_NS
        unit = int(design.units[group])
        instances.append(
            Instance(
                *(frame, n, repeat, group, unit, tuple(after), release, arrival),
                priority=priorities[group],
                start_ps=starts[frame, n, repeat, group],
            )
        )
    order: list[list[int]] = [[] for _ in problem.units]
    for i in sorted(range(len(instances)), key=lambda i: (instances[i].start_ps, i)):
        order[instances[i].unit].append(i)
    return ExecutionPlan(tuple(instances), tuple(map(tuple, order)), frames, in_flight)


def predicted_releases(
    problem: Problem, design: DesignPoint, *, periods: int
) -> dict[Key, ScheduledGroup]:
    """Return all executions of this many periods of the recurring schedule.

    Raises:
        ResultError: if the design is overloaded.
    """
    found = make_evaluator(problem)(design.row[None])
    count = int(found.periods[0])
    if not count:
        raise ResultError("the member is overloaded: its releases would fall behind for ever")
    end = int(found.recurs_ps[0])
    length = count * (problem.execution.period_ps or 0)
    rows = schedule_of(problem, design).groups
    window = [row for row in rows if end - length < row.end_ps <= end]
    result = {(row.frame, row.network, row.repeat, row.group): row for row in rows}
    for again in range(1, periods // count + 1):
        for row in window:
            key = row.frame + again * count, row.network, row.repeat, row.group
            later = {
                name: getattr(row, name) + again * length
                for name in ("ready_ps", "start_ps", "end_ps")
            }
            result.setdefault(key, row._replace(frame=key[0], **later))
    return {key: row for key, row in result.items() if key[0] <= periods}

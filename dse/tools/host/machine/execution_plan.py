"""Which group instances run on which unit, after which others: a design point to be executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paretosoc.common.units import PS_PER_NS
from paretosoc.fitness.simulate import simulate
from paretosoc.results.problem.problem import DesignPoint, Problem


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
    """How long after that release it may start; None where only ``after`` counts."""
    priority: int = 0


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
    schedule = simulate(problem, design, frames=frames, in_flight=in_flight).schedule
    place = {(e.frame, e.network, e.repeat, e.group): i for i, e in enumerate(schedule.groups)}
    feeding: dict[int, list[int]] = {}
    for source, target in problem.edges:
        feeding.setdefault(target, []).append(source)
    ends_of_frame = [
        tuple(
            place[frame, n, network.repeats, group]
            for n, network in enumerate(problem.networks)
            for group in network.groups
        )
        for frame in range(1, frames + 1)
    ]
    instances = []
    for entry in schedule.groups:
        frame, n, repeat, group = entry.frame, entry.network, entry.repeat, entry.group
        network = problem.networks[n]
        release: tuple[int, ...] = ()
        arrival = None
        if group in feeding:
            after = [place[frame, n, repeat, source] for source in feeding[group]]
        else:
            before = [(n, repeat - 1)] if repeat > 1 else []
            after = [
                place[frame, other, last, g]
                for other, last in (*before, *problem.awaited(n, repeat))
                for g in problem.networks[other].groups
            ]
            if repeat == 1 or network.paced:
                release = ends_of_frame[frame - in_flight - 1] if frame > in_flight else ()
                arrival = problem.ready_ps(n, repeat - 1) // PS_PER_NS
        instances.append(
            Instance(
                *(frame, n, repeat, group, entry.unit, tuple(after), release, arrival),
                priority=problem.priorities(design)[n],
            )
        )
    starts = [entry.start_ps for entry in schedule.groups]
    order = order_by_unit(instances, starts, len(problem.units))
    return ExecutionPlan(tuple(instances), order, frames, in_flight)


def order_by_unit(
    instances: Sequence[Instance], starts: Sequence[int], units: int
) -> tuple[tuple[int, ...], ...]:
    """Return [units]: positions of the instances of each unit, by their predicted starts."""
    return tuple(
        tuple(
            sorted(
                (i for i, instance in enumerate(instances) if instance.unit == unit),
                key=lambda i: (starts[i], i),
            )
        )
        for unit in range(units)
    )

"""The plain simulator: the oracle of the compiled one.

Self-timed execution under contention in Python integers. It shares no code with
:mod:`fitness.simulator.general`, keeps no queue, and looks at everything that waits at every
instant; so it is slow, and easy to check against the rules:

* at one instant, first all ends, then all whose ready time has come may start, then each free unit
  starts the one with the smallest (priority, ready time, frame, network, repeat, group);
* a running group's work, the stand-alone time of its repeat x 2**16, shrinks at 2**16 - loss per
  picosecond, the loss by :func:`fitness.contention.lost_rate` from its own demand and the sum of
  all others'.
"""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.fitness.reference.design import PlainDesign, look_up
from paretosoc.results.front.schedule import Schedule, ScheduledGroup
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.problem import DesignPoint, Problem

Execution = tuple[int, int, int, int]
"""(frame, network, repeat, group): frame and repeat counted from 1, the others indices."""


@dataclass(frozen=True)
class PlainTimeline:
    """What happened: executions in order, and the instants at which frames and networks ended."""

    schedule: Schedule
    frame_end_ps: tuple[int, ...]
    latency_ps: tuple[tuple[int, ...], ...]
    """[frames][networks]: last end minus arrival; of a paced network the longest of a repeat."""


@dataclass
class _Running:
    execution: Execution
    start_ps: int
    work_left: int


def simulate(
    problem: Problem, design: DesignPoint, *, frames: int = 1, in_flight: int = 1
) -> PlainTimeline:
    """Simulates ``frames`` frames, at most ``in_flight`` of them at a time.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it.
    """
    chosen = look_up(problem, design)
    first = [[g for g in n.groups if not chosen.edges_into[g]] for n in problem.networks]
    feeds: dict[int, list[int]] = {}
    for source, target in problem.edges:
        feeds.setdefault(source, []).append(target)
    # What lacks something still; nothing else can be ready before a group that feeds it, or one of
    # the repeat before, has ended.
    lacking = {
        (frame, n, 1, group)
        for frame in range(1, frames + 1)
        for n in range(len(problem.networks))
        for group in first[n]
    }
    waiting: set[Execution] = set()
    running: dict[int, _Running] = {}
    start: dict[Execution, int] = {}
    end: dict[Execution, int] = {}
    ready: dict[Execution, int] = {}
    now = 0
    while True:
        for unit in [u for u, job in running.items() if job.work_left <= 0]:
            execution = running.pop(unit).execution
            end[execution] = now
            frame, n, repeat, group = execution
            lacking |= {(frame, n, repeat, target) for target in feeds.get(group, ())}
            if repeat < problem.networks[n].repeats:
                lacking |= {(frame, n, repeat + 1, g) for g in first[n]}

        for execution in list(lacking):
            instant = _ready_time(chosen, end, execution, in_flight)
            if instant is not None:
                ready[execution] = instant
                lacking.remove(execution)
                waiting.add(execution)
        there = [execution for execution in waiting if ready[execution] <= now]
        for execution in sorted(there, key=lambda e: (chosen.priorities[e[1]], ready[e], e)):
            unit = chosen.place_of(execution[3])
            if unit not in running:
                waiting.remove(execution)
                start[execution] = now
                work = chosen.time_ps(execution[3], execution[2]) * WORK_PER_PS
                running[unit] = _Running(execution, now, work)

        rate = chosen.rates({unit: job.execution[3] for unit, job in running.items()})
        instants = [now + -(-job.work_left // rate[u]) for u, job in running.items()]
        instants += [ready[execution] for execution in waiting]
        instants = [instant for instant in instants if instant > now]
        if not instants:
            break
        later = min(instants)
        for unit, job in running.items():
            job.work_left -= rate[unit] * (later - now)
        now = later

    rows = tuple(
        ScheduledGroup(
            *execution[:3],
            execution[3],
            chosen.unit_of[execution[3]],
            ready[execution],
            start[execution],
            end[execution],
            chosen.time_ps(execution[3], execution[2]),
        )
        for execution in sorted(end)
    )
    return PlainTimeline(
        schedule=Schedule(rows),
        frame_end_ps=tuple(
            max(instant for execution, instant in end.items() if execution[0] == frame)
            for frame in range(1, frames + 1)
        ),
        latency_ps=tuple(
            tuple(
                _latency(problem, end, frame, n) - (_release(problem, end, frame, in_flight) or 0)
                for n in range(len(problem.networks))
            )
            for frame in range(1, frames + 1)
        ),
    )


def _ready_time(
    chosen: PlainDesign, end: dict[Execution, int], execution: Execution, in_flight: int
) -> int | None:
    """When all that the execution waits for has passed, or None as long as something has not."""
    frame, n, repeat, group = execution
    problem, unit_of, incoming = chosen.problem, chosen.unit_of, chosen.edges_into[group]
    network = problem.networks[n]
    instants = []
    for i in incoming:
        source = problem.edges[i][0]
        source_end = end.get((frame, n, repeat, source))
        if source_end is None:
            return None
        delay = int(problem.transition_ps[i, unit_of[source], unit_of[group]])
        instants.append(source_end + delay)
    if not incoming and repeat > 1:
        # The last group first: mostly it is the one that has not ended.
        for g in reversed(network.groups):
            instant = end.get((frame, n, repeat - 1, g))
            if instant is None:
                return None
            instants.append(instant)
        if network.paced:
            released = _release(problem, end, frame, in_flight) or 0
            instants.append(released + problem.release_ps(n, repeat - 1) + network.batch_wait_ps)
    if not incoming and repeat == 1:
        release = _release(problem, end, frame, in_flight)
        if release is None:
            return None
        instants.append(release + network.arrival_ps + network.batch_wait_ps)
    if not incoming:
        for other, last in problem.awaited(n, repeat):
            for g in reversed(problem.networks[other].groups):
                instant = end.get((frame, other, last, g))
                if instant is None:
                    return None
                instants.append(instant)
    if repeat == 1:
        for other, last, source, delay in chosen.handover_sources(group):
            instant = end.get((frame, other, last, source))
            if instant is None:
                return None
            instants.append(instant + delay)
    return max(instants)


def _release(problem: Problem, end: dict[Execution, int], frame: int, in_flight: int) -> int | None:
    """Frame k + F is released when frame k ends; the first F at 0."""
    if frame <= in_flight:
        return 0
    instants = []
    for n, network in enumerate(problem.networks):
        for group in network.groups:
            instant = end.get((frame - in_flight, n, network.repeats, group))
            if instant is None:
                return None
            instants.append(instant)
    return max(instants)


def _latency(problem: Problem, end: dict[Execution, int], frame: int, n: int) -> int:
    """From the release of the frame on, where that is 0."""
    network = problem.networks[n]
    return max(
        end[(frame, n, repeat + 1, group)] - problem.release_ps(n, repeat)
        for repeat in range(network.repeats)
        for group in network.groups
    )


def frame_energy_fj(problem: Problem, design: DesignPoint, timeline: PlainTimeline) -> int:
    """Energy of frame 1 simulated alone: what is on draws idle power until the makespan, and every
    execution its dynamic power from start to end (mW x ps = fJ)."""
    makespan = timeline.frame_end_ps[0]
    points = [int(point) for point in design.operating_points]
    used = {int(unit) for unit in design.units}
    on = [
        not domain.may_be_off or any(d in problem.units[unit].clocks for unit in used)
        for d, domain in enumerate(problem.domains)
    ]
    power = problem.board_mw
    power += sum(
        int(domain.static_mw[points[d]]) for d, domain in enumerate(problem.domains) if on[d]
    )
    for unit in problem.units:
        if on[unit.clocks[0]]:
            power += int(unit.idle_mw[tuple(points[clock] for clock in unit.clocks)])
    energy = power * makespan
    for row in timeline.schedule.groups:
        unit = problem.units[row.unit]
        at = (row.group, *(points[clock] for clock in unit.clocks))
        energy += int(unit.dynamic_mw[at]) * (row.end_ps - row.start_ps)
    return energy

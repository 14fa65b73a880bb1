"""Networks that run freely, as plainly as it can be said: the oracle of the compiled form.

There is no common frame: every network is a stream of its own, whose frame k + F is released when
its frame k ends (the first F at 0). Everything else is as in :mod:`fitness.plain_timeline`: the
dispatch rule (at one instant all ends, then all releases and ready times, then starts by ready
time, frame, network, repeat, group; frames count within each network) and the contention.

It ends when every network has ended twelve frames. The *slowest* network is the one whose twelfth
frame ends last, the first of several; the *window* reaches from the end of its frame 4, which is
left out, to the end of its frame 12, which counts. Every network's frames that end in the window
are its inferences.
"""

from __future__ import annotations

from dataclasses import dataclass

from fitness.plain_design import PlainDesign, look_up
from fitness.plain_timeline import Execution
from results.problem import WORK_PER_PS, DesignPoint, Problem

FRAMES, WARM_UP_FRAMES = 12, 4


@dataclass(frozen=True)
class PlainFreeRun:
    """What happened until every network had ended twelve frames."""

    runs: dict[Execution, tuple[int, int, int | None]]
    """Ready, start and end of everything that was started; no end where it was still running."""
    frame_end_ps: tuple[tuple[int, ...], ...]
    """[networks][frames ended]"""

    @property
    def slowest(self) -> int:
        """The network whose twelfth frame ends last."""
        twelfth = [ends[FRAMES - 1] for ends in self.frame_end_ps]
        return twelfth.index(max(twelfth))

    @property
    def window_ps(self) -> tuple[int, int]:
        """From the end of the slowest network's frame 4 to that of its frame 12."""
        ends = self.frame_end_ps[self.slowest]
        return ends[WARM_UP_FRAMES - 1], ends[FRAMES - 1]

    @property
    def inferences(self) -> tuple[int, ...]:
        """[networks]: frames that end after the window's beginning, its end included."""
        begin, end = self.window_ps
        return tuple(sum(begin < t <= end for t in ends) for ends in self.frame_end_ps)

    def dynamic_fj(self, problem: Problem, design: DesignPoint) -> int:
        """Dynamic energy in the window: an execution that reaches beyond counts in part."""
        begin, end = self.window_ps
        total = 0
        for (_, _, _, group), (_, started, ended) in self.runs.items():
            unit = problem.units[int(design.units[group])]
            at = (group, *(int(design.operating_points[clock]) for clock in unit.clocks))
            inside = min(end if ended is None else ended, end) - max(started, begin)
            total += int(unit.dynamic_mw[at]) * max(inside, 0)
        return total


def play_freely(problem: Problem, design: DesignPoint) -> PlainFreeRun:
    """Plays until every network has ended twelve frames.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it.
    """
    chosen = look_up(problem, design)
    released: dict[tuple[int, int], int] = {}
    frame_end: list[list[int]] = [[] for _ in problem.networks]
    left: dict[tuple[int, int], int] = {}
    waiting: set[Execution] = set()
    ready: dict[Execution, int] = {}
    was_ready: dict[Execution, int] = {}
    running: dict[int, tuple[Execution, int]] = {}
    start: dict[Execution, int] = {}
    end: dict[Execution, int] = {}
    now = 0

    def release(n: int, frame: int) -> None:
        network = problem.networks[n]
        released[n, frame] = now
        executions = {
            (frame, n, repeat, group)
            for repeat in range(1, network.repeats + 1)
            for group in network.groups
        }
        waiting.update(executions)
        left[n, frame] = len(executions)

    for n in range(len(problem.networks)):
        for frame in range(1, problem.frames_in_flight + 1):
            release(n, frame)
    changed = set(range(len(problem.networks)))
    while True:
        for unit in [u for u, (_, work) in running.items() if work <= 0]:
            execution, _ = running.pop(unit)
            end[execution] = now
            frame, n, _, _ = execution
            changed.add(n)
            left[n, frame] -= 1
            if left[n, frame] == 0:
                frame_end[n].append(now)
                release(n, frame + problem.frames_in_flight)
        if all(len(ends) >= FRAMES for ends in frame_end):
            break

        # Only an end or a release in its own network can make an execution ready.
        for execution in [e for e in waiting if e not in ready and e[1] in changed]:
            instant = _ready_time(chosen, end, execution, released)
            if instant is not None:
                ready[execution] = instant
        changed.clear()
        for unit in range(len(problem.units)):
            queue = [
                (instant, *execution)
                for execution, instant in ready.items()
                if instant <= now and chosen.unit_of[execution[3]] == unit
            ]
            if queue and unit not in running:
                execution = min(queue)[1:]
                waiting.remove(execution)
                was_ready[execution] = ready.pop(execution)
                start[execution] = now
                running[unit] = execution, chosen.alone_ps[execution[3]] * WORK_PER_PS

        rate = chosen.rates({unit: execution[3] for unit, (execution, _) in running.items()})
        instants = [now + -(-work // rate[u]) for u, (_, work) in running.items()]
        instants += [instant for instant in ready.values() if instant > now]
        later = min(instants)
        for unit, (execution, work) in running.items():
            running[unit] = execution, work - rate[unit] * (later - now)
        now = later
    return PlainFreeRun(
        runs={e: (was_ready[e], start[e], end.get(e)) for e in start},
        frame_end_ps=tuple(tuple(ends) for ends in frame_end),
    )


def _ready_time(
    chosen: PlainDesign,
    end: dict[Execution, int],
    execution: Execution,
    released: dict[tuple[int, int], int],
) -> int | None:
    """When it may start: all its inputs there, or for a network's first groups the release of the
    frame or the end of the previous repeat; None while something has not ended."""
    frame, n, repeat, group = execution
    problem, unit_of, incoming = chosen.problem, chosen.unit_of, chosen.edges_into[group]
    instants = []
    for i in incoming:
        source = problem.edges[i][0]
        if (frame, n, repeat, source) not in end:
            return None
        delay = int(problem.transition_ps[i, unit_of[source], unit_of[group]])
        instants.append(end[frame, n, repeat, source] + delay)
    if not incoming:
        instants.append(released[n, frame])
        for other in problem.networks[n].groups if repeat > 1 else ():
            if (frame, n, repeat - 1, other) not in end:
                return None
            instants.append(end[frame, n, repeat - 1, other])
    return max(instants)

"""Networks that run freely, as plainly as it can be said: the oracle of the compiled form.

There is no common frame: every network is a stream of its own, whose frame k + F is released when
its frame k ends (the first F at 0). Everything else is as in :mod:`fitness.reference.timeline`: the
dispatch rule (at one instant all ends, then all releases and ready times, then starts by ready
time, frame, network, repeat, group; frames count within each network) and the contention.

It ends when every network has ended twelve frames. The *slowest* network is the one whose twelfth
frame ends last, the first of several; the *window* reaches from the end of its frame 4, which is
left out, to the end of its frame 12, which counts. Every network's frames that end in the window
are its inferences.

What is shown of it is every execution that starts before the window ends or, if it is earlier,
before the first instant at which 1000 executions have ended. So play goes on until these have
ended.

A fast network runs a hundred thousand times beside a slow one. So at every instant only what an end
or a release can have made ready is looked at, units keep what waits in order, and rates are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from fitness.reference.design import PlainDesign, look_up
from fitness.reference.timeline import Execution
from results.front.front import FreeRun
from results.front.schedule import Schedule, ScheduledGroup
from results.problem.problem import WORK_PER_PS, DesignPoint, Problem

FRAMES, WARM_UP_FRAMES = 12, 4
MOST_SHOWN = 1000


@dataclass(frozen=True)
class PlainFreeRun:
    """What happened until every network had ended twelve frames, and all that ran then had ended,
    too."""

    runs: dict[Execution, tuple[int, int, int | None]]
    """Ready, start and end of everything that was started; no end where that was at the window's
    end or later, and it was still running."""
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
        powers = []
        for group, u in enumerate(design.units):
            unit = problem.units[int(u)]
            at = (group, *(int(design.operating_points[clock]) for clock in unit.clocks))
            powers.append(int(unit.dynamic_mw[at]))
        total = 0
        for (_, _, _, group), (_, started, ended) in self.runs.items():
            inside = min(end if ended is None else ended, end) - max(started, begin)
            total += powers[group] * max(inside, 0)
        return total

    def shown(
        self, problem: Problem, design: DesignPoint, *, most: int = MOST_SHOWN
    ) -> tuple[Schedule, FreeRun]:
        """Executions in the order (frame, network, repeat, group), and what is known of them."""
        ends = sorted(end for _, _, end in self.runs.values() if end is not None)
        until = self.window_ps[1]
        if len(ends) >= most:
            until = min(until, ends[most - 1])
        chosen = look_up(problem, design)
        rows = []
        for execution, (ready, start, end) in self.runs.items():
            if start < until:
                assert end is not None, "played until it had ended"
                group = execution[3]
                unit, alone = chosen.unit_of[group], chosen.alone_ps[group]
                rows.append(ScheduledGroup(*execution, unit, ready, start, end, alone))
        return Schedule(tuple(sorted(rows))), FreeRun(self.window_ps, self.inferences, until)


def play_freely(problem: Problem, design: DesignPoint) -> PlainFreeRun:
    """Plays until every network has ended twelve frames, and what ran at that instant has ended.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it.
    """
    chosen = look_up(problem, design)
    released: dict[tuple[int, int], int] = {}
    frame_end: list[list[int]] = [[] for _ in problem.networks]
    left: dict[tuple[int, int], int] = {}
    first = [[g for g in n.groups if not chosen.edges_into[g]] for n in problem.networks]
    feeds: dict[int, list[int]] = {}
    for source, target in problem.edges:
        feeds.setdefault(source, []).append(target)
    # Executions that this instant may have made ready.
    candidates: set[Execution] = set()
    # Of each unit a heap of ready times and executions, whose order is that of the rule.
    queues: list[list[tuple[int, Execution]]] = [[] for _ in problem.units]
    running: dict[int, tuple[Execution, int]] = {}
    ready: dict[Execution, int] = {}
    start: dict[Execution, int] = {}
    runs: dict[Execution, tuple[int, int, int | None]] = {}
    rates_of: dict[frozenset[int], dict[int, int]] = {}
    now = 0
    window_end: int | None = None

    def release(n: int, frame: int) -> None:
        network = problem.networks[n]
        released[n, frame] = now
        left[n, frame] = network.repeats * len(network.groups)
        candidates.update((frame, n, 1, group) for group in first[n])

    for n in range(len(problem.networks)):
        for frame in range(1, problem.frames_in_flight + 1):
            release(n, frame)
    while True:
        for unit in [u for u, (_, work) in running.items() if work <= 0]:
            execution, _ = running.pop(unit)
            runs[execution] = ready.pop(execution), start.pop(execution), now
            frame, n, repeat, group = execution
            candidates.update((frame, n, repeat, target) for target in feeds.get(group, ()))
            if repeat < problem.networks[n].repeats:
                candidates.update((frame, n, repeat + 1, g) for g in first[n])
            left[n, frame] -= 1
            if left[n, frame] == 0:
                frame_end[n].append(now)
                release(n, frame + problem.frames_in_flight)
        if window_end is None and all(len(ends) >= FRAMES for ends in frame_end):
            window_end = now
        if window_end is not None and all(start[e] >= window_end for e, _ in running.values()):
            break

        for execution in candidates:
            instant = _ready_time(chosen, runs, execution, released)
            if instant is not None:
                heappush(queues[chosen.unit_of[execution[3]]], (instant, execution))
        candidates.clear()
        for unit, queue in enumerate(queues):
            if unit not in running and queue and queue[0][0] <= now:
                instant, execution = heappop(queue)
                ready[execution], start[execution] = instant, now
                running[unit] = execution, chosen.alone_ps[execution[3]] * WORK_PER_PS

        groups = frozenset(execution[3] for execution, _ in running.values())
        if groups not in rates_of:
            rates_of[groups] = chosen.rates({chosen.unit_of[group]: group for group in groups})
        rate = rates_of[groups]
        instants = [now + -(-work // rate[u]) for u, (_, work) in running.items()]
        instants += [queue[0][0] for u, queue in enumerate(queues) if queue and u not in running]
        later = min(instants)
        for unit, (execution, work) in running.items():
            running[unit] = execution, work - rate[unit] * (later - now)
        now = later
    runs |= {e: (ready[e], start[e], None) for e, _ in running.values()}
    return PlainFreeRun(runs, tuple(tuple(ends) for ends in frame_end))


def _ready_time(
    chosen: PlainDesign,
    runs: dict[Execution, tuple[int, int, int | None]],
    execution: Execution,
    released: dict[tuple[int, int], int],
) -> int | None:
    """When it may start: all its inputs there, or for a network's first groups the release of the
    frame or the end of the previous repeat; None while something has not ended. ``runs``: what has
    ended."""
    frame, n, repeat, group = execution
    problem, unit_of, incoming = chosen.problem, chosen.unit_of, chosen.edges_into[group]
    instants = []
    for i in incoming:
        source = problem.edges[i][0]
        before = runs.get((frame, n, repeat, source))
        if before is None or before[2] is None:
            return None
        delay = int(problem.transition_ps[i, unit_of[source], unit_of[group]])
        instants.append(before[2] + delay)
    if not incoming:
        instants.append(released[n, frame])
        for other in problem.networks[n].groups if repeat > 1 else ():
            before = runs.get((frame, n, repeat - 1, other))
            if before is None or before[2] is None:
                return None
            instants.append(before[2])
    return max(instants)

"""Streams of frames that never run out, stated plainly: the oracle of the compiled form.

A *stream* is a sequence of frames that never runs out: its frame k + F is released when its frame k
ends (the first F at 0). A pipeline is one stream, whose frame is the whole workload; where networks
run freely, every network is a stream of its own. Everything else is as in
:mod:`fitness.reference.timeline`: the dispatch rule (at one instant all ends, then all releases and
ready times, then starts by priority, ready time, frame, network, repeat, group; frames count within
each stream), arrivals and waiting, and the contention.

Networks with rates are streams, too, one in flight: frame k begins with the end of the one before,
and is due at k P.

A fast network runs a hundred thousand times beside a slow one. So at every instant only what an end
or a release can have made ready is considered, units keep what waits in order, and rates are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from paretosoc.fitness.reference.design import look_up
from paretosoc.fitness.reference.timeline import Execution
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.execution import frames_in_flight
from paretosoc.results.problem.problem import DesignPoint, Problem

Form = tuple[object, ...]
"""A state, relative to its instant."""


@dataclass(frozen=True)
class Account:
    """What has happened by the end of a round; what runs counts in part."""

    now_ps: int
    executed_ps: dict[tuple[int, int], int]
    """Stand-alone time executed by stream and unit, whole ps, rounded down."""
    drawn_fj: tuple[int, ...]
    """Dynamic energy of each unit."""


class LongRunSimulation:
    """A design point being simulated.

    ``streams``: the networks of each; ``now``, ``rounds``, ``executions``: the instant, rounds that
    are over and executions that have ended; ``runs``: ready, start and end of these; of frames that
    have ended only what started before ``shown_ps``, once that is known; ``running``: by unit the
    execution and its work left.
    """

    def __init__(self, problem: Problem, design: DesignPoint) -> None:
        self.problem = problem
        self.chosen = look_up(problem, design)
        everything = tuple(range(len(problem.networks)))
        self.in_flight = 1 if problem.has_rates else frames_in_flight(problem.execution)
        one_stream = problem.execution.has_frame and not problem.has_rates
        self.streams = (everything,) if one_stream else tuple((n,) for n in everything)
        self.stream_of = {n: s for s, networks in enumerate(self.streams) for n in networks}
        self.powers = []
        for group, u in enumerate(design.units):
            unit = problem.units[int(u)]
            at = (group, *(int(design.operating_points[clock]) for clock in unit.clocks))
            self.powers.append(int(unit.dynamic_mw[at]))
        self.first = [
            [g for g in n.groups if not self.chosen.edges_into[g]] for n in problem.networks
        ]
        self.feeds: dict[int, list[int]] = {}
        for source, target in problem.edges:
            self.feeds.setdefault(source, []).append(target)
        self.leaves_to: dict[int, list[tuple[int, int]]] = {}
        """By group the networks and groups that it hands over to."""
        for source, target in problem.handovers:
            self.leaves_to.setdefault(source, []).append((problem.network_of[target], target))

        self.now = 0
        self.rounds = 0
        self.ended = [0 for _ in self.streams]
        self.released: dict[tuple[int, int], int] = {}
        """When the frames in flight, by stream and number, were released."""
        self.begun: dict[tuple[int, int], int] = {}
        """Before when they do not begin: with rates the end of the frame before."""
        self.left: dict[tuple[int, int], int] = {}
        """How many of their executions have not ended."""
        self.candidates: set[Execution] = set()
        """Executions that this instant may have made ready."""
        self.queues: list[list[tuple[int, Execution]]] = [[] for _ in problem.units]
        """Of each unit a heap of ready times and executions, whose order is that of the rule but
        for priorities."""
        self.running: dict[int, tuple[Execution, int]] = {}
        self.ready: dict[Execution, int] = {}
        self.start: dict[Execution, int] = {}
        self.runs: dict[Execution, tuple[int, int, int]] = {}
        self.executions = 0
        self.shown_ps: int | None = None
        self.executed = {
            (s, u): 0 for s in range(len(self.streams)) for u in range(len(self.queues))
        }
        self.drawn = [0 for _ in problem.units]
        self._rates: dict[frozenset[int], dict[int, int]] = {}
        for stream in range(len(self.streams)):
            for frame in range(1, self.in_flight + 1):
                self._release(stream, frame)
        self._join_queues()

    def advance(self) -> bool:
        """Starts what can start, then simulates to the end of all ends and releases of the next
        instant; whether a round is over then."""
        for unit, queue in enumerate(self.queues):
            if unit not in self.running and queue and queue[0][0] <= self.now:
                instant, execution = self._take_first(queue)
                self.ready[execution], self.start[execution] = instant, self.now
                self.running[unit] = execution, self._alone_ps(execution) * WORK_PER_PS
        groups = frozenset(execution[3] for execution, _ in self.running.values())
        if groups not in self._rates:
            group_on = {self.chosen.place_of(group): group for group in groups}
            self._rates[groups] = self.chosen.rates(group_on)
        rate = self._rates[groups]
        instants = [self.now + -(-work // rate[u]) for u, (_, work) in self.running.items()]
        instants += [q[0][0] for u, q in enumerate(self.queues) if q and u not in self.running]
        passed = min(instants) - self.now
        self.now += passed
        for unit, (execution, work) in self.running.items():
            self.running[unit] = execution, work - rate[unit] * passed
        for unit in [u for u, (_, work) in self.running.items() if work <= 0]:
            self._end(unit)
        self._join_queues()
        before, self.rounds = self.rounds, min(self.ended)
        return self.rounds > before

    def _take_first(self, queue: list[tuple[int, Execution]]) -> tuple[int, Execution]:
        """Removes what starts next of what is ready."""
        if not self.problem.has_priorities:
            return heappop(queue)
        priorities = self.chosen.priorities
        ready = [entry for entry in queue if entry[0] <= self.now]
        first = min(ready, key=lambda entry: (priorities[entry[1][1]], entry))
        queue.remove(first)
        heapify(queue)
        return first

    def _alone_ps(self, execution: Execution) -> int:
        return self.chosen.time_ps(execution[3], execution[2])

    def _end(self, unit: int) -> None:
        """What runs on the unit ends now."""
        execution, _ = self.running.pop(unit)
        frame, n, repeat, group = execution
        started = self.start.pop(execution)
        self.runs[execution] = self.ready.pop(execution), started, self.now
        self.executions += 1
        stream = self.stream_of[n]
        self.executed[stream, unit] += self._alone_ps(execution)
        self.drawn[unit] += self.powers[group] * (self.now - started)
        self.candidates.update((frame, n, repeat, target) for target in self.feeds.get(group, ()))
        if repeat < self.problem.networks[n].repeats:
            self.candidates.update((frame, n, repeat + 1, g) for g in self.first[n])
        else:
            self.candidates.update((frame, m, 1, g) for m, g in self.leaves_to.get(group, ()))
        for m, waiting in enumerate(self.problem.networks):
            # A network that is behind looks for what it waits for when its frame is released.
            if n in waiting.waits_for and (self.stream_of[m], frame) in self.left:
                self.candidates.update(
                    (frame, m, release, g)
                    for release in range(1, waiting.repeats + 1)
                    if (n, repeat) in self.problem.awaited(m, release)
                    for g in self.first[m]
                )
        self.left[stream, frame] -= 1
        if self.left[stream, frame] == 0:
            del self.left[stream, frame], self.released[stream, frame], self.begun[stream, frame]
            if self.shown_ps is not None:
                for run in self._executions(stream, frame):
                    if self.runs[run][1] >= self.shown_ps:
                        del self.runs[run]
            self.ended[stream] += 1
            self._release(stream, frame + self.in_flight)

    def _release(self, stream: int, frame: int) -> None:
        networks = [self.problem.networks[n] for n in self.streams[stream]]
        self.released[stream, frame] = self.begun[stream, frame] = self.now
        if self.problem.has_rates:
            self.released[stream, frame] = (frame - 1) * (self.problem.execution.period_ps or 0)
        self.left[stream, frame] = sum(n.repeats * len(n.groups) for n in networks)
        for n in self.streams[stream]:
            self.candidates.update((frame, n, 1, group) for group in self.first[n])

    def _join_queues(self) -> None:
        for execution in self.candidates:
            instant = self._ready_time(execution)
            if instant is not None:
                heappush(self.queues[self.chosen.place_of(execution[3])], (instant, execution))
        self.candidates.clear()

    def _ready_time(self, execution: Execution) -> int | None:
        """When it may start: all its inputs there, and for a network's first groups its arrival
        after the release and the end of all that it waits for, or the end of the previous repeat;
        None while something has not ended."""
        frame, n, repeat, group = execution
        network = self.problem.networks[n]
        inputs = self._inputs(execution)
        instants = [i for i in inputs if i is not None]
        if len(instants) < len(inputs):
            return None
        if self.chosen.edges_into[group]:
            return max(instants)
        awaited = []
        if repeat > 1:
            awaited = [(frame, n, repeat - 1, other) for other in network.groups]
        for m, last in self.problem.awaited(n, repeat):
            awaited += [(frame, m, last, g) for g in self.problem.networks[m].groups]
        if any(before not in self.runs for before in awaited):
            return None
        stream = self.stream_of[n]
        released = self.released[stream, frame] + self.problem.release_ps(n, repeat - 1)
        released += network.batch_wait_ps
        ends = (self.runs[before][2] for before in awaited)
        return max([self.begun[stream, frame], released, *instants, *ends])

    def _inputs(self, execution: Execution) -> list[int | None]:
        """When each of its inputs is there; None while its source has not ended."""
        frame, n, repeat, group = execution
        unit_of = self.chosen.unit_of
        instants: list[int | None] = []
        for i in self.chosen.edges_into[group]:
            source = self.problem.edges[i][0]
            run = self.runs.get((frame, n, repeat, source))
            delay = int(self.problem.transition_ps[i, unit_of[source], unit_of[group]])
            instants.append(None if run is None else run[2] + delay)
        if repeat == 1:
            for m, last, source, delay in self.chosen.handover_sources(group):
                run = self.runs.get((frame, m, last, source))
                instants.append(None if run is None else run[2] + delay)
        return instants

    def account(self) -> Account:
        """What has been executed and drawn by now."""
        executed, drawn = dict(self.executed), list(self.drawn)
        for unit, (execution, work) in self.running.items():
            group = execution[3]
            whole = self._alone_ps(execution) * WORK_PER_PS
            executed[self.stream_of[execution[1]], unit] += (whole - work) // WORK_PER_PS
            drawn[unit] += self.powers[group] * (self.now - self.start[execution])
        return Account(self.now, executed, tuple(drawn))

    def form(self) -> Form:
        """The present state: of every frame in flight its number, counted from the oldest of its
        stream, and its release; what waits, with its ready time; what runs, with the work left;
        what has ended; what lacks some of its inputs, with the latest of the others. Instants are
        relative to the present one."""
        oldest = [min(f for s, f in self.released if s == k) for k in range(len(self.streams))]

        def relative(execution: Execution) -> Execution:
            frame, n, repeat, group = execution
            return frame - oldest[self.stream_of[n]], n, repeat, group

        waiting = sorted(
            (relative(execution), ready - self.now) for q in self.queues for ready, execution in q
        )
        running = sorted((relative(execution), work) for execution, work in self.running.values())
        ended, lacking = [], []
        for execution in self._in_flight():
            if execution in self.runs:
                ended.append(relative(execution))
            else:
                there = [i for i in self._inputs(execution) if i is not None]
                if there and self._ready_time(execution) is None:
                    lacking.append((relative(execution), max(there) - self.now))
        frames = sorted((s, f - oldest[s], at - self.now) for (s, f), at in self.released.items())
        return tuple(frames), tuple(waiting), tuple(running), tuple(ended), tuple(lacking)

    def _in_flight(self) -> Iterator[Execution]:
        """Executions of the frames in flight."""
        for stream, frame in sorted(self.released):
            yield from self._executions(stream, frame)

    def _executions(self, stream: int, frame: int) -> Iterator[Execution]:
        """Those of one frame."""
        for n in self.streams[stream]:
            network = self.problem.networks[n]
            for repeat in range(1, network.repeats + 1):
                yield from ((frame, n, repeat, group) for group in network.groups)

    def loads(self) -> dict[tuple[int, int], int]:
        """Stand-alone time of one frame by stream and unit, where there is some."""
        loads: dict[tuple[int, int], int] = {}
        for n, network in enumerate(self.problem.networks):
            for group in network.groups:
                at = self.stream_of[n], self.chosen.place_of(group)
                times = [self.chosen.time_ps(group, r + 1) for r in range(network.repeats)]
                loads[at] = loads.get(at, 0) + sum(times)
        return loads

    def periods(self, begin: Account, end: Account) -> tuple[int, ...]:
        """Of each stream: what a frame takes in the mean between the two, by the unit where least
        of it is executed, rounded up; 2**63 - 1 where that is nothing."""
        window = end.now_ps - begin.now_ps
        periods = [1 for _ in self.streams]
        for (stream, unit), load in self.loads().items():
            done = end.executed_ps[stream, unit] - begin.executed_ps[stream, unit]
            period = -(-load * window // done) if done else INT64_MAX
            periods[stream] = max(periods[stream], period)
        return tuple(periods)

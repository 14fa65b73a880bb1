"""Design points simulated frame by frame: the timeline of the check with no choice open.

One frame alone, a number of frames, or *streams* of frames that never run out: a pipeline is one
stream, whose frame is the whole workload; if networks run freely or have rates, each is a stream of
its own. A frame is released when the one ``in_flight`` before it in its stream ends; with rates
frame k begins with the end of the one before, and is due at k P.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from paretosoc.fitness.check.facts import NONE, Facts
from paretosoc.fitness.check.interpreted import interpreted, numbers
from paretosoc.fitness.check.make_facts import Frames, make_facts
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.timeline import add_moving, leaves_with, next_round
from paretosoc.fitness.check.walk import begin_frames
from paretosoc.fitness.check.work import ENDED, LOCKED, WAITING, Work, make_work
from paretosoc.results.front.schedule import Schedule, ScheduledGroup
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.execution import SHARED, frames_in_flight
from paretosoc.results.problem.problem import DesignPoint, Problem

Execution = tuple[int, int, int, int]
"""(frame, network, repeat, group): frame and repeat counted from 1, the others indices."""


@dataclass(frozen=True)
class Account:
    """The totals at the end of a round. Running groups count in part."""

    now_ps: int
    executed_ps: dict[tuple[int, int], int]
    """Stand-alone time executed by stream and unit, whole ps, rounded down."""
    drawn_fj: tuple[int, ...]
    """Dynamic energy of each unit."""
    shared_ps: int
    """Sum of the busy times of shared units."""


@dataclass(frozen=True)
class PlainTimeline:
    """The instants at which frames and networks ended, and executions in order."""

    simulation: Simulation = field(repr=False)
    frame_end_ps: tuple[int, ...]
    latency_ps: tuple[tuple[int, ...], ...]
    """[frames][networks]: last end minus arrival. For a paced network it is the longest of a
    repeat."""
    drawn_fj: tuple[int, ...]
    """Dynamic energy of each unit, at its first entry."""

    @cached_property
    def schedule(self) -> Schedule:
        """Return the executions."""
        return self.simulation.schedule()

    @cached_property
    def busy_ps(self) -> int:
        """Return the sum of the busy times of units."""
        return self.simulation.busy_ps()


@lru_cache(maxsize=4)
def _facts_of(problem: Problem, frames: Frames, compiled: bool) -> Facts:
    return make_facts(problem, LemmaTarget((), ()), exact=not compiled, frames=frames)


@lru_cache(maxsize=4)
def _instances_of(facts: Facts) -> list[tuple[int, int, int]]:
    """Return the (network, repeat, group) of each instance, repeats counted from 1."""
    rows = (facts.network_of, facts.repeat_of + 1, facts.group_of)
    return list(zip(*(row.tolist() for row in rows), strict=True))


@lru_cache(maxsize=4)
def _work_for_choices(facts: Facts) -> Work:
    """Return room that every design point sets anew before a figure of its choices is taken."""
    return make_work(facts)


def figure_of_choices(problem: Problem, design: DesignPoint, kernel: Any, index: int) -> int:
    """Return a figure of :mod:`fitness.check.choices` of a design point, such as its transitions in
    one network."""
    facts = _facts_of(problem, Frames(1, 1), False)
    work = _work_for_choices(facts)
    for g, u in enumerate(design.units.tolist()):
        work.units[g] = u
    return int(interpreted(kernel)(facts, work, index))


class Simulation:
    """A design point being simulated.

    Attributes:
        streams: the networks of each.
        now: the present instant, in ps.
        rounds: the number of frames that every stream has ended.
        executions: the number of executions that have ended.
        runs: ready time, start and end of these executions. Only those that started before
            ``shown_ps`` are added, once it is known: the end of execution number ``most``.
    """

    def __init__(
        self,
        problem: Problem,
        design: DesignPoint,
        frames: Frames | None = None,
        *,
        most: int | None = None,
        compiled: bool = False,
    ) -> None:
        """Begin at instant 0.

        Args:
            frames: by default they never run out.
            compiled: the problem's figures must then fit in int64 with all their products.

        Raises:
            ValueError: if the design puts a group on a unit that cannot run it, or frames never run
                out and the execution model has no long run.
        """
        self.problem, self.most = problem, most
        if frames is None:
            in_flight = 1 if problem.has_rates else frames_in_flight(problem.execution)
            frames = Frames(in_flight, None)
        self.in_flight = frames.in_flight
        self.unit_of: list[int] = design.units.tolist()
        self.powers: list[int] = []
        times, steps = [], []
        for g in range(problem.group_count):
            unit, at = design.place_of(problem, g)
            if unit.time_ps[at] < 0:
                raise ValueError(f"group {g} cannot run on unit {unit.name}")
            times.append(int(unit.time_ps[at]))
            steps.append(int(unit.steps_ps[at]))
            self.powers.append(int(unit.dynamic_mw[at]))
        self._facts = facts = _facts_of(problem, frames, compiled)
        self._work = make_work(facts)
        begin, follow, self._leaves, add = (
            kernel if compiled else interpreted(kernel)
            for kernel in (begin_frames, next_round, leaves_with, add_moving)
        )
        self._next = partial(follow, facts, self._work)
        points = [1 << int(point) for point in design.operating_points]
        masks = np.array(points, dtype=numbers(facts.exact))
        begin(facts, self._work, design.units, masks, problem.group_priorities(design))
        alone = np.array(times, dtype=numbers(facts.exact))
        add(facts, self._work, alone)
        self._costs: list[tuple[int, int]] = list(zip(alone.tolist(), steps, strict=True))
        self._instances = _instances_of(facts)
        everything = tuple(range(len(problem.networks)))
        self.streams = (everything,) if facts.streams == 1 else tuple((n,) for n in everything)
        self.now = self.rounds = self.executions = 0
        self.shown_ps: int | None = None
        self.runs: dict[Execution, tuple[int, int, int]] = {}
        self._executed = {
            (s, u): 0 for s in range(len(self.streams)) for u in range(len(problem.units))
        }
        places = [self._place(group) for group in range(problem.group_count)]
        streams = map(self._stream, problem.network_of)
        self._at = list(zip(streams, places, strict=True))
        self._own_mw = [
            0 if self.is_shared(u) else mw for u, mw in zip(places, self.powers, strict=True)
        ]
        self._drawn = [0 for _ in problem.units]

    @cached_property
    def _leaves_with(self) -> list[int]:
        facts = self._facts
        return [int(self._leaves(facts, self._work, i)) for i in range(facts.instances)]

    def advance(self, until_ps: int = NONE) -> bool:
        """Simulate until every stream has ended one more frame, but at most to the first instant
        from ``until_ps`` on. Stops earlier if the table of ended executions is full.

        Returns False if nothing is left to happen.
        """
        work = self._work
        more = bool(self._next(until_ps))
        self.now = int(work.now[0])
        rows = work.executed[: int(work.executions[0])].tolist()
        if self.shown_ps is None and self.most is not None:
            left = max(self.most - self.executions, 1)
            if len(rows) >= left:
                self.shown_ps = rows[left - 1][-1]
        for frame, i, ready, start, end in rows:
            n, repeat, group = self._instances[i]
            if self.shown_ps is None or start < self.shown_ps:
                self.runs[frame, n, repeat, group] = ready, start, end
            at, (time, step) = self._at[group], self._costs[group]
            self._executed[at] += time + (repeat - 1) * step
            self._drawn[at[1]] += self._own_mw[group] * (end - start)
        self.executions += len(rows)
        self.rounds = min(work.ended_frames.tolist())
        return more

    def until_recurrence(self, until_ps: int | None = None) -> Iterator[Account | None]:
        """Simulate round by round, and yield an earlier account once its state recurs, else None.

        If the state at the end of a round, relative to the instant, is the same as then, all
        between the two recurs for ever. The state compared with is that of the first round. Each
        time that twice as many rounds are over, the present state takes its place. Streams without
        rates are not compared.
        """
        kept: tuple[int, object, Account] | None = None
        compared = len(self.streams) == 1 or self.problem.has_rates
        while until_ps is None or self.now < until_ps:
            before = self.rounds
            self.advance(NONE if until_ps is None else until_ps)
            if self.rounds == before:
                continue
            form = self.form() if compared else None
            yield kept[2] if compared and kept is not None and kept[1] == form else None
            if kept is None or self.rounds >= 2 * kept[0]:
                kept = self.rounds, form, self.account()

    def running(self) -> list[tuple[int, int, int]]:
        """Return the (instance, unit, work left) of all that runs."""
        rows = self._facts.queue_unit, self._work.running[0], self._work.left[0]
        columns = zip(*(row.tolist() for row in rows), strict=True)
        return [(i, u, left) for u, i, left in columns if i >= 0]

    def is_shared(self, unit: int) -> bool:
        """Return whether several groups may run on a unit at once.

        The energy of such a unit is accounted from interval to interval.
        """
        return self.problem.units[unit].dispatch == SHARED

    def starts_before(self, instant_ps: int) -> bool:
        """Return whether something runs that started before an instant."""
        return any(self._work.start[i] < instant_ps for i, _, _ in self.running())

    def account(self) -> Account:
        """Return the work executed and the energy drawn by now."""
        shared = self._work.shared_fj.tolist()
        executed = dict(self._executed)
        drawn = [own + of_all for own, of_all in zip(self._drawn, shared, strict=True)]
        for i, unit, left in self.running():
            n, repeat, group = self._instances[i]
            whole = self.alone_ps(group, repeat) * WORK_PER_PS
            executed[self._stream(n), unit] += (whole - left) // WORK_PER_PS
            if not self.is_shared(unit):
                drawn[unit] += self.powers[group] * (self.now - int(self._work.start[i]))
        return Account(self.now, executed, tuple(drawn), int(self._work.shared_ps.sum()))

    def busy_ps(self, since: Account | None = None) -> int:
        """Return how long units were busy, added up: shared ones since an account was taken, others
        for all executions that have ended since then."""
        begin = 0 if since is None else since.now_ps
        own = sum(
            end - start
            for (*_, group), (_, start, end) in self.runs.items()
            if end > begin and not self.is_shared(self._place(group))
        )
        shared = self.account().shared_ps - (0 if since is None else since.shared_ps)
        return own + shared

    def form(self) -> tuple[object, ...]:
        """Return the present state in a form that can be compared.

        For every frame in flight it has its number, counted from the oldest of its stream, and its
        release. Waiting instances have their ready time, running ones the work left, and those that
        lack inputs the latest of the inputs that they have. Instants are relative to the present
        one.
        """
        facts, work, streams = self._facts, self._work, len(self.streams)
        oldest = self.oldest_frames()
        frames, releases = work.frame.tolist(), work.release.tolist()
        status, instants = work.status[0].tolist(), work.instant[0].tolist()
        left = {i: left for i, _, left in self.running()}
        starts = facts.slot_start.tolist()
        state: list[object] = []
        for slot in sorted(range(facts.slots), key=lambda s: (s % streams, frames[s])):
            state.append((frames[slot] - oldest[slot % streams], releases[slot] - self.now))
            for i in range(starts[slot], starts[slot + 1]):
                figure = left.get(i)
                if status[i] == WAITING:
                    figure = instants[i] - self.now
                elif status[i] == LOCKED:
                    figure = self._latest_input(i, status, instants)
                state.append((status[i], figure))
        return tuple(state)

    def oldest_frames(self) -> list[int]:
        """Return of each stream the oldest frame in flight."""
        frames, streams = self._work.frame.tolist(), len(self.streams)
        return [min(frames[stream::streams]) for stream in range(streams)]

    def _latest_input(self, i: int, status: list[int], instants: list[int]) -> int | None:
        """Return when the last of the inputs that are there has come, relative to the instant."""
        facts, latest = self._facts, None
        unit = self.unit_of[self._instances[i][2]]
        for k in range(facts.input_start[i], facts.input_start[i + 1]):
            source, edge = facts.input[k], int(facts.input_edge[k])
            left = self._leaves_with[source]
            if edge >= 0 and status[left] == ENDED:
                other = self.unit_of[self._instances[source][2]]
                at = (edge * facts.units + other) * facts.units + unit
                come = instants[left] + int(facts.delay_ps[at]) - self.now
                latest = come if latest is None else max(latest, come)
        return latest

    def alone_ps(self, group: int, repeat: int) -> int:
        """Return the stand-alone time of a repeat, counted from 1."""
        time, step = self._costs[group]
        return time + (repeat - 1) * step

    def _stream(self, n: int) -> int:
        return n if len(self.streams) > 1 else 0

    def _place(self, group: int) -> int:
        """Return the unit that a group keeps busy, in whichever number format."""
        return self.problem.unit_of[self.unit_of[group]]

    def schedule(self, until_ps: int | None = None) -> Schedule:
        """Return the executions that have ended and started before an instant, in the order (frame,
        network, repeat, group).
        """
        return Schedule(
            tuple(
                ScheduledGroup(*run, self.unit_of[run[3]], *instants, self.alone_ps(run[3], run[2]))
                for run, instants in sorted(self.runs.items())
                if until_ps is None or instants[1] < until_ps
            )
        )

    def loads(self) -> dict[tuple[int, int], int]:
        """Return the stand-alone time of one frame by stream and unit, if there is some."""
        loads: dict[tuple[int, int], int] = {}
        for n, network in enumerate(self.problem.networks):
            for group in network.groups:
                at = self._stream(n), self._place(group)
                times = (self.alone_ps(group, r + 1) for r in range(network.repeats))
                loads[at] = loads.get(at, 0) + sum(times)
        return loads

    def periods(self, begin: Account, end: Account) -> tuple[int, ...]:
        """Return the mean time of a frame between two accounts, per stream, rounded up.

        The unit that executes the smallest part of its load decides. A stream without any progress
        has 2**63 - 1.
        """
        window = end.now_ps - begin.now_ps
        periods = [1 for _ in self.streams]
        for (stream, unit), load in self.loads().items():
            done = end.executed_ps[stream, unit] - begin.executed_ps[stream, unit]
            period = -(-load * window // done) if done else INT64_MAX
            periods[stream] = max(periods[stream], period)
        return tuple(periods)


def simulate(
    problem: Problem,
    design: DesignPoint,
    *,
    frames: int = 1,
    in_flight: int = 1,
    compiled: bool = False,
) -> PlainTimeline:
    """Simulate ``frames`` frames, at most ``in_flight`` of them at a time.

    Raises:
        ValueError: if the design puts a group on a unit that cannot run it.
    """
    model = Frames(min(frames, in_flight), frames)
    simulation = Simulation(problem, design, model, compiled=compiled)
    while simulation.advance():
        pass
    last: dict[tuple[int, int, int], int] = {}
    for (frame, n, repeat, _), (_, _, end) in simulation.runs.items():
        last[frame, n, repeat] = max(last.get((frame, n, repeat), 0), end)
    ends = [0] * (frames + 1)
    for (frame, *_), end in last.items():
        ends[frame] = max(ends[frame], end)
    latency = [[0] * len(problem.networks) for _ in ends]
    for (frame, n, repeat), end in last.items():
        released = ends[max(frame - in_flight, 0)] + problem.release_ps(n, repeat - 1)
        latency[frame][n] = max(latency[frame][n], end - released)
    return PlainTimeline(
        simulation,
        frame_end_ps=tuple(ends[1:]),
        latency_ps=tuple(tuple(row) for row in latency[1:]),
        drawn_fj=simulation.account().drawn_fj,
    )

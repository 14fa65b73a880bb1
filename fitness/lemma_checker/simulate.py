"""Simulation of a lemma, as far as its choices decide it.

The rules are those of :mod:`fitness.reference.timeline`, for one frame alone and in Python
integers. A lemma's timeline *stops* at the first instant at which

* a group instance whose unit is not named becomes eligible: all that it waits for has ended; its
  transitions and its network's arrival need not have passed; or
* a group is about to start on a unit one of whose clocks, or the memory's, has several operating
  points left.

What has happened until then, ends at that instant included, happens in *every* design point with
the lemma's choices. Nothing is dispatched at the instant of the stop. A lemma with one choice more
resumes from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fitness.contention import lost_rate
from fitness.lemma_checker.costs import CertainCost, LemmaCosts
from results.front.certificate import NOT_NAMED
from results.problem.arithmetic import WORK_PER_PS
from results.problem.problem import Problem


class Input(NamedTuple):
    """Something that a group instance waits for: the end of another one."""

    instance: int
    edge: int | None
    """The edge whose transition has to pass, too, or edges + the hand-over; None: a repeat or
    another network is awaited."""


@dataclass(frozen=True)
class Instance:
    """One group in one repeat of its network."""

    network: int
    repeat: int
    """From 0."""
    group: int
    arrival_ps: int
    """What it waits for besides ``inputs``: its network's arrival where it is one of the first
    groups, else 0."""
    inputs: tuple[Input, ...]


class Running(NamedTuple):
    """A group instance on its unit."""

    instance: int
    work_left: int
    """1/65536 ps at the full rate."""
    demand_kbps: int
    memory_point: int


@dataclass
class State:
    """A timeline at one instant, after all ends and before any dispatch."""

    now_ps: int
    start_ps: list[int | None]
    """[instances]: None as long as it has not started."""
    end_ps: list[int | None]
    """[instances]: None as long as it has not ended."""
    missing: list[int]
    """[instances]: how many of its inputs have not ended."""
    fresh: list[int]
    """Instances that have become eligible now, lowest first; their units are yet to be read."""
    waiting: dict[int, tuple[int, int]]
    """Eligible instances that have not started: (ready time, unit)."""
    running: dict[int, Running]
    """By unit, its first entry."""

    def copy(self) -> State:
        """One that can go its own way."""
        return State(
            self.now_ps,
            self.start_ps.copy(),
            self.end_ps.copy(),
            self.missing.copy(),
            self.fresh.copy(),
            self.waiting.copy(),
            self.running.copy(),
        )


def group_instances(problem: Problem) -> tuple[Instance, ...]:
    """All group instances of a frame, in the order that breaks ties: network, repeat, group."""
    first = [0]
    for network in problem.networks:
        first.append(first[-1] + network.repeats * len(network.group_names))
    incoming: dict[int, list[tuple[int, int]]] = {}
    for edge, (source, target) in enumerate(problem.edges):
        incoming.setdefault(target, []).append((source, edge))
    left: dict[int, list[Input]] = {}
    for edge, (source, target) in enumerate(problem.handovers, len(problem.edges)):
        n = problem.network_of[source]
        last = first[n + 1] - problem.networks[n].groups.stop + source
        left.setdefault(target, []).append(Input(last, edge))
    instances = []
    for n, network in enumerate(problem.networks):
        size = len(network.group_names)
        for repeat in range(network.repeats):
            base = first[n] + repeat * size
            if repeat == 0:
                awaited = [
                    instance
                    for other in network.waits_for
                    for instance in range(
                        first[other + 1] - len(problem.networks[other].group_names),
                        first[other + 1],
                    )
                ]
            else:
                awaited = list(range(base - size, base))
            for group in network.groups:
                inputs = [
                    Input(base + source - network.first_group, edge)
                    for source, edge in incoming.get(group, ())
                ]
                arrival = 0
                if not inputs:
                    inputs = [Input(instance, None) for instance in awaited]
                    arrival = network.arrival_ps if repeat == 0 else 0
                if repeat == 0:
                    inputs += left.get(group, ())
                instances.append(Instance(n, repeat, group, arrival, tuple(inputs)))
    return tuple(instances)


def transition_table(problem: Problem) -> list[list[list[int]]]:
    """[edges, then hand-overs][unit of the source][unit of the target]: ps."""
    tables: list[list[list[int]]] = problem.transition_ps.tolist()
    tables.extend(problem.handovers_ps.tolist())
    return tables


class LemmaSimulation:
    """Simulates lemmas of one problem."""

    def __init__(self, problem: Problem, instances: Sequence[Instance]) -> None:
        self._instances = instances
        self._followers: list[list[int]] = [[] for _ in self._instances]
        for i, instance in enumerate(self._instances):
            for entry in instance.inputs:
                self._followers[entry.instance].append(i)
        self._transition_ps = transition_table(problem)
        self._unit_of = problem.unit_of
        self._contention = [unit.contention for unit in problem.units]
        self._priorities = [network.priority for network in problem.networks]

    def begin(self) -> State:
        """The instant 0; what has no inputs is eligible."""
        missing = [len(instance.inputs) for instance in self._instances]
        return State(
            now_ps=0,
            start_ps=[None] * len(self._instances),
            end_ps=[None] * len(self._instances),
            missing=missing,
            fresh=[i for i, count in enumerate(missing) if count == 0],
            waiting={},
            running={},
        )

    def resume(self, state: State, units: Sequence[int], costs: LemmaCosts) -> State:
        """The state in which the timeline stops, or is over.

        Args:
            state: a stop of choices that all of these name, or the beginning.
            units: [groups]: a unit, or ``NOT_NAMED``.
            costs: over the operating points.
        """
        state = state.copy()
        while all(units[self._instances[i].group] != NOT_NAMED for i in state.fresh):
            self._enqueue(state, units)
            starts = self.next_starts(state)
            groups = [self._instances[i].group for _, i in starts]
            chosen = [costs.certain[units[group]][group] for group in groups]
            certain = [cost for cost in chosen if cost is not None]
            if len(certain) < len(chosen) or not self._advance(state, starts, certain):
                break
        return state

    def next_starts(self, state: State) -> list[tuple[int, int]]:
        """(unit, instance): what every free unit, its first entry, starts now: the smallest
        (priority, ready time, instance); by unit."""
        first: dict[int, tuple[int, int, int]] = {}
        for i, (ready, entry) in state.waiting.items():
            unit = self._unit_of[entry]
            if ready <= state.now_ps and unit not in state.running:
                own = self._priorities[self._instances[i].network], ready, i
                first[unit] = min(first.get(unit, own), own)
        return [(unit, first[unit][2]) for unit in sorted(first)]

    def _enqueue(self, state: State, units: Sequence[int]) -> None:
        """Fresh instances wait for their units."""
        for i in state.fresh:
            instance = self._instances[i]
            unit = units[instance.group]
            ready = instance.arrival_ps
            for source, edge in instance.inputs:
                ended = state.end_ps[source]
                assert ended is not None, "an instance is fresh when all its inputs have ended"
                if edge is not None:
                    source_unit = units[self._instances[source].group]
                    ended += self._transition_ps[edge][source_unit][unit]
                ready = max(ready, ended)
            state.waiting[i] = (ready, unit)
        state.fresh = []

    def _advance(
        self, state: State, starts: Sequence[tuple[int, int]], costs: Sequence[CertainCost]
    ) -> bool:
        """Start (unit, instance) pairs, and advance to the next instant at which a group ends or
        a ready time comes; False where nothing is left to happen."""
        now = state.now_ps
        for (unit, i), cost in zip(starts, costs, strict=True):
            del state.waiting[i]
            state.start_ps[i] = now
            work = (cost.time_ps + self._instances[i].repeat * cost.step_ps) * WORK_PER_PS
            state.running[unit] = Running(i, work, cost.demand_kbps, cost.memory_point)
        rates = self._rates(state.running)
        instants = [now - -job.work_left // rates[unit] for unit, job in state.running.items()]
        instants += [ready for ready, _ in state.waiting.values() if ready > now]
        if not instants:
            return False
        state.now_ps = min(instants)
        for unit, job in list(state.running.items()):
            work = job.work_left - rates[unit] * (state.now_ps - now)
            if work > 0:
                state.running[unit] = job._replace(work_left=work)
            else:
                del state.running[unit]
                self._end(state, job.instance)
        state.fresh.sort()
        return True

    def _rates(self, running: dict[int, Running]) -> dict[int, int]:
        total = sum(job.demand_kbps for job in running.values())
        rates = {}
        for unit, job in running.items():
            table = self._contention[unit]
            rates[unit] = WORK_PER_PS
            if table is not None:
                others = total - job.demand_kbps
                rates[unit] -= lost_rate(table, job.memory_point, job.demand_kbps, others)
        return rates

    def _end(self, state: State, ended: int) -> None:
        state.end_ps[ended] = state.now_ps
        for i in self._followers[ended]:
            state.missing[i] -= 1
            if state.missing[i] == 0:
                state.fresh.append(i)

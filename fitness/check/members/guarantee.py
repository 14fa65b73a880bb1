"""Guaranteed latencies of a design point, in Python integers.

A late and an early timeline advance side by side (docs/concepts/guarantee.md). Sets of instances
are bits of integers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from paretosoc.fitness.check.facts import Facts
from paretosoc.fitness.check.interpreted import interpreted
from paretosoc.fitness.check.make_facts import make_facts
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.timeline import lost_rate
from paretosoc.results.front.schedule import Schedule
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.execution import GROUP, SHARED
from paretosoc.results.problem.problem import DesignPoint, Problem

_lost_rate = interpreted(lost_rate)


@dataclass(frozen=True)
class PlainGuarantee:
    """Upper bounds for one frame alone."""

    makespan_ps: int
    latency_ps: tuple[int, ...]
    """[networks]"""
    end_ps: dict[tuple[int, int], int]
    """By repeat, from 1, and group: upper bounds on its end."""


@dataclass
class _Step:
    """An instance with its inputs and its cost."""

    unit: int
    queue: tuple[int, int]
    """Its unit and, if that is shared, its network."""
    time_ps: int
    demand_kbps: int
    release_ps: int
    jitter_ps: int
    inputs: list[tuple[int, int]] = field(default_factory=list)
    """Instances whose ends it waits for, each with the delay that follows."""
    before: int = 0
    """Instances that must have ended before it starts."""


@dataclass
class _Track:
    """One of the two timelines."""

    is_late: bool
    ended: dict[int, int] = field(default_factory=dict)
    """Instance -> end."""
    running: dict[int, int] = field(default_factory=dict)
    """Instance -> work left."""
    started: int = 0
    """Instances, those that have ended included."""

    def ready_ps(self, step: _Step) -> int | None:
        """Return when all is there, or None if something has not ended."""
        if any(source not in self.ended for source, _ in step.inputs):
            return None
        ends = (self.ended[source] + delay for source, delay in step.inputs)
        return max([step.release_ps + self.is_late * step.jitter_ps, *ends])


@lru_cache(maxsize=4)
def _facts_of(problem: Problem) -> Facts:
    return make_facts(problem, LemmaTarget((), ()), exact=True)


def plain_guarantee(
    problem: Problem, design: DesignPoint, schedule: Schedule, tolerance_permille: tuple[int, int]
) -> PlainGuarantee:
    """Bound the latencies of all runs that keep the order of a schedule on every unit.

    Args:
        tolerance_permille: each group takes from the first to the second of its time.
    """
    facts = _facts_of(problem)
    steps = _steps(problem, design, schedule, facts)
    late, early = _Track(is_late=True), _Track(is_late=False)
    now = 0
    while len(late.ended) < len(steps):
        later = []
        for track in (late, early):
            factor = tolerance_permille[track.is_late]
            for i, step in enumerate(steps):
                if track.started >> i & 1:
                    continue
                ready = track.ready_ps(step)
                if ready is not None and ready > now:
                    later.append(ready)
                elif ready is not None:
                    scaled = step.time_ps * factor
                    time = -(-scaled // 1000) if track.is_late else scaled // 1000
                    track.running[i] = time * WORK_PER_PS
                    track.started |= 1 << i
        rates = [
            {i: _rate(problem, design, facts, steps, late, early, track, i) for i in track.running}
            for track in (late, early)
        ]
        for track, of in zip((late, early), rates, strict=True):
            later += [now - (-left // of[i]) for i, left in track.running.items()]
        then = min(later)
        for track, of in zip((late, early), rates, strict=True):
            for i, left in list(track.running.items()):
                track.running[i] = left - of[i] * (then - now)
                if track.running[i] <= 0:
                    track.ended[i] = then
                    del track.running[i]
        now = then
    latency = [0] * len(problem.networks)
    for i, end in late.ended.items():
        n = int(facts.network_of[i])
        latency[n] = max(latency[n], end - problem.release_ps(n, int(facts.repeat_of[i])))
    names = zip(facts.repeat_of.tolist(), facts.group_of.tolist(), strict=True)
    ends = {(repeat + 1, group): late.ended[i] for i, (repeat, group) in enumerate(names)}
    return PlainGuarantee(max(ends.values()), tuple(latency), ends)


def _rate(
    problem: Problem,
    design: DesignPoint,
    facts: Facts,
    steps: list[_Step],
    late: _Track,
    early: _Track,
    track: _Track,
    i: int,
) -> int:
    """Return the smallest rate, of the early timeline the largest, of an instance that runs."""
    step = steps[i]
    possible: dict[tuple[int, int], list[int]] = {}
    sure: dict[tuple[int, int], list[int]] = {}
    for j, other in enumerate(steps):
        if j in late.running and j in early.running:
            sure[other.queue] = [other.demand_kbps]
        if early.started >> j & 1 and j not in late.ended:
            apart = step.before >> j & 1 or other.before >> i & 1
            if not (track.is_late and apart):
                possible.setdefault(other.queue, []).append(other.demand_kbps)
    may = possible if track.is_late else sure
    own = step.queue[0]
    beside = sum(queue[0] == own and queue != step.queue for queue in may)
    most: dict[int, int] = {}
    for (unit, _), demands in may.items():
        if unit != own:
            most[unit] = max(most.get(unit, 0), *demands)
    others = sum(most.values())
    point = 0 if facts.memory < 0 else int(design.operating_points[facts.memory])
    rate: int = WORK_PER_PS
    rate -= int(_lost_rate(facts, own, point, step.demand_kbps, others))
    if beside:
        count, overhead = beside + 1, problem.units[step.unit].sharing_permille
        share = WORK_PER_PS * 1000 // (count * (1000 + overhead))
        rate = max(rate * share // WORK_PER_PS, 1)
    return rate


def _steps(problem: Problem, design: DesignPoint, schedule: Schedule, facts: Facts) -> list[_Step]:
    """Return all instances with their inputs, the instance before on the same unit included."""
    units: list[int] = design.units.tolist()
    runs = {(run.repeat, run.group): run for run in schedule.groups}
    groups, repeats = facts.group_of.tolist(), facts.repeat_of.tolist()
    steps = []
    for i, group in enumerate(groups):
        u = units[group]
        unit, at = design.place_of(problem, group)
        shared = int(facts.network_of[i]) if unit.dispatch == SHARED else -1
        time = int(unit.time_ps[at]) + repeats[i] * int(unit.steps_ps[at])
        time += _moving(facts, units, group)
        steps.append(
            _Step(
                unit=u,
                queue=(problem.unit_of[u], shared),
                time_ps=time,
                demand_kbps=int(unit.demand_kbps[at]),
                release_ps=int(facts.arrival_of[i]),
                # What follows in the network starts after its release anyway.
                jitter_ps=problem.networks[int(facts.network_of[i])].jitter_ps,
            )
        )
    first = _first_of_engines(problem, steps, facts)
    last = {head: i for i, head in enumerate(first)}
    for i, head in enumerate(first):
        for k in range(int(facts.input_start[i]), int(facts.input_start[i + 1])):
            source, edge = int(facts.input[k]), int(facts.input_edge[k])
            if first[source] == head:
                continue
            row = (edge * facts.units + steps[source].unit) * facts.units + steps[i].unit
            delay = 0 if edge < 0 else int(facts.delay_ps[row])
            steps[head].inputs.append((last[first[source]], delay))
        if i != head:
            steps[head].release_ps = max(steps[head].release_ps, steps[i].release_ps)
            steps[i].release_ps = 0
    place = _places(facts)
    order = sorted(
        range(len(steps)),
        key=lambda i: (
            (run := runs[repeats[i] + 1, groups[i]]).start_ps,
            run.end_ps > run.start_ps,
            place[i],
        ),
    )
    for queue in {step.queue for step in steps}:
        for one, other in pairwise(i for i in order if steps[i].queue == queue):
            steps[other].inputs.append((one, 0))
    for i in order:
        for source, _ in steps[i].inputs:
            steps[i].before |= steps[source].before | 1 << source
    return steps


def _moving(facts: Facts, units: list[int], group: int) -> int:
    """Return how much longer a group takes for transitions that are its unit's work."""
    time = 0
    ends = zip(facts.edge_source, facts.edge_target, facts.edge_number, strict=True)
    for source, target, e in ends:
        if target == group:
            time += int(facts.target_ps[e, units[source], units[group]])
        if source == group:
            time += int(facts.source_ps[e, units[group], units[target]])
    return time


def _first_of_engines(problem: Problem, steps: list[_Step], facts: Facts) -> list[int]:
    """Return the first instance of each instance's engine, itself if its unit takes groups."""
    first: list[int] = []
    for i, step in enumerate(steps):
        follows = (
            i > 0
            and problem.units[step.unit].dispatch != GROUP
            and steps[i - 1].unit == step.unit
            and facts.network_of[i - 1] == facts.network_of[i]
            and facts.repeat_of[i - 1] == facts.repeat_of[i]
        )
        first.append(first[i - 1] if follows else i)
    return first


def _places(facts: Facts) -> list[int]:
    """Return the place of each instance in the order in which the smallest comes next of those that
    wait for nothing any more."""
    inputs = [
        {
            int(facts.input[k])
            for k in range(int(facts.input_start[i]), int(facts.input_start[i + 1]))
        }
        for i in range(facts.instances)
    ]
    places = [0] * len(inputs)
    done: set[int] = set()
    for place in range(len(inputs)):
        i = next(i for i, sources in enumerate(inputs) if i not in done and sources <= done)
        places[i] = place
        done.add(i)
    return places

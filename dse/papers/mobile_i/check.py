"""Periodic schedules simulated period by period and checked against all their rules, and all that
a result folder claims of them.

It computes starts and ends of every task in absolute time and checks only those. It shares no code
with the scheduler.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from paretosoc.dse.certificate.verify.checks import Check, Verdict, fails, holds, not_checked
from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule
from paretosoc.dse.papers.mobile_i.result import PeriodicResult, read_periodic, undominated
from paretosoc.results.errors import ResultError

MORE_PERIODS = 3
"""Periods after the prologue. Every period of the steady state is like the one before it."""


def broken_rule(schedule: PeriodicSchedule) -> str | None:
    """Return the first rule that the schedule breaks, as text, or None if it keeps all.

    Rules: every task is there once, on an engine of the array. No transfer arrives after its target
    has started (Eq. 2). An engine runs one task at a time. No cache ever holds more than it can.
    """
    return _wrong_form(schedule) or _wrong_times(schedule)


def _wrong_form(schedule: PeriodicSchedule) -> str | None:
    size = len(schedule.graph.tasks) * schedule.copies if schedule.copies > 0 else 0
    if size == 0:
        return f"copies must be at least 1, got {schedule.copies}"
    if schedule.period_ps < 1:
        return f"the period must be at least 1 ps, got {schedule.period_ps}"
    for name in ("engine", "start_ps", "ahead"):
        if len(getattr(schedule, name)) != size:
            return f"{name} must have {size} entries, got {len(getattr(schedule, name))}"
    engines = schedule.array.engines
    for number in range(size):
        if not 0 <= schedule.engine[number] < engines:
            return f"task {number} is on engine {schedule.engine[number]}, there are {engines}"
        if schedule.start_ps[number] < 0 or schedule.ahead[number] < 0:
            return (
                f"task {number} must not start before its period or after its frame, got "
                f"{schedule.start_ps[number]} ps and r = {schedule.ahead[number]}"
            )
    edges = len(schedule.graph.transfers) * schedule.copies
    if list(schedule.cached) != sorted(set(schedule.cached)):
        return "cached transfers must ascend"
    if schedule.cached and not 0 <= schedule.cached[0] <= schedule.cached[-1] < edges:
        return f"cached transfers must be among 0 to {edges - 1}"
    return None


def _wrong_times(schedule: PeriodicSchedule) -> str | None:
    graph, size = schedule.graph, len(schedule.graph.tasks)
    deepest = max(schedule.ahead)
    cached = set(schedule.cached)
    busy: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    held: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for frame in range(deepest + MORE_PERIODS):
        start = [
            (frame + deepest - ahead) * schedule.period_ps + offset
            for ahead, offset in zip(schedule.ahead, schedule.start_ps, strict=True)
        ]
        end = [at + graph.tasks[number % size].time_ps for number, at in enumerate(start)]
        for number in range(len(start)):
            busy[schedule.engine[number]].append((start[number], end[number], number))
        for copy in range(schedule.copies):
            for place, edge in enumerate(graph.transfers):
                stays = copy * len(graph.transfers) + place in cached
                source, target = edge.source + copy * size, edge.target + copy * size
                arrival = end[source] + (edge.cache_ps if stays else edge.memory_ps)
                if arrival > start[target]:
                    return (
                        f"frame {frame}: the data of task {source} arrives at {arrival} ps, "
                        f"after task {target} has started at {start[target]} ps"
                    )
                if stays:
                    # Releases sort before other events at the same instant.
                    held[schedule.engine[source]] += [
                        (end[source], edge.size_bytes),
                        (end[target], -edge.size_bytes),
                    ]
    return _overlap(busy) or _overflow(held, schedule.array.cache_bytes)


def _overlap(busy: dict[int, list[tuple[int, int, int]]]) -> str | None:
    for engine, runs in sorted(busy.items()):
        runs.sort()
        for (_, end, first), (start, _, second) in pairwise(runs):
            if start < end:
                return (
                    f"engine {engine}: task {second} starts at {start} ps, while task {first} runs "
                    f"until {end} ps"
                )
    return None


def _overflow(held: dict[int, list[tuple[int, int]]], capacity: int) -> str | None:
    for engine, changes in sorted(held.items()):
        level = 0
        for at, change in sorted(changes):
            level += change
            if level > capacity:
                return (
                    f"engine {engine}: its cache holds {level} bytes at {at} ps, and has room for "
                    f"{capacity}"
                )
    return None


def verify_periodic(folder: Path, *, ignore_hashes: bool = False) -> Iterator[Check]:
    """Check one claim after the other, and end with the first that fails."""
    try:
        result = read_periodic(folder, check_hashes=not ignore_hashes)
    except ResultError as error:
        yield fails("files", str(error))
        return
    hashes = "" if ignore_hashes else ", hash"
    yield holds("files", f"schema{hashes}; latency, prologue and energy of every schedule")
    if ignore_hashes:
        yield not_checked("hashes", "--ignore-hashes")
    for check in (_schedules_hold(result), _periods_hold(result), _front_holds(result)):
        yield check
        if check.verdict is Verdict.FAILS:
            return


def _schedules_hold(result: PeriodicResult) -> Check:
    for number, schedule in enumerate((*result.members, *result.others)):
        broken = broken_rule(schedule)
        if broken is not None:
            return fails("schedules", f"schedule {number} ({schedule.method}): {broken}")
    count = len(result.members) + len(result.others)
    return holds(
        "schedules", f"{count} simulated past their prologue: dependences, engines, caches"
    )


def _periods_hold(result: PeriodicResult) -> Check:
    schedules = (*result.members, *result.others)
    for number, schedule in enumerate(schedules):
        if schedule.period_ps < schedule.least_period_ps:
            return fails("periods", f"schedule {number}: below the work of its engines")
    worst = max(s.period_ps / s.least_period_ps - 1 for s in result.members)
    return holds("periods", f"members at most {worst:.2%} above the bound for their copies")


def _front_holds(result: PeriodicResult) -> Check:
    members = list(result.members)
    if undominated(members, result.inferences) != members:
        return fails("front", "a member dominates another")
    return holds("front", f"{len(members)} members, none dominates another")

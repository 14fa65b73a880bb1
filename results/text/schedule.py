"""A schedule as a table, one row per segment (groups that follow each other on one unit), and power
and demanded memory bandwidth over it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paretosoc.common.tables import plain_table
from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.results.front.front import Member
from paretosoc.results.front.schedule import Schedule, ScheduledGroup, ScheduledMember
from paretosoc.results.problem.execution import SHARED
from paretosoc.results.problem.problem import Problem

if TYPE_CHECKING:
    from rich.table import Table

SCHEDULE_ROWS = 40
"""Rows printed of a schedule, which may have thousands of executions."""


Stretch = tuple[ScheduledGroup, ...]
"""Groups of one network that one unit runs one after the other, nothing else between them."""


def stretches(schedule: Schedule) -> list[Stretch]:
    """Return the executions of a schedule in segments, by rising start."""
    found: list[Stretch] = []
    for execution in sorted(schedule.groups, key=lambda e: (e.unit, e.start_ps, e.end_ps)):
        before = found[-1][-1] if found else None
        key = (execution.unit, execution.frame, execution.network, execution.repeat)
        if (
            before is not None
            and (before.unit, before.frame, before.network, before.repeat) == key
            and before.group + 1 == execution.group
        ):
            found[-1] += (execution,)
        else:
            found.append((execution,))
    return sorted(found, key=lambda stretch: (stretch[0].start_ps, stretch[0].unit))


def schedule_table(
    problem: Problem, schedule: Schedule, *, most: int | None = None, rest: str
) -> Table:
    """Return the segments as a rich table, times in ms. With ``most``, at most that many of them
    are shown, followed by the number left out and the option (``rest``) that shows them."""
    several_frames = any(execution.frame > 1 for execution in schedule.groups)
    frame = [">frame"] if several_frames else []
    table = plain_table(*frame, "network", collapse_padding=True)
    for name in ("groups", "unit"):
        table.add_column(name, no_wrap=True)
    for name in ("start", "end", "alone", "contention", "waited"):
        table.add_column(f"{name}\nms", justify="right", no_wrap=True)
    found = stretches(schedule)
    shown = found if most is None else found[:most]
    for stretch in shown:
        first, last = stretch[0], stretch[-1]
        network = problem.networks[first.network]
        begin, end = first.group - network.first_group, last.group - network.first_group
        name = network.name if network.repeats == 1 else f"{network.name} ({first.repeat})"
        sums = zip(*((e.alone_ps, e.contention_ps, e.waited_ps) for e in stretch), strict=True)
        times = (first.start_ps, last.end_ps, *map(sum, sums))
        table.add_row(
            *([str(first.frame)] if several_frames else []),
            name,
            str(begin) if begin == end else f"{begin}-{end}",
            problem.units[first.unit].name,
            *(f"{time / PS_PER_MS:.4f}" for time in times),
        )
    if len(shown) < len(found):
        table.caption = f"{pluralize(len(found) - len(shown), 'more row')}: {rest}"
        table.caption_justify = "left"
    return table


@dataclass(frozen=True)
class Activity:
    """Figures of one member that hold while it runs."""

    demand_kbps: tuple[int, ...]
    """Per group: its demand. Under contention it gets less."""
    dynamic_mw: tuple[int, ...]
    """Per group: drawn from its start to its end, on top of idle power."""
    idle_mw: tuple[int, ...]
    """Per unit: drawn all the time, or 0 if its own clock is off."""
    base_mw: int
    """Drawn all the time by the board and by clocks that are on, the memory's among them."""


@dataclass(frozen=True)
class Steps:
    """Step functions of time: row k of ``values`` holds from ``instants_ps[k]`` to the next one.

    The last row, zeros, is at the end of the schedule.
    """

    instants_ps: tuple[int, ...]
    values: tuple[tuple[int, ...], ...]
    """[instants][units]: over the groups running on each unit."""


def activity(problem: Problem, member: Member) -> Activity:
    """Look the member's figures up in the problem's tables."""
    points = member.design.operating_points.tolist()
    at = [tuple(points[clock] for clock in unit.clocks) for unit in problem.units]
    places = [(u, (group, *at[u])) for group, u in enumerate(member.design.units.tolist())]
    return Activity(
        demand_kbps=tuple(int(problem.units[u].demand_kbps[place]) for u, place in places),
        dynamic_mw=tuple(int(problem.units[u].dynamic_mw[place]) for u, place in places),
        idle_mw=tuple(
            int(unit.idle_mw[at[u]]) if member.domain_on[unit.clocks[0]] else 0
            for u, unit in enumerate(problem.units)
        ),
        base_mw=problem.board_mw
        + sum(
            int(domain.static_mw[point])
            for domain, point in zip(problem.domains, member.points, strict=True)
            if point is not None
        ),
    )


Together = Callable[[list[int]], list[int]]
"""From the figures of groups that run at once on a shared unit to what each of them counts."""


def steps_by_unit(shown: ScheduledMember, figures: Sequence[int], together: Together) -> Steps:
    """Return the sum of ``figures`` (one per group) over the groups running on each unit, over
    time. Of groups that run at once on a shared unit each counts as ``together`` says.

    It changes only when an execution starts or ends. Instants rise from 0 to the schedule's end, or
    with rates to that of the period.
    """
    problem = shown.problem
    changes: dict[int, list[tuple[bool, ScheduledGroup]]] = {0: []}
    for execution in shown.schedule.groups:
        changes.setdefault(execution.start_ps, []).append((True, execution))
        changes.setdefault(execution.end_ps, []).append((False, execution))
    if shown.shown_ps > max(changes):
        changes[shown.shown_ps] = []
    now = [0] * len(problem.units)
    running: dict[int, list[ScheduledGroup]] = {
        u: [] for u in set(problem.unit_of) if problem.units[u].dispatch == SHARED
    }
    values = []
    instants = sorted(changes)
    for instant in instants:
        touched = set()
        for starts, execution in changes[instant]:
            unit, figure = problem.unit_of[execution.unit], figures[execution.group]
            if unit not in running:
                now[execution.unit] += figure if starts else -figure
                continue
            touched.add(unit)
            (running[unit].append if starts else running[unit].remove)(execution)
        for unit in touched:
            counts = together([figures[execution.group] for execution in running[unit]])
            for entry, first in enumerate(problem.unit_of):
                if first == unit:
                    now[entry] = sum(
                        count
                        for execution, count in zip(running[unit], counts, strict=True)
                        if execution.unit == entry
                    )
        values.append(tuple(now))
    return Steps(tuple(instants), tuple(values))


def mean_of(powers: list[int]) -> list[int]:
    """Return the share of each group in the power of a shared unit: the mean of all, rounded up."""
    shares = [power // len(powers) for power in powers]
    if shares:
        shares[0] += -(-sum(powers) // len(powers)) - sum(shares)
    return shares


def largest_of(demands: list[int]) -> list[int]:
    """Return the share of each group in the demand of a shared unit: the largest of all."""
    first = demands.index(max(demands)) if demands else 0
    return [demand if i == first else 0 for i, demand in enumerate(demands)]

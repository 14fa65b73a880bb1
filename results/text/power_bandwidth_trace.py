"""Power and demanded memory bandwidth over a member's schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paretosoc.results.front.front import Member
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.problem.problem import Problem


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
    """[instants][units]: the sums over the groups running on each unit."""


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
            for domain, point, on in zip(problem.domains, points, member.domain_on, strict=True)
            if on
        ),
    )


def steps_by_unit(shown: ScheduledMember, figures: Sequence[int]) -> Steps:
    """Return the sum of ``figures`` (one per group) over the groups running on each unit, over
    time.

    It changes only when an execution starts or ends. Instants rise from 0 to the schedule's end.
    """
    units = len(shown.problem.units)
    changes: dict[int, list[int]] = {0: [0] * units}
    for execution in shown.schedule.groups:
        figure = figures[execution.group]
        for instant, sign in ((execution.start_ps, 1), (execution.end_ps, -1)):
            row = changes.setdefault(instant, [0] * units)
            row[execution.unit] += sign * figure
    now = [0] * units
    values = []
    instants = sorted(changes)
    for instant in instants:
        now = [value + change for value, change in zip(now, changes[instant], strict=True)]
        values.append(tuple(now))
    return Steps(tuple(instants), tuple(values))

"""Power and demanded memory bandwidth over a member's schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from results.front.front import Member
from results.problem.problem import Problem


@dataclass(frozen=True)
class Activity:
    """Figures of one member that hold while it runs; lists of executions as in its schedule."""

    demand_kbps: tuple[int, ...]
    """Per execution: its demand; under contention it gets less."""
    dynamic_mw: tuple[int, ...]
    """Per execution: drawn from its start to its end, on top of idle power."""
    idle_mw: tuple[int, ...]
    """Per unit: drawn all the time; 0 where its own clock is off."""
    base_mw: int
    """Drawn all the time by the board and by clocks that are on, the memory's among them."""


@dataclass(frozen=True)
class Steps:
    """Step functions of time: row k of ``values`` holds from ``instants_ps[k]`` to the next one.

    The last row, zeros, is at the end of the schedule.
    """

    instants_ps: tuple[int, ...]
    values: tuple[tuple[int, ...], ...]
    """[instants][units]: the sums over what runs on each unit."""


def activity(problem: Problem, member: Member) -> Activity:
    """Looks the member's figures up in the problem's tables."""
    points = member.design.operating_points.tolist()
    at = [tuple(points[clock] for clock in unit.clocks) for unit in problem.units]
    demand, dynamic = [], []
    for execution in member.schedule.groups:
        unit = problem.units[execution.unit]
        place = (execution.group, *at[execution.unit])
        demand.append(int(unit.demand_kbps[place]))
        dynamic.append(int(unit.dynamic_mw[place]))
    return Activity(
        demand_kbps=tuple(demand),
        dynamic_mw=tuple(dynamic),
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


def steps_by_unit(problem: Problem, member: Member, figures: Sequence[int]) -> Steps:
    """The sum of ``figures`` (one per execution) over what runs on each unit, over time.

    It changes only where something starts or ends; instants rise from 0 to the schedule's end.
    """
    changes: dict[int, list[int]] = {0: [0] * len(problem.units)}
    for execution, figure in zip(member.schedule.groups, figures, strict=True):
        for instant, sign in ((execution.start_ps, 1), (execution.end_ps, -1)):
            row = changes.setdefault(instant, [0] * len(problem.units))
            row[execution.unit] += sign * figure
    now = [0] * len(problem.units)
    values = []
    instants = sorted(changes)
    for instant in instants:
        now = [value + change for value, change in zip(now, changes[instant], strict=True)]
        values.append(tuple(now))
    return Steps(tuple(instants), tuple(values))

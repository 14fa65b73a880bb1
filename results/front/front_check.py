"""Check of a front without simulation: mapping rules, schedules that
are consistent, objectives that agree with the other values, no member dominated."""

from __future__ import annotations

import numpy as np

from common.arrays import IntArray
from results.errors import ResultError
from results.front.dominance import non_dominated
from results.front.front import Front, Member
from results.front.schedule_check import check_schedule, require
from results.problem.objectives import Objective, ObjectiveKind, objective_names
from results.problem.problem import Problem
from results.problem.problem_check import check_problem
from results.problem.rates import frame_period_ps, member_relative_ppm


def check_front(front: Front) -> None:
    """Accepts a sound front; paths in messages are those of ``front.json``.

    Raises:
        ResultError: a problem that is not sound, a member that breaks its rules or contradicts
            itself, members that are dominated or not in order.
    """
    check_problem(front.problem)
    for i, member in enumerate(front.members):
        _check_member(front.problem, member, f"$.members[{i}]")
    for i, point in enumerate(front.baselines):
        _check_member(front.problem, point.member, f"$.baselines[{i}].point")
    values = objective_array(front)
    if len(non_dominated(values)) != len(values):
        dominated = sorted(set(range(len(values))) - set(non_dominated(values).tolist()))
        raise ResultError(f"$.members[{dominated[0]}]: is dominated by, or equal to, another")
    if len(values) and (np.diff(values[:, 0]) < 0).any():
        raise ResultError("$.members: must be in the order of the first objective")


def objective_array(front: Front) -> IntArray:
    """Objectives of all members [members, objectives]; all are minimised.

    Raises:
        ResultError: where a value is beyond int64.
    """
    try:
        values: IntArray = np.array(
            [member.objectives for member in front.members], dtype=np.int64
        ).reshape(len(front.members), len(front.problem.objectives))
    except (OverflowError, ValueError):
        raise ResultError("$.members[*].objectives: must be int64, one per objective") from None
    return values


def _check_member(problem: Problem, member: Member, path: str) -> None:
    for name, values, count in (
        ("objectives", member.objectives, len(problem.objectives)),
        ("latencies_ps", member.latencies_ps, len(problem.networks)),
        ("energy_by_unit_fj", member.energy_by_unit_fj, len(problem.units)),
        ("operating_points", member.domain_on, len(problem.domains)),
    ):
        require(len(values) == count, f"{path}.{name}", f"must be {count}, got {len(values)}")
    _check_mapping(problem, member, path)
    _check_points(problem, member, path)
    check_schedule(problem, member, path)
    _check_figures(problem, member, path)


def _check_mapping(problem: Problem, member: Member, path: str) -> None:
    units = member.design.units
    require(
        units.shape == (problem.group_count,) and units.dtype == np.int64,
        f"{path}.mapping",
        f"must be {problem.group_count} units (int64), one per group",
    )
    require(
        bool(((units >= 0) & (units < len(problem.units))).all()),
        f"{path}.mapping",
        "must be units of the problem",
    )
    forbidden = np.flatnonzero(~problem.allowed[np.arange(len(units)), units])
    for group in forbidden:
        network = next(n for n in problem.networks if group in n.groups)
        require(
            False,
            f"{path}.mapping[{network.name!r}][{group - network.first_group}]",
            f"{problem.units[units[group]].name!r} is not allowed for this group",
        )


def _check_points(problem: Problem, member: Member, path: str) -> None:
    points = member.design.operating_points
    require(
        points.shape == (len(problem.domains),) and points.dtype == np.int64,
        f"{path}.operating_points",
        f"must be {len(problem.domains)} indices (int64), one per domain",
    )
    used = set(member.design.units.tolist())
    needed = {clock for unit in used for clock in problem.units[unit].clocks}
    for d, domain in enumerate(problem.domains):
        here = f"{path}.operating_points[{domain.name!r}]"
        on = not domain.may_be_off or d in needed
        require(
            member.domain_on[d] == on, here, f"the domain must be {'on' if on else 'off (null)'}"
        )
        point = int(points[d])
        require(0 <= point < len(domain.frequencies_khz), here, f"no operating point {point}")
        require(bool(domain.allowed[point]), here, f"operating point {point} is not allowed")
        require(
            on or point == domain.point_when_off,
            here,
            f"must be {domain.point_when_off}, as the domain is off, got {point}",
        )


def _check_figures(problem: Problem, member: Member, path: str) -> None:
    names = objective_names(problem)
    for objective, name, value in zip(problem.objectives, names, member.objectives, strict=True):
        expected = _expected(problem, member, objective)
        require(
            expected is None or value == expected,
            f"{path}.objectives[{name!r}]",
            f"must be {expected}, by the figures beside it, got {value}",
        )
    require(
        min(member.energy_by_unit_fj) >= 0 and sum(member.energy_by_unit_fj) <= member.energy_fj,
        f"{path}.energy_by_unit_fj",
        f"must be positive and at most energy_fj, {member.energy_fj}, together",
    )
    rows = member.schedule.groups
    if member.free_run is not None or rows[-1].frame > 1:
        return
    require(
        member.makespan_ps == member.schedule.makespan_ps,
        f"{path}.makespan_ps",
        f"must be {member.schedule.makespan_ps}, the end of the schedule",
    )
    for n, network in enumerate(problem.networks):
        latency = max(row.end_ps for row in rows if row.network == n) - network.arrival_ps
        require(
            member.latencies_ps[n] == latency,
            f"{path}.latencies_ps[{network.name!r}]",
            f"must be {latency}, got {member.latencies_ps[n]}",
        )


def _expected(problem: Problem, member: Member, objective: Objective) -> int | None:
    """The objective by other figures of the member; None where no figure says it."""
    run = member.free_run
    match objective.kind:
        case ObjectiveKind.LATENCY:
            network = objective.network
            return member.makespan_ps if network is None else member.latencies_ps[network]
        case ObjectiveKind.ENERGY:
            return member.energy_fj
        case ObjectiveKind.THROUGHPUT if run is not None:
            return frame_period_ps(run.periods_ps)
        case ObjectiveKind.FAIRNESS if run is not None:
            return -min(member_relative_ppm(problem, member))
        case _:
            return None

"""Is a front sound? What can be said without playing the timeline: mapping rules, schedules that
hang together, objectives that agree with the figures beside them, nobody dominated, no baseline
better."""

from __future__ import annotations

import numpy as np

from results.dominance import non_dominated
from results.errors import ResultError
from results.front import Front, Member
from results.objectives import objective_names
from results.problem import IntArray, ObjectiveKind, Problem
from results.problem_check import check_problem
from results.schedule import ScheduledGroup


def check_front(front: Front) -> None:
    """Accepts a sound front; paths in messages are those of ``front.json``.

    Raises:
        ResultError: a problem that is not sound, a member that breaks its rules or contradicts
            itself, members that are dominated or not in order, a baseline that is better.
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
    for i, point in enumerate(front.baselines):
        reached = (values <= np.array(point.member.objectives, dtype=np.int64)).all(axis=1).any()
        _require(
            bool(point.breaks) or bool(reached),
            f"$.baselines[{i}]",
            "keeps all constraints, but no member is as good",
        )


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


def _require(condition: bool, path: str, requirement: str) -> None:
    if not condition:
        raise ResultError(f"{path}: {requirement}")


def _check_member(problem: Problem, member: Member, path: str) -> None:
    for name, values, count in (
        ("objectives", member.objectives, len(problem.objectives)),
        ("latencies_ps", member.latencies_ps, len(problem.networks)),
        ("energy_by_unit_fj", member.energy_by_unit_fj, len(problem.units)),
        ("operating_points", member.domain_on, len(problem.domains)),
    ):
        _require(len(values) == count, f"{path}.{name}", f"must be {count}, got {len(values)}")
    _check_mapping(problem, member, path)
    _check_points(problem, member, path)
    _check_schedule(problem, member, path)
    _check_figures(problem, member, path)


def _check_mapping(problem: Problem, member: Member, path: str) -> None:
    units = member.design.units
    _require(
        units.shape == (problem.group_count,) and units.dtype == np.int64,
        f"{path}.mapping",
        f"must be {problem.group_count} units (int64), one per group",
    )
    _require(
        bool(((units >= 0) & (units < len(problem.units))).all()),
        f"{path}.mapping",
        "must be units of the problem",
    )
    forbidden = np.flatnonzero(~problem.allowed[np.arange(len(units)), units])
    for group in forbidden:
        network = next(n for n in problem.networks if group in n.groups)
        _require(
            False,
            f"{path}.mapping[{network.name!r}][{group - network.first_group}]",
            f"{problem.units[units[group]].name!r} is not allowed for this group",
        )


def _check_points(problem: Problem, member: Member, path: str) -> None:
    points = member.design.operating_points
    _require(
        points.shape == (len(problem.domains),) and points.dtype == np.int64,
        f"{path}.operating_points",
        f"must be {len(problem.domains)} indices (int64), one per domain",
    )
    used = set(member.design.units.tolist())
    needed = {clock for unit in used for clock in problem.units[unit].clocks}
    for d, domain in enumerate(problem.domains):
        here = f"{path}.operating_points[{domain.name!r}]"
        on = not domain.may_be_off or d in needed
        _require(
            member.domain_on[d] == on, here, f"the domain must be {'on' if on else 'off (null)'}"
        )
        point = int(points[d])
        _require(0 <= point < len(domain.frequencies_khz), here, f"no operating point {point}")
        if on:
            _require(bool(domain.allowed[point]), here, f"operating point {point} is not allowed")
        else:
            _require(point == 0, here, f"must be 0, as for all that is off, got {point}")


def _check_schedule(problem: Problem, member: Member, path: str) -> None:
    rows = member.schedule.groups
    frames = rows[-1].frame if rows else 0
    _require(frames >= 1, f"{path}.schedule", "must not be empty")
    # Counted first: a changed number must not make a list that fits in no memory.
    count = frames * sum(network.repeats * len(network.groups) for network in problem.networks)
    _require(
        len(rows) == count, f"{path}.schedule", f"must hold {count} executions, got {len(rows)}"
    )
    expected = [
        (frame, n, repeat, group)
        for frame in range(1, frames + 1)
        for n, network in enumerate(problem.networks)
        for repeat in range(1, network.repeats + 1)
        for group in network.groups
    ]
    found = [(row.frame, row.network, row.repeat, row.group) for row in rows]
    if found != expected:
        i = next(
            (i for i, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b),
            min(len(found), len(expected)),
        )
        _require(
            False,
            f"{path}.schedule[{i}]",
            "must hold every execution once, in the order (frame, network, repeat, group)",
        )
    end = {key: row.end_ps for key, row in zip(found, rows, strict=True)}
    points = member.design.operating_points.tolist()
    for i, row in enumerate(rows):
        _check_execution(problem, member, row, points, f"{path}.schedule[{i}]")
    for e, (source, target) in enumerate(problem.edges):
        delay = problem.transition_ps[
            e, member.design.units[source], member.design.units[target]
        ].item()
        for i, row in enumerate(rows):
            if row.group == target:
                source_end = end[row.frame, row.network, row.repeat, source]
                _require(
                    row.ready_ps >= source_end + delay,
                    f"{path}.schedule[{i}].ready_ps",
                    f"must be >= {source_end + delay}, after group {source} and the transition",
                )
    last: dict[int, ScheduledGroup] = {}
    for row in sorted(rows, key=lambda row: (row.start_ps, row.end_ps)):
        before = last.get(row.unit)
        _require(
            before is None or before.end_ps <= row.start_ps,
            f"{path}.schedule",
            f"two groups run on {problem.units[row.unit].name!r} at {row.start_ps} ps",
        )
        last[row.unit] = row


def _check_execution(
    problem: Problem, member: Member, row: ScheduledGroup, points: list[int], path: str
) -> None:
    unit = problem.units[row.unit]
    _require(
        row.unit == member.design.units[row.group], f"{path}.unit", "is not that of the mapping"
    )
    alone = int(unit.time_ps[(row.group, *(points[clock] for clock in unit.clocks))])
    _require(row.alone_ps == alone, f"{path}.alone_ps", f"must be {alone}, got {row.alone_ps}")
    _require(0 <= row.ready_ps <= row.start_ps, f"{path}.start_ps", "must not be before ready_ps")
    _require(
        row.end_ps - row.start_ps >= alone,
        f"{path}.end_ps",
        f"must be >= {row.start_ps + alone}, got {row.end_ps}",
    )


def _check_figures(problem: Problem, member: Member, path: str) -> None:
    names = objective_names(problem)
    for objective, name, value in zip(problem.objectives, names, member.objectives, strict=True):
        expected = value
        if objective.kind is ObjectiveKind.LATENCY and objective.network is None:
            expected = member.makespan_ps
        elif objective.kind is ObjectiveKind.LATENCY and objective.network is not None:
            expected = member.latencies_ps[objective.network]
        elif objective.kind is ObjectiveKind.ENERGY:
            expected = member.energy_fj
        _require(
            value == expected, f"{path}.objectives[{name!r}]", f"must be {expected}, got {value}"
        )
    _require(
        min(member.energy_by_unit_fj) >= 0 and sum(member.energy_by_unit_fj) <= member.energy_fj,
        f"{path}.energy_by_unit_fj",
        f"must be positive and at most energy_fj, {member.energy_fj}, together",
    )
    rows = member.schedule.groups
    if rows[-1].frame > 1:
        return
    _require(
        member.makespan_ps == member.schedule.makespan_ps,
        f"{path}.makespan_ps",
        f"must be {member.schedule.makespan_ps}, the end of the schedule",
    )
    for n, network in enumerate(problem.networks):
        latency = max(row.end_ps for row in rows if row.network == n) - network.arrival_ps
        _require(
            member.latencies_ps[n] == latency,
            f"{path}.latencies_ps[{network.name!r}]",
            f"must be {latency}, got {member.latencies_ps[n]}",
        )

"""Check of a front without simulation: mapping rules, schedules that
are consistent, objectives that agree with the other values, no member dominated.

Each rule is checked of all members at once: a front may have thousands.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from common.arrays import BoolArray, IntArray
from results.errors import ResultError
from results.front.dominance import non_dominated
from results.front.front import Front, Member
from results.front.schedule_check import Executions, Members, check_schedules, require_all
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
    _check_members(
        front.problem,
        [*front.members, *(point.member for point in front.baselines)],
        [
            *(f"$.members[{i}]" for i in range(len(front.members))),
            *(f"$.baselines[{i}].point" for i in range(len(front.baselines))),
        ],
    )
    values = objective_array(front)
    kept = non_dominated(values)
    if len(kept) != len(values):
        dominated = np.setdiff1d(np.arange(len(values)), kept)
        raise ResultError(f"$.members[{dominated[0]}]: is dominated by, or equal to, another")
    if len(values) and (np.diff(values[:, 0]) < 0).any():
        raise ResultError("$.members: must be in the order of the first objective")
    _check_claims(front)


def _check_claims(front: Front) -> None:
    """What is said to be proved is about objectives and members that there are; whether it is
    proved is not checked here."""
    names = objective_names(front.problem)
    for key in ("certificate", "epsilon", "bounds"):
        claim = getattr(front, key)
        if claim is None:
            continue
        for i, name in enumerate(claim.objectives):
            if name not in names or name in claim.objectives[:i]:
                raise ResultError(
                    f"$.{key}.objectives[{i}]: must be another of {', '.join(names)}, got {name!r}"
                )
        for i, member in enumerate(claim.members):
            if member >= len(front.members):
                count = len(front.members)
                raise ResultError(f"$.{key}.members[{i}]: must be below {count}, got {member}")
    width = 0 if front.bounds is None else len(front.bounds.objectives)
    for i, corner in enumerate(() if front.bounds is None else front.bounds.region):
        if len(corner) != width:
            raise ResultError(f"$.bounds.region[{i}]: must have {width} values, got {len(corner)}")


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


def _check_members(problem: Problem, members: Sequence[Member], paths: Sequence[str]) -> None:
    if not members:
        return
    for name, counts, count in (
        ("objectives", [len(m.objectives) for m in members], len(problem.objectives)),
        ("latencies_ps", [len(m.latencies_ps) for m in members], len(problem.networks)),
        ("energy_by_unit_fj", [len(m.energy_by_unit_fj) for m in members], len(problem.units)),
        ("operating_points", [len(m.domain_on) for m in members], len(problem.domains)),
    ):
        if set(counts) != {count}:
            i = next(i for i, got in enumerate(counts) if got != count)
            raise ResultError(f"{paths[i]}.{name}: must be {count}, got {counts[i]}")
    units = _check_mappings(problem, members, paths)
    points = _check_points(problem, members, units, paths)
    executions = check_schedules(Members(problem, members, paths, units, points))
    _check_figures(problem, members, paths)
    if problem.execution.has_frame:
        _check_ends(problem, members, executions, paths)


def _check_mappings(problem: Problem, members: Sequence[Member], paths: Sequence[str]) -> IntArray:
    """[members, groups]: the units."""
    shape = (problem.group_count,)
    mappings = [member.design.units for member in members]
    require_all(
        [units.shape == shape and units.dtype == np.int64 for units in mappings],
        lambda i: (
            f"{paths[i]}.mapping",
            f"must be {problem.group_count} units (int64), one per group",
        ),
    )
    table = np.array(mappings)
    require_all(
        ((table >= 0) & (table < len(problem.units))).all(axis=1),
        lambda i: (f"{paths[i]}.mapping", "must be units of the problem"),
    )
    allowed = problem.allowed[np.arange(problem.group_count), table]

    def complaint(i: int) -> tuple[str, str]:
        group = int(np.argmin(allowed[i]))
        network = next(n for n in problem.networks if group in n.groups)
        return (
            f"{paths[i]}.mapping[{network.name!r}][{group - network.first_group}]",
            f"{problem.units[table[i, group]].name!r} is not allowed for this group",
        )

    require_all(allowed.all(axis=1), complaint)
    return table


def _check_points(
    problem: Problem, members: Sequence[Member], units: IntArray, paths: Sequence[str]
) -> IntArray:
    """[members, domains]: the operating points."""
    shape = (len(problem.domains),)
    chosen = [member.design.operating_points for member in members]
    require_all(
        [points.shape == shape and points.dtype == np.int64 for points in chosen],
        lambda i: (
            f"{paths[i]}.operating_points",
            f"must be {len(problem.domains)} indices (int64), one per domain",
        ),
    )
    table = np.array(chosen)
    clocked = np.zeros((len(problem.units), len(problem.domains)), dtype=np.bool_)
    for u, unit in enumerate(problem.units):
        clocked[u, list(unit.clocks)] = True
    used = np.zeros((len(members), len(problem.units)), dtype=np.bool_)
    np.put_along_axis(used, units, True, axis=1)
    on = used @ clocked | [not domain.may_be_off for domain in problem.domains]
    said_on = np.array([member.domain_on for member in members], dtype=np.bool_)
    for d in range(len(problem.domains)):
        _check_points_of(problem, d, table[:, d], on[:, d], said_on[:, d], paths)
    return table


def _check_points_of(
    problem: Problem,
    d: int,
    points: IntArray,
    on: BoolArray,
    said_on: BoolArray,
    paths: Sequence[str],
) -> None:
    """[members] each: of one domain."""
    domain = problem.domains[d]

    def here(i: int) -> str:
        return f"{paths[i]}.operating_points[{domain.name!r}]"

    require_all(
        on == said_on, lambda i: (here(i), f"the domain must be {'on' if on[i] else 'off (null)'}")
    )
    require_all(
        (points >= 0) & (points < len(domain.frequencies_khz)),
        lambda i: (here(i), f"no operating point {points[i]}"),
    )
    require_all(
        domain.allowed[points], lambda i: (here(i), f"operating point {points[i]} is not allowed")
    )
    off = domain.point_when_off
    require_all(
        on | (points == off),
        lambda i: (here(i), f"must be {off}, as the domain is off, got {points[i]}"),
    )


def _check_figures(problem: Problem, members: Sequence[Member], paths: Sequence[str]) -> None:
    for k, objective in enumerate(problem.objectives):
        expected = _expected(problem, members, objective)
        got = [member.objectives[k] for member in members]
        if expected is not None and got != expected:
            i = next(i for i, value in enumerate(got) if value != expected[i])
            raise ResultError(
                f"{paths[i]}.objectives[{objective_names(problem)[k]!r}]: must be {expected[i]}, "
                f"by the figures beside it, got {got[i]}"
            )
    for member, path in zip(members, paths, strict=True):
        by_unit = member.energy_by_unit_fj
        if min(by_unit) < 0 or sum(by_unit) > member.energy_fj:
            raise ResultError(
                f"{path}.energy_by_unit_fj: must be positive and at most energy_fj, "
                f"{member.energy_fj}, together"
            )


def _check_ends(
    problem: Problem, members: Sequence[Member], executions: Executions, paths: Sequence[str]
) -> None:
    """Makespan and latencies of schedules with one frame."""
    single = [i for i, m in enumerate(members) if m.schedule.groups[-1].frame == 1]
    if not single:
        return
    ends = executions.end_ps[np.isin(executions.member, single)].reshape(len(single), -1)
    makespans = ends.max(axis=1)
    require_all(
        makespans == [members[m].makespan_ps for m in single],
        lambda i: (
            f"{paths[single[i]]}.makespan_ps",
            f"must be {makespans[i]}, the end of the schedule",
        ),
    )
    counts = np.array([network.repeats * len(network.groups) for network in problem.networks])
    latencies = np.maximum.reduceat(ends, np.cumsum(counts) - counts, axis=1)
    latencies -= [network.arrival_ps for network in problem.networks]
    claimed = np.array([members[m].latencies_ps for m in single])

    def complaint(i: int) -> tuple[str, str]:
        m, n = divmod(i, len(counts))
        return (
            f"{paths[single[m]]}.latencies_ps[{problem.networks[n].name!r}]",
            f"must be {latencies[m, n]}, got {claimed[m, n]}",
        )

    require_all((claimed == latencies).reshape(-1), complaint)


def _expected(
    problem: Problem, members: Sequence[Member], objective: Objective
) -> list[int] | None:
    """The objective of each member by other figures of it; None where no figure says it."""
    network = objective.network
    match objective.kind:
        case ObjectiveKind.LATENCY if network is not None:
            return [member.latencies_ps[network] for member in members]
        case ObjectiveKind.LATENCY:
            return [member.makespan_ps for member in members]
        case ObjectiveKind.ENERGY:
            return [member.energy_fj for member in members]
        case ObjectiveKind.THROUGHPUT if not problem.execution.has_frame:
            return [frame_period_ps(m.free_run.periods_ps) for m in members if m.free_run]
        case ObjectiveKind.FAIRNESS if not problem.execution.has_frame:
            return [-min(member_relative_ppm(problem, member)) for member in members]
        case _:
            return None

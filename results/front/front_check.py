"""Check of a front without simulation: mapping rules, objectives that agree with the other values,
no member dominated.

Each rule is checked of all members at once: a front may have thousands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from operator import add

import numpy as np
from numpy.typing import ArrayLike

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.common.units import PPM
from paretosoc.results.errors import ResultError
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import FreeRun, Front, Member
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS
from paretosoc.results.problem.execution import SearchedOrder
from paretosoc.results.problem.objectives import Kind, Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem
from paretosoc.results.problem.rates import member_relative_ppm, time_per_image_ps
from paretosoc.results.problem.unit_check import require


def check_front(front: Front) -> None:
    """Accept a sound front. Paths in messages are those of ``front.json``.

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
    _check_robust(front)
    values = front.ranked_array
    kept = non_dominated(values)
    if len(kept) != len(values):
        dominated = np.setdiff1d(np.arange(len(values)), kept)
        raise ResultError(f"$.members[{dominated[0]}]: is dominated by, or equal to, another")
    if len(values) and (np.diff(front.objective_array[:, 0]) < 0).any():
        raise ResultError("$.members: must be in the order of the first objective")
    _check_claims(front)


def _check_robust(front: Front) -> None:
    """Check that members have measures if the front has one, and that nothing is proved of it."""
    for i, member in enumerate(front.members):
        require(
            (member.robust is None) == (front.robust is None),
            f"$.members[{i}].robust",
            "must be there if the front has a measure, else not",
        )
    for i, point in enumerate(front.baselines):
        path = f"$.baselines[{i}].point.robust"
        require(point.member.robust is None, path, "must not be there")
    for key in ("certificate", "epsilon", "bounds"):
        claimed = front.robust is not None and getattr(front, key) is not None
        require(not claimed, f"$.{key}", "must be null, for proofs are of nominal costs")


def _check_claims(front: Front) -> None:
    """Check that claims are of existing objectives and members. Proofs are not checked here."""
    names = front.problem.objective_names
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
    _check_points(problem, members, units, paths)
    _check_priorities(problem, members, paths)
    _check_free_runs(problem, members, paths)
    _check_responses(problem, members, paths)
    _check_figures(problem, members, paths)
    _check_makespans(problem, members, paths)


def _check_mappings(problem: Problem, members: Sequence[Member], paths: Sequence[str]) -> IntArray:
    """Check the mappings. Return the units, [members, groups]."""
    shape = (problem.group_count,)
    mappings = [member.design.units for member in members]
    _require_all(
        [units.shape == shape and units.dtype == np.int64 for units in mappings],
        lambda i: (
            f"{paths[i]}.mapping",
            f"must be {problem.group_count} units (int64), one per group",
        ),
    )
    table = np.array(mappings)
    _require_all(
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

    _require_all(allowed.all(axis=1), complaint)
    return table


def _check_priorities(problem: Problem, members: Sequence[Member], paths: Sequence[str]) -> None:
    """Check that searched priorities begin at 0 without gaps, those of groups in each queue."""
    if problem.searched_order is None:
        return
    count = problem.priority_count
    chosen = [
        [] if member.design.priorities is None else member.design.priorities.tolist()
        for member in members
    ]
    by_groups = problem.searched_order is SearchedOrder.GROUPS

    def fits(member: Member, priorities: list[int]) -> bool:
        ranked: dict[int, set[int]] = defaultdict(set)
        for place, level in enumerate(priorities):
            queue = 0
            if by_groups:
                queue = problem.queue_of[problem.network_of[place]][member.design.units[place]]
            ranked[queue].add(level)
        return all(
            levels == set(range(len(levels))) and len(levels) <= PRIORITY_LEVELS
            for levels in ranked.values()
        )

    _require_all(
        [
            len(priorities) == count and fits(member, priorities)
            for member, priorities in zip(members, chosen, strict=True)
        ],
        lambda i: (
            f"{paths[i]}.priorities",
            f"must be {count} from 0 to {PRIORITY_LEVELS - 1} without gaps"
            f"{' where groups wait for one unit' if by_groups else ''}, got {chosen[i]}",
        ),
    )


def _check_points(
    problem: Problem, members: Sequence[Member], units: IntArray, paths: Sequence[str]
) -> None:
    shape = (len(problem.domains),)
    chosen = [member.design.operating_points for member in members]
    _require_all(
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


def _check_points_of(
    problem: Problem,
    d: int,
    points: IntArray,
    on: BoolArray,
    said_on: BoolArray,
    paths: Sequence[str],
) -> None:
    """Check the operating points of one domain. Arrays have one entry per member."""
    domain = problem.domains[d]

    def here(i: int) -> str:
        return f"{paths[i]}.operating_points[{domain.name!r}]"

    _require_all(
        on == said_on, lambda i: (here(i), f"the domain must be {'on' if on[i] else 'off (null)'}")
    )
    _require_all(
        (points >= 0) & (points < len(domain.frequencies_khz)),
        lambda i: (here(i), f"no operating point {points[i]}"),
    )
    _require_all(
        domain.allowed[points], lambda i: (here(i), f"operating point {points[i]} is not allowed")
    )
    off = domain.point_when_off
    _require_all(
        on | (points == off),
        lambda i: (here(i), f"must be {off}, as the domain is off, got {points[i]}"),
    )


def _check_free_runs(problem: Problem, members: Sequence[Member], paths: Sequence[str]) -> None:
    _require_all(
        [(member.free_run is None) == problem.execution.has_frame for member in members],
        lambda i: (
            f"{paths[i]}.free_run",
            "must be null if networks share a frame, and there if they are free-running",
        ),
    )
    for member, path in zip(members, paths, strict=True):
        if member.free_run is not None:
            _check_window(problem, member.free_run, f"{path}.free_run")


def _check_responses(problem: Problem, members: Sequence[Member], paths: Sequence[str]) -> None:
    """Check that responses are given if networks have rates, and agree with the longest ones."""
    for member, path in zip(members, paths, strict=True):
        require(
            len(member.responses or ()) == (len(problem.networks) if problem.has_rates else 0),
            f"{path}.responses",
            "must be there, one per network, if networks have rates, else not",
        )
        window, period = member.window_ps, problem.execution.period_ps or 1
        lasts = period if window is None else window[1] - window[0]
        require(
            (window is None or problem.has_rates) and lasts > 0 and lasts % period == 0,
            f"{path}.window_ps",
            f"must last whole periods of {period} ps, got {window}",
        )
        for n, entry in enumerate(member.responses or ()):
            longest, releases = member.latencies_ps[n], problem.releases(n)
            require(
                max(entry.percentile_95_ps, entry.jitter_ps) <= longest
                and 0 <= entry.misses <= releases
                and (entry.misses > 0) == (longest > problem.late_ps(n)),
                f"{path}.responses[{problem.networks[n].name!r}]",
                f"must fit to {releases} responses of at most {longest} ps",
            )


def _check_window(problem: Problem, run: FreeRun, path: str) -> None:
    begin, end = run.window_ps
    count = len(problem.networks)
    require(0 < begin < end, f"{path}.window_ps", f"must rise from above 0, got {begin}, {end}")
    require(
        0 < run.shown_ps <= end, f"{path}.shown_ps", f"must be from 1 to {end}, got {run.shown_ps}"
    )
    require(
        len(run.periods_ps) == count,
        f"{path}.frame_periods_ps",
        f"must be {count}, got {len(run.periods_ps)}",
    )
    require(min(run.periods_ps) > 0, f"{path}.frame_periods_ps", "must be positive")


def _check_figures(problem: Problem, members: Sequence[Member], paths: Sequence[str]) -> None:
    for k, objective in enumerate(problem.objectives):
        expected = _expected(problem, members, objective)
        got = [member.objectives[k] for member in members]
        if expected is not None and got != expected:
            i = next(i for i, value in enumerate(got) if value != expected[i])
            raise ResultError(
                f"{paths[i]}.objectives[{problem.objective_names[k]!r}]: must be {expected[i]}, "
                f"by the figures beside it, got {got[i]}"
            )
    for member, path in zip(members, paths, strict=True):
        by_unit = member.energy_by_unit_fj
        if min(by_unit) < 0 or sum(by_unit) > member.energy_fj:
            raise ResultError(
                f"{path}.energy_by_unit_fj: must be positive and at most energy_fj, "
                f"{member.energy_fj}, together"
            )


def _check_makespans(problem: Problem, members: Sequence[Member], paths: Sequence[str]) -> None:
    """Check the makespans. A frame alone ends with the last of its networks. With rates, latencies
    do not count from the frame."""
    if problem.has_rates:
        return
    arrivals = [network.arrival_ps for network in problem.networks]
    for member, path in zip(members, paths, strict=True):
        end = max(map(add, member.latencies_ps, arrivals))
        if member.makespan_ps != end:
            raise ResultError(
                f"{path}.makespan_ps: must be {end}, the last end by latencies_ps, "
                f"got {member.makespan_ps}"
            )


def _expected(
    problem: Problem, members: Sequence[Member], objective: Objective
) -> list[int] | None:
    """Return the objective of each member by other figures of it, or None if no figure gives it."""
    network = objective.network
    match objective.kind:
        case ObjectiveKind.LATENCY if network is not None:
            return [member.latencies_ps[network] for member in members]
        case ObjectiveKind.LATENCY:
            return [member.makespan_ps for member in members]
        case ObjectiveKind.ENERGY:
            return [member.energy_fj for member in members]
        case ObjectiveKind.THROUGHPUT if not problem.execution.has_frame:
            runs = [member.free_run for member in members if member.free_run]
            return [time_per_image_ps(problem.images, run.periods_ps) for run in runs]
        case ObjectiveKind.FAIRNESS if not problem.execution.has_frame:
            return [-min(member_relative_ppm(problem, member)) for member in members]
        case kind if kind in _OF_RESPONSES:
            return [_of_responses(problem, member, objective) for member in members]
        case _:
            return None


_OF_RESPONSES = {
    ObjectiveKind.RELATIVE_RESPONSE,
    ObjectiveKind.RESPONSE,
    ObjectiveKind.RESPONSE_95,
    ObjectiveKind.JITTER,
    ObjectiveKind.MISSES,
}


def _of_responses(problem: Problem, member: Member, objective: Objective) -> int:
    """Return an objective of networks with rates."""
    assert member.responses is not None, "_check_responses"
    period = problem.execution.period_ps
    assert period is not None, "check_problem"
    columns: dict[Kind, list[int]] = {
        ObjectiveKind.RELATIVE_RESPONSE: [
            PPM * longest * problem.releases(n) // period
            for n, longest in enumerate(member.latencies_ps)
        ],
        ObjectiveKind.RESPONSE: list(member.latencies_ps),
        ObjectiveKind.RESPONSE_95: [entry.percentile_95_ps for entry in member.responses],
        ObjectiveKind.JITTER: [entry.jitter_ps for entry in member.responses],
        ObjectiveKind.MISSES: [entry.misses for entry in member.responses],
    }
    values = columns[objective.kind]
    if objective.network is not None:
        return values[objective.network]
    return sum(values) if objective.kind is ObjectiveKind.MISSES else max(values)


def _require_all(holds: ArrayLike, complaint: Callable[[int], tuple[str, str]]) -> None:
    """Refuse the first place at which the condition does not hold."""
    failing = np.flatnonzero(~np.asarray(holds, dtype=np.bool_))
    if len(failing):
        require(False, *complaint(int(failing[0])))

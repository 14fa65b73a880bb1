"""Check of schedules without simulating the timeline: that everything
is there and in order, on the unit of the mapping, after what it waits for, alone on its unit.

All members' executions are checked at once, as columns of one table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from common.arrays import IntArray
from results.errors import ResultError
from results.front.front import FreeRun, Member
from results.front.schedule import ScheduledGroup
from results.problem.execution import frames_in_flight
from results.problem.problem import Problem

Key = tuple[int, int, int, int]
"""Frame, network, repeat, group."""


def require(condition: bool, path: str, requirement: str) -> None:
    """Raises:
    ResultError: ``path`` and the requirement, where the condition does not hold.
    """
    if not condition:
        raise ResultError(f"{path}: {requirement}")


def require_all(holds: ArrayLike, complaint: Callable[[int], tuple[str, str]]) -> None:
    """Accepts what holds everywhere.

    Raises:
        ResultError: path and requirement, by ``complaint``, of the first place where it does not.
    """
    failing = np.flatnonzero(~np.asarray(holds, dtype=np.bool_))
    if len(failing):
        require(False, *complaint(int(failing[0])))


@dataclass(frozen=True, eq=False)
class Members:
    """Members as columns, after their mappings and operating points were found sound."""

    problem: Problem
    members: Sequence[Member]
    paths: Sequence[str]
    """Where each is in ``front.json``."""
    units: IntArray
    """[members, groups]"""
    points: IntArray
    """[members, domains]"""


@dataclass(frozen=True, eq=False)
class Executions:
    """The schedules of all members, one after the other, as columns."""

    paths: Sequence[str]
    member: IntArray
    """Whose each execution is."""
    place: IntArray
    """In its member's schedule."""
    frame: IntArray
    network: IntArray
    repeat: IntArray
    group: IntArray
    unit: IntArray
    ready_ps: IntArray
    start_ps: IntArray
    end_ps: IntArray
    alone_ps: IntArray

    @classmethod
    def of(cls, members: Members) -> Executions:
        """Those of the members."""
        schedules = [member.schedule.groups for member in members.members]
        counts = np.array([len(rows) for rows in schedules], dtype=np.int64)
        table = np.fromiter(
            chain.from_iterable(chain.from_iterable(schedules)),
            np.int64,
            counts.sum() * len(ScheduledGroup._fields),
        ).reshape(-1, len(ScheduledGroup._fields))
        first = np.cumsum(counts) - counts
        return cls(
            members.paths,
            np.repeat(np.arange(len(counts)), counts),
            np.arange(len(table)) - np.repeat(first, counts),
            *np.ascontiguousarray(table.T),
        )

    def path(self, index: int, field: str = "") -> str:
        """Where an execution, or its field, is in ``front.json``."""
        return f"{self.paths[self.member[index]]}.schedule[{self.place[index]}]{field}"


def check_schedules(members: Members) -> Executions:
    """Accepts schedules that hang together, and returns them as columns.

    Raises:
        ResultError: an execution that is missing, twice, out of order, or breaks a rule.
    """
    problem, paths = members.problem, members.paths
    schedules = [member.schedule.groups for member in members.members]
    require_all(
        [bool(rows) and rows[-1].frame >= 1 for rows in schedules],
        lambda i: (f"{paths[i]}.schedule", "must not be empty"),
    )
    require_all(
        [(m.free_run is None) == problem.execution.has_frame for m in members.members],
        lambda i: (
            f"{paths[i]}.free_run",
            "must be null where networks share a frame, and there where they are free-running",
        ),
    )
    if problem.execution.has_frame:
        executions, fed = _check_frames(members)
    else:
        executions, fed = _check_free_runs(members)
    _check_executions(members, executions)
    _check_transitions(members, executions, fed)
    _check_units_are_shared(problem, executions)
    return executions


_Fed = tuple[IntArray, IntArray, IntArray]
"""Edge, or edges + hand-over, and the executions of its source and its target."""


def _check_frames(members: Members) -> tuple[Executions, _Fed]:
    """Whole frames, every execution once."""
    problem, schedules = members.problem, [m.schedule.groups for m in members.members]
    # Counted first: with a changed number the rest would be anything, and of any size.
    size = sum(network.repeats * len(network.groups) for network in problem.networks)
    counts = [rows[-1].frame * size for rows in schedules]
    require_all(
        [len(rows) == count for rows, count in zip(schedules, counts, strict=True)],
        lambda i: (
            f"{members.paths[i]}.schedule",
            f"must hold {counts[i]} executions, got {len(schedules[i])}",
        ),
    )
    order = [
        (n, repeat, group)
        for n, network in enumerate(problem.networks)
        for repeat in range(1, network.repeats + 1)
        for group in network.groups
    ]
    executions = Executions.of(members)
    frame, place = np.divmod(executions.place, len(order))
    network, repeat, group = np.array(order).T
    require_all(
        (executions.frame == frame + 1)
        & (executions.network == network[place])
        & (executions.repeat == repeat[place])
        & (executions.group == group[place]),
        lambda i: (
            executions.path(i),
            "must hold every execution once, in the order (frame, network, repeat, group)",
        ),
    )
    # Groups of a network follow each other in each repeat.
    number = {key: i for i, key in enumerate(order)}
    edges = [
        (e, number[n, repeat, source], number[n, repeat, target])
        for e, (source, target) in enumerate(problem.edges)
        for n, network in enumerate(problem.networks)
        if source in network.groups
        for repeat in range(1, network.repeats + 1)
    ]
    of_group, repeats = problem.network_of, [network.repeats for network in problem.networks]
    for h, (tail, head) in enumerate(problem.handovers, len(problem.edges)):
        n = of_group[tail]
        edges.append((h, number[n, repeats[n], tail], number[of_group[head], 1, head]))
    edge, source, target = np.array(edges, dtype=np.int64).reshape(-1, 3).T
    begins = np.arange(0, len(place), len(order))[:, None]
    return executions, (
        np.tile(edge, len(begins)),
        (begins + source).reshape(-1),
        (begins + target).reshape(-1),
    )


def _check_free_runs(members: Members) -> tuple[Executions, _Fed]:
    """Of each member a window, and the beginning of its schedule."""
    problem = members.problem
    sources: dict[int, list[tuple[int, int]]] = {}
    for e, (source, target) in enumerate(problem.edges):
        sources.setdefault(target, []).append((e, source))
    edges: list[tuple[int, int, int]] = []
    begin = 0
    for member, path in zip(members.members, members.paths, strict=True):
        assert member.free_run is not None, "that was checked"
        _check_window(problem, member.free_run, f"{path}.free_run")
        found = _check_beginning(problem, member, member.free_run, sources, path)
        edges += [
            (e, begin + found[frame, network, repeat, source], begin + i)
            for (frame, network, repeat, group), i in found.items()
            for e, source in sources.get(group, ())
        ]
        begin += len(found)
    edge, source_at, target_at = np.array(edges, dtype=np.int64).reshape(-1, 3).T
    return Executions.of(members), (edge, source_at, target_at)


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


def _check_beginning(
    problem: Problem,
    member: Member,
    run: FreeRun,
    sources: dict[int, list[tuple[int, int]]],
    path: str,
) -> dict[Key, int]:
    """Each execution once, in order, with all that it waits for, which ends before it is ready.
    Returns where each stands."""
    rows = member.schedule.groups
    found: dict[Key, int] = {row[:4]: i for i, row in enumerate(rows)}
    require(
        list(found) == sorted(found) and len(found) == len(rows),
        f"{path}.schedule",
        "must hold every execution once, in the order (frame, network, repeat, group)",
    )
    for key, i in found.items():
        row, here = rows[i], f"{path}.schedule[{i}]"
        network = problem.networks[row.network]
        require(
            row.group in network.groups and 1 <= row.repeat <= network.repeats and row.frame >= 1,
            here,
            "is no execution of the problem",
        )
        require(
            row.start_ps < run.shown_ps,
            f"{here}.start_ps",
            f"must be before shown_ps, {run.shown_ps}, got {row.start_ps}",
        )
        for before in _before(problem, key, sources.get(row.group)):
            require(
                before in found and rows[found[before]].end_ps <= row.ready_ps,
                f"{here}.ready_ps",
                f"frame {before[0]}, repeat {before[2]}, group {before[3]} must end first",
            )
    return found


def _before(problem: Problem, key: Key, sources: list[tuple[int, int]] | None) -> Iterator[Key]:
    """What must have ended before: the groups that feed it, the repeat before or, at most F frames
    being under way, the end of a frame of its network."""
    frame, n, repeat, _ = key
    if sources is not None:
        yield from ((frame, n, repeat, source) for _, source in sources)
        return
    network, earlier = problem.networks[n], frame - frames_in_flight(problem.execution)
    if repeat > 1:
        yield from ((frame, n, repeat - 1, other) for other in network.groups)
    elif earlier >= 1:
        yield from ((earlier, n, network.repeats, other) for other in network.groups)


def _check_executions(members: Members, executions: Executions) -> None:
    """Each by itself."""
    x = executions
    require_all(
        x.unit == members.units[x.member, x.group],
        lambda i: (x.path(i, ".unit"), "is not that of the mapping"),
    )
    alone = np.empty_like(x.alone_ps)
    for u, unit in enumerate(members.problem.units):
        there = np.flatnonzero(x.unit == u)
        clocks = (members.points[x.member[there], clock] for clock in unit.clocks)
        at = (x.group[there], *clocks)
        alone[there] = unit.time_ps[at] + (x.repeat[there] - 1) * unit.steps_ps[at]
    require_all(
        x.alone_ps == alone,
        lambda i: (x.path(i, ".alone_ps"), f"must be {alone[i]}, got {x.alone_ps[i]}"),
    )
    require_all(
        (x.ready_ps >= 0) & (x.ready_ps <= x.start_ps),
        lambda i: (x.path(i, ".start_ps"), "must not be before ready_ps"),
    )
    require_all(
        x.end_ps - x.start_ps >= alone,
        lambda i: (
            x.path(i, ".end_ps"),
            f"must be >= {int(x.start_ps[i]) + int(alone[i])}, got {x.end_ps[i]}",
        ),
    )


def _check_transitions(members: Members, executions: Executions, fed: _Fed) -> None:
    """Each after all that feed it, and their transitions."""
    edge, source, target = fed
    x = executions
    problem = members.problem
    delays = np.concatenate((problem.transition_ps, problem.handovers_ps))
    delay = delays[edge, x.unit[source], x.unit[target]]
    require_all(
        x.ready_ps[target] - x.end_ps[source] >= delay,
        lambda i: (
            x.path(target[i], ".ready_ps"),
            f"must be >= {int(x.end_ps[source[i]]) + int(delay[i])}, after group "
            f"{x.group[source[i]]} and the transition",
        ),
    )


def _check_units_are_shared(problem: Problem, executions: Executions) -> None:
    """One execution at a time on each unit."""
    x = executions
    order = np.lexsort((x.end_ps, x.start_ps, x.unit, x.member))
    one, other = order[:-1], order[1:]
    require_all(
        (x.member[one] != x.member[other])
        | (x.unit[one] != x.unit[other])
        | (x.end_ps[one] <= x.start_ps[other]),
        lambda i: (
            f"{x.paths[x.member[other[i]]]}.schedule",
            f"two groups run on {problem.units[x.unit[other[i]]].name!r} at "
            f"{x.start_ps[other[i]]} ps",
        ),
    )

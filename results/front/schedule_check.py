"""Check of a schedule without simulating the timeline: that everything
is there and in order, on the unit of the mapping, after what it waits for, alone on its unit."""

from __future__ import annotations

from collections.abc import Iterator

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


def check_schedule(problem: Problem, member: Member, path: str) -> None:
    """Accepts a schedule that hangs together; ``path`` is the member's in ``front.json``.

    Raises:
        ResultError: an execution that is missing, twice, out of order, or breaks a rule.
    """
    rows = member.schedule.groups
    require(bool(rows) and rows[-1].frame >= 1, f"{path}.schedule", "must not be empty")
    require(
        (member.free_run is None) == problem.execution.has_frame,
        f"{path}.free_run",
        "must be null where networks share a frame, and there where they are free-running",
    )
    if member.free_run is None:
        _check_frames(problem, member, path)
    else:
        _check_free_run(problem, member.free_run, f"{path}.free_run")
        _check_beginning(problem, member, member.free_run, path)
    _check_executions(problem, member, path)


def _check_frames(problem: Problem, member: Member, path: str) -> None:
    """Whole frames, every execution once."""
    rows = member.schedule.groups
    frames = rows[-1].frame
    # Counted first: a changed number must not make a list that fits in no memory.
    count = frames * sum(network.repeats * len(network.groups) for network in problem.networks)
    require(
        len(rows) == count, f"{path}.schedule", f"must hold {count} executions, got {len(rows)}"
    )
    expected = [
        (frame, n, repeat, group)
        for frame in range(1, frames + 1)
        for n, network in enumerate(problem.networks)
        for repeat in range(1, network.repeats + 1)
        for group in network.groups
    ]
    found = [_key(row) for row in rows]
    if found != expected:
        i = next(
            (i for i, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b),
            min(len(found), len(expected)),
        )
        require(
            False,
            f"{path}.schedule[{i}]",
            "must hold every execution once, in the order (frame, network, repeat, group)",
        )


def _check_free_run(problem: Problem, run: FreeRun, path: str) -> None:
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


def _check_beginning(problem: Problem, member: Member, run: FreeRun, path: str) -> None:
    """Each execution once, in order, with all that it waits for, which ends before it is ready."""
    rows = member.schedule.groups
    found = {_key(row): row for row in rows}
    require(
        list(found) == sorted(found) and len(found) == len(rows),
        f"{path}.schedule",
        "must hold every execution once, in the order (frame, network, repeat, group)",
    )
    sources: dict[int, list[int]] = {}
    for source, target in problem.edges:
        sources.setdefault(target, []).append(source)
    for i, row in enumerate(rows):
        here = f"{path}.schedule[{i}]"
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
        for key in _before(problem, _key(row), sources.get(row.group)):
            before = found.get(key)
            require(
                before is not None and before.end_ps <= row.ready_ps,
                f"{here}.ready_ps",
                f"frame {key[0]}, repeat {key[2]}, group {key[3]} must end first",
            )


def _before(problem: Problem, key: Key, sources: list[int] | None) -> Iterator[Key]:
    """What must have ended before: the groups that feed it, the repeat before or, at most F frames
    being under way, the end of a frame of its network."""
    frame, n, repeat, _ = key
    if sources is not None:
        yield from ((frame, n, repeat, source) for source in sources)
        return
    network, earlier = problem.networks[n], frame - frames_in_flight(problem.execution)
    if repeat > 1:
        yield from ((frame, n, repeat - 1, other) for other in network.groups)
    elif earlier >= 1:
        yield from ((earlier, n, network.repeats, other) for other in network.groups)


def _key(row: ScheduledGroup) -> Key:
    return row.frame, row.network, row.repeat, row.group


def _check_executions(problem: Problem, member: Member, path: str) -> None:
    rows = member.schedule.groups
    found = [_key(row) for row in rows]
    end = {key: row.end_ps for key, row in zip(found, rows, strict=True)}
    points = member.design.operating_points.tolist()
    for i, row in enumerate(rows):
        _check_execution(problem, member, row, points, f"{path}.schedule[{i}]")
    units = member.design.units.tolist()
    into: dict[int, list[tuple[int, int]]] = {}
    for e, (source, target) in enumerate(problem.edges):
        delay = int(problem.transition_ps[e, units[source], units[target]])
        into.setdefault(target, []).append((source, delay))
    for i, row in enumerate(rows):
        for source, delay in into.get(row.group, ()):
            source_end = end[row.frame, row.network, row.repeat, source]
            require(
                row.ready_ps >= source_end + delay,
                f"{path}.schedule[{i}].ready_ps",
                f"must be >= {source_end + delay}, after group {source} and the transition",
            )
    last: dict[int, ScheduledGroup] = {}
    for row in sorted(rows, key=lambda row: (row.start_ps, row.end_ps)):
        before = last.get(row.unit)
        require(
            before is None or before.end_ps <= row.start_ps,
            f"{path}.schedule",
            f"two groups run on {problem.units[row.unit].name!r} at {row.start_ps} ps",
        )
        last[row.unit] = row


def _check_execution(
    problem: Problem, member: Member, row: ScheduledGroup, points: list[int], path: str
) -> None:
    unit = problem.units[row.unit]
    require(
        row.unit == member.design.units[row.group], f"{path}.unit", "is not that of the mapping"
    )
    alone = int(unit.time_ps[(row.group, *(points[clock] for clock in unit.clocks))])
    require(row.alone_ps == alone, f"{path}.alone_ps", f"must be {alone}, got {row.alone_ps}")
    require(0 <= row.ready_ps <= row.start_ps, f"{path}.start_ps", "must not be before ready_ps")
    require(
        row.end_ps - row.start_ps >= alone,
        f"{path}.end_ps",
        f"must be >= {row.start_ps + alone}, got {row.end_ps}",
    )

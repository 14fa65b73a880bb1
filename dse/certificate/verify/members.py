"""Members simulated again by the plain evaluator and compared with what the folder says."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from fitness.reference.objectives import plain_outcome
from results.front.front import FreeRun, Member
from results.front.schedule import Schedule, ScheduledGroup
from results.io.plural import pluralize
from results.problem.objectives import objective_names
from results.problem.problem import Problem

MAX_PROCESSES = 4
"""A free run may have millions of executions, a gigabyte of them."""
MANY_FRAMES = 10_000
"""A second or two of plain play, as long as processes take to start."""


def check_members(
    problem: Problem, claims: Sequence[tuple[Member, Sequence[str]]]
) -> Iterator[str | None]:
    """What is wrong with each member, in order; None where nothing is.

    Networks that run freely may take minutes plainly; then members are shared out to processes.

    Args:
        claims: members, each with the names of the limits that it breaks by its own account.
    """
    processes = min(len(claims), os.cpu_count() or 1, MAX_PROCESSES)
    frames = sum(_frames(m.free_run) for m, _ in claims if m.free_run is not None)
    if frames < MANY_FRAMES or processes < 2:
        yield from (what_is_wrong(problem, *claim) for claim in claims)
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"))
    try:
        yield from pool.map(partial(what_is_wrong, problem), *zip(*claims, strict=True))
    finally:
        # The caller stops at the first that is wrong.
        pool.shutdown(cancel_futures=True)


def _frames(run: FreeRun) -> int:
    """Frames that all networks end in the window, about."""
    window = run.window_ps[1] - run.window_ps[0]
    return sum(window // period for period in run.periods_ps)


def what_is_wrong(problem: Problem, member: Member, breaks: Sequence[str]) -> str | None:
    """What differs from what the plain evaluator says; None where nothing does.

    Args:
        breaks: names of the limits that the folder says the member breaks.
    """
    try:
        outcome = plain_outcome(problem, member.design)
    except (ValueError, IndexError) as error:
        return str(error)
    for broken in outcome.broken:
        if broken.constraint not in breaks:
            return broken.why
    if [broken.constraint for broken in outcome.broken] != list(breaks):
        really = ", ".join(str(broken.constraint) for broken in outcome.broken) or "nothing"
        return f"breaks {really}, not {', '.join(breaks)}"
    names = objective_names(problem)
    for name, claimed, value in zip(names, member.objectives, outcome.objectives, strict=True):
        if claimed != value:
            return f"{name} is {value}, not {claimed}"
    if outcome.schedule != member.schedule:
        return _schedule_difference(problem, member.schedule, outcome.schedule)
    if outcome.free_run != member.free_run:
        return f"the window is {outcome.free_run}, not {member.free_run}"
    if outcome.energy_fj != member.energy_fj:
        return f"energy is {outcome.energy_fj}, not {member.energy_fj}"
    by_unit = zip(problem.units, member.energy_by_unit_fj, outcome.energy_by_unit_fj, strict=True)
    for unit, claimed, value in by_unit:
        if claimed != value:
            return f"energy of {unit.name} is {value}, not {claimed}"
    if outcome.timeline.latency_ps[0] != member.latencies_ps:
        return "latencies are other ones"
    if outcome.timeline.frame_end_ps[0] != member.makespan_ps:
        return f"the makespan is {outcome.timeline.frame_end_ps[0]}, not {member.makespan_ps}"
    return None


def _schedule_difference(problem: Problem, claimed: Schedule, simulated: Schedule) -> str:
    """The first execution in which two schedules differ, and how many there are."""
    if len(claimed.groups) != len(simulated.groups):
        return (
            f"the schedule has {pluralize(len(claimed.groups), 'execution')}, not "
            f"{len(simulated.groups)}"
        )
    pairs = zip(claimed.groups, simulated.groups, strict=True)
    different = [(stated, is_so) for stated, is_so in pairs if stated != is_so]
    stated, is_so = different[0]
    parts = [
        f"{name} is {value}, not {claim}"
        for name, value, claim in zip(ScheduledGroup._fields, is_so, stated, strict=True)
        if value != claim
    ]
    network = problem.networks[is_so.network]
    more = f"; {len(different) - 1} more differ" if len(different) > 1 else ""
    return (
        f"the schedule: frame {is_so.frame}, {network.name}, repeat {is_so.repeat}, group "
        f"{is_so.group - network.first_group}: {', '.join(parts)}{more}"
    )

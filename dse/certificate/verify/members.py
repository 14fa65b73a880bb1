"""Check members and their rates by simulating them again with the plain evaluator."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial

from paretosoc.common.processes import end_with_parent
from paretosoc.fitness.check.members.outcome import broken_rules, plain_outcome
from paretosoc.results.front.front import Member
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.rates import frame_period_limit_ps

MAX_PROCESSES = 4
"""A free run may have millions of executions, a gigabyte of them."""
MANY_EXECUTIONS = 100_000
"""A second or two of plain simulation, as long as processes take to start."""
CHUNKS = 8
"""Chunks of members for each process, as members take different times."""


def check_members(
    problem: Problem, claims: Sequence[tuple[Member, Sequence[str]]], *, compiled: bool = False
) -> Iterator[str | None]:
    """Yield why each member is wrong, in order, or None if it is right.

    Interpreted, long frames and networks that run freely may take minutes. Members are then shared
    out to processes.

    Args:
        claims: members, each with the names of the limits that it breaks by its own account.
        compiled: the problem's figures must then fit in int64 with all their products.
    """
    if compiled:
        yield from (what_is_wrong(problem, *claim, compiled=True) for claim in claims)
        return
    processes = min(len(claims), os.cpu_count() or 1, MAX_PROCESSES)
    executions = sum(_executions(problem, member) for member, _ in claims)
    if executions < MANY_EXECUTIONS or processes < 2:
        yield from (what_is_wrong(problem, *claim) for claim in claims)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, end_with_parent)
    try:
        # The problem is sent with every chunk.
        chunk = -(-len(claims) // (CHUNKS * processes))
        check = partial(what_is_wrong, problem)
        yield from pool.map(check, *zip(*claims, strict=True), chunksize=chunk)
    finally:
        # The caller stops at the first that is wrong.
        pool.shutdown(cancel_futures=True)


def _executions(problem: Problem, member: Member) -> int:
    """Return about how many executions a member simulates: a frame, or a free run's window."""
    frames, run = [1 for _ in problem.networks], member.free_run
    if run is not None:
        window = run.window_ps[1] - run.window_ps[0]
        frames = [window // period for period in run.periods_ps]
    sizes = [network.repeats * len(network.groups) for network in problem.networks]
    return sum(frame * size for frame, size in zip(frames, sizes, strict=True))


def what_is_wrong(
    problem: Problem, member: Member, breaks: Sequence[str], *, compiled: bool = False
) -> str | None:
    """Return the first difference from the plain evaluator's result, or None if there is none.

    Args:
        breaks: names of the limits that the folder says the member breaks.
    """
    try:
        # Figures of choices that are forbidden may need more than 64 bits.
        compiled = compiled and all(b.constraint for b in broken_rules(problem, member.design))
        outcome = plain_outcome(problem, member.design, compiled=compiled)
    except (ValueError, IndexError) as error:
        return str(error)
    for broken in outcome.broken:
        if broken.constraint not in breaks:
            return broken.why
    if [broken.constraint for broken in outcome.broken] != list(breaks):
        really = ", ".join(str(broken.constraint) for broken in outcome.broken) or "nothing"
        return f"breaks {really}, not {', '.join(breaks)}"
    names = problem.objective_names
    for name, claimed, value in zip(names, member.objectives, outcome.objectives, strict=True):
        if claimed != value:
            return f"{name} is {value}, not {claimed}"
    if outcome.free_run != member.free_run:
        return f"the window is {outcome.free_run}, not {member.free_run}"
    if outcome.energy_fj != member.energy_fj:
        return f"energy is {outcome.energy_fj}, not {member.energy_fj}"
    by_unit = zip(problem.units, member.energy_by_unit_fj, outcome.energy_by_unit_fj, strict=True)
    for unit, claimed, value in by_unit:
        if claimed != value:
            return f"energy of {unit.name} is {value}, not {claimed}"
    if outcome.latencies_ps != member.latencies_ps:
        return "latencies are other ones"
    if outcome.window_ps != member.window_ps:
        return f"the window is {outcome.window_ps}, not {member.window_ps}"
    if outcome.responses != member.responses:
        return f"responses are {outcome.responses}, not {member.responses}"
    if outcome.timeline.frame_end_ps[0] != member.makespan_ps:
        return f"the makespan is {outcome.timeline.frame_end_ps[0]}, not {member.makespan_ps}"
    return None


def claimed_periods_ps(problem: Problem, member: Member) -> tuple[int, ...]:
    """Return the claimed time from frame to frame of each stream.

    The streams are every network if they run freely, else the whole workload. Empty if no
    throughput is claimed.
    """
    if member.free_run is not None:
        return member.free_run.periods_ps
    return tuple(
        frame_period_limit_ps(problem, value)
        for objective, value in zip(problem.objectives, member.objectives, strict=True)
        if objective.kind is ObjectiveKind.THROUGHPUT
    )


def overloaded_unit(problem: Problem, member: Member) -> str | None:
    """Return a unit with claimed rates times loads above 1, with that sum, or None if there is
    none.

    A stream's load on a unit is the stand-alone time of its groups there for one frame, all
    repeats. Contention only adds to it.
    """
    periods = claimed_periods_ps(problem, member)
    if not periods:
        return None
    for u, unit in enumerate(problem.units):
        share = sum(
            (
                Fraction(load, max(period, 1))
                for load, period in zip(_loads(problem, member.design, u), periods, strict=True)
            ),
            Fraction(0),
        )
        if share > 1:
            percent = f"{float(100 * share):.6g} %"
            return f"rates times loads take {percent} of the time of {unit.name}"
    return None


def _loads(problem: Problem, design: DesignPoint, u: int) -> list[int]:
    """Return the stand-alone time of one frame of each stream on the unit, in ps."""
    frame_ps, points = problem.frame_ps(u), design.points_of(problem.units[u])
    moving = problem.repeats * problem.moving_ps(design.units)
    loads = [
        sum(int(frame_ps[(g, *points)] + moving[g]) for g in network.groups if design.units[g] == u)
        for network in problem.networks
    ]
    return [sum(loads)] if problem.execution.has_frame else loads

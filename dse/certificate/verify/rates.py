"""Check that a claimed rate is within the chip's capacity, from the problem and the mapping
alone."""

from __future__ import annotations

from fractions import Fraction

from paretosoc.results.front.front import Member
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.rates import frame_period_limit_ps


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
    frame_ps, clocks = problem.frame_ps(u), problem.units[u].clocks
    points = tuple(int(design.operating_points[clock]) for clock in clocks)
    moving = problem.repeats * problem.moving_ps(design.units)
    loads = [
        sum(int(frame_ps[(g, *points)] + moving[g]) for g in network.groups if design.units[g] == u)
        for network in problem.networks
    ]
    return [sum(loads)] if problem.execution.has_frame else loads

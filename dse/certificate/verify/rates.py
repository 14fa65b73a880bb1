"""Whether a rate that is claimed is within what the chip can do, from the problem and the mapping
alone."""

from __future__ import annotations

from fractions import Fraction

from paretosoc.results.front.front import Member
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.rates import frame_period_limit_ps


def claimed_periods_ps(problem: Problem, member: Member) -> tuple[int, ...]:
    """Of each stream what is claimed from frame to frame: of every network where they run freely,
    else of the whole workload; nothing where no throughput is claimed."""
    if member.free_run is not None:
        return member.free_run.periods_ps
    return tuple(
        frame_period_limit_ps(problem, value)
        for objective, value in zip(problem.objectives, member.objectives, strict=True)
        if objective.kind is ObjectiveKind.THROUGHPUT
    )


def overloaded_unit(problem: Problem, member: Member) -> str | None:
    """A unit on which the claimed rates times loads of all streams add up to more than 1, with that
    sum; None where there is none.

    A stream's load on a unit is what its groups there take alone for one frame, all repeats. No
    contention only reduces it.
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
    """Of each stream: what one frame takes alone on the unit, ps."""
    frame_ps, clocks = problem.frame_ps(u), problem.units[u].clocks
    points = tuple(int(design.operating_points[clock]) for clock in clocks)
    loads = [
        sum(int(frame_ps[(g, *points)]) for g in network.groups if design.units[g] == u)
        for network in problem.networks
    ]
    return [sum(loads)] if problem.execution.has_frame else loads

"""Responses of networks with rates of their own, as text."""

from __future__ import annotations

from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.results.front.front import Member
from paretosoc.results.problem.objectives import format_number
from paretosoc.results.problem.problem import DesignPoint, Problem

OVERLOADED = "overloaded"


def response_lines(problem: Problem, member: Member) -> list[str]:
    """Return a line for each network: its releases in a period, its response times, their spread,
    and the number of misses. Empty without rates."""
    lines = []
    window = member.window_ps
    if member.is_overloaded:
        lines += [
            f"{OVERLOADED}: nothing recurs; responses are of the first period alone",
            describe_loads(problem, member.design),
        ]
    if window is not None and window[0] > 0:
        begin, length = map(_ms, (window[0], window[1] - window[0]))
        lines.append(
            f"work runs over the end of a period: from {begin} ms on all recurs every {length} ms"
        )
    for n, entry in enumerate(member.responses or ()):
        longest, often, jitter, limit = map(
            _ms,
            (
                *(member.latencies_ps[n], entry.percentile_95_ps, entry.jitter_ps),
                problem.late_ps(n),
            ),
        )
        releases = pluralize(problem.releases(n), "release")
        lines.append(
            f"responses of {problem.networks[n].name}: {releases} a period, at most {longest} ms, "
            f"95 % within {often} ms, jitter {jitter} ms, {entry.misses} above {limit} ms"
        )
    return lines


def describe_loads(problem: Problem, design: DesignPoint) -> str:
    """Return the units with more work in a period than fits into it, and the networks of that work.
    If there is none, return the unit with most. Work is stand-alone time: contention only adds to
    it."""
    period = problem.execution.period_ps or 0
    loads = {u: _loads_ps(problem, design, u) for u in sorted(set(problem.unit_of))}
    most = max(map(sum, loads.values()))
    texts = []
    for u, load in loads.items():
        if sum(load) > period or sum(load) == most:
            parts = sorted(
                ((ps, network.name) for ps, network in zip(load, problem.networks, strict=True)),
                key=lambda part: -part[0],
            )
            of_networks = ", ".join(f"{name} {_ms(ps)} ms" for ps, name in parts if ps)
            name = problem.units[u].unit_name
            texts.append(f"{_ms(sum(load))} ms of work on {name} ({of_networks})")
    why = "" if most > period else "; contention, transitions and waiting take the rest"
    return f"in a period of {_ms(period)} ms there are {' and '.join(texts)}{why}"


def _loads_ps(problem: Problem, design: DesignPoint, u: int) -> list[int]:
    """Return the time that a period's releases take alone on a unit, in all number formats,
    [networks]."""
    load = [0] * len(problem.networks)
    moving = problem.repeats * problem.moving_ps(design.units)
    for n, network in enumerate(problem.networks):
        for g in network.groups:
            v = int(design.units[g])
            if problem.unit_of[v] == u:
                points = tuple(int(design.operating_points[c]) for c in problem.units[v].clocks)
                load[n] += int(problem.frame_ps(v)[(g, *points)] + moving[g])
    return load


def _ms(ps: int) -> str:
    return format_number(ps / PS_PER_MS)

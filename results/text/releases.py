"""How networks with rates of their own respond, as text."""

from __future__ import annotations

from common.units import PS_PER_MS
from results.front.front import Member
from results.io.plural import pluralize
from results.problem.objectives import format_number
from results.problem.problem import Problem


def response_lines(problem: Problem, member: Member) -> list[str]:
    """A line for each network with how often it is released in a period, its response times, their
    spread, and how many are too late; none without rates."""
    lines = []
    window = member.window_ps
    if member.responses is not None and window is None:
        lines.append("overloaded: nothing recurs; responses are of the first period alone")
    if window is not None and window[0] > 0:
        begin, length = (format_number(ps / PS_PER_MS) for ps in (window[0], window[1] - window[0]))
        lines.append(
            f"work runs over the end of a period: from {begin} ms on all recurs every {length} ms"
        )
    for n, entry in enumerate(member.responses or ()):
        longest, often, jitter, limit = (
            format_number(ps / PS_PER_MS)
            for ps in (
                *(member.latencies_ps[n], entry.percentile_95_ps, entry.jitter_ps),
                problem.late_ps(n),
            )
        )
        releases = pluralize(problem.releases(n), "release")
        lines.append(
            f"responses of {problem.networks[n].name}: {releases} a period, at most {longest} ms, "
            f"95 % within {often} ms, jitter {jitter} ms, {entry.misses} above {limit} ms"
        )
    return lines

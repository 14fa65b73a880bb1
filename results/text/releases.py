"""How networks with rates of their own respond, as text."""

from __future__ import annotations

from common.units import PS_PER_MS
from results.front.schedule import Schedule
from results.problem.objectives import format_number
from results.problem.problem import Problem

SHARE_PERCENT = 95
"""The response time within which so many of a network's releases end."""


def response_times_ps(problem: Problem, schedule: Schedule, n: int) -> list[int]:
    """[repeats]: of network n, from each release to its end, in one frame."""
    ends = [0] * problem.networks[n].repeats
    for row in schedule.groups:
        if row.network == n:
            ends[row.repeat - 1] = max(ends[row.repeat - 1], row.end_ps)
    return [end - problem.release_ps(n, repeat) for repeat, end in enumerate(ends)]


def release_lines(problem: Problem, schedule: Schedule) -> list[str]:
    """A line for each network with releases of its own: response times, their spread, and how many
    miss the deadline."""
    lines = []
    for n, network in enumerate(problem.networks):
        if not network.paced:
            continue
        times = sorted(response_times_ps(problem, schedule, n))
        share = times[-(-SHARE_PERCENT * len(times) // 100) - 1]
        worst, often, jitter = (
            format_number(ps / PS_PER_MS) for ps in (times[-1], share, times[-1] - times[0])
        )
        line = (
            f"responses of {network.name}: {len(times)} a period, at most {worst} ms, "
            f"{SHARE_PERCENT} % within {often} ms, jitter {jitter} ms"
        )
        if network.deadline_ps is not None:
            line += f", {sum(time > network.deadline_ps for time in times)} late"
        lines.append(line)
    return lines

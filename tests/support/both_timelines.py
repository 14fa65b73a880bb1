"""Small problems, played by the compiled and by the plain timeline."""

from __future__ import annotations

from paretosoc.fitness import simulate as timeline
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.results.problem.problem import Problem
from tests.support.problems.small_problems import design


def simulate(
    stated: Problem, units: list[int], *, frames: int = 1, in_flight: int = 1
) -> timeline.Timeline:
    compiled = timeline.simulate(stated, design(units), frames=frames, in_flight=in_flight)
    plain = plain_timeline.simulate(stated, design(units), frames=frames, in_flight=in_flight)
    assert compiled.schedule == plain.schedule
    assert compiled.frame_end_ps == plain.frame_end_ps
    assert compiled.latency_ps == plain.latency_ps
    return compiled


def spans(played: timeline.Timeline) -> list[tuple[int, int]]:
    """(start, end) in the order frame, network, repeat, group."""
    return [(group.start_ps, group.end_ps) for group in played.schedule.groups]

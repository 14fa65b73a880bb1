"""What each network does where networks run freely, in words."""

from __future__ import annotations

from results.front import Member
from results.objectives import format_number
from results.problem import Problem

PS_PER_S = 10**12


def stream_lines(problem: Problem, member: Member) -> list[str]:
    """A line for each network with its throughput in the window; none where there is a frame."""
    if not problem.free_running:
        return []
    from fitness.free_run import make_free_run_evaluator
    from fitness.timeline import row_of

    runs = make_free_run_evaluator(problem)(row_of(member.design)[None])
    window = int(runs.window_ps[0])
    lines = [f"window: {format_number(window / 10**9)} ms"]
    for network, count in zip(problem.networks, runs.inferences[0].tolist(), strict=True):
        rate = format_number(count * PS_PER_S / window)
        lines.append(f"throughput of {network.name}: {rate} frames/s ({count} in the window)")
    return lines

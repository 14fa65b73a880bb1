"""What networks do where they run freely, and what a schedule shows of it, in words."""

from __future__ import annotations

from results.front.front import FreeRun, Member
from results.problem.objectives import format_number
from results.problem.problem import Problem

_PS_PER_MS, _PS_PER_S = 10**9, 10**12


def free_run_lines(problem: Problem, member: Member) -> list[str]:
    """Lines with the window, each network's throughput in it, and what the schedule shows; none
    where networks share a frame."""
    run = member.free_run
    if run is None:
        return []
    begin, end = run.window_ps
    lines = [
        f"window: {format_number((end - begin) / _PS_PER_MS)} ms, from "
        f"{format_number(begin / _PS_PER_MS)} to {format_number(end / _PS_PER_MS)} ms"
    ]
    for network, period in zip(problem.networks, run.periods_ps, strict=True):
        lines.append(f"throughput of {network.name}: {format_number(_PS_PER_S / period)} frames/s")
    return [*lines, f"schedule: {shown_in_words(run)}"]


def shown_in_words(run: FreeRun) -> str:
    """How much of a free run its schedule shows."""
    until = format_number(run.shown_ps / _PS_PER_MS)
    if run.shows_window:
        return f"free-running, to the window's end at {until} ms"
    where = "before the window begins" if run.shown_ps <= run.window_ps[0] else "inside the window"
    return f"free-running, the first {until} ms; it ends {where}"

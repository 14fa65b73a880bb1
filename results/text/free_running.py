"""Networks that run freely, and the part of the run that a schedule shows, as text."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.common.units import PPM_PER_PERCENT, PS_PER_MS, UHZ_PER_HZ
from paretosoc.results.front.front import FreeRun, Member
from paretosoc.results.problem.objectives import format_number
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.rates import member_relative_ppm


@dataclass(frozen=True)
class SlowestNetwork:
    """The network of a member with the smallest relative rate, the first of several."""

    name: str
    rate: str
    """Images per second."""
    share: str
    """Share of its rate alone, percent."""


def slowest_network(problem: Problem, member: Member) -> SlowestNetwork | None:
    """Return the slowest network relative to itself alone, or None if networks share a frame."""
    if member.free_run is None:
        return None
    shares = member_relative_ppm(problem, member)
    n = shares.index(min(shares))
    return SlowestNetwork(
        problem.networks[n].name,
        format_number(member.free_run.rates_uhz(problem.images)[n] / UHZ_PER_HZ),
        format_number(shares[n] / PPM_PER_PERCENT),
    )


def free_run_lines(problem: Problem, member: Member) -> list[str]:
    """Return lines with the window, each network's throughput in it, also as a share of its rate
    alone, and the part that the schedule shows. Empty if networks share a frame."""
    run = member.free_run
    if run is None:
        return []
    begin, end = run.window_ps
    lines = [
        f"window: {format_number((end - begin) / PS_PER_MS)} ms, from "
        f"{format_number(begin / PS_PER_MS)} to {format_number(end / PS_PER_MS)} ms"
    ]
    shares = member_relative_ppm(problem, member)
    for network, uhz, ppm in zip(
        problem.networks, run.rates_uhz(problem.images), shares, strict=True
    ):
        rate, share = format_number(uhz / UHZ_PER_HZ), format_number(ppm / PPM_PER_PERCENT)
        lines.append(f"throughput of {network.name}: {rate} images/s, {share} % of its rate alone")
    return [*lines, f"schedule: {describe_shown_part(run)}"]


def describe_shown_part(run: FreeRun) -> str:
    """Return how much of a free run its schedule shows."""
    until = format_number(run.shown_ps / PS_PER_MS)
    if run.shows_window:
        return f"free-running, to the window's end at {until} ms"
    where = "before the window begins" if run.shown_ps <= run.window_ps[0] else "inside the window"
    return f"free-running, the first {until} ms; it ends {where}"

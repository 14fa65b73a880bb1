"""Rates and responses of networks that run freely, have rates of their own, or compute batches."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.common.text import pluralize
from paretosoc.common.units import FJ_PER_MJ, PPM_PER_PERCENT, PS_PER_MS, PS_PER_S, UHZ_PER_HZ
from paretosoc.results.front.front import FreeRun, Member
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_number
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.rates import member_relative_ppm

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
    """Return the time that a period's releases take alone on a unit in any format, [networks]."""
    load = [0] * len(problem.networks)
    moving = problem.repeats * problem.moving_ps(design.units)
    for n, network in enumerate(problem.networks):
        for g in network.groups:
            v = int(design.units[g])
            if problem.unit_of[v] == u:
                _, at = design.place_of(problem, g)
                load[n] += int(problem.frame_ps(v)[at] + moving[g])
    return load


def _ms(ps: int) -> str:
    return format_number(ps / PS_PER_MS)


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


_THROUGHPUT = Objective(ObjectiveKind.THROUGHPUT)


def images_per_second(problem: Problem, member: Member) -> tuple[float, ...] | None:
    """Return the images per second of each network, [networks], or None unless frames have a known
    rate."""
    if member.free_run is not None:
        rates = member.free_run.rates_uhz(problem.images)
        return tuple(uhz / UHZ_PER_HZ for uhz in rates)
    period: float
    if problem.execution.period_ps is not None:
        period = problem.execution.period_ps
    elif _THROUGHPUT in problem.objectives:
        value = member.objectives[problem.objectives.index(_THROUGHPUT)]
        period = value * sum(problem.images) / len(problem.networks)
    else:
        return None
    return tuple(PS_PER_S * images / period for images in problem.images)


def energy_per_image_mj(problem: Problem, member: Member) -> float:
    """Return the energy over the images of all networks."""
    energy = member.energy_fj / FJ_PER_MJ
    return energy if member.free_run is not None else energy / sum(problem.images)


def _has_batches(problem: Problem) -> bool:
    return any(network.batch > 1 for network in problem.networks)


def adds_energy_per_image(problem: Problem) -> bool:
    """Return whether the energy per image is worth a column: batches, and no such objective."""
    kinds = {objective.kind for objective in problem.objectives}
    same = ObjectiveKind.EFFICIENCY if problem.execution.has_frame else ObjectiveKind.ENERGY
    return _has_batches(problem) and same not in kinds


def describe_batches(problem: Problem) -> list[str]:
    """Return ``a frame of resnet50 is a batch of 8 images`` for each network that has one. With
    rates it is a release."""
    what = "a release" if problem.has_rates else "a frame"
    return [
        f"{what} of {network.name} is a batch of {network.batch} images"
        for network in problem.networks
        if network.batch > 1
    ]


def image_lines(problem: Problem, member: Member) -> list[str]:
    """Return a line on energy and, if it is known, one on rates, of frames that have batches or,
    with the mean rate as objective, several images. Networks that run freely have their own."""
    is_mean = _THROUGHPUT in problem.objectives and sum(problem.images) > 1
    if not _has_batches(problem) and (member.free_run is not None or not is_mean):
        return []
    lines = []
    if member.energy_fj:
        each = energy_per_image_mj(problem, member)
        lines.append(f"energy per image: {format_number(each)} mJ")
    rates = images_per_second(problem, member)
    if rates is not None:
        pairs = zip(problem.networks, rates, strict=True)
        texts = ", ".join(f"{network.name} {format_number(rate)}" for network, rate in pairs)
        lines.append(f"images per second: {texts}")
    return lines

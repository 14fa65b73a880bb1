"""The room that a corner leaves in a box, and the check that an inequality contradicts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import mul

from paretosoc.common.units import PPM, UHZ_PS, UW_PER_MW
from paretosoc.fitness.check.boxes.frame_time import FrameTime
from paretosoc.fitness.check.boxes.inequality import Inequality
from paretosoc.results.front.bounds import Corner
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.limits import additive_figures, additive_limit
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.rates import frame_period_limit_ps, times_alone_ps


@dataclass(frozen=True)
class Limits:
    """The limits that every design point at or below a corner keeps. None: no limit."""

    makespan_ps: int | None
    """Makespan of one frame alone."""
    period_ps: int | Fraction | None
    """In the long run."""
    ends_ps: tuple[int | None, ...]
    """[networks]: of their last repeats, in one frame alone."""
    energy_fj: int | None
    """Energy of a frame, idle energy included."""
    power_uw: int | None
    """Energy over the time of a frame."""
    rates: tuple[Fraction, ...] = ()
    """[networks]: of networks that run freely, at least, per ps."""
    figures: tuple[int | None, ...] = ()
    """Limits of the problem's additive figures."""


def limits_of(
    problem: Problem, columns: Sequence[int], corner: Corner, latencies_ps: Sequence[int]
) -> Limits | None:
    """Return the limits of a corner together with those of the problem, or None if they cannot be
    kept.

    Args:
        columns: the objectives that the corner has values of.
        latencies_ps: [networks]: the least in the box, for sums of rates.
    """
    figures = _figures(problem, columns, corner)
    if problem.has_rates:
        limits = _limits_of_rates(problem, columns, corner)
        return None if limits is None else replace(limits, figures=figures)
    networks, given = problem.networks, problem.execution.period_ps
    ends = [n.arrival_ps + n.deadline_ps if n.deadline_ps is not None else None for n in networks]
    makespan, energy = given, problem.energy_budget_fj
    has_frame = problem.execution.has_frame
    images = problem.images
    least_rates = [
        Fraction(0 if has_frame else network.min_rate_uhz or 0, UHZ_PS * number)
        for network, number in zip(networks, images, strict=True)
    ]
    period: int | Fraction | None = None
    power = None
    if problem.power_cap_mw is not None:
        power = problem.power_cap_mw * UW_PER_MW
    for column, value in zip(columns, corner, strict=True):
        if value is None:
            continue
        objective = problem.objectives[column]
        match objective.kind, objective.network:
            case ObjectiveKind.LATENCY | ObjectiveKind.GUARANTEED_LATENCY, None:
                makespan = _smaller(makespan, value)
            case ObjectiveKind.LATENCY | ObjectiveKind.GUARANTEED_LATENCY, int(n):
                ends[n] = _smaller(ends[n], networks[n].arrival_ps + value)
            case ObjectiveKind.THROUGHPUT, _:
                # The period of a frame, or the time per image of networks that run freely.
                period = frame_period_limit_ps(problem, value) if has_frame else value
            case ObjectiveKind.ENERGY, _:
                energy = _smaller(energy, value)
            case ObjectiveKind.EFFICIENCY, _:
                # floor(energy / images) <= value
                energy = _smaller(energy, (value + 1) * (sum(images) if has_frame else 1) - 1)
            case ObjectiveKind.TOKEN_ENERGY, int(n):
                # floor(energy / repeats) <= value
                energy = _smaller(energy, (value + 1) * networks[n].repeats - 1)
            case ObjectiveKind.FAIRNESS, _:
                # floor(10^6 x time alone x rate) >= -value
                shares = [Fraction(-value, PPM * ps) for ps in times_alone_ps(problem)]
                least_rates = [max(*pair) for pair in zip(least_rates, shares, strict=True)]
            case ObjectiveKind.POWER, _:
                # floor(1000 energy / time) <= value
                power = _smaller(power, value + 1)
            case ObjectiveKind.INVERSE_LATENCY, _:
                rates = [UHZ_PS // max(ps, 1) for ps in latencies_ps]
                for n, rate in enumerate(rates):
                    left = -value - (sum(rates) - rate)
                    if left > rate:
                        return None
                    if left > 0:
                        ends[n] = _smaller(ends[n], networks[n].arrival_ps + UHZ_PS // left)
    known = [end for end in ends if end is not None]
    if len(known) == len(ends):
        makespan = _smaller(makespan, max(known))
    if problem.execution.frames_overlap:
        # Energy is rounded down, and never above the largest value of a file.
        energy = None if energy is None or energy >= INT64_MAX else energy + 1
        period = None if period is None or period >= INT64_MAX else period
    if not has_frame:
        # A network that executes nothing on a unit has this rate. Others have less than they say.
        none = Fraction(1, INT64_MAX)
        least_rates = [rate if rate > none else Fraction(0) for rate in least_rates]
        if period is not None:
            below = len(networks) * INT64_MAX - period * sum(images)
            above = Fraction(len(networks) * period * INT64_MAX)
            period = above / below if below > 0 else None
        total = sum(map(mul, images, least_rates))
        if total and (period is None or period > len(networks) / total):
            period = len(networks) / total
        energy = None if energy is None else len(networks) * energy
    ends = [_smaller(end, makespan) for end in ends]
    return Limits(makespan, period, tuple(ends), energy, power, tuple(least_rates), figures)


def _figures(problem: Problem, columns: Sequence[int], corner: Corner) -> tuple[int | None, ...]:
    """Return the room that problem and corner leave to the groups, for every summed figure."""
    values = {problem.objectives[c]: value for c, value in zip(columns, corner, strict=True)}
    rooms = []
    for figure in additive_figures(problem):
        room = _smaller(additive_limit(problem, figure), values.get(figure))
        if room is not None and figure.kind is ObjectiveKind.MEMORY:
            room -= sum(network.activation_bytes for network in problem.networks)
        rooms.append(room)
    return tuple(rooms)


def _limits_of_rates(problem: Problem, columns: Sequence[int], corner: Corner) -> Limits | None:
    """Return the limits, in the mean of a recurring period, of networks with rates, or None if they
    cannot be kept. A network's releases take no more than the period one after the other, and each
    at least its path. If fewer may be late than there are, at least one is in time."""
    networks, period = problem.networks, problem.execution.period_ps
    assert period is not None, "has_rates"
    responses = [
        _smaller(n.deadline_ps if n.max_misses is None else None, n.deadline_95_ps)
        for n in networks
    ]
    for n, network in enumerate(networks):
        if network.max_misses is not None and network.max_misses < problem.releases(n):
            responses[n] = _smaller(responses[n], problem.late_ps(n))
    energy, power = problem.energy_budget_fj, None
    if problem.power_cap_mw is not None:
        power = problem.power_cap_mw * UW_PER_MW
    for column, value in zip(columns, corner, strict=True):
        if value is None:
            continue
        objective = problem.objectives[column]
        every = range(len(networks)) if objective.network is None else [objective.network]
        match objective.kind:
            case (
                ObjectiveKind.RESPONSE
                | ObjectiveKind.GUARANTEED_RESPONSE
                | ObjectiveKind.RESPONSE_95
            ):
                for n in every:
                    responses[n] = _smaller(responses[n], value)
            case ObjectiveKind.MISSES:
                if value < 0:
                    return None
                for n in every:
                    if value < problem.releases(n):
                        responses[n] = _smaller(responses[n], problem.late_ps(n))
            case ObjectiveKind.RELATIVE_RESPONSE:
                # floor(10^6 x response x releases / period) <= value
                for n in every:
                    most = ((value + 1) * period - 1) // (PPM * problem.releases(n))
                    responses[n] = _smaller(responses[n], most)
            case ObjectiveKind.ENERGY:
                energy = _smaller(energy, value)
            case ObjectiveKind.EFFICIENCY:
                energy = _smaller(energy, (value + 1) * sum(problem.images) - 1)
            case ObjectiveKind.POWER:
                power = _smaller(power, value + 1)
    if power is not None:
        energy = _smaller(energy, power * period // UW_PER_MW)
    if energy is not None:
        # The energy of every unit is rounded down.
        energy += len(set(problem.unit_of))
    ends = tuple(
        period if most is None else min(period, problem.releases(n) * most)
        for n, most in enumerate(responses)
    )
    return Limits(period, None, ends, energy, None)


def contradicts(
    problem: Problem,
    inequality: Inequality,
    idle_mw: int,
    chain_ends: Sequence[int],
    limits: Limits,
    time: FrameTime,
) -> bool:
    """Return whether no design point of the box keeps the limits.

    The right side of the inequality is concave in the time, with breaks at the times at which a
    limit begins to count. Its largest value over all times is at one of them.

    Args:
        chain_ends: [chains]: the last network of each.
    """
    if inequality.least is None:
        return True
    weight, energy_weight = inequality.time_weight, inequality.energy_weight
    if time.of_streams:
        # Work that networks must do beyond the least sum is not left to others.
        pairs = zip(limits.rates, inequality.beyond, strict=True)
        weight -= int(WORK_PER_PS * sum((rate * more for rate, more in pairs), Fraction(0)))
    ends = [limits.ends_ps[n] for n in chain_ends]
    energy, power = limits.energy_fj, limits.power_uw
    given = problem.execution.period_ps
    if given is not None:
        # Energy is that of a period, whatever the makespan.
        if power is not None:
            energy = _smaller(energy, power * given // UW_PER_MW)
        energy, power, idle_mw = None if energy is None else energy - idle_mw * given, None, 0
    if energy is None and power is None and energy_weight:
        return False
    figures = 0
    for price, room in zip(inequality.figure_weights, limits.figures, strict=True):
        if price and room is None:
            return False
        figures += price * (room or 0)
    times = [limits.period_ps if time.is_period else limits.makespan_ps]
    if time.is_period and not energy_weight:
        # Without energy, the inequality holds for one frame alone, too.
        times.append(limits.makespan_ps)
    longest = min((ps for ps in times if ps is not None), default=None)
    # In a time t chains take t times ``flow`` over ``parts``, unless that is unlimited.
    flow = None if time.in_flight is None else time.in_flight * time.counted
    parts = time.executed
    breaks: set[int | Fraction] = {0, 1}
    if flow is not None:
        breaks |= {end * parts // flow + more for end in ends if end is not None for more in (0, 1)}
    elif any(v and end is None for v, end in zip(inequality.chain_weights, ends, strict=True)):
        return False
    # Beside a network that executes nothing, energy grows by this with the time.
    growth = Fraction(0)
    if energy is not None and time.of_streams:
        growth = Fraction(energy * sum(problem.images), len(problem.networks) * INT64_MAX)
    if energy is not None and power is not None and power > UW_PER_MW * growth:
        meet = energy * UW_PER_MW // (power - UW_PER_MW * growth)
        breaks |= {meet, meet + 1}

    def right_side(at: int | Fraction) -> int | Fraction:
        total: int | Fraction = UW_PER_MW * parts * weight * at
        for v, end in zip(inequality.chain_weights, ends, strict=True):
            if v:
                rooms: list[int | Fraction] = [] if flow is None else [flow * at]
                rooms += [] if end is None else [end * parts]
                total += UW_PER_MW * WORK_PER_PS * v * min(rooms)
        if energy_weight:
            rooms = []
            if energy is not None:
                rooms.append(UW_PER_MW * (energy + growth * at))
            if power is not None:
                rooms.append(power * max(at, 1))
            left = min(rooms)
            total += parts * WORK_PER_PS * energy_weight * (left - UW_PER_MW * idle_mw * at)
        return total

    least = UW_PER_MW * parts * WORK_PER_PS * (inequality.least - figures)
    if longest is None:
        far = max(breaks) + 1
        if right_side(far + 1) > right_side(far):
            return False
        breaks.add(far)
    else:
        breaks = {ps for ps in breaks if ps < longest} | {longest}
    return max(map(right_side, breaks)) < least


def _smaller(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return min(a, b)

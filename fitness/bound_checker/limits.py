"""What a corner leaves open of a box, and when an inequality contradicts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from common.units import UHZ_PS, UW_PER_MW
from fitness.bound_checker.frame_time import FrameTime
from fitness.bound_checker.inequality import Inequality
from results.front.bounds import Corner
from results.io.canonical_json import INT64_MAX
from results.problem.arithmetic import WORK_PER_PS
from results.problem.objectives import ObjectiveKind
from results.problem.problem import Problem


@dataclass(frozen=True)
class Limits:
    """What every design point of a corner keeps; None: no limit."""

    makespan_ps: int | None
    """Of one frame alone."""
    period_ps: int | None
    """In the long run."""
    ends_ps: tuple[int | None, ...]
    """[networks]: of their last repeats, in one frame alone."""
    energy_fj: int | None
    """Of a frame, idle energy included."""
    power_uw: int | None
    """Energy over the time of a frame."""


def limits_of(
    problem: Problem, columns: Sequence[int], corner: Corner, latencies_ps: Sequence[int]
) -> Limits | None:
    """The limits of a corner together with those of the problem; None where none can be kept.

    Args:
        columns: the objectives that the corner has values of.
        latencies_ps: [networks]: the least in the box, for sums of rates.
    """
    networks, given = problem.networks, problem.execution.period_ps
    ends = [n.arrival_ps + n.deadline_ps if n.deadline_ps is not None else None for n in networks]
    makespan, energy = given, problem.energy_budget_fj
    period = power = None
    if problem.power_cap_mw is not None:
        power = problem.power_cap_mw * UW_PER_MW
    for column, value in zip(columns, corner, strict=True):
        if value is None:
            continue
        objective = problem.objectives[column]
        match objective.kind, objective.network:
            case ObjectiveKind.LATENCY, None:
                makespan = _smaller(makespan, value)
            case ObjectiveKind.LATENCY, int(n):
                ends[n] = _smaller(ends[n], networks[n].arrival_ps + value)
            case ObjectiveKind.THROUGHPUT, _:
                period = _smaller(period, value)
            case ObjectiveKind.ENERGY, _:
                energy = _smaller(energy, value)
            case ObjectiveKind.EFFICIENCY, _:
                # floor(energy / networks) <= value
                energy = _smaller(energy, (value + 1) * len(networks) - 1)
            case ObjectiveKind.TOKEN_ENERGY, int(n):
                # floor(energy / repeats) <= value
                energy = _smaller(energy, (value + 1) * networks[n].repeats - 1)
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
        # Rounded down, and never above what a file can hold.
        energy = None if energy is None or energy >= INT64_MAX else energy + 1
        period = None if period is None or period >= INT64_MAX else period
    ends = [_smaller(end, makespan) for end in ends]
    return Limits(makespan, period, tuple(ends), energy, power)


def contradicts(
    problem: Problem,
    inequality: Inequality,
    idle_mw: int,
    chain_ends: Sequence[int],
    limits: Limits,
    time: FrameTime,
) -> bool:
    """Whether no design point of the box keeps the limits.

    The right side of the inequality is concave in the time, with breaks where a limit begins to
    count: its largest value over all times is at one of them.

    Args:
        chain_ends: [chains]: the last network of each.
    """
    if inequality.least is None:
        return True
    weight, energy_weight = inequality.time_weight, inequality.energy_weight
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
    longest = limits.period_ps if time.is_period else limits.makespan_ps
    if time.is_period and not energy_weight:
        # What holds without energy holds of one frame alone, too.
        longest = _smaller(longest, limits.makespan_ps)
    # In a time t chains take t times ``flow`` over ``parts``, unless that is unlimited.
    flow = None if time.in_flight is None else time.in_flight * time.counted
    parts = time.executed
    breaks = {0, 1}
    if flow is not None:
        breaks |= {end * parts // flow + more for end in ends if end is not None for more in (0, 1)}
    elif any(v and end is None for v, end in zip(inequality.chain_weights, ends, strict=True)):
        return False
    if energy is not None and power:
        breaks |= {energy * UW_PER_MW // power + more for more in (0, 1)}

    def right_side(at: int) -> int:
        total = UW_PER_MW * parts * weight * at
        for v, end in zip(inequality.chain_weights, ends, strict=True):
            room = None if flow is None else flow * at
            if v:
                total += UW_PER_MW * WORK_PER_PS * v * _least(room, end, parts)
        if energy_weight:
            left = None if energy is None else UW_PER_MW * energy
            if power is not None:
                left = _smaller(left, power * max(at, 1))
            assert left is not None, "looked at above"
            total += parts * WORK_PER_PS * energy_weight * (left - UW_PER_MW * idle_mw * at)
        return total

    least = UW_PER_MW * parts * WORK_PER_PS * inequality.least
    if longest is None:
        far = max(breaks) + 1
        if right_side(far + 1) > right_side(far):
            return False
        breaks.add(far)
    else:
        breaks = {ps for ps in breaks if ps < longest} | {longest}
    return max(map(right_side, breaks)) < least


def _least(room: int | None, end: int | None, parts: int) -> int:
    """Of what a period has room for and an end, the smaller, in parts of a ps."""
    left = _smaller(room, None if end is None else end * parts)
    assert left is not None, "looked at above"
    return left


def _smaller(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return min(a, b)

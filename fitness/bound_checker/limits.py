"""What a corner leaves open of a box, and when an inequality contradicts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from common.units import UHZ_PS, UW_PER_MW
from fitness.bound_checker.inequality import Inequality
from results.front.bounds import Corner
from results.problem.arithmetic import WORK_PER_PS
from results.problem.objectives import ObjectiveKind
from results.problem.problem import Problem


@dataclass(frozen=True)
class Limits:
    """What every design point of a corner keeps; None: no limit."""

    makespan_ps: int | None
    ends_ps: tuple[int | None, ...]
    """[networks]: of their last repeats."""
    energy_fj: int | None
    """Idle energy included."""


def limits_of(
    problem: Problem, columns: Sequence[int], corner: Corner, latencies_ps: Sequence[int]
) -> Limits | None:
    """The limits of a corner together with those of the problem; None where none can be kept.

    Args:
        columns: the objectives that the corner has values of.
        latencies_ps: [networks]: the least in the box, for sums of rates.
    """
    networks, period = problem.networks, problem.execution.period_ps
    ends = [n.arrival_ps + n.deadline_ps if n.deadline_ps is not None else None for n in networks]
    makespan, energy = period, problem.energy_budget_fj
    if problem.power_cap_mw is not None and period is not None:
        energy = _smaller(energy, problem.power_cap_mw * period)
    for column, value in zip(columns, corner, strict=True):
        if value is None:
            continue
        objective = problem.objectives[column]
        match objective.kind, objective.network:
            case ObjectiveKind.LATENCY, None:
                makespan = _smaller(makespan, value)
            case ObjectiveKind.LATENCY, int(n):
                ends[n] = _smaller(ends[n], networks[n].arrival_ps + value)
            case ObjectiveKind.ENERGY, _:
                energy = _smaller(energy, value)
            case ObjectiveKind.POWER, _:
                assert period is not None, "check_bounded"
                # floor(1000 E / period) <= value
                energy = _smaller(energy, ((value + 1) * period - 1) // UW_PER_MW)
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
    return Limits(makespan, tuple(_smaller(end, makespan) for end in ends), energy)


def contradicts(
    problem: Problem,
    inequality: Inequality,
    idle_mw: int,
    chain_ends: Sequence[int],
    limits: Limits,
) -> bool:
    """Whether no design point of the box keeps the limits.

    The right side of the inequality is concave in the makespan, with breaks where a limit begins
    to count: its largest value over all makespans is at one of them.

    Args:
        chain_ends: [chains]: the last network of each.
    """
    if inequality.least is None:
        return True
    period, cap = problem.execution.period_ps, problem.power_cap_mw
    weight, energy_weight = inequality.makespan_weight, inequality.energy_weight
    ends = [limits.ends_ps[n] for n in chain_ends]
    energy = limits.energy_fj
    breaks = {0, 1, *(end for end in ends if end is not None)}
    if period is not None and energy is not None:
        energy -= idle_mw * period
    elif period is None and energy is not None and cap:
        breaks |= {energy // cap, energy // cap + 1}
    if energy is None and (cap is None or period is not None) and energy_weight:
        return False
    longest = limits.makespan_ps
    if longest is None:
        slope = weight + WORK_PER_PS * sum(
            v for v, end in zip(inequality.chain_weights, ends, strict=True) if end is None
        )
        if period is None:
            slope -= WORK_PER_PS * energy_weight * idle_mw
            slope += WORK_PER_PS * energy_weight * cap if energy is None and cap else 0
        if slope > 0:
            return False
    else:
        breaks = {ps for ps in breaks if ps < longest} | {longest}

    def right_side(makespan: int) -> int:
        total = weight * makespan
        for v, end in zip(inequality.chain_weights, ends, strict=True):
            total += WORK_PER_PS * v * (makespan if end is None else min(makespan, end))
        if energy_weight:
            room = energy
            if period is None:
                if cap is not None:
                    room = _smaller(room, cap * max(makespan, 1))
                assert room is not None, "looked at above"
                room -= idle_mw * makespan
            assert room is not None, "looked at above"
            total += WORK_PER_PS * energy_weight * room
        return total

    return max(map(right_side, breaks)) < WORK_PER_PS * inequality.least


def _smaller(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return min(a, b)

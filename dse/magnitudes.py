"""Whether every sum and product of a problem stays within int64."""

from __future__ import annotations

import numpy as np

from fitness.contention import lost_rate
from results.errors import ResultError
from results.problem import TIME_LIMIT_PS, WORK_PER_PS, Problem

MOST_FRAMES = 12
"""A pipeline is played for so many frames."""


def check_magnitudes(problem: Problem) -> None:
    """Accepts a problem whose longest schedule, and its energy, fit in 63 bits.

    The bound: everything runs one after the other, at the slowest clocks, with the largest slowdown
    that the demands allow, and draws the largest power all the time.

    Raises:
        ResultError: with the bound that is passed.
    """
    horizon = power = 0
    per_group = np.zeros(problem.group_count, dtype=object)
    for u, unit in enumerate(problem.units):
        longest = unit.time_ps.reshape(problem.group_count, -1).max(axis=1)
        if int(longest.max(initial=0)) >= TIME_LIMIT_PS:
            raise ResultError(
                f"unit {unit.name!r}: a group's time must be below 2**47 ps (140 s), got "
                f"{int(longest.max())} ps"
            )
        slowest = np.array([int(t) * _stretch(problem, u) for t in longest], dtype=object)
        per_group = np.maximum(per_group, np.where(problem.allowed[:, u], slowest, 0))
        power += int(unit.idle_mw.max(initial=0)) + int(unit.dynamic_mw.max(initial=0))
    for network in problem.networks:
        groups = list(network.groups)
        horizon += network.arrival_ps + network.repeats * int(sum(per_group[groups]))
    horizon += sum(int(entry.max(initial=0)) for entry in problem.transition_ps) * max(
        network.repeats for network in problem.networks
    )
    horizon *= MOST_FRAMES
    power += problem.board_mw + sum(int(d.static_mw.max(initial=0)) for d in problem.domains)
    if horizon * max(power, 1) >= 1 << 63:
        raise ResultError(
            f"the longest schedule could take {horizon / 1e12:.3g} s at {power / 1000:.3g} W: more "
            "than 63 bits hold in femtojoules; leave out the slowest clocks or units"
        )


def _stretch(problem: Problem, u: int) -> int:
    """The largest slowdown on unit ``u``, rounded up to a whole number."""
    unit = problem.units[u]
    if unit.contention is None:
        return 1
    largest = 0
    for point in range(len(unit.contention.normal_kbps)):
        own, others = _largest_demands(problem, u, point)
        # The loss grows with the others' demand; with one's own it may also fall, so both ends of
        # each region are looked at.
        candidates = {own, *(int(c[point]) for c in (unit.contention.total_kbps,))}
        for demand in candidates:
            if demand <= own:
                largest = max(largest, lost_rate(unit.contention, point, demand, others))
            below = min(demand - 1, own)
            largest = max(largest, lost_rate(unit.contention, point, max(below, 0), others))
    return -(-WORK_PER_PS // (WORK_PER_PS - largest))


def _largest_demands(problem: Problem, u: int, point: int) -> tuple[int, int]:
    """Largest own demand on unit ``u``, and largest sum of the others', at a memory clock."""
    largest = []
    for unit in problem.units:
        table = unit.demand_kbps
        if problem.memory_domain is not None and problem.memory_domain in unit.clocks:
            table = np.take(table, point, axis=1 + unit.clocks.index(problem.memory_domain))
        largest.append(int(table.max(initial=0)))
    return largest[u], sum(largest) - largest[u]

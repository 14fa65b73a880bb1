"""Times and demands over all operating points, exact and fast.

A time is a rational whose denominator can have thousands of bits. Each is enclosed between two
fixed-point numbers; where both round to the same integer that is the exact answer, and only where
they do not is the rational itself evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fitness.cost_table import IntArray
from fitness.roofline import TimeParts
from platforms.errors import PlatformError
from platforms.exact_json import rounded_half_up

FRACTION_BITS = 60
LIMIT_PS = 1 << 47
"""Stand-alone times stay below this (results.problem.TIME_LIMIT_PS)."""


def ladder_costs(
    parts: TimeParts,
    unit_khz: Sequence[int],
    memory_khz: Sequence[int],
    memory_bytes_per_cycle: int,
    label: str,
) -> tuple[IntArray, IntArray]:
    """Times [ps, at least 1] and demands [kB/s] at every pair of clocks, both [unit, memory].

    ``unit_khz`` and ``memory_khz`` rise; the parts hold at their last entries. Demand is traffic /
    time, at most the memory's peak at its clock. Both are rounded half up from exact rationals.

    Raises:
        PlatformError: where a time is too long to be kept (140 s); starts with ``label``.
    """
    one = 1 << FRACTION_BITS
    compute = _fixed(parts.compute)
    memory = _fixed(parts.memory)
    fixed = _fixed(parts.fixed)
    shares = [
        ((compute * unit_khz[-1]) // khz + fixed, -(-unit_khz[-1] // khz) + 3) for khz in unit_khz
    ]
    times = np.empty((len(unit_khz), len(memory_khz)), dtype=np.int64)
    demands = np.zeros_like(times)
    moved = parts.traffic
    for column, khz in enumerate(memory_khz):
        waiting = (memory * memory_khz[-1]) // khz
        slack = -(-memory_khz[-1] // khz) + 1
        peak = memory_bytes_per_cycle * khz
        for row, (share, own_slack) in enumerate(shares):
            low = share + waiting
            high = low + own_slack + slack
            time = (2 * low + one) // (2 * one)
            # The demand of a time of nothing is the peak.
            most = peak if low <= 0 else (2 * moved * one + low) // (2 * low)
            least = (2 * moved * one + high) // (2 * high)
            if time != (2 * high + one) // (2 * one) or (most != least and least < peak):
                exact = parts.at(
                    Fraction(unit_khz[-1], unit_khz[row]), Fraction(memory_khz[-1], khz)
                )
                time = rounded_half_up(exact)
                most = rounded_half_up(moved / exact) if exact else peak
            if time >= LIMIT_PS:
                raise PlatformError(
                    f"{label}: a group's time must stay below 140 s, got {time // 10**12} s"
                )
            times[row, column] = max(1, time)
            demands[row, column] = min(most, peak) if moved else 0
    return times, demands


def _fixed(value: Fraction) -> int:
    return (value.numerator << FRACTION_BITS) // value.denominator

"""Times and demands over all operating points, exact and fast.

A time is a rational whose denominator can have thousands of bits. It is evaluated in floating
point first, with a bound on the error; where the enclosure rounds to one integer, that is the exact
answer. Only the few points where it does not are evaluated as rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from common.arrays import IntArray
from fitness.cost_model.roofline import TimeParts
from platforms.errors import PlatformError
from platforms.io.exact_json import rounded_half_up

LIMIT_PS = 1 << 47
"""Stand-alone times stay below this (results.problem.problem.TIME_LIMIT_PS)."""
RELATIVE_ERROR = 2.0**-47
"""Bound on the error of the floating-point values: at most eight roundings of 2^-53 each, and a
wide margin."""
MIN_PS = 1e-6
"""Below this the floating-point path is not taken."""


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
    slowest = parts.at(Fraction(unit_khz[-1], unit_khz[0]), Fraction(memory_khz[-1], memory_khz[0]))
    if rounded_half_up(slowest) >= LIMIT_PS:
        raise PlatformError(
            f"{label}: a group's time must stay below 140 s, "
            f"got {slowest.numerator // slowest.denominator // 10**12} s at the slowest clocks"
        )
    own = unit_khz[-1] / np.array(unit_khz, dtype=np.float64)
    memory = memory_khz[-1] / np.array(memory_khz, dtype=np.float64)
    values = (
        float(parts.compute) * own[:, None]
        + float(parts.memory) * memory[None, :]
        + float(parts.fixed)
    )
    peaks = memory_bytes_per_cycle * np.array(memory_khz, dtype=np.int64)
    safe = np.maximum(values, MIN_PS)
    wanted = np.minimum(float(parts.traffic) / safe, 2.0 * peaks)
    times, times_sure = _rounded(values)
    demands, demands_sure = _rounded(wanted)
    beyond = wanted > peaks * (1 + 2 * RELATIVE_ERROR) + 1
    sure = (values >= MIN_PS) & times_sure & (demands_sure | beyond)
    for row, column in np.argwhere(~sure):
        exact = parts.at(
            Fraction(unit_khz[-1], unit_khz[row]), Fraction(memory_khz[-1], memory_khz[column])
        )
        times[row, column] = rounded_half_up(exact)
        peak = int(peaks[column])
        # The demand of a time of nothing is the peak.
        demand = rounded_half_up(parts.traffic / exact) if exact else peak
        demands[row, column] = min(demand, peak)
    np.maximum(times, 1, out=times)
    np.minimum(demands, peaks[None, :], out=demands)
    if not parts.traffic:
        demands[:] = 0
    return times, demands


def _rounded(values: NDArray[np.float64]) -> tuple[IntArray, NDArray[np.bool_]]:
    """``values`` rounded half up, and whether the error bound leaves no other integer."""
    error = values * RELATIVE_ERROR
    low = np.floor(values - error + 0.5)
    high = np.floor(values + error + 0.5)
    return low.astype(np.int64), low == high

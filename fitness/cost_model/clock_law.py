"""The dependence of a time on clocks, exact and fast.

The parts of a launch overlap: with x and z the slowdown of the unit's and the memory's clock, it
takes |compute x, memory z|_p = ((compute x)^p + (memory z)^p)^(1/p), never less than either part. A
group takes the sum over its launches and their fixed times. Of these a share follows the unit's own
clock, the rest the clock of the core that launches, if the unit has such a host.

Norms are irrational. A time is evaluated in floating point first, with a bound on the error. If the
enclosure rounds to one integer, that is the answer. Only if it does not, the same law is evaluated
with ``DIGITS`` decimal digits, so that the integers are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PS_PER_S
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.source import round_half_up

LIMIT_PS = 1 << 47
"""Stand-alone times stay below this (results.problem.problem.TIME_LIMIT_PS)."""
DIGITS = 50
GUARD_DIGITS = 10
"""The last digits, dropped so that an exact half stays one."""
ROUNDING = 2.0**-53
"""Relative rounding error of one floating-point operation."""
ROUNDINGS = 64
"""Bound on the error of a launch's time in floating point, in roundings, with a wide margin: powers
and roots are off by up to four each."""
MIN_PS = 1e-6
"""Below this the floating-point path is not taken."""

Array = NDArray[Any]
"""Array of floats, or of Decimals as objects: the law is one for both."""


@dataclass(frozen=True)
class Ratios:
    """The slowdown of a unit's own, its host's (1 without one) and the memory's clock against the
    fastest."""

    own: Fraction
    host: Fraction
    memory: Fraction


@dataclass(frozen=True)
class LaunchTime:
    """``count`` equal launches: the parts of the time of each at the fastest clocks, ps."""

    compute: Fraction
    memory: Fraction
    count: int


@dataclass(frozen=True)
class TimeParts:
    """The parts of the time of a group on a unit, at the fastest clocks.

    ``overlap``: p. ``peak_share``: the largest share of the unit's peak, or of the memory's, that a
    launch reaches. ``fixed``: fixed time of the launches in ps, of which ``own_share`` follows the
    unit's clock. ``traffic``: bytes moved x 10^9, so that over a time in ps it is in kB/s.
    ``requested``: the same of what contention reads, if it was measured as something else.
    """

    launches: tuple[LaunchTime, ...]
    overlap: Fraction
    peak_share: Fraction
    fixed: Fraction
    traffic: int
    own_share: Fraction = Fraction(0)
    requested: int | None = None

    @property
    def compute(self) -> Fraction:
        """Return the computing time of all launches, ps."""
        return sum((launch.compute * launch.count for launch in self.launches), Fraction(0))

    @property
    def memory(self) -> Fraction:
        """Return the memory time of all launches, ps."""
        return sum((launch.memory * launch.count for launch in self.launches), Fraction(0))

    def at(self, ratios: Ratios) -> Fraction:
        """Return the time at other clocks, to ``DIGITS`` digits."""
        with localcontext(Context(prec=DIGITS)):
            times = parts_norm(
                [
                    _objects(launch.compute * ratios.own for launch in self.launches),
                    _objects(launch.memory * ratios.memory for launch in self.launches),
                ],
                decimal(self.overlap),
            )
            counts = np.array([launch.count for launch in self.launches], dtype=object)
            return exact((times * counts).sum()) + self.fixed * self.launch_ratio(ratios)

    def launch_ratio(self, ratios: Ratios) -> Fraction:
        """Return the factor by which launching takes longer at other clocks."""
        return self.own_share * ratios.own + (1 - self.own_share) * ratios.host

    def scaled(self, compute: Fraction, memory: Fraction, fixed: Fraction) -> TimeParts:
        """Return the parts times factors."""
        launches = tuple(
            LaunchTime(launch.compute * compute, launch.memory * memory, launch.count)
            for launch in self.launches
        )
        return replace(
            self, launches=launches, peak_share=self.peak_share / compute, fixed=self.fixed * fixed
        )


def parts_norm(parts: Sequence[Array], overlap: float | Decimal | Array) -> Array:
    """Return the p-norm of parts >= 0. The largest is taken out, so that no power overflows."""
    largest = reduce(np.maximum, parts)
    divisor = largest + (largest == 0)
    total = sum((part / divisor) ** overlap for part in parts)
    result: Array = largest * total ** (1 / overlap)
    return result


def _objects(values: Iterable[Fraction]) -> Array:
    return np.array([decimal(value) for value in values], dtype=object)


def decimal(value: Fraction) -> Decimal:
    """Return the value to the digits of the current decimal context."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def exact(value: Decimal | int) -> Fraction:
    """Return a result of the law without the guard digits."""
    return Fraction(Context(prec=DIGITS - GUARD_DIGITS).plus(Decimal(value)))


def ladder_costs(
    parts: TimeParts,
    ladders: tuple[Sequence[int], Sequence[int], Sequence[int]],
    memory_bytes_per_cycle: int,
    label: str,
) -> tuple[IntArray, IntArray]:
    """Return times [ps, at least 1] and traffic [kB/s] at all clocks, both [own, host, memory].

    ``ladders``: rising kHz of the three, one point if there is no host. The parts hold at their
    last entries. Traffic is bytes / time, at most the memory's peak at its clock. Both are rounded
    half up.

    Raises:
        PlatformError: if a time is too long to be kept (140 s). The message starts with ``label``.
    """
    values = _float_times(parts, ladders)
    error = ROUNDING * (ROUNDINGS + len(parts.launches))
    if not values[0, 0, 0] * (1 + error) < LIMIT_PS - 1:
        slowest = parts.at(Ratios(*(Fraction(khz[-1], khz[0]) for khz in ladders)))
        if round_half_up(slowest) >= LIMIT_PS:
            raise PlatformError(
                f"{label}: a group's time must stay below 140 s, got "
                f"{slowest.numerator // slowest.denominator // PS_PER_S} s at the slowest clocks"
            )
    peaks = memory_bytes_per_cycle * np.array(ladders[-1], dtype=np.int64)
    safe = np.maximum(values, MIN_PS)
    wanted = np.minimum(float(parts.traffic) / safe, 2.0 * peaks)
    times, times_sure = rounded(values, error)
    demands, demands_sure = rounded(wanted, error)
    beyond = wanted > peaks * (1 + 2 * error) + 1
    sure = (values >= MIN_PS) & times_sure & (demands_sure | beyond)
    for place in map(tuple, np.argwhere(~sure)):
        time = parts.at(
            Ratios(*(Fraction(khz[-1], khz[k]) for khz, k in zip(ladders, place, strict=True)))
        )
        times[place] = round_half_up(time)
        peak = int(peaks[place[-1]])
        # The demand of a time of nothing is the peak.
        demand = round_half_up(parts.traffic / time) if time else peak
        demands[place] = min(demand, peak)
    np.maximum(times, 1, out=times)
    np.minimum(demands, peaks, out=demands)
    if not parts.traffic:
        demands[:] = 0
    return times, demands


def _float_times(parts: TimeParts, ladders: Sequence[Sequence[int]]) -> FloatArray:
    """Return times [own, host, memory], ps. What is above the limit is cut down to it."""
    own, host, memory = (khz[-1] / np.array(khz, dtype=np.float64) for khz in ladders)
    compute = np.multiply.outer([_float(launch.compute) for launch in parts.launches], own)
    moved = np.multiply.outer([_float(launch.memory) for launch in parts.launches], memory)
    times = parts_norm([compute[:, :, None], moved[:, None, :]], float(parts.overlap))
    counts = np.array([launch.count for launch in parts.launches], dtype=np.float64)
    moving: FloatArray = np.einsum("l,lij->ij", counts, times)
    share = float(parts.own_share)
    launching = share * own[:, None, None] + (1 - share) * host[:, None]
    return moving[:, None, :] + _float(parts.fixed) * launching


def _float(ps: Fraction) -> float:
    """Return a time, or the limit if it is above."""
    try:
        return min(float(ps), LIMIT_PS)
    except OverflowError:
        return LIMIT_PS


def rounded(values: FloatArray, error: float) -> tuple[IntArray, NDArray[np.bool_]]:
    """Round ``values`` half up. Also return whether the bound on their relative error leaves no
    other integer."""
    low = np.floor(values - values * error + 0.5)
    high = np.floor(values + values * error + 0.5)
    return low.astype(np.int64), low == high

"""Scaling estimates to measured times.

A measurement at named clocks scales an estimate by one factor, so that the time at those clocks is
the measured one. The law of clocks gives the time at others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from paretosoc.fitness.cost_model.clock_law import Ratios, TimeParts, parts_norm
from paretosoc.platforms.measurement import Clocks, NetworkTime, is_same_network
from paretosoc.platforms.platform import Platform, Unit

SHARE_STEPS = 1 << 20


def clock_ratios(unit: Unit, platform: Platform, clocks: Clocks) -> Ratios:
    """Return the ratios of ``unit`` at named clocks. A host not among them is at its fastest."""
    khz = dict(clocks)

    def ratio(name: str) -> Fraction:
        fastest = platform.ladder_khz(name)[-1]
        return Fraction(fastest, khz.get(name, fastest) if name == unit.host else khz[name])

    return Ratios(
        own=ratio(unit.clocks[0]),
        host=Fraction(1) if unit.host is None else ratio(unit.host),
        memory=ratio(unit.clocks[-1]),
    )


def scale_to(parts: Sequence[TimeParts], total: Fraction, ratios: Ratios) -> list[TimeParts]:
    """Scale ``parts`` so that their times at these clocks add up to ``total`` exactly.

    All by one factor. Only if computing would then beat the peak, it is at the peak and the rest
    gives way, the memory's parts before fixed times, since the estimate has it moving too much.
    """

    def sum_of(compute: Fraction, memory: Fraction) -> Fraction:
        scaled = [part.scaled(compute, memory, Fraction(0)) for part in parts]
        return sum((part.at(ratios) for part in scaled), Fraction(0))

    fixed = sum((part.fixed * part.launch_ratio(ratios) for part in parts), Fraction(0))
    moving = sum_of(Fraction(1), Fraction(1))
    if not moving + fixed:
        # Nothing to scale: the measurement is all that is known.
        return [
            replace(part, fixed=total / part.launch_ratio(ratios) / len(parts)) for part in parts
        ]
    factor = total / (moving + fixed)
    at_peak = max(part.peak_share for part in parts)
    if factor >= at_peak:
        return [part.scaled(factor, factor, factor) for part in parts]
    memory = at_peak * _largest_share(
        lambda share: sum_of(at_peak, at_peak * share) <= total,
        _near(parts, float(at_peak), float(total), ratios),
    )
    rest = total - sum_of(at_peak, memory)
    if not fixed or rest < 0:
        # Either a measurement beats the peak, or this is the remainder of the steps of the share.
        factor = total / (total - rest)
        return [part.scaled(at_peak * factor, memory * factor, Fraction(0)) for part in parts]
    return [part.scaled(at_peak, memory, rest / fixed) for part in parts]


def _largest_share(fits: Callable[[Fraction], bool], near: int) -> Fraction:
    """Return the largest share of 1, in steps of 2^-20 and looked for around ``near`` first, that
    fits as all smaller ones do, or 0."""
    low, high, step = near, near + 1, 1
    while low > 0 and not fits(Fraction(low, SHARE_STEPS)):
        low, high, step = max(low - step, 0), low, 2 * step
    while high <= SHARE_STEPS and fits(Fraction(high, SHARE_STEPS)):
        low, high, step = high, high + step, 2 * step
    high = min(high, SHARE_STEPS + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(Fraction(middle, SHARE_STEPS)) else (low, middle)
    return Fraction(low, SHARE_STEPS)


def _near(parts: Sequence[TimeParts], at_peak: float, total: float, ratios: Ratios) -> int:
    """Return the share that :func:`_largest_share` looks for, to the accuracy of floats."""
    rows = [
        (launch.compute * ratios.own, launch.memory * ratios.memory, launch.count, part.overlap)
        for part in parts
        for launch in part.launches
    ]
    compute, memory, count, overlap = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    low, high = 0, SHARE_STEPS
    while low < high:
        middle = (low + high + 1) // 2
        moved = memory * (at_peak * middle / SHARE_STEPS)
        times = parts_norm([compute * at_peak, moved], overlap)
        low, high = (middle, high) if count @ times <= total else (low, middle - 1)
    return low


def network_record(
    platform: Platform, network: str, macs: int, unit: str, precision: str
) -> NetworkTime | None:
    """Return the platform's record of this network on this unit in this precision, if any.

    A record without a time holds in every precision that has no record of its own.
    """
    records = [
        record
        for record in platform.measurements
        if unit in record.units and is_same_network(network, macs, record.names, record.macs)
    ]
    own = [record for record in records if record.precision == precision]
    return next(iter([*own, *(record for record in records if record.time_ps is None)]), None)


def calibrate(
    parts: Sequence[TimeParts], unit: Unit, platform: Platform, record: NetworkTime
) -> list[TimeParts]:
    """Scale the groups of a network on ``unit`` to the network's measured time."""
    assert record.time_ps is not None, "the record has a time"
    ratios = clock_ratios(unit, platform, record.clocks_khz)
    return scale_to(parts, Fraction(record.time_ps), ratios)


def scaled_like(part: TimeParts, before: TimeParts, after: TimeParts) -> TimeParts:
    """Scale ``part`` by the factors that made ``after`` of ``before``, of a group whose launches
    are the same. A kind of time that ``before`` lacks keeps the factor 1. Computing ends at the
    peak: ``part`` may fill tiles better."""

    def factor(name: str) -> Fraction:
        old: Fraction = getattr(before, name)
        return getattr(after, name) / old if old else Fraction(1)

    compute = max(factor("compute"), part.peak_share)
    scaled = part.scaled(compute, factor("memory"), factor("fixed"))
    if before.compute or before.memory or before.fixed:
        return scaled
    # Nothing to scale: the measurement is all that is known.
    return replace(scaled, fixed=after.fixed)

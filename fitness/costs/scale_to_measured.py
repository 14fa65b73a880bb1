"""Scaling estimates to measured times.

A measurement at named clocks scales the compute and the memory part of an estimate by one factor,
so that the time at those clocks is the measured one; launches keep their fixed time. Only where the
fixed times alone would exceed the measurement, all three parts are scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fitness.cost_model.roofline import TimeParts
from platforms.measurement import Clocks, NetworkTime, is_same_network
from platforms.platform import Platform, Unit


def clock_ratios(unit: Unit, platform: Platform, clocks: Clocks) -> tuple[Fraction, Fraction]:
    """f0/f and m0/m of ``unit`` at named clocks, f0 and m0 the fastest."""
    khz = dict(clocks)
    own, memory = unit.clocks[0], platform.memory.domain
    fastest = {
        name: platform.domain_by_name[name].operating_points[-1].frequency_khz
        for name in (own, memory)
    }
    return Fraction(fastest[own], khz[own]), Fraction(fastest[memory], khz[memory])


def scale_to(
    parts: Sequence[TimeParts], total: Fraction, unit_ratio: Fraction, memory_ratio: Fraction
) -> list[TimeParts]:
    """``parts`` scaled so that their times at these clocks add up to ``total`` exactly."""
    fixed = sum((part.fixed for part in parts), Fraction(0))
    # At the fastest clocks this sum is one of maxima, whose denominators are small.
    moving = sum(
        (part.compute * unit_ratio + part.memory * memory_ratio for part in parts), Fraction(0)
    )
    if moving and total > fixed:
        factor = (total - fixed) / moving
        return [part.scaled(factor) for part in parts]
    if moving + fixed:
        factor = total / (moving + fixed)
        return [part.scaled(factor, factor) for part in parts]
    # Nothing to scale: the measurement is all that is known, and goes with no clock.
    share = total / len(parts)
    return [TimeParts(part.compute, part.memory, share, part.traffic) for part in parts]


def network_record(
    platform: Platform, network: str, macs: int, unit: str, precision: str
) -> NetworkTime | None:
    """The platform's record of this network on this unit in this precision, if any."""
    for record in platform.measurements:
        if (
            unit in record.units
            and record.precision == precision
            and is_same_network(network, macs, record.names, record.macs)
        ):
            return record
    return None


def calibrate(
    parts: Sequence[TimeParts],
    runnable: Sequence[bool],
    unit: Unit,
    platform: Platform,
    record: NetworkTime,
) -> list[TimeParts]:
    """The groups of a network on ``unit``, scaled to the network's measured time, if there is one.

    Where the unit cannot run some group, the measured time holds that group's time on a fall-back;
    the groups that it can run then get their share of the measurement, by the estimate.
    """
    if record.time_ps is None:
        return list(parts)
    ratios = clock_ratios(unit, platform, record.clocks_khz)
    kept = [part for part, runs in zip(parts, runnable, strict=True) if runs]
    total = Fraction(record.time_ps)
    if not kept:
        return list(parts)
    if len(kept) < len(parts):
        whole = sum((part.at(*ratios) for part in parts), Fraction(0))
        if whole:
            total *= sum((part.at(*ratios) for part in kept), Fraction(0)) / whole
    scaled = iter(scale_to(kept, total, *ratios))
    return [next(scaled) if runs else part for part, runs in zip(parts, runnable, strict=True)]

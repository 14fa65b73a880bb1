"""Units that the platform describes alike, as cores of an NPU: measurements of one hold for all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from paretosoc.fitness.calibration.dvfs_profile import ClockProfile
from paretosoc.platforms.measurement import Comparison, NetworkProfile, UnitMeasurement
from paretosoc.platforms.platform import Platform

T = TypeVar("T")
OfUnit = TypeVar("OfUnit", ClockProfile, Comparison)
Subject = tuple[object, ...]
"""What was measured: a network in a number format, and batch if it has one."""


def alike_units(platform: Platform, measured: Collection[str]) -> dict[str, str]:
    """Return, by the name of each unit that was not measured, the first measured unit that the
    platform describes alike. Units without one are left out."""
    return {
        unit.name: one.name
        for unit in platform.units
        for one in reversed(platform.units)
        if unit.name not in measured and one.name in measured
        if replace(one, name=unit.name) == unit
    }


def describe_alike(platform: Platform, measured: Collection[str]) -> list[str]:
    """Return a text about each unit that takes the figures of one that is described alike."""
    return [
        f"{unit}: takes what was measured on {alike}, as {platform.name} describes them alike; "
        "measurements of its own would count instead"
        for unit, alike in alike_units(platform, measured).items()
    ]


def measured_units(networks: Sequence[NetworkProfile]) -> set[str]:
    """Return the units on which groups or layers were measured."""
    return {
        one.unit
        for profile in networks
        for part in (*profile.groups, *profile.layers)
        for one in part.units
    }


def extend_to_alike(
    platform: Platform,
    networks: Sequence[NetworkProfile],
    models: Sequence[ClockProfile],
    comparisons: Sequence[Comparison],
) -> tuple[tuple[NetworkProfile, ...], tuple[ClockProfile, ...], tuple[Comparison, ...]]:
    """Return measurements, fits and comparisons with those of units that are described alike added
    to the units that have none of the network in its number format (and batch)."""

    def of_entries(entries: Sequence[OfUnit]) -> tuple[OfUnit, ...]:
        found = list(entries)
        for same in _grouped(entries, _subject).values():
            for unit, alike in alike_units(platform, {one.unit for one in same}).items():
                found += [replace(one, unit=unit) for one in same if one.unit == alike]
        return tuple(found)

    taken = {
        subject: alike_units(platform, measured_units(same))
        for subject, same in _grouped(networks, _measured).items()
    }
    return (
        tuple(_extended(profile, taken[_measured(profile)]) for profile in networks),
        of_entries(models),
        of_entries(comparisons),
    )


def _subject(entry: ClockProfile | Comparison) -> Subject:
    return entry.network, entry.precision


def _measured(profile: NetworkProfile) -> Subject:
    return profile.names, profile.precision, profile.batch


def _extended(profile: NetworkProfile, taken: Mapping[str, str]) -> NetworkProfile:
    groups, layers = (
        tuple(replace(part, units=part.units + _of_taken(part.units, taken)) for part in parts)
        for parts in (profile.groups, profile.layers)
    )
    return replace(profile, groups=groups, layers=layers)


def _of_taken(
    measured: Sequence[UnitMeasurement], taken: Mapping[str, str]
) -> tuple[UnitMeasurement, ...]:
    return tuple(
        replace(one, unit=unit, note=one.note or f"measured on {alike}")
        for unit, alike in taken.items()
        for one in measured
        if one.unit == alike
    )


def _grouped(entries: Sequence[T], key: Callable[[T], Subject]) -> dict[Subject, list[T]]:
    found: dict[Subject, list[T]] = {}
    for entry in entries:
        found.setdefault(key(entry), []).append(entry)
    return found

"""Units that the platform describes alike, as cores of an NPU: measurements of one hold for all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from paretosoc.fitness.calibration.dvfs_profile import ClockProfile
from paretosoc.platforms.measurement import (
    Comparison,
    NetworkProfile,
    PartMeasurement,
    plain_name,
)
from paretosoc.platforms.platform import Platform

OfUnit = TypeVar("OfUnit", ClockProfile, Comparison)
Entry = NetworkProfile | ClockProfile | Comparison
Subject = tuple[str, str, int]
"""What was measured: the plain name of a network, its number format, and images at once."""
Alike = Mapping[Subject, Mapping[str, str]]
"""By subject, the measured unit of each unit that takes the figures of one."""


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


def subject_of(entry: Entry) -> Subject:
    """Return the subject of an entry of a profile."""
    if isinstance(entry, NetworkProfile):
        return plain_name(entry.names[0]), entry.precision, entry.batch
    return plain_name(entry.network), entry.precision, 1


def units_of(entry: Entry) -> set[str]:
    """Return the units of an entry of a profile."""
    if isinstance(entry, NetworkProfile):
        return {one.unit for part in (*entry.groups, *entry.layers) for one in part.units}
    return {entry.unit}


def find_alike(platform: Platform, entries: Iterable[Entry]) -> Alike:
    """Return which units take the figures of which, as they have none of a subject."""
    measured: dict[Subject, set[str]] = {}
    for entry in entries:
        measured.setdefault(subject_of(entry), set()).update(units_of(entry))
    return {subject: alike_units(platform, units) for subject, units in measured.items()}


def describe_alike(platform: Platform, alike: Alike) -> list[str]:
    """Return a text about each pair of units of which one takes figures of the other."""
    pairs = dict.fromkeys(pair for taken in alike.values() for pair in taken.items())
    return [
        f"{unit}: takes what was measured on {one}, as {platform.name} describes them alike; "
        "measurements of its own would count instead"
        for unit, one in pairs
    ]


def of_alike(entries: Sequence[OfUnit], alike: Alike) -> tuple[OfUnit, ...]:
    """Return entries of one unit each, with those that other units take."""
    found = list(entries)
    for entry in entries:
        taken = alike[subject_of(entry)].items()
        found += [replace(entry, unit=unit) for unit, one in taken if one == entry.unit]
    return tuple(found)


def network_of_alike(profile: NetworkProfile, alike: Alike) -> NetworkProfile:
    """Return measurements of groups and layers with those that other units take."""
    taken = alike[subject_of(profile)]

    def extended(part: PartMeasurement) -> PartMeasurement:
        more = (
            replace(measured, unit=unit, note=measured.note or f"measured on {one}")
            for unit, one in taken.items()
            for measured in part.units
            if measured.unit == one
        )
        return replace(part, units=(*part.units, *more))

    groups, layers = map(extended, profile.groups), map(extended, profile.layers)
    return replace(profile, groups=tuple(groups), layers=tuple(layers))

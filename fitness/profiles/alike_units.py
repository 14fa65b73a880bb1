"""Units that the platform describes alike, as cores of an NPU: measurements of one hold for all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from paretosoc.fitness.calibration.dvfs_profile import ClockProfile
from paretosoc.platforms.measurement import Comparison, NetworkProfile, PartMeasurement
from paretosoc.platforms.platform import Platform

OfUnit = TypeVar("OfUnit", ClockProfile, Comparison)


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


def units_of(*entries: NetworkProfile | ClockProfile | Comparison) -> set[str]:
    """Return the units of entries of a profile."""
    found = set[str]()
    for entry in entries:
        if isinstance(entry, NetworkProfile):
            parts = (*entry.groups, *entry.layers)
            found |= {one.unit for part in parts for one in part.units}
        else:
            found.add(entry.unit)
    return found


def describe_alike(platform: Platform, taken: Iterable[tuple[str, Mapping[str, str]]]) -> list[str]:
    """Return a text about each pair of units of which one takes figures of the other. ``taken``:
    networks, with the pairs of each."""
    networks: dict[tuple[str, str], dict[str, None]] = {}
    for network, pairs in taken:
        for pair in pairs.items():
            networks.setdefault(pair, {})[network] = None
    return [
        f"{unit}: takes what was measured of {next(iter(names))}{more and f' and {more} more'} on "
        f"{one}, as {platform.name} describes them alike; measurements of its own would count "
        "instead"
        for (unit, one), names in networks.items()
        for more in [len(names) - 1 or ""]
    ]


def of_alike(entries: Sequence[OfUnit], taken: Mapping[str, str]) -> list[OfUnit]:
    """Return entries of one unit each, with those that other units take."""
    found = list(entries)
    for entry in entries:
        found += [replace(entry, unit=unit) for unit, one in taken.items() if one == entry.unit]
    return found


def network_of_alike(profile: NetworkProfile, taken: Mapping[str, str]) -> NetworkProfile:
    """Return measurements of groups and layers with those that other units take."""

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

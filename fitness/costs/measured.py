"""Measured times of groups and layers, brought into the form of an estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.calibration.dvfs_profile import ClockProfile
from paretosoc.fitness.cost_model.clock_law import TimeParts
from paretosoc.fitness.cost_model.fusion import Launch
from paretosoc.fitness.costs.measured_blocks import (
    aligned_records,
    convolutions_of,
    is_by_order,
    measured_blocks,
)
from paretosoc.fitness.costs.scale_to_measured import clock_ratios, scale_to
from paretosoc.fitness.profiles.alike_units import alike_units, network_of_alike, of_alike, units_of
from paretosoc.fitness.profiles.profile_file import Profile
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.measurement import NetworkProfile, UnitMeasurement, is_same_network
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.platforms.source import round_half_up
from paretosoc.sdf.grouping.groups import GroupedNetwork


@dataclass(frozen=True)
class MeasuredGroup:
    """A group on a unit, as measured at one set of clocks.

    ``power_mw`` is the power above idle at those clocks, or None if it was not measured.
    ``is_alone``: the measurement was of this group and nothing else. ``source``: as text.
    """

    profile: NetworkProfile
    parts: TimeParts
    has_time: bool
    has_traffic: bool
    is_alone: bool
    power_mw: int | None
    source: str


def profiles_for(
    network: GroupedNetwork, precision: str, profiles: Sequence[NetworkProfile], batch: int
) -> list[NetworkProfile]:
    """Return the profiles of a network in a precision and batch. ``network``: for one image."""
    macs = sum(group.macs for group in network.groups)
    return [
        profile
        for profile in profiles
        if (profile.precision, profile.batch) == (precision, batch)
        and is_same_network(network.name, macs, profile.names, profile.macs)
    ]


def own_measurements(
    network: GroupedNetwork, platform: Platform, precision: str, profile: Profile, batch: int = 1
) -> tuple[list[NetworkProfile], list[ClockProfile], dict[str, str]]:
    """Return a profile's measurements of a network, for one image, and its fits, with those that
    units without any take from units that are described alike, and the names of these units.

    Raises:
        PlatformError: if one names groups or layers that are not there, or lists groups by order
            that are not the network's.
    """
    own = profiles_for(network, precision, profile.networks, batch)
    for record in own:
        _check_names(record, network)
    macs = sum(group.macs for group in network.groups)
    fits = [
        model
        for model in profile.models
        if (model.precision, 1) == (precision, batch)
        and is_same_network(network.name, macs, (model.network,), model.macs)
    ]
    taken = alike_units(platform, units_of(*own, *fits))
    return [network_of_alike(record, taken) for record in own], of_alike(fits, taken), taken


def matches(profile: NetworkProfile, network: GroupedNetwork) -> bool:
    """Return whether a profile's layers and groups are the network's, by name or in order."""
    layers = {layer.name for group in network.groups for layer in group.layers}
    if any(name not in layers for part in profile.layers for name in part.names):
        return False
    if not is_by_order(profile):
        names = {group.name for group in network.groups}
        return all(name in names for part in profile.groups for name in part.names)
    return bool(aligned_records(profile.groups, convolutions_of(network)))


def _check_names(profile: NetworkProfile, network: GroupedNetwork) -> None:
    label = f"profile of network {profile.names[0]!r}"
    groups = {group.name for group in network.groups}
    layers = {layer.name for group in network.groups for layer in group.layers}
    for what, parts, known in (
        ("group", profile.groups, groups),
        ("layer", profile.layers, layers),
    ):
        for name in (name for part in parts for name in part.names):
            if name not in known:
                raise PlatformError(
                    f"{label}: there is no {what} {name!r}; the network has {len(known)}, "
                    f"such as {min(known)!r}"
                )
    count = len(profile.groups) if is_by_order(profile) else len(network.groups)
    for transition in profile.transitions:
        after = transition.after
        there = after in groups if isinstance(after, str) else after < count
        if not there:
            raise PlatformError(
                f"{label}: there is no group {after!r} for a transition to follow; "
                f"there are {count}"
            )
    if not matches(profile, network):
        raise PlatformError(
            f"{label}: groups without names must be those of the network in order "
            f"({len(network.groups)}, with {convolutions_of(network)} convolutions), "
            f"got {len(profile.groups)}"
        )


def measured_groups(
    network: GroupedNetwork,
    launches: Mapping[str, Sequence[Sequence[Launch]]],
    platform: Platform,
    profile: NetworkProfile,
    estimates: Mapping[str, Sequence[TimeParts]],
) -> dict[tuple[str, int], MeasuredGroup]:
    """Return a profile's measurements: (unit, group index) to the group's parts, scaled to the
    measurement.

    Groups that were measured together share the time as the estimate has it. Traffic that was
    measured on one unit only gives the bytes moved, and with them the traffic on the others: there
    it is the measured one times t_measured unit / t_other unit. What is requested of the busiest
    memory on one unit says nothing of the others.
    ``estimates`` holds the parts of all groups by unit, for units that compute in the profile's
    precision, ``launches`` those of the network.
    """
    result: dict[tuple[str, int], MeasuredGroup] = {}
    for block in measured_blocks(network, launches, profile):
        for name, item in block.units.items():
            if name not in estimates:
                continue
            before = [result.get((name, index)) for index in block.groups]
            made = _scaled(
                platform.unit_by_name[name],
                platform,
                profile,
                [
                    estimates[name][index] if entry is None else entry.parts
                    for index, entry in zip(block.groups, before, strict=True)
                ],
                item,
            )
            for index, parts, entry in zip(block.groups, made, before, strict=True):
                result[name, index] = _joined(entry, parts, profile, item, len(block.groups) == 1)
    for index in range(len(network.groups)):
        known = [result[name, index] for name in estimates if (name, index) in result]
        teller = next((entry for entry in known if entry.has_traffic), None)
        if teller is None:
            continue
        for name in estimates:
            entry = result.get((name, index))
            if entry is None:
                told = replace(estimates[name][index], traffic=teller.parts.traffic)
                result[name, index] = MeasuredGroup(
                    profile, told, False, False, False, None, teller.source
                )
            elif not entry.has_traffic:
                parts = replace(entry.parts, traffic=teller.parts.traffic)
                result[name, index] = replace(entry, parts=parts)
    return result


def _joined(
    before: MeasuredGroup | None,
    parts: TimeParts,
    profile: NetworkProfile,
    item: UnitMeasurement,
    is_alone: bool,
) -> MeasuredGroup:
    """Return a group on a unit after a further measurement, which adds or replaces figures."""
    text = profile.source.text
    now = MeasuredGroup(
        profile=profile,
        parts=parts,
        has_time=item.time_ps is not None,
        has_traffic=item.traffic_kbps is not None,
        is_alone=is_alone,
        power_mw=item.power_mw,
        source=f"{text} ({item.note})" if item.note else text,
    )
    if before is None:
        return now
    if now.has_time:
        return replace(
            now,
            has_traffic=now.has_traffic or before.has_traffic,
            power_mw=before.power_mw if item.power_mw is None else item.power_mw,
        )
    added = item.note or text
    return replace(
        before,
        parts=parts,
        has_traffic=now.has_traffic or before.has_traffic,
        power_mw=before.power_mw if item.power_mw is None else item.power_mw,
        source=before.source if added in before.source else f"{before.source}; {added}",
    )


def last_groups(network: GroupedNetwork, profile: NetworkProfile) -> dict[int, int]:
    """Map the index of a profile's record to the network's group that ends with the record."""
    if not is_by_order(profile):
        return {index: index for index in range(len(network.groups))}
    blocks = aligned_records(profile.groups, convolutions_of(network))
    return {records[-1]: groups[-1] for records, groups in blocks}


def _scaled(
    unit: Unit,
    platform: Platform,
    profile: NetworkProfile,
    estimates: Sequence[TimeParts],
    measurement: UnitMeasurement,
) -> list[TimeParts]:
    ratios = clock_ratios(unit, platform, profile.clocks_khz)
    parts = list(estimates)
    if measurement.time_ps is not None:
        parts = scale_to(parts, Fraction(measurement.time_ps), ratios)
    traffic, requested = measurement.traffic_kbps, measurement.requested_kbps
    if traffic is not None:
        parts = [replace(one, traffic=round_half_up(traffic * one.at(ratios))) for one in parts]
    if requested is not None:
        parts = [replace(one, requested=round_half_up(requested * one.at(ratios))) for one in parts]
    return parts


def nearest_measurement(
    platform: Platform, unit: Unit, entries: Sequence[MeasuredGroup]
) -> IntArray:
    """Return the index of the measurement at the nearest clocks, [own points, memory points]."""
    own, memory = platform.ladder_khz(unit.clocks[0]), platform.ladder_khz(unit.clocks[-1])
    measured = [dict(entry.profile.clocks_khz) for entry in entries]

    def distance(khz: int, memory_khz: int, clocks: dict[str, int]) -> Fraction:
        first = Fraction(khz, clocks[unit.clocks[0]])
        second = Fraction(memory_khz, clocks[unit.clocks[-1]])
        return max(first, 1 / first) * max(second, 1 / second)

    table = [
        [
            min(range(len(measured)), key=lambda item: distance(row, column, measured[item]))
            for column in memory
        ]
        for row in own
    ]
    return np.array(table, dtype=np.int64)


def measured_power(
    platform: Platform, unit: Unit, modelled: IntArray, entries: Sequence[MeasuredGroup]
) -> IntArray:
    """Scale the modelled power so that it is the measured one at the measured clocks."""
    entry = next(entry for entry in entries if entry.power_mw is not None)
    named = dict(entry.profile.clocks_khz)
    ladders = {name: platform.ladder_khz(name) for name in unit.clocks}
    place = tuple(khz.index(named.get(name, khz[-1])) for name, khz in ladders.items())
    at_clocks = int(modelled[place])
    measured_mw = int(entry.power_mw or 0)
    if at_clocks == 0:
        return np.full_like(modelled, measured_mw)
    # Exact in Python's integers: the product may pass 64 bits.
    scaled = (2 * modelled.astype(object) * measured_mw + at_clocks) // (2 * at_clocks)
    return scaled.astype(np.int64)

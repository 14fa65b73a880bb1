"""Measured times of groups and layers, brought into the form of an estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fitness.calibration import clock_ratios, scale_to
from fitness.fusion import Launch
from fitness.roofline import TimeParts
from platforms.errors import PlatformError
from platforms.exact_json import rounded_half_up
from platforms.measurement import NetworkProfile, PartMeasurement, UnitMeasurement, is_same_network
from platforms.platform import Platform, Unit
from sdf.groups import GroupedNetwork
from sdf.layer import LayerKind


@dataclass(frozen=True)
class MeasuredGroup:
    """A group on a unit, as measured at one set of clocks.

    ``power_mw`` is the power above idle at those clocks, None where it was not measured.
    """

    profile: NetworkProfile
    parts: TimeParts
    has_time: bool
    power_mw: int | None


def profiles_for(
    network: GroupedNetwork,
    precision: str,
    own: Sequence[NetworkProfile],
    platform: Platform,
) -> list[NetworkProfile]:
    """The profiles that hold for a network in a precision, the user's own ones first.

    Raises:
        PlatformError: where one of the user's own names groups or layers that are not there, or
            lists groups by order that are not the network's.
    """
    macs = sum(group.macs for group in network.groups)

    def holds(profile: NetworkProfile) -> bool:
        return profile.precision == precision and is_same_network(
            network.name, macs, profile.names, profile.macs
        )

    chosen = [profile for profile in own if holds(profile)]
    for profile in chosen:
        _check_names(profile, network)
    # The platform's profiles are for one grouping; with another one they do not apply.
    return chosen + [
        profile for profile in platform.profiles if holds(profile) and _matches(profile, network)
    ]


def _convolutions(network: GroupedNetwork) -> list[int]:
    return [
        sum(layer.kind is LayerKind.CONVOLUTION for layer in group.layers)
        for group in network.groups
    ]


def _matches(profile: NetworkProfile, network: GroupedNetwork) -> bool:
    """Whether a profile's groups are those of the network, in order or by name."""
    if any(part.name for part in profile.groups):
        names = {group.name for group in network.groups}
        return all(part.name in names for part in profile.groups)
    return len(profile.groups) in (0, len(network.groups)) and all(
        part.convolutions in (None, count)
        for part, count in zip(profile.groups, _convolutions(network), strict=False)
    )


def _check_names(profile: NetworkProfile, network: GroupedNetwork) -> None:
    label = f"profile of network {profile.names[0]!r}"
    groups = {group.name for group in network.groups}
    layers = {layer.name for group in network.groups for layer in group.layers}
    for what, parts, known in (
        ("group", profile.groups, groups),
        ("layer", profile.layers, layers),
    ):
        for part in parts:
            if part.name and part.name not in known:
                raise PlatformError(
                    f"{label}: there is no {what} {part.name!r}; the network has {len(known)}, "
                    f"such as {min(known)!r}"
                )
    for transition in profile.transitions:
        after = transition.after
        there = after in groups if isinstance(after, str) else after < len(network.groups)
        if not there:
            raise PlatformError(
                f"{label}: there is no group {after!r} for a transition to follow; "
                f"the network has {len(network.groups)}"
            )
    if not _matches(profile, network):
        raise PlatformError(
            f"{label}: groups without names must be those of the network in order "
            f"({len(network.groups)}, with {_convolutions(network)} convolutions), "
            f"got {len(profile.groups)}"
        )


def measured_groups(
    network: GroupedNetwork,
    launches: Sequence[Sequence[Launch]],
    platform: Platform,
    profile: NetworkProfile,
    estimates: Mapping[str, Sequence[TimeParts]],
) -> dict[tuple[str, int], MeasuredGroup]:
    """What a profile tells: (unit, group index) to the group's parts, scaled to the measurement.

    A demand that was measured on one unit only gives the bytes moved, and with them the demand on
    the others: there it is the measured one times t_measured unit / t_other unit (section 3 of the
    model). ``estimates`` holds the parts of all groups by unit, for units that compute in the
    profile's precision.
    """
    result: dict[tuple[str, int], MeasuredGroup] = {}
    for index, group in enumerate(network.groups):
        own = _group_entry(profile, index, group.name)
        layers = _from_layers(profile, launches[index]) if profile.layers else {}
        found = {name: measurement for name, measurement in layers.items() if name in estimates}
        if own is not None:
            found |= {item.unit: item for item in own.units if item.unit in estimates}
        made = {
            name: _scaled(
                platform.unit_by_name[name], platform, profile, estimates[name][index], measurement
            )
            for name, measurement in found.items()
        }
        shared = next((made[name].traffic for name, m in found.items() if m.demand_kbps), None)
        for name, unit_estimates in estimates.items():
            measurement = found.get(name)
            parts = made.get(name)
            if measurement is None and shared is None:
                continue
            if parts is None:
                parts = unit_estimates[index]
            if shared is not None and (measurement is None or measurement.demand_kbps is None):
                parts = TimeParts(parts.compute, parts.memory, parts.fixed, shared)
            result[name, index] = MeasuredGroup(
                profile=profile,
                parts=parts,
                has_time=measurement is not None and measurement.time_ps is not None,
                power_mw=None if measurement is None else measurement.power_mw,
            )
    return result


def _scaled(
    unit: Unit,
    platform: Platform,
    profile: NetworkProfile,
    estimate: TimeParts,
    measurement: UnitMeasurement,
) -> TimeParts:
    ratios = clock_ratios(unit, platform, profile.clocks_khz)
    parts = estimate
    if measurement.time_ps is not None:
        (parts,) = scale_to([parts], Fraction(measurement.time_ps), *ratios)
    if measurement.demand_kbps is None:
        return parts
    traffic = rounded_half_up(measurement.demand_kbps * parts.at(*ratios))
    return TimeParts(parts.compute, parts.memory, parts.fixed, traffic)


def _group_entry(profile: NetworkProfile, index: int, name: str) -> PartMeasurement | None:
    if any(part.name for part in profile.groups):
        return next((part for part in profile.groups if part.name == name), None)
    return profile.groups[index] if index < len(profile.groups) else None


def _from_layers(profile: NetworkProfile, launches: Sequence[Launch]) -> dict[str, UnitMeasurement]:
    """Sums over the layers of a group, for units on which every launch was measured."""
    entries = {part.name: part for part in profile.layers}
    times: dict[str, int] = {}
    traffic: dict[str, int | None] = {}
    energy: dict[str, int | None] = {}
    costly = [launch for launch in launches if not launch.is_free]
    covered: dict[str, int] = {}
    for launch in costly:
        seen = set()
        for layer in launch.layers:
            part = entries.get(layer.name)
            for item in () if part is None else part.units:
                if item.time_ps is None:
                    continue
                name = item.unit
                seen.add(name)
                times[name] = times.get(name, 0) + item.time_ps
                traffic[name] = _plus_product(traffic.get(name, 0), item.demand_kbps, item.time_ps)
                energy[name] = _plus_product(energy.get(name, 0), item.power_mw, item.time_ps)
        for name in seen:
            covered[name] = covered.get(name, 0) + 1
    return {
        name: UnitMeasurement(
            unit=name,
            time_ps=time,
            demand_kbps=_mean(traffic[name], time),
            power_mw=_mean(energy[name], time),
        )
        for name, time in times.items()
        if covered[name] == len(costly)
    }


def _plus_product(total: int | None, rate: int | None, time_ps: int) -> int | None:
    """``total`` + rate x time; None as soon as one layer's rate is unknown."""
    return None if total is None or rate is None else total + rate * time_ps


def _mean(total: int | None, time_ps: int) -> int | None:
    return None if total is None else rounded_half_up(Fraction(total, time_ps))

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
    ``is_alone``: the measurement was of this group and nothing else.
    """

    profile: NetworkProfile
    parts: TimeParts
    has_time: bool
    is_alone: bool
    power_mw: int | None


@dataclass(frozen=True)
class _Block:
    """What was measured together: consecutive groups, and the sums over the records of them."""

    groups: range
    records: range
    units: dict[str, UnitMeasurement]


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
    """Whether a profile's groups are those of the network, by name or in order."""
    if any(part.name for part in profile.groups):
        names = {group.name for group in network.groups}
        return all(part.name in names for part in profile.groups)
    return not profile.groups or bool(_aligned(profile.groups, _convolutions(network)))


def _aligned(parts: Sequence[PartMeasurement], counts: Sequence[int]) -> list[tuple[range, range]]:
    """Records and groups that belong together: the smallest (records, groups) ranges, in order.

    Records tell their numbers of convolutions, so a finer or coarser grouping of the same network
    can be laid beside them: a boundary common to both is one where as many convolutions have
    passed. Groups without any belong to what is before them. Where no record tells a number,
    there must be as many groups as records. Empty where the two cannot be laid side by side.
    """
    if any(part.convolutions is None for part in parts):
        same = len(parts) == len(counts) and all(
            part.convolutions in (None, count) for part, count in zip(parts, counts, strict=True)
        )
        return [(range(k, k + 1), range(k, k + 1)) for k in range(len(parts))] if same else []
    by_record = _boundaries([part.convolutions or 0 for part in parts])
    by_group = _boundaries(counts)
    if not by_record or not by_group or list(by_record)[-1] != list(by_group)[-1]:
        return []
    result: list[tuple[range, range]] = []
    record = group = 0
    for total in by_record:
        if total in by_group:
            result.append((range(record, by_record[total]), range(group, by_group[total])))
            record, group = by_record[total], by_group[total]
    return result


def _boundaries(counts: Sequence[int]) -> dict[int, int]:
    """Convolutions passed to the number of parts passed, the latest where there are several."""
    result: dict[int, int] = {}
    total = 0
    for index, count in enumerate(counts):
        total += count
        if total:
            result[total] = index + 1
    return result


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
    by_order = profile.groups and not any(part.name for part in profile.groups)
    count = len(profile.groups) if by_order else len(network.groups)
    for transition in profile.transitions:
        after = transition.after
        there = after in groups if isinstance(after, str) else after < count
        if not there:
            raise PlatformError(
                f"{label}: there is no group {after!r} for a transition to follow; "
                f"there are {count}"
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

    Groups that were measured together share the time as the estimate has it. A demand that was
    measured on one unit only gives the bytes moved, and with them the demand on the others: there
    it is the measured one times t_measured unit / t_other unit (section 3 of the model).
    ``estimates`` holds the parts of all groups by unit, for units that compute in the profile's
    precision.
    """
    result: dict[tuple[str, int], MeasuredGroup] = {}
    for block in _blocks(network, launches, profile):
        found = {name: item for name, item in block.units.items() if name in estimates}
        made = {
            name: _scaled(
                platform.unit_by_name[name],
                platform,
                profile,
                [estimates[name][index] for index in block.groups],
                item,
            )
            for name, item in found.items()
        }
        teller = next((name for name, item in found.items() if item.demand_kbps is not None), None)
        for name, unit_estimates in estimates.items():
            measurement = found.get(name)
            if measurement is None and teller is None:
                continue
            for place, index in enumerate(block.groups):
                parts = unit_estimates[index] if measurement is None else made[name][place]
                if teller and (measurement is None or measurement.demand_kbps is None):
                    traffic = made[teller][place].traffic
                    parts = TimeParts(parts.compute, parts.memory, parts.fixed, traffic)
                result[name, index] = MeasuredGroup(
                    profile=profile,
                    parts=parts,
                    has_time=measurement is not None and measurement.time_ps is not None,
                    is_alone=len(block.groups) == 1,
                    power_mw=None if measurement is None else measurement.power_mw,
                )
    return result


def last_groups(network: GroupedNetwork, profile: NetworkProfile) -> dict[int, int]:
    """Index of a profile's record to the network's group that ends where the record ends."""
    if not profile.groups or any(part.name for part in profile.groups):
        return {index: index for index in range(len(network.groups))}
    blocks = _aligned(profile.groups, _convolutions(network))
    return {records[-1]: groups[-1] for records, groups in blocks}


def _blocks(
    network: GroupedNetwork, launches: Sequence[Sequence[Launch]], profile: NetworkProfile
) -> list[_Block]:
    by_layer = (
        [_from_layers(profile, group) for group in launches]
        if profile.layers
        else [{} for _ in launches]
    )
    if profile.groups and not any(part.name for part in profile.groups):
        blocks = []
        for records, groups in _aligned(profile.groups, _convolutions(network)):
            units = _summed([profile.groups[index] for index in records])
            blocks.append(_Block(groups, records, units))
        return blocks
    named = {part.name: part for part in profile.groups}
    blocks = []
    for index, group in enumerate(network.groups):
        part = named.get(group.name)
        own = {} if part is None else {item.unit: item for item in part.units}
        blocks.append(_Block(range(index, index + 1), range(0), by_layer[index] | own))
    return blocks


def _summed(parts: Sequence[PartMeasurement]) -> dict[str, UnitMeasurement]:
    """Records one after the other as one; only units that all of them measured."""
    if len(parts) == 1:
        return {item.unit: item for item in parts[0].units}
    tables = [{item.unit: item for item in part.units} for part in parts]
    result = {}
    for name in tables[0]:
        items = [table.get(name) for table in tables]
        if any(item is None or item.time_ps is None for item in items):
            continue
        time, traffic, energy = 0, _Total(), _Total()
        for item in items:
            assert item is not None
            assert item.time_ps is not None
            time += item.time_ps
            traffic.add(item.demand_kbps, item.time_ps)
            energy.add(item.power_mw, item.time_ps)
        result[name] = UnitMeasurement(name, time, traffic.mean(time), energy.mean(time))
    return result


class _Total:
    """A sum of rate x time; unknown as soon as one rate is."""

    def __init__(self) -> None:
        self.value: int | None = 0

    def add(self, rate: int | None, time_ps: int) -> None:
        """Adds one part."""
        if self.value is None or rate is None:
            self.value = None
        else:
            self.value += rate * time_ps

    def mean(self, time_ps: int) -> int | None:
        """The mean rate over the whole time, rounded half up."""
        return None if self.value is None else rounded_half_up(Fraction(self.value, time_ps))


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
        parts = scale_to(parts, Fraction(measurement.time_ps), *ratios)
    demand = measurement.demand_kbps
    if demand is None:
        return parts
    return [
        TimeParts(part.compute, part.memory, part.fixed, rounded_half_up(demand * part.at(*ratios)))
        for part in parts
    ]


def _from_layers(profile: NetworkProfile, launches: Sequence[Launch]) -> dict[str, UnitMeasurement]:
    """Sums over the layers of a group, for units on which every launch was measured."""
    entries = {part.name: part for part in profile.layers}
    costly = [launch for launch in launches if not launch.is_free]
    found: dict[str, list[UnitMeasurement]] = {}
    covered: dict[str, int] = {}
    for launch in costly:
        items = [
            item
            for layer in launch.layers
            if layer.name in entries
            for item in entries[layer.name].units
            if item.time_ps is not None
        ]
        for item in items:
            found.setdefault(item.unit, []).append(item)
        for name in {item.unit for item in items}:
            covered[name] = covered.get(name, 0) + 1
    result: dict[str, UnitMeasurement] = {}
    for name, items in found.items():
        if covered[name] == len(costly):
            parts = [PartMeasurement("", None, (item,)) for item in items]
            result |= _summed(parts)
    return result

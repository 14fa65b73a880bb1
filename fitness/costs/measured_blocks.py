"""Groups that a profile measured together, and the sums over its records of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paretosoc.fitness.cost_model.fusion import Launch
from paretosoc.fitness.cost_model.support import host_tail
from paretosoc.platforms.measurement import NetworkProfile, PartMeasurement, UnitMeasurement
from paretosoc.platforms.source import round_half_up
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import LayerKind

MAX_NOTES = 3
"""Maximum number of notes kept of parts that are summed up."""


@dataclass(frozen=True)
class Block:
    """Groups that were measured together, ascending, and their measurements by unit."""

    groups: tuple[int, ...]
    units: dict[str, UnitMeasurement]


def is_by_order(profile: NetworkProfile) -> bool:
    """Return whether a profile lists groups without names: all of the network's, in order."""
    return bool(profile.groups) and not any(part.names for part in profile.groups)


def convolutions_of(network: GroupedNetwork) -> list[int]:
    """Return the number of convolution layers in each group."""
    return [
        sum(layer.kind is LayerKind.CONVOLUTION for layer in group.layers)
        for group in network.groups
    ]


def aligned_records(
    parts: Sequence[PartMeasurement], counts: Sequence[int]
) -> list[tuple[range, range]]:
    """Return records and groups that belong together: the smallest ranges of both, in order.

    Records state their numbers of convolutions, so a finer or coarser grouping of the same network
    can be laid beside them: a common boundary is one with as many convolutions before it in both.
    Groups without any belong to the one before them. If no record states a number, there must be as
    many groups as records. Empty if the two cannot be laid side by side.
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
    """Map convolutions passed to the number of parts passed, the latest if there are several."""
    result: dict[int, int] = {}
    total = 0
    for index, count in enumerate(counts):
        total += count
        if total:
            result[total] = index + 1
    return result


def measured_blocks(
    network: GroupedNetwork,
    launches: Mapping[str, Sequence[Sequence[Launch]]],
    profile: NetworkProfile,
) -> list[Block]:
    """Return the blocks that a profile measured. If two overlap, the later is of the group itself.

    Of records of layers a unit's block is the smallest set of groups whose every launch was
    measured there, and in which no record holds a layer of a group outside. ``launches``: by unit.
    """
    if is_by_order(profile):
        return [
            Block(tuple(groups), _summed([profile.groups[index] for index in records]))
            for records, groups in aligned_records(profile.groups, convolutions_of(network))
        ]
    blocks = _from_layers(network, launches, profile) if profile.layers else []
    place = {group.name: index for index, group in enumerate(network.groups)}
    for part in profile.groups:
        blocks.append(Block((place[part.names[0]],), {item.unit: item for item in part.units}))
    return blocks


def _summed(parts: Sequence[PartMeasurement]) -> dict[str, UnitMeasurement]:
    """Return records one after the other as one, with the units that all of them measured."""
    if len(parts) == 1:
        return {item.unit: item for item in parts[0].units}
    tables = [{item.unit: item for item in part.units} for part in parts]
    result = {}
    for name in tables[0]:
        items = [table[name] for table in tables if name in table]
        times = [item.time_ps for item in items if item.time_ps is not None]
        if len(times) < len(parts):
            continue
        notes = list(dict.fromkeys(item.note for item in items if item.note))
        result[name] = UnitMeasurement(
            name,
            sum(times),
            _mean([item.traffic_kbps for item in items], times),
            _mean([item.requested_kbps for item in items], times),
            _mean([item.power_mw for item in items], times),
            "; ".join(notes[:MAX_NOTES]) + ("; ..." if len(notes) > MAX_NOTES else ""),
        )
    return result


def _mean(rates: Sequence[int | None], times: Sequence[int]) -> int | None:
    """Return the mean rate over all times, rounded half up, or None if a rate is not known."""
    known = [rate for rate in rates if rate is not None]
    if len(known) < len(rates):
        return None
    total = sum(rate * time for rate, time in zip(known, times, strict=True))
    return round_half_up(Fraction(total, sum(times)))


def _from_layers(
    network: GroupedNetwork,
    launches: Mapping[str, Sequence[Sequence[Launch]]],
    profile: NetworkProfile,
) -> list[Block]:
    records = profile.layers
    layers = [layer for group in network.groups for layer in group.layers]
    # Layers that every deployment leaves to the host need not have been measured.
    tail = {layers[index].name for index in host_tail(layers, profile.batch)}
    blocks = []
    for unit in dict.fromkeys(item.unit for part in records for item in part.units):
        if unit not in launches:
            continue
        home: dict[str, tuple[int, int]] = {}
        needed: list[set[int]] = []
        for index, group in enumerate(launches[unit]):
            needed.append(set())
            for number, launch in enumerate(group):
                home |= {layer.name: (index, number) for layer in launch.layers}
                if not launch.is_free and not all(layer.name in tail for layer in launch.layers):
                    needed[index].add(number)
        timed = [
            (item, [home[name] for name in part.names])
            for part in records
            for item in part.units
            if item.unit == unit and item.time_ps is not None
        ]
        seen = {place for _, places in timed for place in places}
        for groups in _components(len(needed), [places for _, places in timed]):
            whole = all((index, number) in seen for index in groups for number in needed[index])
            items = [item for item, places in timed if places[0][0] in groups]
            if whole and items:
                parts = [PartMeasurement((), None, (item,)) for item in items]
                blocks.append(Block(groups, _summed(parts)))
    return blocks


def _components(count: int, links: Iterable[Sequence[tuple[int, int]]]) -> list[tuple[int, ...]]:
    """Return groups that records tie together, each set ascending."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(count))
    for places in links:
        graph.add_edges_from((places[0][0], index) for index, _ in places)
    return [tuple(sorted(part)) for part in nx.connected_components(graph)]

"""Costs if groups choose among several number formats: an entry for each of a unit's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.cost_model.tables import NetworkCosts
from paretosoc.fitness.costs.network_costs import choose_precision
from paretosoc.fitness.costs.transitions import passing_ps
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.sdf.grouping.groups import GroupedNetwork


@dataclass(frozen=True)
class UnitFormat:
    """A unit in a number format that its groups may have."""

    unit: Unit
    number_format: str
    is_choice: bool = False
    """Whether there is a choice of formats."""

    @property
    def name(self) -> str:
        """Return ``gpu``, or ``gpu:fp16`` if formats are chosen."""
        return f"{self.unit.name}:{self.number_format}" if self.is_choice else self.unit.name

    @property
    def bytes_per_element(self) -> int:
        """Return the bytes of a number in the format. It is 1 on a unit that does not compute in
        it, since that runs nothing."""
        peak = self.unit.peak_by_format.get(self.number_format)
        return 1 if peak is None else peak.bytes_per_element


def choose_formats(platform: Platform, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the number formats of these names, or the platform's default for None.

    Raises:
        PlatformError: on a format that no unit computes in, or that is there twice.
    """
    if names is None:
        return (choose_precision(platform, None),)
    formats = tuple(choose_precision(platform, name) for name in names)
    if len(set(formats)) < len(formats):
        raise PlatformError(f"precision: each number format at most once, got {', '.join(names)}")
    return formats


def unit_formats(units: Sequence[Unit], formats: Sequence[str]) -> tuple[UnitFormat, ...]:
    """Return every unit in every format that it computes in, or in the first one of all if it
    computes in none of them: then it can run nothing, but it is there and draws power."""
    if len(formats) == 1:
        return tuple(UnitFormat(unit, formats[0]) for unit in units)
    entries = []
    for unit in units:
        own = [name for name in formats if name in unit.peak_by_format] or [formats[0]]
        entries += [UnitFormat(unit, name, is_choice=True) for name in own]
    return tuple(entries)


def in_formats(
    network: GroupedNetwork,
    platform: Platform,
    units: Sequence[Unit],
    entries: Sequence[UnitFormat],
    costs: Mapping[str, NetworkCosts],
) -> NetworkCosts:
    """Return the costs of all entries, from those of every format alone.

    Between units of one format a measured transition counts as in ``costs``. Between two formats
    it is :func:`fitness.costs.transitions.passing_ps`.
    """
    place = [units.index(entry.unit) for entry in entries]
    transitions = np.zeros((len(network.edges), len(entries), len(entries)), dtype=np.int64)
    for number, edge in enumerate(network.edges):
        transitions[number] = passing_in_formats(platform, entries, edge.elements)
    for a, source in enumerate(entries):
        for b, target in enumerate(entries):
            if source.number_format == target.number_format:
                alone = costs[source.number_format].transition_ps
                transitions[:, a, b] = alone[:, place[a], place[b]]
    first = next(iter(costs.values()))
    return replace(
        first,
        units=tuple(
            replace(costs[entry.number_format].units[at], number_format=entry.number_format)
            for entry, at in zip(entries, place, strict=True)
        ),
        transition_ps=transitions,
        notes=tuple(dict.fromkeys(note for table in costs.values() for note in table.notes)),
    )


def passing_in_formats(
    platform: Platform, entries: Sequence[UnitFormat], elements: int
) -> IntArray:
    """Return the time of a tensor from one entry to another, [entries, entries]."""
    return passing_ps(platform, [(entry.unit, entry.number_format) for entry in entries], elements)

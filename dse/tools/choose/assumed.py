"""Figures that are only assumed of a board, and the errors of its times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from paretosoc.platforms.platform import Platform, Source, Status
from paretosoc.results.costs.cost_origins import NINE_OF_TEN, ONE_OF_TWO, CostOrigin, CostOrigins


def times_off_percent(costs: CostOrigins, units: Sequence[int]) -> tuple[int, int] | None:
    """Return by how much the times of networks on these units are off: half of them at most, nine
    of ten at most, of the network that is known worst. None if none can run there."""
    scales = [
        group.by_unit[unit].error.of_network
        for network in costs.networks
        for group in network.groups
        for unit in units
        if group.by_unit[unit].origin is not CostOrigin.CANNOT_RUN
    ]
    if not scales:
        return None
    worst = max(scales) / 1000
    half, most = (round(100 * math.expm1(worst * part)) for part in (ONE_OF_TWO, NINE_OF_TEN))
    return half, most


def assumed_figures(
    chip: Platform, units: Mapping[str, str], number_format: str
) -> tuple[str, ...]:
    """Return the figures behind times and powers of these units that are assumed: neither measured
    nor derived from measurements. ``units`` maps their names to those for people."""
    return tuple(
        dict.fromkeys(
            name
            for name, source in _figures(chip, units, number_format)
            if source.status is Status.ASSUMED
        )
    )


def _figures(
    chip: Platform, units: Mapping[str, str], number_format: str
) -> Iterator[tuple[str, Source]]:
    for name, shown in units.items():
        unit = chip.unit_by_name[name]
        for peak in unit.peaks:
            # An error that was found by leaving networks out counts more than an assumed peak.
            if peak.precision == number_format and peak.error is None:
                yield f"times of {shown}", Source(Status.ASSUMED, "")
        for table in unit.power:
            yield f"power of {shown}", table.source
    yield "power of the memory", chip.memory.power.source
    yield "power of the board", chip.board_source

"""Times of transferring a tensor from one unit to another, and of a unit's writing and reading of
channels (tau_w and tau_r of Tang Eq. 7)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.units import PS_PER_NS, TRAFFIC_PER_BYTE
from paretosoc.fitness.costs.measured import last_groups
from paretosoc.platforms.measurement import NetworkProfile
from paretosoc.platforms.platform import Platform, Transition, Unit
from paretosoc.platforms.source import round_half_up
from paretosoc.results.problem.parts import ChannelCosts
from paretosoc.sdf.grouping.groups import GroupedNetwork


def transition_times(
    network: GroupedNetwork,
    platform: Platform,
    units: Sequence[Unit],
    precision: str,
    profiles: Sequence[NetworkProfile],
) -> IntArray:
    """Return tau_out(u) + tau_in(v) of HaX-CoNN Eq. 2 and 3, [edges, units, units], ps.

    Each part is bytes over bandwidth plus a fixed time, at the memory's fastest clock whatever the
    operating points, rounded half up. A profile that measured the transition after a group
    overrides it. Of several profiles the first wins. 0 on the diagonal.
    """
    result = np.zeros((len(network.edges), len(units), len(units)), dtype=np.int64)
    for number, edge in enumerate(network.edges):
        pairs = [(unit, precision) for unit in units]
        result[number] = passing_ps(platform, pairs, edge.elements)
    place = {unit.name: index for index, unit in enumerate(units)}
    for profile in reversed(profiles):
        ends = last_groups(network, profile)
        for measured in profile.transitions:
            if measured.source_unit not in place or measured.target_unit not in place:
                continue
            row, column = place[measured.source_unit], place[measured.target_unit]
            after = measured.after if isinstance(measured.after, str) else ends.get(measured.after)
            for number, edge in enumerate(network.edges):
                if after in (edge.source, network.groups[edge.source].name):
                    result[number, row, column] = measured.time_ps
    return result


def passing_ps(platform: Platform, ends: Sequence[tuple[Unit, str]], elements: int) -> IntArray:
    """Return the time of a tensor from one (unit, number format) to another, [ends, ends], ps.

    Between units it is written, and read, in the format of the first. On one unit it is converted:
    one launch, then it is read in the one format and written in the other, at the bandwidth that
    the unit has alone.
    """
    costs = platform.transition_by_unit
    peaks = [unit.peak_by_format.get(precision) for unit, precision in ends]
    widths = [None if peak is None else peak.bytes_per_element for peak in peaks]
    result = np.zeros((len(ends), len(ends)), dtype=np.int64)
    for row, (source, _) in enumerate(ends):
        for column, (target, _) in enumerate(ends):
            written, read = widths[row], widths[column]
            if row == column or written is None or read is None:
                continue
            if source.name == target.name:
                result[row, column] = _converting_ps(platform, source, elements * (written + read))
                continue
            result[row, column] = carried_ps(
                costs[source.name], costs[target.name], elements * written
            )
    return result


def carrying_ps(platform: Platform, units: Sequence[Unit], size: int) -> IntArray:
    """Return the time of so many bytes from one unit to another, [units, units], ps. A unit that is
    there several times passes them to itself in no time."""
    costs = platform.transition_by_unit
    rows = [
        [0 if a is b else carried_ps(costs[a.name], costs[b.name], size) for b in units]
        for a in units
    ]
    return np.array(rows, dtype=np.int64)


def carried_ps(out: Transition, into: Transition, size: int) -> int:
    """Return the time of so many bytes from one unit to another."""
    traffic = size * TRAFFIC_PER_BYTE
    return round_half_up(
        Fraction(traffic, out.out_bandwidth_kbps)
        + Fraction(traffic, into.in_bandwidth_kbps)
        + (out.out_fixed_ns + into.in_fixed_ns) * PS_PER_NS
    )


def _converting_ps(platform: Platform, unit: Unit, traffic: int) -> int:
    """Return the time of one launch and so many bytes. A unit with memory of its own has the
    memory's bandwidth."""
    bandwidth = platform.memory_peak_kbps * (unit.bandwidth_share or 1)
    time = Fraction(traffic * TRAFFIC_PER_BYTE) / bandwidth + unit.fixed_ns_per_layer * PS_PER_NS
    return round_half_up(time)


FS_PER_BYTE_AND_KBPS = 10**12
"""bytes / (kB/s) = 10^12 fs."""


def channel_costs(
    platform: Platform, unit: Unit, precision: str, index: dict[str, int]
) -> ChannelCosts:
    """Return times per token at every clock of the core that reads and writes: the unit's own, or
    the host of a hosted one.

    At the fastest clock a token takes its bytes over the platform's hand-over bandwidth. The core
    copies, so at other clocks it takes f0 / f times that. The fixed part of a hand-over is not part
    of Eq. 7. ``index``: domain name -> its number in the problem.
    """
    core = unit.clocks[0] if unit.host is None else unit.host
    transition = platform.transition_by_unit[unit.name]
    peak = unit.peak_by_format.get(precision)
    width = 0 if peak is None else peak.bytes_per_element
    ladder = platform.ladder_khz(core)
    busy = np.zeros(len(ladder), dtype=np.int64)
    for table in unit.power:
        if table.domain == core:
            busy += np.array(table.above_idle_mw, dtype=np.int64)
    return ChannelCosts(
        clock=index[core],
        write_fs=_per_token(width, transition.out_bandwidth_kbps, ladder),
        read_fs=_per_token(width, transition.in_bandwidth_kbps, ladder),
        busy_mw=busy,
    )


def _per_token(
    width: int, kbps: int, ladder: Sequence[int]
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    fastest = Fraction(width * FS_PER_BYTE_AND_KBPS, kbps)
    return np.array(
        [round_half_up(fastest * Fraction(ladder[-1], khz)) for khz in ladder], dtype=np.int64
    )

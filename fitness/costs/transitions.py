"""The time that passes where a tensor goes from one unit to another."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from common.arrays import IntArray
from common.units import PS_PER_NS
from fitness.costs.measured import last_groups
from platforms.io.exact_json import rounded_half_up
from platforms.measurement import NetworkProfile
from platforms.platform import Platform, Unit
from sdf.grouping.groups import GroupedNetwork

TRAFFIC_PER_BYTE = 10**9
"""bytes / (kB/s) = 10^9 ps."""


def transition_times(
    network: GroupedNetwork,
    platform: Platform,
    units: Sequence[Unit],
    precision: str,
    profiles: Sequence[NetworkProfile],
) -> IntArray:
    """[edges, units, units]: tau_out(u) + tau_in(v) of HaX-CoNN Eq. 2 and 3, ps.

    Each part is bytes over bandwidth plus a fixed time, at the memory's fastest clock whatever the
    operating points; rounded half up. A profile that measured the transition after a group
    overrides it; of several profiles the first wins. 0 on the diagonal.
    """
    result = np.zeros((len(network.edges), len(units), len(units)), dtype=np.int64)
    for number, edge in enumerate(network.edges):
        result[number] = passing_ps(platform, units, precision, edge.elements)
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


def passing_ps(
    platform: Platform, units: Sequence[Unit], precision: str, elements: int
) -> IntArray:
    """[units, units]: how long a tensor takes from one unit to another."""
    costs = {transition.unit: transition for transition in platform.transitions}
    widths = {
        unit.name: peak.bytes_per_element
        for unit in units
        for peak in unit.peaks
        if peak.precision == precision
    }
    result = np.zeros((len(units), len(units)), dtype=np.int64)
    for row, source in enumerate(units):
        for column, target in enumerate(units):
            if row == column or source.name not in widths or target.name not in widths:
                continue
            out, into = costs[source.name], costs[target.name]
            traffic = elements * widths[source.name] * TRAFFIC_PER_BYTE
            result[row, column] = rounded_half_up(
                Fraction(traffic, out.out_bandwidth_kbps)
                + Fraction(traffic, into.in_bandwidth_kbps)
                + (out.out_fixed_ns + into.in_fixed_ns) * PS_PER_NS
            )
    return result

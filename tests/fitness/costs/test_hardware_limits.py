"""Nothing is faster than the hardware: no group exceeds its unit's peak or the memory's bandwidth.

Only platforms that pass are here. The Jetsons do not: the estimate splits max(c, m) into shares of
c + m, which falls below c at slow clocks of the unit and below m at slow clocks of the memory; and
Table 5 of HaX-CoNN beats the FP16 peaks of the Orins.
"""

from __future__ import annotations

import numpy as np
import pytest

from fitness.cost_model.fusion import network_launches
from fitness.cost_model.support import supported_layers
from fitness.cost_model.tables import CostOrigin
from fitness.costs.network_costs import network_costs
from platforms.io.platform_file import load_platform
from sdf.catalogue.catalogue import load_network
from sdf.grouping.grouping import group_network

PASSING = (
    "jetson-agx-thor",
    "neurocube",
    "raspberry-pi-5-hailo-8",
    "raspberry-pi-5-hailo-8l",
    "rk3588",
    "snapdragon-865",
    "snapdragon-8-elite",
    "snapdragon-8-gen-3",
    "snapdragon-x-elite",
)
NETWORKS = ("resnet50", "mobilenet_v2", "googlenet", "inception_v3", "vgg19")
PS_PER_MS = 10**9
ROUNDING = 1.0005
"""Times are whole picoseconds, published ones have three digits."""


@pytest.mark.parametrize("name", PASSING)
def test_no_group_is_faster_than_the_hardware(name: str) -> None:
    platform = load_platform(name)
    form = platform.default_precision
    memory = platform.domain_by_name[platform.memory.domain].operating_points
    most = platform.memory.bytes_per_cycle * np.array([p.frequency_khz for p in memory])
    for network in NETWORKS:
        graph = load_network(network).graph
        layers = [actor.layer for actor in graph.actors if actor.layer]
        grouped = group_network(graph, supported_layers(layers, platform))
        launches = network_launches(grouped)
        for costs in network_costs(grouped, platform).units:
            unit = platform.unit_by_name[costs.unit]
            (peak,) = (p for p in unit.peaks if p.precision == form)
            own = platform.domain_by_name[unit.clocks[0]].operating_points
            rates = np.array([float(peak.macs_per_cycle * p.frequency_khz) for p in own])
            size = peak.bytes_per_element if unit.bandwidth_share else 0
            for index, group in enumerate(grouped.groups):
                if costs.origin[index] is CostOrigin.CANNOT_RUN:
                    continue
                time_ms = costs.time_ps[index] / PS_PER_MS
                least = group.macs / rates[:, None]
                assert (least <= time_ms * ROUNDING).all(), (network, costs.unit, group.name)
                moved = size * sum(item.elements for item in launches[index] if not item.is_free)
                assert (moved / most <= time_ms * ROUNDING).all(), (network, costs.unit, group.name)

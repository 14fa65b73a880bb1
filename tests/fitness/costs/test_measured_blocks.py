"""Layers that were measured together: fused ones, and parts of a network over several groups."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretosoc.fitness.cost_model.tables import CostOrigin, NetworkCosts
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.fitness.profiles.profile_file import read_profile
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import LayerKind
from tests.support.problems.small_networks import chain, layer, window

XAVIER = load_platform("jetson-agx-xavier")
CLOCKS = {"gpu": 1377, "dla": 1395.2, "cpu": 2265.6, "emc": 2133}
GPU, DLA0 = 1, 2
NAMES = ["a", "ar", "b", "c", "d", "s"]


def network() -> GroupedNetwork:
    conv = LayerKind.CONVOLUTION
    layers = [
        layer("a", conv, macs=10**9, parameters=1000, window=window()),
        layer("ar", LayerKind.ACTIVATION),
        layer("b", conv, macs=10**8, parameters=1000, window=window()),
        layer("c", LayerKind.POOLING, window=window()),
        layer("d", conv, macs=3 * 10**9, parameters=9000, window=window()),
        layer("s", LayerKind.SOFTMAX, writes=(1, 16, 1, 1)),
    ]
    return chain(layers, [2, 3, 4, 6])


def costs_of(**parts: Any) -> NetworkCosts:
    record = {"network": "net", "precision": "fp16", "clocks_mhz": CLOCKS, **parts}
    document = {
        "platform": XAVIER.name,
        "networks": [record | {"source": "own board", "status": "measured"}],
    }
    return network_costs(
        network(), XAVIER, profile=read_profile(json.dumps(document).encode(), XAVIER, "p")
    )


def fastest(costs: NetworkCosts, unit: int) -> list[int]:
    return [int(time[-1, -1]) for time in costs.units[unit].time_ps]


def test_an_activation_that_the_unit_launches_for_itself_must_have_been_measured() -> None:
    hard = replace(layer("ar", LayerKind.ACTIVATION), operation="HardSwish")
    conv = layer("a", LayerKind.CONVOLUTION, macs=10**9, parameters=1000, window=window())
    small = chain([conv, hard], [2])
    fusing = replace(
        XAVIER, units=tuple(replace(u, separate_operations=frozenset()) for u in XAVIER.units)
    )

    def origins(platform: Platform, *names: str) -> list[CostOrigin]:
        layers = [{"name": name, "ms": {"gpu": 3}} for name in names]
        record = {"network": "net", "precision": "fp16", "clocks_mhz": CLOCKS, "layers": layers}
        profile = {
            "platform": XAVIER.name,
            "networks": [record | {"source": "own board", "status": "measured"}],
        }
        read = read_profile(json.dumps(profile).encode(), platform, "p")
        return list(network_costs(small, platform, profile=read).units[GPU].origin)

    assert origins(XAVIER, "a") == [CostOrigin.ESTIMATED]
    assert origins(XAVIER, "a", "ar") == origins(fusing, "a") == [CostOrigin.MEASURED]


def test_groups_share_the_time_of_layers_measured_together_as_the_estimate_has_it() -> None:
    plain = fastest(costs_of(), GPU)
    costs = costs_of(layers=[{"names": ["b", "c"], "ms": {"gpu": 3}}])
    gpu = costs.units[GPU]
    measured = CostOrigin.MEASURED
    assert [origin is measured for origin in gpu.origin] == [False, True, True, False]
    times = fastest(costs, GPU)
    assert times[1] + times[2] == pytest.approx(3 * 10**9, abs=2)
    assert (times[0], times[3]) == (plain[0], plain[3])
    # Launches keep their fixed time, so the shares are those of the rest.
    assert times[1] > plain[1]
    assert times[2] > plain[2]


def test_the_softmax_at_the_end_need_not_have_been_measured() -> None:
    whole = costs_of(layers=[{"names": ["a", "ar", "b", "c", "d"], "ms": {"dla0": 9}}])
    assert set(whole.units[DLA0].origin) == {CostOrigin.MEASURED}
    assert sum(fastest(whole, DLA0)) == pytest.approx(9 * 10**9, abs=4)
    # But a launch in the middle must.
    part = costs_of(layers=[{"names": ["a", "ar", "b", "d"], "ms": {"dla0": 9}}])
    assert [o is CostOrigin.MEASURED for o in part.units[DLA0].origin] == [True, True, False, True]
    gap = costs_of(layers=[{"names": ["a", "c"], "ms": {"dla0": 9}}])
    assert [o is CostOrigin.MEASURED for o in gap.units[DLA0].origin] == [True, False, True, False]


def test_a_group_measured_itself_wins_and_only_where_it_was_measured() -> None:
    costs = costs_of(
        layers=[{"names": ["b", "c"], "ms": {"gpu": 3, "dla0": 4}}],
        groups=[
            {"name": "g1", "traffic_gbps": {"gpu": 50}, "notes": {"gpu": "counter"}},
            {"name": "g2", "ms": {"dla0": 5}, "power_mw": {"dla0": 700}},
        ],
    )
    gpu, dla = costs.units[GPU], costs.units[DLA0]
    assert fastest(costs, GPU)[1] + fastest(costs, GPU)[2] == pytest.approx(3 * 10**9, abs=2)
    assert gpu.demand_kbps[1, -1, -1] == 50_000_000
    assert gpu.note[1] == "own board; counter"
    assert fastest(costs, DLA0)[2] == 5 * 10**9
    assert dla.dynamic_mw[2, -1, -1] == 700
    # The GPU's bytes over the DLA's time.
    bytes_moved = gpu.demand_kbps[1, -1, -1] * fastest(costs, GPU)[1]
    assert dla.demand_kbps[1, -1, -1] == pytest.approx(bytes_moved / fastest(costs, DLA0)[1], abs=1)


@given(
    cuts=st.sets(st.integers(1, 4)),
    times=st.lists(st.integers(10**4, 10**5), min_size=5, max_size=5),
)
def test_any_partition_of_the_layers_gives_its_sum(cuts: set[int], times: list[int]) -> None:
    ends = [0, *sorted(cuts), 5]
    parts = [
        {"names": NAMES[start:end], "ms": {"gpu": times[index] / 100}}
        for index, (start, end) in enumerate(pairwise(ends))
    ]
    total = sum(times[: len(parts)]) * 10**7
    costs = costs_of(layers=parts)
    # A part that is only an activation joins the launch of its convolution.
    assert set(costs.units[GPU].origin) == {CostOrigin.MEASURED}
    assert sum(fastest(costs, GPU)) == pytest.approx(total, abs=4)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"layers": [{"names": ["a", "z"], "ms": {"gpu": 1}}]}, "there is no layer 'z'"),
        (
            {
                "layers": [
                    {"names": ["a", "b"], "ms": {"gpu": 1}},
                    {"name": "b", "ms": {"gpu": 1}},
                ]
            },
            "must name each once, got 'b' twice on gpu",
        ),
        ({"layers": [{"names": [], "ms": {"gpu": 1}}]}, "networks[0].layers[0].names must have"),
        ({"layers": [{"ms": {"gpu": 1}}]}, "networks[0].layers[0] must"),
        ({"groups": [{"names": ["g0"], "ms": {"gpu": 1}}]}, "networks[0].groups[0]"),
        ({"layers": [{"name": "a", "notes": {"npu": "x"}}]}, "notes must name a unit"),
    ],
)
def test_what_is_wrong_is_named(parts: dict[str, Any], expected: str) -> None:
    with pytest.raises(PlatformError) as caught:
        costs_of(**parts)
    assert expected in str(caught.value)


def test_layers_may_be_fused_otherwise_on_another_unit() -> None:
    costs = costs_of(
        layers=[
            {"names": ["a", "ar"], "ms": {"gpu": 1}},
            {"name": "a", "ms": {"dla0": 2}},
        ]
    )
    assert fastest(costs, GPU)[0] == 10**9
    assert fastest(costs, DLA0)[0] == 2 * 10**9

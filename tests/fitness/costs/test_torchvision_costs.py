"""Torchvision's networks on the boards: every layer runs somewhere, and groups have costs."""

from __future__ import annotations

from functools import lru_cache

import pytest

from paretosoc.fitness.cost_model.support import layer_support
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.grouping.network_view import layers_of

BOARDS = ["jetson-agx-xavier", "jetson-agx-orin"]
# The smallest of a family, and whether the DLA of the Xavier runs all, some or none of its groups.
ON_DLA = {
    "convnext_tiny": "none",
    "densenet169": "all",
    "efficientnet_b0": "all",
    "inception_v3": "all",
    "maxvit_t": "some",
    "mnasnet0_5": "all",
    "mobilenet_v3_small": "some",
    "regnet_x_400mf": "all",
    "resnet34": "all",
    "squeezenet1_0": "some",
    "swin_t": "none",
    "vgg11_bn": "all",
    "vit_b_32": "none",
}


@lru_cache(maxsize=len(ON_DLA))
def graph_of(name: str) -> SdfGraph:
    return load_network(name).graph


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("name", sorted(ON_DLA))
def test_groups_have_costs_wherever_they_run(name: str, board: str) -> None:
    platform = load_platform(board)
    graph = graph_of(name)
    support = layer_support(layers_of(graph), platform)
    assert support.table.any(axis=1).all()
    grouped = group_network(graph, support.table, groups=20)
    costs = network_costs(grouped, platform)
    index = {layer: number for number, layer in enumerate(support.layers)}
    for number, unit in enumerate(costs.units):
        runs = [
            all(support.table[index[layer.name], number] for layer in group.layers)
            for group in grouped.groups
        ]
        assert [bool((times > 0).all()) for times in unit.time_ps] == runs
        assert [bool((times == -1).all()) for times in unit.time_ps] == [not run for run in runs]
        assert [bool((demand > 0).all()) for demand in unit.demand_kbps] == runs
        if unit.unit in ("cpu", "gpu"):
            assert all(runs)
        elif board == "jetson-agx-xavier":
            share = "all" if all(runs) else "some" if any(runs) else "none"
            assert share == ON_DLA[name]


def test_attention_does_not_run_on_a_dla_and_says_why() -> None:
    platform = load_platform("jetson-agx-xavier")
    layers = layers_of(graph_of("vit_b_32"))
    support = layer_support(layers, platform)
    dla = support.units.index("dla0")
    reasons = {
        layer.operation: row[dla] for layer, row in zip(layers, support.reasons, strict=True)
        if row[dla] is not None
    }  # fmt: skip
    assert "LayerNormalization" in reasons["LayerNormalization"]
    assert "Gelu" in reasons["Gelu"]
    scores = [
        row[dla]
        for layer, row in zip(layers, support.reasons, strict=True)
        if layer.operation == "MatMul" and layer.parameters == 0
    ]
    assert len(scores) == 2 * 12
    assert all("a product of two activations" in (reason or "") for reason in scores)

"""Networks as graphs of operations, against what Mobile-I counts and against the layers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paretosoc.dse.papers.mobile_i.operation_graph import (
    OperationGraph,
    fused_groups,
    split_operations,
)
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.errors import GraphError


def operations(name: str, parts: int = 1) -> OperationGraph:
    return split_operations(fused_groups(load_network(name).graph), parts)


@pytest.mark.parametrize(
    ("name", "published", "off"),
    [
        ("inception_v1", (75, 155), 0),
        ("inception_v2", (87, 184), 4),
        ("inception_resnet_v2", (294, 410), 2),
        ("googlenet", (78, 159), 4),
        ("squeezenet", (34, 42), 4),
    ],
)
def test_vertices_and_edges_of_table_ii(name: str, published: tuple[int, int], off: int) -> None:
    graph = operations(name)
    assert abs(len(graph.operations) - published[0]) <= off
    assert abs(len(graph.edges) - published[1]) <= off


def test_parts_hold_all_channels_and_feed_what_needs_them() -> None:
    whole, split = operations("alexnet"), operations("alexnet", 3)
    shares: dict[int, Fraction] = {}
    for operation in split.operations:
        shares[operation.group] = shares.get(operation.group, Fraction(0)) + operation.share
    assert set(shares) == {operation.group for operation in whole.operations}
    assert set(shares.values()) == {Fraction(1)}
    names = [operation.name for operation in split.operations]
    sources = {name: [] for name in names}
    for edge in split.edges:
        sources[names[edge.target]].append(names[edge.source])
    # Normalisation reads across channels, pooling its own, a convolution all of them.
    assert sources["norm1/1"] == ["conv1/0", "conv1/1", "conv1/2"]
    assert sources["pool1/1"] == ["norm1/1"]
    assert sources["conv2/1"] == ["pool1/0", "pool1/1", "pool1/2"]
    per_edge = {(names[e.source], names[e.target]): e.elements for e in split.edges}
    assert per_edge["pool1/1", "conv2/1"] == 96 * 27 * 27 // 3


def test_a_concatenation_is_no_operation() -> None:
    graph = operations("squeezenet")
    names = [operation.name for operation in graph.operations]
    assert not any("Concat" in name or "concat" in name for name in names)
    inner = [edge for edge in graph.edges if edge.elements == 64 * 55 * 55]
    # Both halves of the first fire module feed the second one's only reader.
    assert len({edge.source for edge in inner}) >= 2


def test_no_parts_are_refused() -> None:
    with pytest.raises(GraphError, match="at least 1, got 0"):
        operations("agenet", 0)

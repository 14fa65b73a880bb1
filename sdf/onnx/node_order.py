"""Nodes of a model: their names, their order of execution, and which of them are needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.branches import captured_names
from paretosoc.sdf.onnx.file import normal_domain
from paretosoc.sdf.onnx.nodes import Node


class Namer:
    """Makes nodes with unique names."""

    def __init__(self, versions: dict[str, int]) -> None:
        self._versions = versions
        self._taken: set[str] = set()
        self._copies: Counter[str] = Counter()

    def nodes(self, protos: Iterable[Any]) -> list[Node]:
        """Return the nodes of a graph. The tensors that the graphs inside a node read count as its
        inputs."""
        return [self._node(index, proto) for index, proto in enumerate(protos)]

    def _node(self, index: int, proto: Any) -> Node:
        outputs = tuple(proto.output)
        base = proto.name or next(filter(None, outputs), f"{proto.op_type}_{index}")
        name = base
        while name in self._taken:
            self._copies[base] += 1
            name = f"{base}#{self._copies[base] + 1}"
        self._taken.add(name)
        domain = normal_domain(proto.domain)
        inputs = (*proto.input, *captured_names(proto))
        version = self._versions.get(domain, 1)
        return Node(name, proto.op_type, domain, version, inputs, outputs, proto)


def in_order(nodes: list[Node]) -> list[Node]:
    """Return the nodes with producers first. A given order that does so is kept.

    Raises:
        GraphError: on a tensor with two producers, or a circle.
    """
    producer: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in filter(None, node.outputs):
            if name in producer:
                raise GraphError(f"tensor {name!r} is computed by two nodes")
            producer[name] = index
    if all(
        producer.get(name, -1) < index for index, node in enumerate(nodes) for name in node.inputs
    ):
        return nodes
    import networkx as nx

    order: nx.DiGraph[int] = nx.DiGraph()
    order.add_nodes_from(range(len(nodes)))
    order.add_edges_from(
        (producer[name], index)
        for index, node in enumerate(nodes)
        for name in node.inputs
        if name in producer
    )
    try:
        return [nodes[index] for index in nx.lexicographical_topological_sort(order)]
    except nx.NetworkXUnfeasible:
        circle = nx.find_cycle(order)
        names = " -> ".join(nodes[source].name for source, _ in circle)
        raise GraphError(f"nodes wait for each other in a circle: {names}") from None


def needed(nodes: list[Node], outputs: list[str]) -> tuple[list[Node], int]:
    """Return the nodes that an output needs, and how many others there are."""
    wanted = set(outputs)
    kept = []
    for node in reversed(nodes):
        if wanted.intersection(filter(None, node.outputs)):
            wanted.update(node.inputs)
            kept.append(node)
    return kept[::-1], len(nodes) - len(kept)

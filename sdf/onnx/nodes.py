"""ONNX nodes and tensors as plain values: their names, their order of execution, which of them are
needed, and the graph that an ``If`` chooses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.file import normal_domain

Shape = tuple[int, ...]
Value = NDArray[Any]

# TensorProto.DataType of the format's specification.
FLOAT, INT8, INT32, INT64, STRING, BOOL, UINT8, FLOAT16 = 1, 3, 6, 7, 8, 9, 2, 10
_NARROW_BITS = {2: 8, 3: 8, 9: 8, 17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 25: 2, 26: 2}
_DTYPES: dict[int, Any] = {
    1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64,
    9: np.bool_, 10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64,
}  # fmt: skip
NUMPY_DTYPES = frozenset(map(np.dtype, _DTYPES.values()))
_BYTES = {1: 4, 4: 2, 5: 2, 6: 4, 7: 8, 10: 2, 11: 8, 12: 4, 13: 8, 14: 8, 15: 16, 16: 2}

MAX_TENSOR_ELEMENTS = 2**48
"""Elements. Anything above is a broken file, and would leave the integers of the cost model."""


@dataclass(frozen=True)
class Tensor:
    """The known facts of a tensor: its shape always, its value if it is small and constant."""

    shape: Shape
    dtype: int
    constant: bool = False
    value: Value | None = None
    stored_as: int = 0
    """The data type of a constant before it was dequantised, or 0 if that is its own."""

    @property
    def elements(self) -> int:
        """Return the number of elements."""
        return prod(self.shape)

    @property
    def narrow_bits(self) -> int:
        """Return the bits of an element that is stored in a byte or less, and 0 for wider types."""
        return _NARROW_BITS.get(self.stored_as or self.dtype, 0)

    @property
    def element_bytes(self) -> int:
        """Return the bytes of an element. Types below a byte, and strings, count as one byte."""
        return _BYTES.get(self.dtype, 1)


def numpy_dtype(dtype: int) -> Any:
    """Return the numpy type of a TensorProto data type, or None if numpy itself has none."""
    return _DTYPES.get(dtype)


def dtype_of(value: Value) -> int:
    """Return the TensorProto data type of an array."""
    for number, dtype in _DTYPES.items():
        if value.dtype == dtype:
            return number
    raise GraphError(f"an array of type {value.dtype} has no place in an ONNX graph")


@dataclass(frozen=True)
class Node:
    """A node: its operator, names of its tensors ("" for one that is left out), its attributes."""

    name: str
    operator: str
    domain: str
    opset: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    proto: Any

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """Return the attribute values. Strings are decoded."""
        from onnx import helper

        values: dict[str, Any] = {}
        for attribute in self.proto.attribute:
            value = helper.get_attribute_value(attribute)
            values[attribute.name] = value.decode() if isinstance(value, bytes) else value
        return values

    @property
    def label(self) -> str:
        """Return the name of the node in messages."""
        return f"node {self.name!r} ({self.operator})"

    def integer(self, name: str, default: int) -> int:
        """Return an integer attribute."""
        return int(self.attributes.get(name, default))

    def integers(self, name: str) -> Shape | None:
        """Return an attribute that is a list of integers, or None if it is absent."""
        values = self.attributes.get(name)
        return None if values is None else tuple(int(value) for value in values)

    def text(self, name: str, default: str) -> str:
        """Return a string attribute."""
        return str(self.attributes.get(name, default))

    def error(self, text: str) -> GraphError:
        """Return an error that names the node."""
        return GraphError(f"{self.label}: {text}")


def axis_in(node: Node, axis: int, rank: int) -> int:
    """Return ``axis`` counted from 0.

    Raises:
        GraphError: if the tensor of rank ``rank`` has no such axis.
    """
    if not -rank <= axis < rank:
        raise node.error(f"axis {axis} is outside a tensor of {rank} dimensions")
    return axis % rank


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


def captured_names(proto: Any) -> list[str]:
    """Return the tensors of the surrounding graph that the graphs in a node's attributes read, each
    once."""
    names: dict[str, None] = {}
    for graph in _graphs_of(proto):
        made = {tensor.name for tensor in graph.initializer}
        made.update(value.name for value in graph.input)
        for node in graph.node:
            for name in (*node.input, *captured_names(node)):
                if name and name not in made:
                    names[name] = None
            made.update(node.output)
        names.update((value.name, None) for value in graph.output if value.name not in made)
    return list(names)


def chosen_branch(node: Node, *, condition: bool) -> Any:
    """Return a copy of the branch that an ``If`` takes. Its results have the names of the node's.

    Tensors that the branch makes itself get the node's name in front, so that none of them has
    the name of another one.

    Raises:
        GraphError: if the branch is missing, or has another number of results.
    """
    from onnx import GraphProto, helper

    given = node.attributes.get("then_branch" if condition else "else_branch")
    if given is None or len(given.output) < len(node.outputs):
        raise node.error("the branch it takes is missing, or has too few results")
    branch = GraphProto.FromString(given.SerializeToString())
    made = [tensor.name for tensor in branch.initializer]
    made += [name for inner in branch.node for name in inner.output if name]
    names = {name: f"{node.name}/{name}" for name in made}
    results = [(name, value.name) for name, value in zip(node.outputs, branch.output, strict=False)]
    computed = {name for inner in branch.node for name in inner.output}
    direct = {inner: name for name, inner in results if name and inner in computed}
    _rename(branch, {**names, **direct})
    for name, inner in results:
        if name and direct.get(inner) != name:
            source = direct.get(inner, names.get(inner, inner))
            branch.node.append(
                helper.make_node("Identity", [source], [name], name=f"{node.name}/{inner}")
            )
    return branch


def _rename(graph: Any, names: Mapping[str, str]) -> None:
    for tensor in (*graph.initializer, *graph.value_info):
        tensor.name = names.get(tensor.name, tensor.name)
    for node in graph.node:
        for field in (node.input, node.output):
            renamed = [names.get(name, name) for name in field]
            del field[:]
            field.extend(renamed)
        for inner in _graphs_of(node):
            # A tensor that an inner graph makes is its own, whatever its name.
            own = {tensor.name for tensor in inner.initializer}
            own.update(value.name for value in inner.input)
            own.update(name for made in inner.node for name in made.output)
            outer = {old: new for old, new in names.items() if old not in own}
            _rename(inner, outer)
            for value in inner.output:
                value.name = outer.get(value.name, value.name)


def _graphs_of(proto: Any) -> list[Any]:
    found = [attribute.g for attribute in proto.attribute if attribute.HasField("g")]
    return found + [graph for attribute in proto.attribute for graph in attribute.graphs]

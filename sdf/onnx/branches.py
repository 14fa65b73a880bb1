"""The graph that an ``If`` chooses, as nodes that can stand in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paretosoc.sdf.onnx.nodes import Node


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

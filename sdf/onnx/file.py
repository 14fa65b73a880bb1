"""Turn bytes into an ONNX model that is safe to walk: parsed, checked, functions inlined."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paretosoc.common.text import has_control_characters, shortened
from paretosoc.sdf.errors import GraphError

_MAX_INLINED_BYTES = 1_000_000
"""Nodes; calls that call calls could otherwise fill the memory from a file of a few kilobytes."""


def parse_model(data: bytes, folder: Path | None) -> Any:
    """Return an ``onnx.ModelProto`` whose graph has nodes, and no local functions left.

    ``folder`` is the file's folder. Tensors may refer to data there and below, nowhere else (None:
    not at all).

    Raises:
        GraphError: if the bytes are not an ONNX model or hold something that cannot be analysed.
    """
    import onnx
    from google.protobuf.message import DecodeError

    if not data:
        raise GraphError("the file is empty")
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError:
        raise GraphError("not an ONNX model (the bytes do not parse), or cut off") from None
    if not model.graph.node:
        raise GraphError("not an ONNX model, or one without any node")
    _check_opsets(model)
    _check_external_data(model, folder)
    if model.functions:
        _check_calls(model)
        from onnx import inliner

        model = inliner.inline_local_functions(model)
    _check_names(model.graph)
    return model


def _check_names(graph: Any) -> None:
    """Refuse control characters in names that may be printed or written to files: those of nodes,
    tensors, operators and dimensions."""
    for node in graph.node:
        for name in (node.name, node.op_type, node.domain, *node.input, *node.output):
            _check_name(name)
        for attribute in node.attribute:
            for inner in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
                _check_names(inner)
    for tensor in graph.initializer:
        _check_name(tensor.name)
    for value in (*graph.input, *graph.output, *graph.value_info):
        _check_name(value.name)
        for dimension in value.type.tensor_type.shape.dim:
            _check_name(dimension.dim_param)


def _check_name(name: str) -> None:
    if has_control_characters(name):
        raise GraphError(f"names must not have control characters, got {shortened(name)!r}")


def normal_domain(domain: str) -> str:
    """Return the domain of an operator set. ONNX's own has two spellings."""
    return "" if domain == "ai.onnx" else domain


def opset_versions(model: Any) -> dict[str, int]:
    """Return the version by domain. The default domain has version 1 if the file gives none."""
    versions = {normal_domain(entry.domain): entry.version for entry in model.opset_import}
    versions.setdefault("", 1)
    return versions


def _check_opsets(model: Any) -> None:
    from onnx import defs

    versions = opset_versions(model)
    version, newest = versions[""], defs.onnx_opset_version()
    for domain, number in versions.items():
        if not 0 < number < 2**31:
            raise GraphError(f"the version {number} of the operator set {domain!r} is absurd")
    if not 1 <= version <= newest:
        raise GraphError(
            f"opset {version} is not known; the installed onnx package knows 1 to {newest}"
        )


def _check_external_data(model: Any, folder: Path | None) -> None:
    for tensor in _tensors(model):
        for entry in tensor.external_data:
            if entry.key != "location":
                continue
            place = f"tensor {tensor.name!r} refers to the file {entry.value!r}"
            if folder is None:
                raise GraphError(f"{place}, but the model has no folder")
            base = folder.resolve()
            try:
                inside = (base / entry.value).resolve().is_relative_to(base)
            except (OSError, ValueError, RuntimeError):
                inside = False
            if not inside or Path(entry.value).is_absolute():
                raise GraphError(f"{place}, which is outside the model's folder")


def _tensors(model: Any) -> Iterator[Any]:
    """Yield every tensor of the model, also those in attributes, subgraphs and functions."""
    graphs = [model.graph]
    nodes = [node for function in model.functions for node in function.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            for sparse in graph.sparse_initializer:
                yield from (sparse.values, sparse.indices)
            nodes.extend(graph.node)
            continue
        for attribute in nodes.pop().attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from (sparse.values, sparse.indices)
            if attribute.HasField("g"):
                graphs.append(attribute.g)
            graphs.extend(attribute.graphs)


def _check_calls(model: Any) -> None:
    """Refuse functions that call each other in a circle, or expand without measure."""
    functions = {
        (normal_domain(function.domain), function.name): function for function in model.functions
    }
    sizes: dict[tuple[str, str], int] = {}
    active: set[tuple[str, str]] = set()

    def size_of(nodes: Any, depth: int) -> int:
        total = 0
        for node in nodes:
            key = (normal_domain(node.domain), node.op_type)
            if key not in functions:
                total += 1
                continue
            if key in active or depth > 200:
                raise GraphError(f"local function {key[1]!r} calls itself")
            if key not in sizes:
                active.add(key)
                sizes[key] = size_of(functions[key].node, depth + 1)
                active.remove(key)
            total += sizes[key]
        return total

    size = size_of(model.graph.node, 0)
    if size > _MAX_INLINED_BYTES:
        raise GraphError(
            f"with its local functions inlined the model has {size} nodes; at most "
            f"{_MAX_INLINED_BYTES} are taken"
        )

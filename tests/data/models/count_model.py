"""Counts a model's work from the shapes that its tensors have in a run of ONNX Runtime.

Shares nothing with ``sdf.onnx``. A node counts as a layer unless its results are known before the
network runs: all its inputs are constant, or it only asks for a shape. Quantise and dequantise
nodes are no layers; what they surround is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Shape = tuple[int, ...]
_QUANTISERS = ("QuantizeLinear", "DequantizeLinear")
_RESHAPES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout")
_NARROW = {2: 8, 3: 8, 9: 8, 21: 4, 22: 4}
"""Bits of the types that stay as they are stored; all others are read in 32 bits."""
_TABLES = {
    "EmbedLayerNormalization": (2, 3, 4),
    "QEmbedLayerNormalization": (2, 3, 4), "RotaryEmbedding": (2, 3), "GroupQueryAttention": (7, 8),
}  # fmt: skip
"""Inputs of which a row is read for every token."""


def count_model(model: Any, dimensions: dict[str, int], feeds: dict[str, Any]) -> dict[str, Any]:
    """Layers, multiply-accumulates, constants read and activations written."""
    graph = model.graph
    shapes = _shapes_in_a_run(model, dimensions, feeds)
    for tensor in graph.initializer:
        shapes[tensor.name] = (tuple(tensor.dims), tensor.data_type)
    constant = {tensor.name for tensor in graph.initializer}
    nodes = []
    for node in _needed(graph):
        read = [name for name in node.input if name]
        if node.op_type in ("Shape", "Size") or all(name in constant for name in read):
            constant.update(filter(None, node.output))
        else:
            nodes.append(node)
    same = {node.output[0]: node.input[0] for node in nodes if node.op_type in _QUANTISERS}
    stored = {n.output[0]: n.input[0] for n in graph.node if n.op_type == "DequantizeLinear"}
    layers = [node for node in nodes if node.op_type not in _QUANTISERS]
    used = {value.name for value in graph.output}
    used.update(name for node in nodes for name in node.input)

    def origin(name: str) -> str:
        while name in same:
            name = same[name]
        return name

    results = {origin(value.name) for value in graph.output}
    read_by_layers = {origin(name) for node in layers for name in node.input} | results
    parameters = weight_bits = 0
    for node in layers:
        count, bits = _constants(node, constant, stored, shapes)
        parameters += count
        weight_bits += bits
    return {
        "layers": len(layers),
        "macs": sum(_macs(node, shapes) for node in layers),
        "parameters": parameters,
        "weight_bytes": weight_bits // 8,
        "activations": sum(
            _written(node, name, shapes)
            for node in layers
            for name in node.output
            if name and name in read_by_layers
        ),
    }


def _written(node: Any, name: str, shapes: dict[str, tuple[Shape, int]]) -> int:
    shape = shapes[name][0]
    if node.op_type == "GroupQueryAttention" and len(shape) == 4:
        # The cache is extended in place by the new tokens.
        return shape[0] * shape[1] * shapes[node.input[0]][0][1] * shape[3]
    return prod(shape)


def _constants(
    node: Any, constant: set[str], stored: dict[str, str], shapes: dict[str, Any]
) -> tuple[int, int]:
    """Elements and bits of the constants that a layer reads, bits as the file stores them."""
    if node.op_type in _RESHAPES:
        return 0, 0
    fetched = prod(shapes[node.output[0]][0])
    elements = bits = 0
    for index, name in enumerate(dict.fromkeys(node.input)):
        if name not in constant:
            continue
        kept = stored.get(name, name)
        count, width = prod(shapes[name][0]), _NARROW.get(shapes[kept][1], 32)
        if node.op_type in ("Gather", "GatherElements", "GatherND"):
            count = min(count, fetched)
        if node.op_type == "GatherBlockQuantized":
            count = min(count, prod(shapes[node.input[1]][0]) * prod(shapes[name][0][1:]))
        if list(node.input).index(name) in _TABLES.get(node.op_type, ()):
            data = shapes[node.input[0]][0]
            tokens = data[0] * (data[2] if len(data) == 4 else data[1])
            count = min(count, tokens * shapes[name][0][1])
        size = count * width
        values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "MatMulNBits" and index == 1:
            count = values["K"] * values["N"]
        elements += count
        bits += size
    return elements, bits


def _shapes_in_a_run(
    model: Any, dimensions: dict[str, int], feeds: dict[str, Any]
) -> dict[str, tuple[Shape, int]]:
    import onnxruntime

    seen = onnx.ModelProto()
    seen.CopyFrom(model)
    known = {value.name for value in seen.graph.output}
    made = [name for node in seen.graph.node for name in node.output if name]
    seen.graph.output.extend(onnx.ValueInfoProto(name=n) for n in made if n not in known)
    held = {tensor.name for tensor in model.graph.initializer}
    given = {}
    for value in model.graph.input:
        if value.name in held:
            continue
        kind = value.type.tensor_type
        sizes = [size.dim_value or _size(size.dim_param, dimensions) for size in kind.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        values = feeds.get(value.name, np.ones(sizes))
        given[value.name] = np.asarray(values).astype(dtype)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    with TemporaryDirectory() as folder:
        path = Path(folder) / "seen.onnx"
        onnx.save(seen, path)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_outputs()]
        results = session.run(names, given)
    shapes = {
        name: (result.shape, helper.np_dtype_to_tensor_dtype(result.dtype))
        for name, result in zip([*names, *given], [*results, *given.values()], strict=True)
    }
    for node in model.graph.node:
        if node.op_type == "NonMaxSuppression":
            # How many boxes are left depends on the data: the most that there can be.
            batch, classes, boxes = shapes[node.input[1]][0]
            limit = next(t for t in model.graph.initializer if t.name == node.input[2])
            most = min(boxes, int(numpy_helper.to_array(limit).item()))
            shapes[node.output[0]] = ((batch * classes * most, 3), TensorProto.INT64)
    return shapes


def _size(name: str, dimensions: dict[str, int]) -> int:
    """Of a dynamic dimension; names may be sums of others. What is not given is the batch."""
    return sum(
        int(part) if part.strip().isdigit() else dimensions.get(part.strip(), 1)
        for part in name.split("+")
    )


def _needed(graph: Any) -> list[Any]:
    wanted = {value.name for value in graph.output}
    kept = []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            wanted.update(node.input)
            kept.append(node)
    return kept[::-1]


def _macs(node: Any, shapes: dict[str, tuple[Shape, int]]) -> int:
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    inputs = [shapes[name][0] if name else None for name in node.input]
    outputs = [shapes[name][0] if name else None for name in node.output]
    operator = node.op_type
    if operator in ("Attention", "QAttention", "MultiHeadAttention", "GroupQueryAttention"):
        kind = f"{node.domain}.{operator}".removeprefix(".")
        return _ATTENTION[kind](attributes, inputs, outputs)
    count = _MACS.get(operator)
    return 0 if count is None else count(attributes, inputs, prod(outputs[0]))


def _inner(attributes: dict[str, Any], left: Shape) -> int:
    return left[-2] if attributes.get("transA") else left[-1]


_MACS: dict[str, Callable[[dict[str, Any], list[Any], int], int]] = {
    **dict.fromkeys(
        ["Conv", "ConvInteger", "FusedConv"], lambda _, given, size: size * prod(given[1][1:])
    ),
    "QLinearConv": lambda _, given, size: size * prod(given[3][1:]),
    "ConvTranspose": lambda _, given, size: prod(given[0]) * prod(given[1][1:]),
    **dict.fromkeys(
        ["MatMul", "MatMulInteger", "QLinearMatMul", "FusedMatMul", "Gemm", "QGemm", "FusedGemm",
         "DynamicQuantizeMatMul", "MatMulIntegerToFloat", "MatMulNBits"],
        lambda more, given, size: size * _inner(more, given[0]),
    ),
    "LSTM": lambda more, given, _: prod(given[0][:2]) * (prod(given[1]) + prod(given[2])),
    "GRU": lambda more, given, _: prod(given[0][:2]) * (prod(given[1]) + prod(given[2])),
}  # fmt: skip


def _onnx_attention(more: dict[str, Any], given: list[Any], made: list[Any]) -> int:
    query, key, value = given[:3]
    past = given[4][2] if len(given) > 4 and given[4] else 0
    if len(query) == 4:
        return prod(query[:3]) * (key[2] + past) * (query[3] + value[3])
    heads, groups = more["q_num_heads"], more["kv_num_heads"]
    width = query[2] // heads + value[2] // groups
    return query[0] * query[1] * heads * (key[1] + past) * width


def _quantised_attention(more: dict[str, Any], given: list[Any], made: list[Any]) -> int:
    past = [given[8]] if len(given) > 8 else []
    return _attention(more, [*given[:2], None, None, *past], made)


def _attention(more: dict[str, Any], given: list[Any], made: list[Any]) -> int:
    """With the three projections."""
    (batch, length, hidden), width = given[0], given[1][1] // 3
    past = given[4][3] if len(given) > 4 and given[4] else 0
    return batch * length * (hidden * 3 * width + (length + past) * 2 * width)


def _multi_head(more: dict[str, Any], given: list[Any], made: list[Any]) -> int:
    (batch, length, hidden), key = given[0], given[1]
    past = given[6][2] if len(given) > 6 and given[6] else 0
    keys = key[2] if len(key) == 4 else key[1]
    return batch * length * hidden * 2 * (keys + past)


def _grouped(more: dict[str, Any], given: list[Any], made: list[Any]) -> int:
    batch, length = given[0][:2]
    _, _, total, size = made[1]
    return int(batch * length * more["num_heads"] * total * 2 * size)


_ATTENTION = {
    "Attention": _onnx_attention,
    "com.microsoft.Attention": _attention,
    "com.microsoft.QAttention": _quantised_attention,
    "com.microsoft.MultiHeadAttention": _multi_head,
    "com.microsoft.GroupQueryAttention": _grouped,
}

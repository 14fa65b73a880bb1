"""An exported model reduced to its layers: weights become shapes, constant parts are removed.

The nodes that an exporter writes around the layers (arithmetic on shapes, tables computed from
weights, copies that change nothing) are computed before a network runs. Batch normalisation that
follows a convolution is folded into its weights and bias, as every inference framework does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.file import normal_domain, opset_versions, parse_model
from paretosoc.sdf.onnx.importer import model_errors
from paretosoc.sdf.onnx.nodes import FLOAT, Node, Tensor
from paretosoc.sdf.onnx.walk import Walk, walk_model

_IR_VERSION = 8
_CAN_BE_NOTHING = frozenset({"Identity", "Dropout", "Pad", "Slice", "Expand"})


@dataclass(frozen=True)
class _Kept:
    """A layer as it is written: its tensors by their names in the given model."""

    node: Node
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    new_bias: int = 0
    """Elements of a bias that the node had not before."""


def strip_model(data: bytes, *, name: str, activations: int = 1) -> bytes:
    """Return the model with its layers alone, the same bytes every time.

    Weights and all constants but integers keep their shapes and lose their values. Integers say how
    tensors are cut and joined, and factors of a Resize how large they become.

    Args:
        data: an ONNX model of static shapes. Its weights may be inputs of the graph.
        name: of the graph.
        activations: how many of the graph's inputs are no weights. They come first.

    Raises:
        GraphError: if the model cannot be read, or a graph input among the weights has no shape.
    """
    with model_errors(name):
        model = parse_model(data, None)
        _take_weights_from_inputs(model, activations)
        walk = walk_model(model, {})
        if walk.warnings:
            raise GraphError("; ".join(walk.warnings))
        kept = _without_nothing(walk)
        kept = _folded(kept, walk)
        written: bytes = _written(model, walk, kept, name).SerializeToString(deterministic=True)
        return written


def short_name(name: str) -> str:
    """Return a layer's name without the repetitions of an exporter: ``/layer1/layer1.0/conv1/Conv``
    becomes ``layer1.0/conv1/Conv``."""
    parts = [part for part in name.split("/") if part]
    kept = [
        part
        for index, part in enumerate(parts)
        if index + 1 == len(parts) or not parts[index + 1].startswith(f"{part}.")
    ]
    return "/".join(kept)


def _take_weights_from_inputs(model: Any, activations: int) -> None:
    """Turn inputs of the graph after the first ``activations`` into initializers without values."""
    from onnx import TensorProto

    held = {tensor.name for tensor in model.graph.initializer}
    given = [value for value in model.graph.input if value.name not in held]
    for value in given[activations:]:
        tensor = value.type.tensor_type
        if not all(size.HasField("dim_value") for size in tensor.shape.dim):
            raise GraphError(f"weight {value.name!r} has no fixed shape")
        dims = [size.dim_value for size in tensor.shape.dim]
        model.graph.initializer.append(
            TensorProto(name=value.name, data_type=tensor.elem_type, dims=dims)
        )
    first = [type(value).FromString(value.SerializeToString()) for value in given[:activations]]
    del model.graph.input[:]
    model.graph.input.extend(first)


def _without_nothing(walk: Walk) -> list[_Kept]:
    """Return the layers except those that pass on their input unchanged."""
    same: dict[str, str] = {}
    kept = []
    for node in walk.layers:
        inputs = tuple(same.get(name, name) for name in node.inputs)
        if _does_nothing(node, walk) and node.outputs[0] not in walk.outputs:
            same[node.outputs[0]] = inputs[0]
        else:
            kept.append(_Kept(node, inputs, node.outputs))
    return kept


def _does_nothing(node: Node, walk: Walk) -> bool:
    if node.domain or node.operator not in _CAN_BE_NOTHING:
        return False
    source, result = walk.tensors[node.inputs[0]], walk.tensors[node.outputs[0]]
    if source.constant or source.shape != result.shape:
        return False
    if node.operator == "Pad":
        return _all(walk, node, 1, lambda number: number == 0)
    if node.operator == "Slice":
        return len(node.inputs) < 5 or _all(walk, node, 4, lambda number: number > 0)
    return True


def _all(walk: Walk, node: Node, index: int, test: Any) -> bool:
    value = walk.tensors[node.inputs[index]].value if index < len(node.inputs) else None
    return value is not None and all(test(int(number)) for number in value.reshape(-1))


def _folded(layers: list[_Kept], walk: Walk) -> list[_Kept]:
    """Fold batch normalisations that alone read a convolution into it."""
    readers = Counter(name for layer in layers for name in set(layer.inputs))
    readers.update(walk.outputs)
    producer: dict[str, int] = {}
    result: list[_Kept] = []
    for layer in layers:
        source = producer.get(layer.inputs[0])
        if (
            layer.node.operator == "BatchNormalization"
            and source is not None
            and result[source].node.operator == "Conv"
            and readers[layer.inputs[0]] == 1
        ):
            convolution = result[source]
            # An empty name means an input that is left out.
            given = tuple(name for name in convolution.inputs if name)
            bias = walk.tensors[given[1]].shape[0] if len(given) < 3 else 0
            result[source] = replace(
                convolution, inputs=given, outputs=layer.outputs[:1], new_bias=bias
            )
            producer[layer.outputs[0]] = source
            continue
        producer.update(dict.fromkeys(layer.outputs, len(result)))
        result.append(layer)
    return result


def _written(model: Any, walk: Walk, layers: list[_Kept], name: str) -> Any:
    import onnx
    from onnx import helper

    names = dict.fromkeys(("",), "") | dict.fromkeys(walk.inputs[:1], "data")
    taken: set[str] = {"data"}
    nodes, weights = [], []
    for layer in layers:
        own = _unique(short_name(layer.node.name), taken)
        inputs = []
        for index, tensor in enumerate(layer.inputs):
            if tensor and walk.tensors[tensor].constant:
                exact = layer.node.operator == "Resize"
                weights.append(_constant(f"{own}:{index}", walk.tensors[tensor], exact=exact))
                inputs.append(weights[-1].name)
            else:
                inputs.append(names.setdefault(tensor, tensor))
        if layer.new_bias:
            weights.append(_constant(f"{own}:2", Tensor((layer.new_bias,), FLOAT, True)))
            inputs.append(weights[-1].name)
        for index, tensor in enumerate(layer.outputs):
            if tensor:
                names[tensor] = names.get(tensor) or (f"{own}>{index}" if index else own)
        node = onnx.NodeProto.FromString(layer.node.proto.SerializeToString())
        node.name = own
        node.doc_string = ""
        del node.input[:], node.output[:]
        node.input.extend(inputs)
        node.output.extend(names[tensor] for tensor in layer.outputs)
        nodes.append(node)
    graph = helper.make_graph(
        nodes,
        name,
        [_described(names, walk, tensor) for tensor in walk.inputs],
        [_described(names, walk, tensor) for tensor in walk.outputs],
        initializer=weights,
    )
    opsets = [
        helper.make_opsetid(domain, version)
        for domain, version in sorted(opset_versions(model).items())
        if any(normal_domain(node.domain) == domain for node in nodes)
    ]
    return helper.make_model(graph, ir_version=_IR_VERSION, opset_imports=opsets)


def _unique(name: str, taken: set[str]) -> str:
    own, copy = name, 2
    while own in taken:
        own, copy = f"{name}#{copy}", copy + 1
    taken.add(own)
    return own


def _constant(name: str, tensor: Tensor, *, exact: bool = False) -> Any:
    """Return a tensor as a constant: known whole numbers by value, everything else by shape unless
    it must be exact, as factors of a size must."""
    from onnx import TensorProto, numpy_helper

    if tensor.value is not None and (exact or tensor.value.dtype.kind in "iu"):
        return numpy_helper.from_array(tensor.value, name)
    return TensorProto(name=name, data_type=tensor.dtype, dims=tensor.shape)


def _described(names: dict[str, str], walk: Walk, tensor: str) -> Any:
    from onnx import helper

    known = walk.tensors[tensor]
    return helper.make_tensor_value_info(names.setdefault(tensor, tensor), known.dtype, known.shape)

"""What a node costs: multiply-accumulates, constants and activations of one layer.

Multiply-accumulates are counted for convolutions, matrix products, attention and recurrent layers,
without biases, as is usual; all other layers cost the bytes that they move. A look-up in a constant
table reads what it fetches, not the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdf.layer import Layer, LayerKind, Window
from sdf.onnx.compute_shapes import Inputs, convolution_window, weight_index
from sdf.onnx.einsum import einsum
from sdf.onnx.nodes import Node, Shape, Tensor, axis_in
from sdf.onnx.op_kinds import CONTRIBUTED_DOMAIN, kind_of, operation_name
from sdf.onnx.windows import pooling_window


def make_layer(
    node: Node, inputs: Inputs, outputs: Sequence[Tensor], result_elements: int = 0
) -> Layer:
    """The layer of a node. ``outputs`` are those that are read.

    ``result_elements``: of the outputs, those that are results of the network and read by other
    layers too.
    """
    kind = kind_of(node.domain, node.operator)
    activations = _distinct(node, inputs, constant=False)
    return Layer(
        name=node.name,
        operation=operation_name(node.domain, node.operator),
        kind=kind,
        macs=_macs(node, kind, inputs, outputs),
        parameters=_parameters(node, kind, inputs, outputs),
        input_elements=sum(tensor.elements for tensor in activations),
        output_elements=sum(tensor.elements for tensor in outputs),
        input_shapes=tuple(tensor.shape for tensor in activations),
        output_shapes=tuple(tensor.shape for tensor in outputs),
        window=_window(node, kind, inputs),
        axis=_axis(node, kind, inputs),
        result_elements=result_elements,
    )


def _distinct(node: Node, inputs: Inputs, *, constant: bool) -> list[Tensor]:
    """Input tensors, each once, however often the node names it."""
    tensors = dict(zip(node.inputs, inputs, strict=True))
    return [tensor for tensor in tensors.values() if tensor and tensor.constant is constant]


def _parameters(node: Node, kind: LayerKind, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    if kind is LayerKind.RESHAPE:
        return 0
    constants = _distinct(node, inputs, constant=True)
    if node.operator in ("Gather", "GatherElements", "GatherND"):
        fetched = sum(tensor.elements for tensor in outputs)
        return sum(min(tensor.elements, fetched) for tensor in constants)
    return sum(tensor.elements for tensor in constants)


def _shape(inputs: Inputs, index: int) -> Shape | None:
    tensor = inputs[index] if index < len(inputs) else None
    return None if tensor is None else tensor.shape


def _macs(node: Node, kind: LayerKind, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    match kind:
        case LayerKind.CONVOLUTION:
            return _convolution_macs(node, inputs, outputs)
        case LayerKind.DECONVOLUTION:
            data, weight = _shape(inputs, 0), _shape(inputs, 1)
            # Every input element meets all its channel's weights.
            return 0 if data is None or weight is None else prod(data) * prod(weight[1:])
        case LayerKind.MATRIX_PRODUCT:
            return _product_macs(node, inputs, outputs)
        case LayerKind.ATTENTION:
            return _attention_macs(node, inputs)
        case LayerKind.RECURRENT:
            return _recurrent_macs(node, inputs)
        case _:
            return 0


def _convolution_macs(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    weight = _shape(inputs, weight_index(node))
    return 0 if weight is None or not outputs else outputs[0].elements * prod(weight[1:])


def _product_macs(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    left = _shape(inputs, 0)
    if left is None or not outputs:
        return 0
    if node.operator == "Einsum":
        shapes = [tensor.shape for tensor in inputs if tensor is not None]
        return einsum(node.text("equation", ""), shapes).products
    if node.operator in ("Gemm", "FusedGemm", "QGemm"):
        rows = outputs[0].shape[0]
        return outputs[0].elements * (prod(left) // max(1, rows))
    transposed = node.domain == CONTRIBUTED_DOMAIN and node.integer("transA", 0) and len(left) > 1
    return outputs[0].elements * left[-2 if transposed else -1]


def _attention_macs(node: Node, inputs: Inputs) -> int:
    """Scores and weighted values: queries x keys x (query size + value size) over all heads."""
    query, key, value = (_shape(inputs, index) for index in range(3))
    if query is None:
        return 0
    if node.domain == CONTRIBUTED_DOMAIN and node.operator == "Attention":
        batch, length, hidden = query if len(query) == 3 else (1, *query[-2:])
        projected = key[-1] if key is not None else 3 * hidden
        # The projections of query, key and value are part of this operator.
        return batch * length * (hidden * projected + length * (projected - projected // 3))
    if len(query) == 5:
        batch, length, heads, _, size = query
        return 2 * batch * length * length * heads * size
    if key is None or value is None:
        return 0
    if len(query) == 4 and len(key) == 4 and len(value) == 4:
        batch, heads, length, size = query
        return batch * heads * length * key[2] * (size + value[3])
    batch, length, hidden = query if len(query) == 3 else (1, *query[-2:])
    heads = node.integer("q_num_heads", node.integer("num_heads", 1))
    value_heads = node.integer("kv_num_heads", heads)
    value_hidden = value[-1] // max(1, value_heads) * heads
    return batch * length * key[-2] * (hidden + value_hidden)


def _recurrent_macs(node: Node, inputs: Inputs) -> int:
    data, weight, recurrence = (_shape(inputs, index) for index in range(3))
    if data is None or weight is None or recurrence is None or len(data) != 3:
        return 0
    # The two leading dimensions are steps and batch, in either layout.
    return data[0] * data[1] * (prod(weight) + prod(recurrence))


def _window(node: Node, kind: LayerKind, inputs: Inputs) -> Window | None:
    data = _shape(inputs, 0)
    if data is None or len(data) < 3:
        return None
    weight = _shape(inputs, weight_index(node))
    if kind in (LayerKind.CONVOLUTION, LayerKind.DECONVOLUTION) and node.operator != "DeformConv":
        return None if weight is None else convolution_window(node, inputs)
    pools = node.operator.endswith(("AveragePool", "MaxPool", "LpPool"))
    if kind is LayerKind.POOLING and pools and "Linear" not in node.operator:
        return pooling_window(node, data)
    return None


def _axis(node: Node, kind: LayerKind, inputs: Inputs) -> int | None:
    data = _shape(inputs, 0)
    if data is None:
        return None
    if kind is LayerKind.CONCATENATION and node.domain == "":
        return axis_in(node, node.integer("axis", 1), len(data))
    if kind is LayerKind.SOFTMAX:
        return axis_in(node, node.integer("axis", 1 if node.opset < 13 else -1), len(data))
    return None

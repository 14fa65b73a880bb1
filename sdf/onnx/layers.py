"""The cost of a node: multiply-accumulates, constants and activations of one layer.

Multiply-accumulates are counted for convolutions, matrix products, attention and recurrent layers,
without biases, as is usual. All other layers cost the bytes that they move. Of constant
:mod:`~sdf.onnx.tables` the fetched entries are read. Constants of a byte or less are read as they
are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from paretosoc.sdf.layer import Layer, LayerKind, Window
from paretosoc.sdf.onnx.nodes import Node, Shape, Tensor, axis_in
from paretosoc.sdf.onnx.operators.attention import attention_of
from paretosoc.sdf.onnx.operators.einsum import einsum
from paretosoc.sdf.onnx.operators.op_kinds import CONTRIBUTED_DOMAIN, kind_of, operation_name
from paretosoc.sdf.onnx.operators.shape_rules import Inputs, convolution_window, weight_index
from paretosoc.sdf.onnx.operators.windows import pooling_window
from paretosoc.sdf.onnx.tables import read_elements


def make_layer(
    node: Node, inputs: Inputs, outputs: Sequence[Tensor], result_elements: int = 0
) -> Layer:
    """Return the layer of a node. ``outputs`` are the outputs that are read.

    ``result_elements``: of the outputs, those that are results of the network and read by other
    layers too.
    """
    kind = kind_of(node.domain, node.operator)
    if node.operator == "Transpose" and _keeps_order(node, inputs):
        kind = LayerKind.RESHAPE
    activations = _activations(node, inputs)
    constants = _constants(node, kind, inputs, outputs)
    narrow = [entry for entry in constants if entry.bits]
    return Layer(
        name=node.name,
        operation=operation_name(node.domain, node.operator),
        kind=kind,
        macs=_macs(node, kind, inputs, outputs),
        parameters=sum(entry.elements for entry in constants),
        input_elements=sum(tensor.elements for tensor in activations),
        output_elements=_written(node, inputs, outputs),
        input_shapes=tuple(tensor.shape for tensor in activations),
        output_shapes=tuple(tensor.shape for tensor in outputs),
        window=_window(node, kind, inputs),
        axis=_axis(node, kind, inputs),
        mode=_mode(node),
        result_elements=result_elements,
        narrow_parameters=sum(entry.elements for entry in narrow),
        narrow_bits=sum(entry.bits for entry in narrow),
    )


def _keeps_order(node: Node, inputs: Inputs) -> bool:
    """Return whether a transpose moves only dimensions of size 1, which moves no number."""
    sizes = _shape(inputs, 0) or ()
    order = node.integers("perm") or range(len(sizes))[::-1]
    kept = [place for place in order if sizes[place] != 1]
    return kept == sorted(kept)


def _written(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    if node.operator != "GroupQueryAttention":
        return sum(tensor.elements for tensor in outputs)
    # Past and present share their memory: only the new positions are written.
    found = attention_of(node, inputs)
    return sum(
        tensor.elements * found.queries // found.cached
        if len(tensor.shape) == 4
        else tensor.elements
        for tensor in outputs
    )


def _activations(node: Node, inputs: Inputs) -> list[Tensor]:
    """Return the input tensors that are computed, each once, however often the node names it."""
    tensors = dict(zip(node.inputs, inputs, strict=True))
    return [tensor for tensor in tensors.values() if tensor and not tensor.constant]


@dataclass(frozen=True)
class _Constant:
    """The part of a constant that a layer reads. ``bits`` is 0 if the number format decides it."""

    elements: int
    bits: int


def _constants(
    node: Node, kind: LayerKind, inputs: Inputs, outputs: Sequence[Tensor]
) -> list[_Constant]:
    if kind is LayerKind.RESHAPE:
        return []
    tensors = dict(zip(node.inputs, inputs, strict=True))
    found = []
    for name, tensor in tensors.items():
        if tensor is None or not tensor.constant:
            continue
        index = node.inputs.index(name)
        elements = read_elements(node, index, inputs, outputs)
        bits = elements * tensor.narrow_bits
        if node.operator == "MatMulNBits" and index == 1:
            elements = node.integer("K", 1) * node.integer("N", 1)
        found.append(_Constant(elements, bits))
    return found


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
            return attention_of(node, inputs).macs
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


def _mode(node: Node) -> str:
    if node.domain or node.operator not in ("Resize", "Upsample"):
        return ""
    mode = node.text("mode", "nearest")
    usual = "half_pixel" if node.operator == "Resize" and node.opset > 10 else "asymmetric"
    pixels = node.text("coordinate_transformation_mode", usual)
    return mode if mode != "linear" or pixels == "half_pixel" else f"{mode} {pixels}"

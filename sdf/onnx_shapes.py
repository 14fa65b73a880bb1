"""Shapes and types of a node's outputs from those of its inputs.

The common operators have rules of their own here: these also cover what the schemas of early
opsets leave open (broadcasting by attribute, ``Reshape`` by attribute) and check what ONNX's
shape inference divides by. All others are asked of ONNX's shape inference, one node at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from sdf.layer import LayerKind, Window
from sdf.onnx_nodes import BOOL, FLOAT, INT32, INT64, Node, Shape, Tensor, axis_in, dtype_of
from sdf.onnx_windows import pooling_window, slide, slide_back, window_of
from sdf.operations import CONTRIBUTED_DOMAIN, kind_of

Inputs = Sequence[Tensor | None]
Typed = tuple[Shape, int]
"""Shape and data type."""


def output_types(node: Node, inputs: Inputs) -> list[Typed | None]:
    """Shape and type of every output; None where neither a rule nor ONNX can tell.

    Raises:
        GraphError: if the inputs do not fit the operator.
    """
    rule = _rule_for(node)
    if rule is not None:
        known = list(rule(node, inputs))
        return [known[i] if i < len(known) else None for i in range(len(node.outputs))]
    return _asked_of_onnx(node, inputs)


def convolution_window(node: Node, inputs: Inputs) -> Window:
    """The window of a convolution or transposed convolution, groups included."""
    data, weight = _data(node, inputs), _weight(node, inputs)
    return window_of(node, data.shape[2:], weight.shape[2:], node.integer("group", 1))


def weight_index(node: Node) -> int:
    """Which input of a convolution or matrix product is the second factor."""
    return 3 if node.operator in ("QLinearConv", "QLinearMatMul", "QGemm") else 1


def _data(node: Node, inputs: Inputs) -> Tensor:
    if not inputs or inputs[0] is None:
        raise node.error("its first input is missing")
    return inputs[0]


def _weight(node: Node, inputs: Inputs) -> Tensor:
    index = weight_index(node)
    weight = inputs[index] if index < len(inputs) else None
    if weight is None:
        raise node.error(f"its input {index} is missing")
    data = _data(node, inputs)
    if node.operator.endswith(("Conv", "ConvInteger", "ConvTranspose")) and (
        len(data.shape) < 3 or len(weight.shape) != len(data.shape)
    ):
        raise node.error(f"data {list(data.shape)} and weight {list(weight.shape)} do not fit")
    return weight


def _same(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    return [(data.shape, data.dtype)] * len(node.outputs)


def _first_only(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    return [(data.shape, data.dtype)]


def _dropout(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    return [(data.shape, data.dtype), (data.shape, BOOL)]


def _broadcast(node: Node, inputs: Inputs) -> list[Typed]:
    tensors = [tensor for tensor in inputs if tensor is not None]
    data = _data(node, inputs)
    if node.domain == "" and node.opset < 7 and node.operator not in ("Sum", "Mean", "Max", "Min"):
        return [(data.shape, data.dtype)]
    dtype = tensors[1].dtype if node.operator == "Where" and len(tensors) > 1 else data.dtype
    return [(_broadcast_shape(node, [tensor.shape for tensor in tensors]), dtype)]


def _broadcast_shape(node: Node, shapes: Sequence[Shape]) -> Shape:
    rank = max(len(shape) for shape in shapes)
    result = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1 and result[axis] not in (1, size):
                raise node.error(f"shapes {[list(s) for s in shapes]} cannot be broadcast")
            result[axis] = size if size != 1 else result[axis]
    return tuple(result)


def _compare(node: Node, inputs: Inputs) -> list[Typed]:
    return [(shape, BOOL) for shape, _ in _broadcast(node, inputs)]


def _cast(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    to = node.attributes.get("to", FLOAT)
    # Opset 1 spelt the type out.
    dtype = to if isinstance(to, int) else {"FLOAT": 1, "INT32": 6, "INT64": 7}.get(str(to), FLOAT)
    return [(data.shape, dtype)]


def _quantise(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    zero = inputs[2] if len(inputs) > 2 else None
    return [(data.shape, zero.dtype if zero is not None else node.integer("output_dtype", 2) or 2)]


def _dequantise(node: Node, inputs: Inputs) -> list[Typed]:
    scale = inputs[1] if len(inputs) > 1 else None
    return [(_data(node, inputs).shape, scale.dtype if scale is not None else FLOAT)]


def _convolution(node: Node, inputs: Inputs) -> list[Typed]:
    data, weight = _data(node, inputs), _weight(node, inputs)
    window = convolution_window(node, inputs)
    if weight.shape[1] * window.groups != data.shape[1] or weight.shape[0] % window.groups:
        raise node.error(
            f"weight {list(weight.shape)} with {window.groups} groups does not fit the "
            f"{data.shape[1]} input channels"
        )
    dtype = INT32 if node.operator == "ConvInteger" else data.dtype
    return [((data.shape[0], weight.shape[0], *slide(node, data.shape[2:], window)), dtype)]


def _deconvolution(node: Node, inputs: Inputs) -> list[Typed]:
    data, weight = _data(node, inputs), _weight(node, inputs)
    window = convolution_window(node, inputs)
    if weight.shape[0] != data.shape[1] or data.shape[1] % window.groups:
        raise node.error(f"weight {list(weight.shape)} does not fit {data.shape[1]} input channels")
    channels = weight.shape[1] * window.groups
    return [((data.shape[0], channels, *slide_back(node, data.shape[2:], window)), data.dtype)]


def _pooling(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    if len(data.shape) < 3:
        raise node.error(f"a pooling needs at least 3 dimensions, got {list(data.shape)}")
    window = pooling_window(node, data.shape)
    spatial = slide(node, data.shape[2:], window, ceil=bool(node.integer("ceil_mode", 0)))
    shape = (*data.shape[:2], *spatial)
    return [(shape, data.dtype), (shape, INT64)]


def _gemm(node: Node, inputs: Inputs) -> list[Typed]:
    left, right = _data(node, inputs), _weight(node, inputs)
    # Before opset 7 the first operand may have more dimensions; they are one, flattened.
    a = left.shape
    if len(a) > 2:
        a = (a[0], prod(a[1:]))
    b = right.shape
    if len(a) != 2 or len(b) != 2:
        raise node.error(f"needs two matrices, got {list(left.shape)} and {list(b)}")
    rows, inner = a[::-1] if node.integer("transA", 0) else a
    inner_of_b, columns = b[::-1] if node.integer("transB", 0) else b
    if inner != inner_of_b:
        raise node.error(f"the inner sizes {inner} and {inner_of_b} differ")
    return [((rows, columns), left.dtype)]


def _matmul(node: Node, inputs: Inputs) -> list[Typed]:
    left, right = _data(node, inputs), _weight(node, inputs)
    a, b = left.shape, right.shape
    if not a or not b:
        raise node.error("needs operands of at least one dimension")
    a_full, b_full = (a if len(a) > 1 else (1, *a)), (b if len(b) > 1 else (*b, 1))
    if node.domain == CONTRIBUTED_DOMAIN:
        a_full = (*a_full[:-2], *reversed(a_full[-2:])) if node.integer("transA", 0) else a_full
        b_full = (*b_full[:-2], *reversed(b_full[-2:])) if node.integer("transB", 0) else b_full
    if a_full[-1] != b_full[-2]:
        raise node.error(f"the inner sizes of {list(a)} and {list(b)} differ")
    shape = _broadcast_shape(node, [a_full[:-2], b_full[:-2]])
    shape += (a_full[-2],) * (len(a) > 1) + (b_full[-1],) * (len(b) > 1)
    integer = node.operator == "MatMulInteger"
    if node.operator in ("MatMulIntegerToFloat", "DynamicQuantizeMatMul"):
        return [(shape, FLOAT)]
    return [(shape, INT32 if integer else left.dtype)]


def _packed_matmul(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    return [((*data.shape[:-1], node.integer("N", 1)), data.dtype)]


def _concat(node: Node, inputs: Inputs) -> list[Typed]:
    tensors = [tensor for tensor in inputs if tensor is not None]
    data = _data(node, inputs)
    axis = axis_in(node, node.integer("axis", 1), len(data.shape))
    for tensor in tensors:
        rest = tuple(size for i, size in enumerate(tensor.shape) if i != axis)
        if len(tensor.shape) != len(data.shape) or rest != (
            data.shape[:axis] + data.shape[axis + 1 :]
        ):
            shapes = [list(tensor.shape) for tensor in tensors]
            raise node.error(f"shapes {shapes} cannot be joined along axis {axis}")
    total = sum(tensor.shape[axis] for tensor in tensors)
    return [((*data.shape[:axis], total, *data.shape[axis + 1 :]), data.dtype)]


def _reshape(node: Node, inputs: Inputs) -> list[Typed | None]:
    data = _data(node, inputs)
    wanted = node.integers("shape")
    if wanted is None:
        tensor = inputs[1] if len(inputs) > 1 else None
        if tensor is None or tensor.value is None:
            return [None]
        wanted = tuple(int(size) for size in tensor.value.reshape(-1))
    sizes = list(wanted)
    if not node.integer("allowzero", 0):
        for i, size in enumerate(sizes):
            if size == 0:
                if i >= len(data.shape):
                    raise node.error(f"shape {list(wanted)} copies a dimension that is not there")
                sizes[i] = data.shape[i]
    free = [i for i, size in enumerate(sizes) if size == -1]
    rest = prod(size for size in sizes if size != -1)
    if len(free) == 1 and rest > 0 and data.elements % rest == 0:
        sizes[free[0]] = data.elements // rest
    if any(size < 0 for size in sizes) or prod(sizes) != data.elements:
        raise node.error(
            f"{data.elements} elements of shape {list(data.shape)} cannot take the shape "
            f"{list(wanted)}"
        )
    return [(tuple(sizes), data.dtype)]


def _flatten(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    rank = len(data.shape)
    axis = node.integer("axis", 1)
    if not -rank <= axis <= rank:
        raise node.error(f"axis {axis} is outside a tensor of {rank} dimensions")
    axis += rank if axis < 0 else 0
    return [((prod(data.shape[:axis]), prod(data.shape[axis:])), data.dtype)]


def _given_axes(node: Node, inputs: Inputs) -> Shape | None:
    axes = node.integers("axes")
    if axes is None and len(inputs) > 1 and inputs[1] is not None:
        if inputs[1].value is None:
            raise node.error("its axes are not a constant that is known")
        axes = tuple(int(axis) for axis in inputs[1].value.reshape(-1))
    return axes


def _squeeze(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    axes = _given_axes(node, inputs)
    if axes is None:
        return [(tuple(size for size in data.shape if size != 1), data.dtype)]
    gone = {axis_in(node, axis, len(data.shape)) for axis in axes}
    if any(data.shape[axis] != 1 for axis in gone):
        raise node.error(f"shape {list(data.shape)} cannot be squeezed along axes {list(axes)}")
    return [(tuple(size for i, size in enumerate(data.shape) if i not in gone), data.dtype)]


def _unsqueeze(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    axes = _given_axes(node, inputs)
    if axes is None:
        raise node.error("axes are required")
    rank = len(data.shape) + len(axes)
    new = {axis_in(node, axis, rank) for axis in axes}
    if len(new) != len(axes):
        raise node.error(f"axes {list(axes)} repeat")
    old = iter(data.shape)
    return [(tuple(1 if i in new else next(old) for i in range(rank)), data.dtype)]


def _transpose(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    order = node.integers("perm") or tuple(reversed(range(len(data.shape))))
    if sorted(order) != list(range(len(data.shape))):
        raise node.error(f"perm {list(order)} does not fit {len(data.shape)} dimensions")
    return [(tuple(data.shape[axis] for axis in order), data.dtype)]


def _contributed_attention(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    if node.operator == "MultiHeadAttention":
        value = inputs[2] if len(inputs) > 2 else None
        if len(data.shape) == 5:  # packed: batch, length, heads, 3, size
            return [((*data.shape[:2], data.shape[2] * data.shape[4]), data.dtype)]
        hidden = value.shape[-1] if value is not None and len(value.shape) == 3 else data.shape[-1]
        return [((*data.shape[:2], hidden), data.dtype)]
    weight = _weight(node, inputs)
    sizes = node.integers("qkv_hidden_sizes")
    hidden = sizes[-1] if sizes else weight.shape[-1] // 3
    return [((*data.shape[:-1], hidden), data.dtype)]


def _nonzero(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    return [((max(1, len(data.shape)), data.elements), INT64)]


def _selected_boxes(node: Node, inputs: Inputs) -> list[Typed]:
    scores = inputs[1] if len(inputs) > 1 else None
    if scores is None or len(scores.shape) != 3:
        raise node.error("needs scores of three dimensions")
    batch, classes, boxes = scores.shape
    limit = inputs[2] if len(inputs) > 2 else None
    if limit is not None and limit.value is not None and limit.value.size == 1:
        boxes = max(1, min(boxes, int(limit.value.reshape(()))))
    return [((batch * classes * boxes, 3), INT64)]


def _compressed(node: Node, inputs: Inputs) -> list[Typed]:
    data = _data(node, inputs)
    shape = data.shape if "axis" in node.attributes else (data.elements,)
    return [(shape, data.dtype)]


DATA_DEPENDENT = frozenset({"NonZero", "NonMaxSuppression", "Compress"})
"""Operators whose output has as many elements as the data asks for; their largest is taken."""

_Rule = Callable[[Node, Inputs], Sequence[Typed | None]]
_COMPARISONS = ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor"]
_BROADCASTING = [
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Sum",
    "Mean",
    "Max",
    "Min",
    "Pow",
    "Mod",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "BitShift",
    "Where",
]
_RULES: dict[str, _Rule] = {
    **dict.fromkeys(_BROADCASTING, _broadcast),
    **dict.fromkeys(_COMPARISONS, _compare),
    **dict.fromkeys(["Conv", "ConvInteger", "QLinearConv", "FusedConv"], _convolution),
    **dict.fromkeys(["AveragePool", "MaxPool", "LpPool"], _pooling),
    **dict.fromkeys(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"], _pooling),
    **dict.fromkeys(["Gemm", "FusedGemm", "QGemm"], _gemm),
    **dict.fromkeys(["MatMul", "MatMulInteger", "QLinearMatMul", "FusedMatMul"], _matmul),
    **dict.fromkeys(["TransposeMatMul", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"], _matmul),
    "ConvTranspose": _deconvolution,
    "MatMulNBits": _packed_matmul,
    "Concat": _concat,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": _transpose,
    "Cast": _cast,
    "QuantizeLinear": _quantise,
    "DequantizeLinear": _dequantise,
    "Dropout": _dropout,
    "BatchNormalization": _first_only,
    "Identity": _same,
    "PRelu": _first_only,
    "Not": _same,
    "LRN": _same,
    "Clip": _same,
    "Softmax": _same,
    "LogSoftmax": _same,
    "NonZero": _nonzero,
    "NonMaxSuppression": _selected_boxes,
    "Compress": _compressed,
    "QLinearAdd": lambda node, inputs: _broadcast(node, [inputs[0], inputs[3]]),
    "QLinearMul": lambda node, inputs: _broadcast(node, [inputs[0], inputs[3]]),
    "QLinearGlobalAveragePool": lambda node, inputs: [
        ((*inputs[0].shape[:2], *(1 for _ in inputs[0].shape[2:])), inputs[0].dtype)
        if inputs[0] is not None and node.integer("channels_last", 0) == 0
        else None
    ],
    "QLinearAveragePool": _pooling,
}  # fmt: skip
_SAME_SHAPE_KINDS = (LayerKind.ACTIVATION, LayerKind.NORMALISATION, LayerKind.SOFTMAX)
_SAME_SHAPE = frozenset({"BiasAdd", "Affine", "Scale", "ImageScaler", "ScaledTanh", "Neg", "Abs", "Exp",
                         "Log", "Sqrt", "Reciprocal", "Floor", "Ceil", "Round", "Sign"})  # fmt: skip


def _rule_for(node: Node) -> _Rule | None:
    if node.domain not in ("", CONTRIBUTED_DOMAIN):
        return None
    kind = kind_of(node.domain, node.operator)
    if kind is LayerKind.UNKNOWN:
        return None
    if node.domain == CONTRIBUTED_DOMAIN and kind is LayerKind.ATTENTION:
        return _contributed_attention
    if node.operator in _RULES:
        return _RULES[node.operator]
    if kind in _SAME_SHAPE_KINDS or node.operator in _SAME_SHAPE:
        return _first_only
    return None


@lru_cache(maxsize=1024)
def _schema(operator: str, opset: int, domain: str) -> Any:
    from onnx import defs

    try:
        return defs.get_schema(operator, opset, domain)
    except defs.SchemaError:
        return None


def knows(node: Node) -> bool:
    """Whether this program has a cost for the operator."""
    return kind_of(node.domain, node.operator) is not LayerKind.UNKNOWN


def _asked_of_onnx(node: Node, inputs: Inputs) -> list[Typed | None]:
    schema = _schema(node.operator, node.opset, node.domain)
    unknown: list[Typed | None] = [None] * len(node.outputs)
    if schema is None:
        return unknown
    from onnx import helper, numpy_helper, shape_inference

    types: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name, tensor in zip(node.inputs, inputs, strict=True):
        if tensor is None:
            continue
        types[name] = helper.make_tensor_type_proto(tensor.dtype, tensor.shape)
        if tensor.value is not None and dtype_of(tensor.value) == tensor.dtype:
            values[name] = numpy_helper.from_array(tensor.value, name)
    opsets = [helper.make_opsetid(node.domain, node.opset)]
    try:
        found = shape_inference.infer_node_outputs(
            schema, node.proto, types, values, opset_imports=opsets
        )
    except (shape_inference.InferenceError, RuntimeError, ValueError, TypeError) as error:
        text = str(error).strip().splitlines()
        raise node.error(f"its shape cannot be inferred: {text[0] if text else error!r}") from None
    return [_typed(node, found[name]) if name in found else None for name in node.outputs]


def _typed(node: Node, type_proto: Any) -> Typed | None:
    which = type_proto.WhichOneof("value")
    if which is None:
        return None
    if which != "tensor_type":
        raise node.error("sequences, maps, optional and sparse tensors cannot be mapped")
    tensor = type_proto.tensor_type
    if not tensor.HasField("shape"):
        return None
    sizes = [entry.dim_value if entry.HasField("dim_value") else -1 for entry in tensor.shape.dim]
    return None if any(size < 0 for size in sizes) else (tuple(sizes), int(tensor.elem_type))

"""Values of small constants: arithmetic on shapes is computed before the model runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paretosoc.sdf.onnx.nodes import FLOAT, INT64, NUMPY_DTYPES, Node, Value, dtype_of, numpy_dtype

MAX_VALUE_ELEMENTS = 4096
"""Elements up to which the value of a constant is followed. Weights are far above."""

Values = Sequence[Any]
"""Arrays, or None for an input that is left out."""


def fold(node: Node, values: Values) -> list[Value] | None:
    """Return the values of a node's outputs, or None if they are too large or the operator is not
    folded.

    ``values`` has one entry per input. Inputs that are left out are None, all others are known.
    """
    if node.domain != "" or node.operator not in FOLDED or not values or values[0] is None:
        return None
    if _grown(node, values) > MAX_VALUE_ELEMENTS:
        return None
    arrays = _computed(node, values)
    if arrays is None or any(array.size > MAX_VALUE_ELEMENTS for array in arrays):
        return None
    if any(array.dtype not in NUMPY_DTYPES for array in arrays):
        return None
    return arrays


def fill(node: Node, shape: Value) -> Value | None:
    """Return an array of ``shape`` for ``ConstantOfShape``, or None if it is not small."""
    size = _integers(shape)
    if any(number < 0 for number in size):
        raise node.error(f"a shape must not have a negative dimension, got {list(size)}")
    tensor = node.attributes.get("value")
    if int(np.prod(size, dtype=object)) > MAX_VALUE_ELEMENTS:
        return None
    filler = np.zeros(1, np.float32) if tensor is None else tensor_value(tensor)
    return None if filler is None or filler.size != 1 else np.full(size, filler.reshape(())[()])


def constant(node: Node) -> tuple[tuple[int, ...], int, Value | None]:
    """Return shape, data type and value of a ``Constant`` node. Only small values are returned."""
    attributes = node.attributes
    if "value" in attributes:
        tensor = attributes["value"]
        return tuple(tensor.dims), int(tensor.data_type), tensor_value(tensor)
    if "sparse_value" in attributes:
        sparse = attributes["sparse_value"]
        return tuple(sparse.dims), int(sparse.values.data_type), None
    for name, dtype in (("value_int", INT64), ("value_ints", INT64),
                        ("value_float", FLOAT), ("value_floats", FLOAT)):  # fmt: skip
        if name in attributes:
            value = np.array(attributes[name], dtype=numpy_dtype(dtype))
            return value.shape, dtype, value if value.size <= MAX_VALUE_ELEMENTS else None
    if "value_strings" in attributes:
        return (len(attributes["value_strings"]),), 8, None
    if "value_string" in attributes:
        return (), 8, None
    raise node.error("a Constant without a value")


def tensor_value(tensor: Any) -> Value | None:
    """Return the value of a small tensor that the file itself holds, or None for all others."""
    size = int(np.prod(tensor.dims, dtype=object))
    if not 0 <= size <= MAX_VALUE_ELEMENTS or numpy_dtype(tensor.data_type) is None:
        return None
    if tensor.data_location == 1 or any(number < 0 for number in tensor.dims):
        return None
    from onnx import numpy_helper

    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError):  # weights left out: the shape is all there is
        return None


def _integers(value: Value) -> tuple[int, ...]:
    return tuple(int(number) for number in np.asarray(value).reshape(-1))


def _grown(node: Node, values: Values) -> int:
    """Return the number of output elements of an operator whose output may be far larger than its
    inputs, and 0 for all others. Inputs that do not fit give 0, since computing the operator
    reports them."""
    try:
        match node.operator:
            case "Expand":
                return math.prod(np.broadcast_shapes(values[0].shape, _integers(values[1])))
            case "Tile":
                return math.prod((*values[0].shape, *_integers(values[1])))
            case "Range":
                start, limit, step = (value.item() for value in values)
                steps: float = (limit - start) / step
                return math.ceil(steps)
            case "Gather":
                return math.prod((*values[0].shape, *values[1].shape))
            case _:
                shapes = [value.shape for value in values if value is not None]
                return math.prod(np.broadcast_shapes(*shapes)) if len(shapes) > 1 else 0
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError):
        return 0


def _computed(node: Node, values: Values) -> list[Value] | None:
    """Return the result of ONNX's reference, or None if it knows no such version. Refuse values
    that the operator cannot work on."""
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    given = {
        name: value
        for name, value in zip(node.inputs, values, strict=True)
        if name and value is not None
    }
    types = [helper.make_tensor_value_info(name, dtype_of(v), None) for name, v in given.items()]
    outputs = [name for name in node.outputs if name]
    graph = helper.make_graph(
        [node.proto],
        "node",
        types,
        [helper.make_tensor_value_info(name, INT64, None) for name in outputs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", node.opset)])
    try:
        evaluator = ReferenceEvaluator(model)
    except (NotImplementedError, RuntimeError):
        return None
    try:
        with np.errstate(divide="raise", over="ignore", under="ignore", invalid="ignore"):
            results = evaluator.run(None, given)
    except Exception as error:  # whatever the reference stumbles over, the node is at fault
        raise node.error("its value cannot be computed from its constant inputs") from error
    by_name = dict(zip(outputs, results, strict=True))
    return [np.asarray(by_name[name]) if name else np.zeros(0) for name in node.outputs]


_FOLDED = """
Abs Add And Cast Ceil Concat Div Equal Expand Floor Gather Greater GreaterOrEqual Identity Less
LessOrEqual Max Min Mod Mul Neg NonZero Not Or Pow Range ReduceMax ReduceMean ReduceMin ReduceProd
ReduceSum Reshape Round Slice Split Sqrt Squeeze Sub Tile Transpose Unsqueeze Where Xor
"""
FOLDED = frozenset(_FOLDED.split())
"""Operators that models compute shapes with."""

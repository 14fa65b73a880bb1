"""Values of small constants: what a model computes about shapes is known before it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdf.onnx.nodes import BOOL, FLOAT, INT64, Node, Value, axis_in, numpy_dtype

MAX_VALUE_ELEMENTS = 4096
"""Elements up to which the value of a constant is followed; weights are far above."""

Values = Sequence[Any]
"""Arrays; None where an input is left out."""


def fold(node: Node, values: Values) -> list[Value] | None:
    """Values of a node's outputs, or None where they are too large or the operator is not folded.

    ``values`` has one entry per input; inputs that are left out are None, all others are known.
    """
    rule = _RULES.get(node.operator) if node.domain == "" else None
    if rule is None or not values or values[0] is None:
        return None
    with np.errstate(all="ignore"):
        result = rule(node, values)
    if result is None:
        return None
    results = result if isinstance(result, list) else [result]
    arrays = [np.asarray(array) for array in results]
    return arrays if all(array.size <= MAX_VALUE_ELEMENTS for array in arrays) else None


def fill(node: Node, shape: Value) -> Value | None:
    """``ConstantOfShape``: an array of ``shape`` where it is small."""
    size = _integers(shape)
    if any(number < 0 for number in size):
        raise node.error(f"a shape must not have a negative dimension, got {list(size)}")
    tensor = node.attributes.get("value")
    if int(np.prod(size, dtype=object)) > MAX_VALUE_ELEMENTS:
        return None
    filler = np.zeros(1, np.float32) if tensor is None else tensor_value(tensor)
    return None if filler is None or filler.size != 1 else np.full(size, filler.reshape(())[()])


def constant(node: Node) -> tuple[tuple[int, ...], int, Value | None]:
    """Shape, data type and, where small, value of a ``Constant`` node."""
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
    """The value of a small tensor that the file itself holds; None for all others."""
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


def _axes(node: Node, values: Values, rank: int) -> tuple[int, ...] | None:
    """Axes from the attribute (old opsets) or from the second input."""
    axes = node.integers("axes")
    if axes is None and len(values) > 1 and values[1] is not None:
        axes = _integers(values[1])
    return None if axes is None else tuple(axis_in(node, axis, rank) for axis in axes)


def _arithmetic(function: Callable[..., Any]) -> Callable[[Node, Values], Any]:
    def rule(node: Node, values: Values) -> Any:
        return function(*values)

    return rule


def _divide(a: Value, b: Value) -> Value:
    if not np.issubdtype(a.dtype, np.integer):
        return np.asarray(a / b)
    if np.any(b == 0):
        raise ValueError("division of a shape by zero")
    signs = np.sign(a) * np.sign(b)
    return np.asarray(signs * (np.abs(a) // np.abs(b)), dtype=a.dtype)


def _modulo(node: Node, values: Values) -> Any:
    a, b = values
    if np.issubdtype(np.asarray(b).dtype, np.integer) and np.any(np.asarray(b) == 0):
        raise ValueError("remainder of a division by zero")
    return np.fmod(a, b) if node.integer("fmod", 0) else np.mod(a, b)


def _cast(node: Node, values: Values) -> Any:
    dtype = numpy_dtype(node.integer("to", 0))
    return None if dtype is None else np.asarray(values[0]).astype(dtype)


def _gather(node: Node, values: Values) -> Any:
    data, indices = np.asarray(values[0]), np.asarray(values[1])
    axis = axis_in(node, node.integer("axis", 0), data.ndim)
    if data.ndim == 0 or np.any(indices >= data.shape[axis]) or np.any(indices < -data.shape[axis]):
        raise node.error("an index is outside the tensor")
    if indices.size * data.size > MAX_VALUE_ELEMENTS * MAX_VALUE_ELEMENTS:
        return None
    return np.take(data, indices.astype(np.int64), axis=axis)


def _slice(node: Node, values: Values) -> Any:
    data = np.asarray(values[0])
    starts, ends, axes = (node.integers(name) for name in ("starts", "ends", "axes"))
    steps: tuple[int, ...] | None = None
    if starts is None or ends is None:
        given = [None if value is None else _integers(value) for value in values[1:]]
        starts, ends, axes, steps = (*given, None, None, None, None)[:4]
    if starts is None or ends is None:
        raise node.error("starts and ends are required")
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    index: list[slice] = [slice(None)] * data.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size = data.shape[axis_in(node, axis, data.ndim)]
        # Past the first element of a backward slice Python wants None, not a negative number.
        stop = None if step < 0 and end < -size else end
        index[axis] = slice(start, stop, step)
    return data[tuple(index)]


def _concat(node: Node, values: Values) -> Any:
    arrays = [np.asarray(value) for value in values]
    return np.concatenate(arrays, axis=node.integer("axis", 1 if node.opset < 4 else 0))


def _unsqueeze(node: Node, values: Values) -> Any:
    data = np.asarray(values[0])
    axes = node.integers("axes")
    if axes is None:
        axes = _integers(np.asarray(values[1]))
    return np.expand_dims(data, axes)


def _squeeze(node: Node, values: Values) -> Any:
    data = np.asarray(values[0])
    return np.squeeze(data, _axes(node, values, data.ndim))


def _reshape(node: Node, values: Values) -> Any:
    data = np.asarray(values[0])
    shape = node.integers("shape")
    shape = _integers(np.asarray(values[1])) if shape is None else shape
    if not node.integer("allowzero", 0):
        shape = tuple(data.shape[i] if size == 0 else size for i, size in enumerate(shape))
    return data.reshape(shape)


def _range(node: Node, values: Values) -> Any:
    start, limit, step = (np.asarray(value).reshape(()).item() for value in values)
    if step == 0:
        raise node.error("a Range with step 0")
    if (limit - start) / step > MAX_VALUE_ELEMENTS:
        return None
    return np.arange(start, limit, step, dtype=np.asarray(values[0]).dtype)


def _expand(node: Node, values: Values) -> Any:
    data, shape = np.asarray(values[0]), _integers(np.asarray(values[1]))
    result = np.broadcast_shapes(data.shape, shape)
    if int(np.prod(result, dtype=object)) > MAX_VALUE_ELEMENTS:
        return None
    return np.broadcast_to(data, result)


def _tile(node: Node, values: Values) -> Any:
    data, repeats = np.asarray(values[0]), _integers(np.asarray(values[1]))
    if data.size * int(np.prod(repeats, dtype=object)) > MAX_VALUE_ELEMENTS:
        return None
    return np.tile(data, repeats)


def _reduce(function: Callable[..., Any]) -> Callable[[Node, Values], Any]:
    def rule(node: Node, values: Values) -> Any:
        data = np.asarray(values[0])
        axes = _axes(node, values, data.ndim)
        if not axes and node.integer("noop_with_empty_axes", 0):
            return data
        result = function(data, axis=axes or None, keepdims=bool(node.integer("keepdims", 1)))
        return np.asarray(result).astype(data.dtype)

    return rule


def _split(node: Node, values: Values) -> Any:
    data = np.asarray(values[0])
    axis = axis_in(node, node.integer("axis", 0), data.ndim)
    sizes = node.integers("split")
    if sizes is None and len(values) > 1 and values[1] is not None:
        sizes = _integers(values[1])
    parts = len(node.outputs)
    if sizes is None:
        chunk = -(-data.shape[axis] // parts)
        return np.split(data, [chunk * i for i in range(1, parts)], axis=axis)
    return np.split(data, np.cumsum(sizes)[:-1], axis=axis)


def _where(node: Node, values: Values) -> Any:
    if np.asarray(values[0]).dtype != numpy_dtype(BOOL):
        raise node.error("the condition must be boolean")
    return np.where(values[0], values[1], values[2])


def _transpose(node: Node, values: Values) -> Any:
    return np.transpose(np.asarray(values[0]), node.integers("perm"))


_RULES: dict[str, Callable[[Node, Values], Any]] = {
    "Add": _arithmetic(np.add),
    "Sub": _arithmetic(np.subtract),
    "Mul": _arithmetic(np.multiply),
    "Div": _arithmetic(_divide),
    "Mod": _modulo,
    "Pow": lambda node, values: np.power(*values).astype(np.asarray(values[0]).dtype),
    "Neg": _arithmetic(np.negative),
    "Abs": _arithmetic(np.abs),
    "Sqrt": _arithmetic(np.sqrt),
    "Floor": _arithmetic(np.floor),
    "Ceil": _arithmetic(np.ceil),
    "Round": _arithmetic(np.round),
    "Min": lambda node, values: np.minimum.reduce(np.broadcast_arrays(*values)),
    "Max": lambda node, values: np.maximum.reduce(np.broadcast_arrays(*values)),
    "Equal": _arithmetic(np.equal),
    "Greater": _arithmetic(np.greater),
    "GreaterOrEqual": _arithmetic(np.greater_equal),
    "Less": _arithmetic(np.less),
    "LessOrEqual": _arithmetic(np.less_equal),
    "And": _arithmetic(np.logical_and),
    "Or": _arithmetic(np.logical_or),
    "Xor": _arithmetic(np.logical_xor),
    "Not": _arithmetic(np.logical_not),
    "Where": _where,
    "Cast": _cast,
    "Identity": lambda node, values: values[0],
    "Gather": _gather,
    "Slice": _slice,
    "Concat": _concat,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Reshape": _reshape,
    "Flatten": lambda node, values: None,
    "Transpose": _transpose,
    "Range": _range,
    "Expand": _expand,
    "Tile": _tile,
    "Split": _split,
    "NonZero": lambda node, values: np.array(np.nonzero(np.atleast_1d(values[0])), np.int64),
    "ReduceProd": _reduce(np.prod),
    "ReduceSum": _reduce(np.sum),
    "ReduceMax": _reduce(np.max),
    "ReduceMin": _reduce(np.min),
    "ReduceMean": _reduce(np.mean),
}

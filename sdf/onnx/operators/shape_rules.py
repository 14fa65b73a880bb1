"""Output shapes of operators for which ONNX's inference has no answer that can be used.

It divides by strides and the like without a check, leaves sizes that depend on data open, and does
not know contributed operators. Every rule takes a node and its inputs and returns the shape and
type of each output.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.layer import Window
from paretosoc.sdf.onnx.nodes import BOOL, FLOAT, INT32, INT64, UINT8, Node, Shape, Tensor, axis_in
from paretosoc.sdf.onnx.operators.einsum import einsum
from paretosoc.sdf.onnx.operators.op_kinds import CONTRIBUTED_DOMAIN
from paretosoc.sdf.onnx.operators.windows import pooling_window, slide, slide_back, window_of

Inputs = Sequence[Tensor | None]
Typed = tuple[Shape, int]
"""Shape and data type."""


def convolution_window(node: Node, inputs: Inputs) -> Window:
    """Return the window of a convolution or transposed convolution, groups included."""
    data, weight = data_input(node, inputs), weight_input(node, inputs)
    return window_of(node, data.shape[2:], weight.shape[2:], node.integer("group", 1))


def weight_index(node: Node) -> int:
    """Return the index of the input that is the second factor of a convolution or matrix
    product."""
    return 3 if node.operator in ("QLinearConv", "QLinearMatMul", "QGemm") else 1


def data_input(node: Node, inputs: Inputs) -> Tensor:
    """Return the first input."""
    if not inputs or inputs[0] is None:
        raise node.error("its first input is missing")
    return inputs[0]


def weight_input(node: Node, inputs: Inputs) -> Tensor:
    """Return the second factor of a convolution or product."""
    index = weight_index(node)
    weight = inputs[index] if index < len(inputs) else None
    if weight is None:
        raise node.error(f"its input {index} is missing")
    data = data_input(node, inputs)
    if node.operator.endswith(("Conv", "ConvInteger", "ConvTranspose")) and (
        len(data.shape) < 3 or len(weight.shape) != len(data.shape)
    ):
        raise node.error(f"data {list(data.shape)} and weight {list(weight.shape)} do not fit")
    return weight


def same(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the shape and type of the first input for the first output."""
    data = data_input(node, inputs)
    return [(data.shape, data.dtype)]


def dropout(node: Node, inputs: Inputs) -> list[Typed]:
    """Return data and mask, which ONNX does not know in early opsets."""
    data = data_input(node, inputs)
    return [(data.shape, data.dtype), (data.shape, BOOL)]


def cast(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the same shape in another type."""
    data = data_input(node, inputs)
    to = node.attributes.get("to", FLOAT)
    # Opset 1 spelt the type out.
    dtype = to if isinstance(to, int) else {"FLOAT": 1, "INT32": 6, "INT64": 7}.get(str(to), FLOAT)
    return [(data.shape, dtype)]


def convolution(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the result of a convolution, grouped or not."""
    data, weight = data_input(node, inputs), weight_input(node, inputs)
    window = convolution_window(node, inputs)
    if weight.shape[1] * window.groups != data.shape[1] or weight.shape[0] % window.groups:
        raise node.error(
            f"weight {list(weight.shape)} with {window.groups} groups does not fit the "
            f"{data.shape[1]} input channels"
        )
    dtype = INT32 if node.operator == "ConvInteger" else data.dtype
    return [((data.shape[0], weight.shape[0], *slide(node, data.shape[2:], window)), dtype)]


def deconvolution(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the result of a transposed convolution."""
    data, weight = data_input(node, inputs), weight_input(node, inputs)
    window = convolution_window(node, inputs)
    if weight.shape[0] != data.shape[1] or data.shape[1] % window.groups:
        raise node.error(f"weight {list(weight.shape)} does not fit {data.shape[1]} input channels")
    channels = weight.shape[1] * window.groups
    return [((data.shape[0], channels, *slide_back(node, data.shape[2:], window)), data.dtype)]


def pooling(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the result of a pooling. A second output holds indices."""
    data = data_input(node, inputs)
    if len(data.shape) < 3:
        raise node.error(f"a pooling needs at least 3 dimensions, got {list(data.shape)}")
    window = pooling_window(node, data.shape)
    spatial = slide(node, data.shape[2:], window, ceil=bool(node.integer("ceil_mode", 0)))
    shape = (*data.shape[:2], *spatial)
    return [(shape, data.dtype), (shape, INT64)]


def gemm(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the product of two matrices, either of which may be transposed."""
    left, right = data_input(node, inputs), weight_input(node, inputs)
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


def matmul(node: Node, inputs: Inputs) -> list[Typed]:
    """Return a product as ``numpy.matmul`` does."""
    left, right = data_input(node, inputs), weight_input(node, inputs)
    a, b = left.shape, right.shape
    if not a or not b:
        raise node.error("needs operands of at least one dimension")
    a_full, b_full = (a if len(a) > 1 else (1, *a)), (b if len(b) > 1 else (*b, 1))
    if node.domain == CONTRIBUTED_DOMAIN:
        a_full = (*a_full[:-2], *reversed(a_full[-2:])) if node.integer("transA", 0) else a_full
        b_full = (*b_full[:-2], *reversed(b_full[-2:])) if node.integer("transB", 0) else b_full
    if a_full[-1] != b_full[-2]:
        raise node.error(f"the inner sizes of {list(a)} and {list(b)} differ")
    try:
        shape = np.broadcast_shapes(a_full[:-2], b_full[:-2])
    except ValueError:
        raise node.error(f"shapes {list(a)} and {list(b)} cannot be broadcast") from None
    shape += (a_full[-2],) * (len(a) > 1) + (b_full[-1],) * (len(b) > 1)
    if node.operator in ("MatMulIntegerToFloat", "DynamicQuantizeMatMul"):
        return [(shape, FLOAT)]
    return [(shape, INT32 if node.operator == "MatMulInteger" else left.dtype)]


def summation(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the result of an Einstein summation."""
    shapes = [tensor.shape for tensor in inputs if tensor is not None]
    try:
        result = einsum(node.text("equation", ""), shapes)
    except GraphError as error:
        raise node.error(str(error)) from None
    return [(result.output, data_input(node, inputs).dtype)]


def packed_matmul(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the product with a weight that is packed into few bits."""
    data = data_input(node, inputs)
    return [((*data.shape[:-1], node.integer("N", 1)), data.dtype)]


def recurrence(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the states of all steps, then the last ones. The recurrent weights are transposed."""
    data = data_input(node, inputs)
    weight = inputs[2] if len(inputs) > 2 else None
    if weight is None or len(weight.shape) != 3 or len(data.shape) != 3:
        raise node.error("needs data and recurrent weights of three dimensions")
    (steps, batch, _), (directions, hidden, _) = data.shape, weight.shape
    last = ((directions, batch, hidden), data.dtype)
    return [((steps, directions, batch, hidden), data.dtype), last, last]


def nonzero(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the largest result: every element is not zero."""
    data = data_input(node, inputs)
    return [((max(1, len(data.shape)), data.elements), INT64)]


def selected_boxes(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the largest result: the requested number of boxes for every image and class."""
    scores = inputs[1] if len(inputs) > 1 else None
    if scores is None or len(scores.shape) != 3:
        raise node.error("needs scores of three dimensions")
    batch, classes, boxes = scores.shape
    limit = inputs[2] if len(inputs) > 2 else None
    if limit is not None and limit.value is not None and limit.value.size == 1:
        boxes = max(1, min(boxes, int(limit.value.reshape(()))))
    return [((batch * classes * boxes, 3), INT64)]


def skip_normalisation(node: Node, inputs: Inputs) -> list[Typed | None]:
    """Return the normalised sum, two statistics, and the sum itself."""
    data = data_input(node, inputs)
    return [(data.shape, data.dtype), None, None, (data.shape, data.dtype)]


def embedding(node: Node, inputs: Inputs) -> list[Typed]:
    """Return rows of tables, added and normalised, then the lengths that the mask leaves, then the
    sum."""
    data = data_input(node, inputs)
    table = inputs[2] if len(inputs) > 2 else None
    if table is None or len(table.shape) != 2:
        raise node.error("needs a table of words as its input 2")
    shape = (*data.shape, table.shape[1])
    dtype = FLOAT if node.operator.startswith("Q") else table.dtype
    return [(shape, dtype), (data.shape[:1], INT32), (shape, dtype)]


def packed_gather(node: Node, inputs: Inputs) -> list[Typed]:
    """Return rows of a table that is packed into few bits, unpacked."""
    data, indices = data_input(node, inputs), weight_input(node, inputs)
    scales = inputs[2] if len(inputs) > 2 else None
    bits = node.integer("bits", 4)
    # Types below a byte count their elements; bytes hold several.
    width = data.shape[-1] * (8 // bits if data.dtype == UINT8 else 1)
    shape = (*indices.shape, *data.shape[1:-1], width)
    return [(shape, FLOAT if scales is None else scales.dtype)]


def reshape(node: Node, inputs: Inputs) -> list[Typed | None]:
    """Return the new shape, given by attribute (opset 1) or by a constant input."""
    data = data_input(node, inputs)
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


def unique(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the largest result: every element, or slice along the axis, is unique. Their indices
    follow."""
    data = data_input(node, inputs)
    if "axis" not in node.attributes:
        return [((data.elements,), data.dtype), *[((data.elements,), INT64)] * 3]
    size = data.shape[axis_in(node, node.integer("axis", 0), len(data.shape))]
    return [(data.shape, data.dtype), *[((size,), INT64)] * 3]


def compressed(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the largest result: everything is kept."""
    data = data_input(node, inputs)
    shape = data.shape if "axis" in node.attributes else (data.elements,)
    return [(shape, data.dtype)]

"""Output shapes of operators that rearrange: reshapes, joins, transposes."""

from __future__ import annotations

from math import prod

from paretosoc.sdf.onnx.nodes import INT64, Node, Shape, axis_in
from paretosoc.sdf.onnx.operators.compute_shapes import Inputs, Typed, data_input


def concat(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the tensors joined along an axis."""
    tensors = [tensor for tensor in inputs if tensor is not None]
    data = data_input(node, inputs)
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


def quantised_concat(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the tensors joined along an axis. Scale and zero point follow each tensor, and the
    result's come first.
    """
    return concat(node, inputs[2::3])


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


def flatten(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the data as a matrix."""
    data = data_input(node, inputs)
    rank = len(data.shape)
    axis = node.integer("axis", 1)
    if not -rank <= axis <= rank:
        raise node.error(f"axis {axis} is outside a tensor of {rank} dimensions")
    axis += rank if axis < 0 else 0
    return [((prod(data.shape[:axis]), prod(data.shape[axis:])), data.dtype)]


def _given_axes(node: Node, inputs: Inputs) -> tuple[bool, Shape | None]:
    """Return whether the axes can be known, and the axes if any are given."""
    axes = node.integers("axes")
    if axes is None and len(inputs) > 1 and inputs[1] is not None:
        if inputs[1].value is None:
            return False, None
        axes = tuple(int(axis) for axis in inputs[1].value.reshape(-1))
    return True, axes


def squeeze(node: Node, inputs: Inputs) -> list[Typed | None]:
    """Return the data without the given axes, or without all axes of size 1."""
    data = data_input(node, inputs)
    known, axes = _given_axes(node, inputs)
    if not known:
        return [None]
    if axes is None:
        return [(tuple(size for size in data.shape if size != 1), data.dtype)]
    gone = {axis_in(node, axis, len(data.shape)) for axis in axes}
    if any(data.shape[axis] != 1 for axis in gone):
        raise node.error(f"shape {list(data.shape)} cannot be squeezed along axes {list(axes)}")
    return [(tuple(size for i, size in enumerate(data.shape) if i not in gone), data.dtype)]


def unsqueeze(node: Node, inputs: Inputs) -> list[Typed | None]:
    """Return the data with axes of size 1 inserted."""
    data = data_input(node, inputs)
    known, axes = _given_axes(node, inputs)
    if not known:
        return [None]
    if axes is None:
        raise node.error("axes are required")
    rank = len(data.shape) + len(axes)
    new = {axis_in(node, axis, rank) for axis in axes}
    if len(new) != len(axes):
        raise node.error(f"axes {list(axes)} repeat")
    old = iter(data.shape)
    return [(tuple(1 if i in new else next(old) for i in range(rank)), data.dtype)]


def transpose(node: Node, inputs: Inputs) -> list[Typed]:
    """Return the axes in another order."""
    data = data_input(node, inputs)
    order = node.integers("perm") or tuple(reversed(range(len(data.shape))))
    if sorted(order) != list(range(len(data.shape))):
        raise node.error(f"perm {list(order)} does not fit {len(data.shape)} dimensions")
    return [(tuple(data.shape[axis] for axis in order), data.dtype)]


def split(node: Node, inputs: Inputs) -> list[Typed | None]:
    """Return parts along an axis: of given sizes, or equal with a smaller last one."""
    data = data_input(node, inputs)
    axis = axis_in(node, node.integer("axis", 0), len(data.shape))
    size, parts = data.shape[axis], len(node.outputs)
    sizes = node.integers("split")
    if sizes is None and len(inputs) > 1 and inputs[1] is not None:
        if inputs[1].value is None:
            return [None] * parts
        sizes = tuple(int(part) for part in inputs[1].value.reshape(-1))
    if sizes is None:
        chunk = -(-size // parts)
        sizes = tuple(max(0, min(chunk, size - chunk * part)) for part in range(parts))
    if len(sizes) != parts or sum(sizes) != size or min(sizes) < 0:
        raise node.error(f"{size} elements cannot be split into {parts} parts of {list(sizes)}")
    return [((*data.shape[:axis], part, *data.shape[axis + 1 :]), data.dtype) for part in sizes]


def gather_nd(node: Node, inputs: Inputs) -> list[Typed]:
    """Return slices of the data, one for each index tuple."""
    data, indices = data_input(node, inputs), inputs[1] if len(inputs) > 1 else None
    batch = node.integer("batch_dims", 0)
    if indices is None or not 0 <= batch < min(len(data.shape), len(indices.shape)):
        raise node.error(f"its indices do not fit the data with {batch} batch dimensions")
    taken = batch + indices.shape[-1]
    if taken > len(data.shape):
        raise node.error(f"indices {list(indices.shape)} reach too deep into {list(data.shape)}")
    return [((*indices.shape[:-1], *data.shape[taken:]), data.dtype)]


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

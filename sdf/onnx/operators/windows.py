"""Sliding windows: padding and output sizes of convolutions, poolings and their transposes."""

from __future__ import annotations

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.layer import Window
from paretosoc.sdf.onnx.nodes import Node, Shape


def window_of(node: Node, spatial: Shape, kernel: Shape, groups: int = 1) -> Window:
    """Return the window of a convolution or pooling over ``spatial`` sizes, padding resolved.

    Raises:
        GraphError: if an attribute has the wrong length or a size below 1.
    """
    rank = len(spatial)
    strides = node.integers("strides") or (1,) * rank
    dilations = node.integers("dilations") or (1,) * rank
    for what, sizes in (("kernel", kernel), ("strides", strides), ("dilations", dilations)):
        if len(sizes) != rank or any(size < 1 for size in sizes):
            raise node.error(f"{what} must be {rank} sizes of at least 1, got {list(sizes)}")
    if groups < 1:
        raise node.error(f"group must be at least 1, got {groups}")
    pads = _pads(node, spatial, kernel, strides, dilations)
    return Window(kernel, strides, pads, dilations, groups)


def _pads(
    node: Node, spatial: Shape, kernel: Shape, strides: Shape, dilations: Shape
) -> tuple[int, ...]:
    rank = len(spatial)
    mode = node.text("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        pads = node.integers("pads") or (0,) * (2 * rank)
        if len(pads) != 2 * rank:
            raise node.error(f"pads must be {2 * rank} numbers, got {list(pads)}")
        return pads
    if mode == "VALID":
        return (0,) * (2 * rank)
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise node.error(f"auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, got {mode!r}")
    begins, ends = [], []
    for size, width, stride, dilation in zip(spatial, kernel, strides, dilations, strict=True):
        outputs = -(-size // stride)
        needed = max(0, (outputs - 1) * stride + (width - 1) * dilation + 1 - size)
        smaller, larger = needed // 2, needed - needed // 2
        begins.append(smaller if mode == "SAME_UPPER" else larger)
        ends.append(larger if mode == "SAME_UPPER" else smaller)
    return (*begins, *ends)


def slide(node: Node, spatial: Shape, window: Window, *, ceil: bool = False) -> Shape:
    """Return the sizes that a window leaves of ``spatial``.

    With ``ceil`` the last window may hang over the end, but must start inside the input or its
    leading padding (as Caffe and PyTorch have it, and ONNX since opset 19).

    Raises:
        GraphError: if the window does not fit.
    """
    rank = len(spatial)
    result = []
    for axis, size in enumerate(spatial):
        begin, end = window.pads[axis], window.pads[axis + rank]
        stride = window.strides[axis]
        room = size + begin + end - (window.kernel[axis] - 1) * window.dilations[axis] - 1
        count = (-(-room // stride) if ceil else room // stride) + 1
        if ceil and (count - 1) * stride >= size + begin:
            count -= 1
        if room < 0 or count < 1:
            raise node.error(
                f"a window of {window.kernel[axis]} (dilation {window.dilations[axis]}) does not "
                f"fit into {size} elements padded by {begin} and {end}"
            )
        result.append(count)
    return tuple(result)


def slide_back(node: Node, spatial: Shape, window: Window) -> Shape:
    """Return the sizes that a transposed convolution makes of ``spatial``."""
    rank = len(spatial)
    given = node.integers("output_shape")
    if given:
        return _sized(node, given[-rank:], rank)
    extra = node.integers("output_padding") or (0,) * rank
    if len(extra) != rank:
        raise node.error(f"output_padding must be {rank} numbers, got {list(extra)}")
    same = node.text("auto_pad", "NOTSET").startswith("SAME")
    sizes = []
    for axis, size in enumerate(spatial):
        if same:
            sizes.append(size * window.strides[axis])
            continue
        width = (window.kernel[axis] - 1) * window.dilations[axis] + 1
        padding = window.pads[axis] + window.pads[axis + rank]
        sizes.append((size - 1) * window.strides[axis] + extra[axis] + width - padding)
    return _sized(node, tuple(sizes), rank)


def pooling_window(node: Node, shape: Shape) -> Window:
    """Return the window of a pooling node over an input of ``shape``. Global ones span all of
    it."""
    if node.integer("channels_last", 0):
        raise node.error("channels_last is not known here; export with the channels second")
    spatial = shape[2:]
    if "Global" in node.operator:
        rank = len(spatial)
        return Window(spatial, (1,) * rank, (0,) * (2 * rank), (1,) * rank)
    kernel = node.integers("kernel_shape")
    if kernel is None:
        raise node.error("the attribute kernel_shape is missing")
    return window_of(node, spatial, kernel)


def _sized(node: Node, sizes: Shape, rank: int) -> Shape:
    if len(sizes) != rank or any(size < 1 for size in sizes):
        raise GraphError(f"{node.label}: the output would have the sizes {list(sizes)}")
    return sizes

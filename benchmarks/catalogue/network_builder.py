"""A few lines per layer: networks written down as ONNX models whose weights have only shapes.

Batch normalisation and scaling that follow a convolution are folded into its weights and bias, as
every inference framework does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from paretosoc.sdf.catalogue.transformer_builder import ModelWriter
from paretosoc.sdf.layer import Window
from paretosoc.sdf.onnx.nodes import FLOAT, Shape


@dataclass(frozen=True)
class Feature:
    """A tensor under construction: channels, height, width of one image."""

    name: str
    shape: Shape

    @property
    def channels(self) -> int:
        """Return the number of channels."""
        return self.shape[0]


def _pair(size: int | tuple[int, int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else size


class NetworkBuilder:
    """Collects nodes. Every method adds one layer (or a usual pair) and returns its output."""

    def __init__(self, name: str, channels: int, height: int, width: int) -> None:
        self._writer = ModelWriter(name, opset=13, ir_version=8)
        self.input = Feature("data", (channels, height, width))
        self._writer.take("data", (1, channels, height, width))

    def conv(
        self,
        data: Feature,
        name: str,
        channels: int,
        kernel: int | tuple[int, int],
        *,
        stride: int = 1,
        pad: int | tuple[int, int] | None = None,
        groups: int = 1,
        activation: str | None = "Relu",
    ) -> Feature:
        """Add a convolution with bias and its activation. ``pad`` None keeps the size (odd
        kernels)."""
        sides = _pair(kernel)
        pads = (sides[0] // 2, sides[1] // 2) if pad is None else _pair(pad)
        window = Window(sides, (stride, stride), (*pads, *pads), (1, 1), groups)
        weight = self._writer.weight(f"{name}_w", (channels, data.channels // groups, *sides))
        bias = self._writer.weight(f"{name}_b", (channels,))
        shape = (channels, *_slide(data.shape[1:], window, ceil=False))
        result = self._add("Conv", name, [data.name, weight, bias], shape,
                           kernel_shape=sides, strides=(stride, stride), pads=(*pads, *pads),
                           group=groups)  # fmt: skip
        return result if activation is None else self.activate(result, f"{name}/relu", activation)

    def activate(self, data: Feature, name: str, operation: str = "Relu") -> Feature:
        """Add an activation."""
        return self._add(operation, name, [data.name], data.shape)

    def relu6(self, data: Feature, name: str) -> Feature:
        """Add a rectifier that ends at 6."""
        limits = [self._writer.weight(f"{name}_{end}", ()) for end in ("min", "max")]
        return self._add("Clip", name, [data.name, *limits], data.shape)

    def pool(
        self,
        data: Feature,
        name: str,
        kernel: int,
        stride: int,
        *,
        pad: int = 0,
        average: bool = False,
        ceil: bool = False,
    ) -> Feature:
        """Add a pooling. ``ceil`` rounds sizes up, as Caffe does."""
        window = Window((kernel, kernel), (stride, stride), (pad,) * 4, (1, 1))
        shape = (data.channels, *_slide(data.shape[1:], window, ceil=ceil))
        return self._add("AveragePool" if average else "MaxPool", name, [data.name], shape,
                         kernel_shape=window.kernel, strides=window.strides, pads=window.pads,
                         ceil_mode=int(ceil))  # fmt: skip

    def same_pool(self, data: Feature, name: str, kernel: int) -> Feature:
        """Add a maximum pooling by steps of one that keeps the size."""
        return self._add("MaxPool", name, [data.name], data.shape, kernel_shape=(kernel, kernel),
                         strides=(1, 1), auto_pad="SAME_UPPER")  # fmt: skip

    def global_pool(self, data: Feature, name: str) -> Feature:
        """Add the mean of each channel."""
        return self._add("GlobalAveragePool", name, [data.name], (data.channels, 1, 1))

    def local_response(self, data: Feature, name: str) -> Feature:
        """Add local response normalisation over five channels."""
        return self._add("LRN", name, [data.name], data.shape, size=5)

    def concat(self, features: Sequence[Feature], name: str, *, axis: int = 1) -> Feature:
        """Join the channels of several tensors, or another dimension, one after the other."""
        shape = list(features[0].shape)
        shape[axis - 1] = sum(feature.shape[axis - 1] for feature in features)
        names = [feature.name for feature in features]
        return self._add("Concat", name, names, tuple(shape), axis=axis)

    def add(self, left: Feature, right: Feature, name: str, *, relu: bool = True) -> Feature:
        """Add the sum of two tensors and, optionally, its rectifier."""
        result = self._add("Add", name, [left.name, right.name], left.shape)
        return self.activate(result, f"{name}/relu") if relu else result

    def dropout(self, data: Feature, name: str) -> Feature:
        """Add dropout, which does nothing in inference."""
        return self._add("Dropout", name, [data.name], data.shape)

    def dense(
        self, data: Feature, name: str, channels: int, *, activation: str | None = None
    ) -> Feature:
        """Add a fully connected layer with bias. An image is flattened first."""
        if len(data.shape) > 1:
            size = data.shape[0] * data.shape[1] * data.shape[2]
            data = self._add("Flatten", f"{name}/flatten", [data.name], (size,))
        weight = self._writer.weight(f"{name}_w", (channels, data.channels))
        bias = self._writer.weight(f"{name}_b", (channels,))
        result = self._add("Gemm", name, [data.name, weight, bias], (channels,), transB=1)
        return result if activation is None else self.activate(result, f"{name}/relu", activation)

    def transpose(self, data: Feature, name: str) -> Feature:
        """Put an image's channels last: height, width, channels."""
        channels, height, width = data.shape
        shape = (height, width, channels)
        return self._add("Transpose", name, [data.name], shape, perm=(0, 2, 3, 1))

    def rows(self, features: Sequence[Feature], name: str, width: int) -> Feature:
        """Flatten several tensors, one after the other, as rows of ``width``."""
        flat = [
            self._add("Flatten", f"{feature.name}/flatten", [feature.name], (prod(feature.shape),))
            for feature in features
        ]
        size = sum(feature.channels for feature in flat)
        joined = self._add("Concat", f"{name}/joined", [f.name for f in flat], (size,), axis=1)
        shape = self._writer.integers(f"{name}_shape", (1, -1, width))
        return self._add("Reshape", name, [joined.name, shape], (size // width, width))

    def softmax(self, data: Feature, name: str, *, axis: int = 1) -> Feature:
        """Add a softmax over the channels, or along another axis."""
        return self._add("Softmax", name, [data.name], data.shape, axis=axis)

    def silu(self, data: Feature, name: str) -> Feature:
        """Add x times the sigmoid of x."""
        gate = self.activate(data, f"{name}/sigmoid", "Sigmoid")
        return self.times(data, gate, f"{name}/mul")

    def times(self, left: Feature, right: Feature, name: str) -> Feature:
        """Add the product of two tensors, element by element."""
        return self._add("Mul", name, [left.name, right.name], left.shape)

    def split(self, data: Feature, name: str, sizes: Sequence[int]) -> list[Feature]:
        """Cut a tensor along its first dimension, by one slice each."""
        features, start = [], 0
        for index, size in enumerate(sizes):
            part = f"{name}/{index}"
            bounds = [
                self._writer.integers(f"{part}_{key}", (value,))
                for key, value in (("from", start), ("to", start + size), ("axis", 1))
            ]
            inputs = [data.name, *bounds]
            features.append(self._add("Slice", part, inputs, (size, *data.shape[1:])))
            start += size
        return features

    def every_other(self, data: Feature, name: str) -> Feature:
        """Join the four images that have every other pixel of every other row."""
        parts = []
        for index, start in enumerate(((0, 0), (1, 0), (0, 1), (1, 1))):
            part = f"{name}/{index}"
            bounds = [
                self._writer.integers(f"{part}_{key}", values)
                for key, values in (("from", start), ("to", data.shape[1:]), ("axis", (2, 3)),
                                    ("step", (2, 2)))
            ]  # fmt: skip
            shape = (data.channels, *(size // 2 for size in data.shape[1:]))
            parts.append(self._add("Slice", part, [data.name, *bounds], shape))
        return self.concat(parts, name)

    def reshape(self, data: Feature, name: str, shape: Shape) -> Feature:
        """Rename the dimensions of a tensor."""
        target = self._writer.integers(f"{name}_shape", (1, *shape))
        return self._add("Reshape", name, [data.name, target], shape)

    def permute(self, data: Feature, name: str, order: Sequence[int]) -> Feature:
        """Put the dimensions of a tensor in another order, counted from 0."""
        shape = tuple(data.shape[axis] for axis in order)
        return self._add("Transpose", name, [data.name], shape, perm=(0, *(k + 1 for k in order)))

    def product(self, left: Feature, right: Feature, name: str) -> Feature:
        """Add the matrix products of two activations."""
        shape = (*left.shape[:-1], right.shape[-1])
        return self._add("MatMul", name, [left.name, right.name], shape)

    def enlarge(self, data: Feature, name: str) -> Feature:
        """Double height and width, by the nearest pixel."""
        return self.upsample(data, name, 2, coordinate_transformation_mode="asymmetric",
                             nearest_mode="floor", mode="nearest")  # fmt: skip

    def upsample(self, data: Feature, name: str, factor: int, **attributes: str) -> Feature:
        """Add an enlargement, bilinear if the attributes name no other ``mode``."""
        from onnx import helper

        scales = f"{name}_scales"
        self._writer.weights.append(helper.make_tensor(scales, FLOAT, (4,), (1, 1, factor, factor)))
        shape = (data.channels, *(size * factor for size in data.shape[1:]))
        attributes = {"mode": "linear", **attributes}
        return self._add("Resize", name, [data.name, "", scales], shape, **attributes)

    def build(self, *outputs: Feature) -> bytes:
        """Return the finished model, the same bytes every time."""
        for feature in outputs:
            self._writer.give(feature.name, (1, *feature.shape))
        return self._writer.model()

    def _add(
        self, operation: str, name: str, inputs: Sequence[str], shape: Shape, **attributes: Any
    ) -> Feature:
        return Feature(self._writer.node(operation, name, inputs, **attributes), shape)


def _slide(spatial: Shape, window: Window, *, ceil: bool) -> Shape:
    """Return the size after a window. Only the builder uses it: the import computes sizes again."""
    sizes = []
    for axis, size in enumerate(spatial):
        room = size + 2 * window.pads[axis] - window.kernel[axis]
        stride = window.strides[axis]
        sizes.append((-(-room // stride) if ceil else room // stride) + 1)
    return tuple(sizes)

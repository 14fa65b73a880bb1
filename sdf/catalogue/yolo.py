"""Builders of YOLOv8 and YOLO11, detectors of 80 classes, from the published configurations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paretosoc.sdf.catalogue.network_builder import Feature, NetworkBuilder

CLASSES = 80
BINS = 16
"""Bins of the distribution that each side of a box is read from."""


@dataclass(frozen=True)
class Scale:
    """Factors of the depth and width of a size, and its largest number of channels."""

    depth: float
    width: float
    most: int


YOLOV8 = {
    "n": Scale(0.33, 0.25, 1024),
    "s": Scale(0.33, 0.5, 1024),
    "m": Scale(0.67, 0.75, 768),
    "l": Scale(1, 1, 512),
    "x": Scale(1, 1.25, 512),
}
YOLO11 = {
    "n": Scale(0.5, 0.25, 1024),
    "s": Scale(0.5, 0.5, 1024),
    "m": Scale(0.5, 1, 512),
    "l": Scale(1, 1, 512),
    "x": Scale(1, 1.5, 512),
}


class _Yolo(NetworkBuilder):
    """Blocks that both have in common."""

    def unit(
        self,
        x: Feature,
        name: str,
        channels: int,
        kernel: int = 1,
        stride: int = 1,
        groups: int = 1,
    ) -> Feature:
        """Add a convolution and its SiLU."""
        y = self.conv(x, name, channels, kernel, stride=stride, groups=groups, activation=None)
        return self.silu(y, f"{name}/act")

    def bottleneck(self, x: Feature, name: str, hidden: int, *, adds: bool) -> Feature:
        """Add two 3 x 3 convolutions, and their input to the result."""
        y = self.unit(self.unit(x, f"{name}/cv1", hidden, 3), f"{name}/cv2", x.channels, 3)
        return self.add(x, y, f"{name}/add", relu=False) if adds else y

    def stages(
        self,
        x: Feature,
        name: str,
        channels: int,
        inner: int,
        blocks: Sequence[Callable[[Feature, str], Feature]],
    ) -> Feature:
        """Join both halves of a pointwise convolution with the result of every block in a row."""
        y = self.unit(x, f"{name}/cv1", 2 * inner)
        parts = self.split(y, f"{name}/split", (inner, inner))
        for index, block in enumerate(blocks):
            parts.append(block(parts[-1], f"{name}/m{index}"))
        return self.unit(self.concat(parts, f"{name}/join"), f"{name}/cv2", channels)

    def pyramid(self, x: Feature, name: str) -> Feature:
        """Add three poolings of 5 x 5 in a row, joined."""
        parts = [self.unit(x, f"{name}/cv1", x.channels // 2)]
        for index in range(3):
            parts.append(self.pool(parts[-1], f"{name}/pool{index}", 5, 1, pad=2))
        return self.unit(self.concat(parts, f"{name}/join"), f"{name}/cv2", x.channels)

    def three(self, x: Feature, name: str, *, adds: bool) -> Feature:
        """Add YOLO11's inner block: two bottlenecks beside a pointwise convolution."""
        half = x.channels // 2
        y = self.unit(x, f"{name}/cv1", half)
        for index in range(2):
            y = self.bottleneck(y, f"{name}/m{index}", half, adds=adds)
        joined = self.concat([y, self.unit(x, f"{name}/cv2", half)], f"{name}/join")
        return self.unit(joined, f"{name}/cv3", x.channels)

    def attention(self, x: Feature, name: str) -> Feature:
        """Add self-attention over the pixels, with a depthwise convolution for positions."""
        channels, height, width = x.shape
        heads, pixels = max(1, channels // 64), height * width
        size = channels // heads
        qkv = self.conv(x, f"{name}/qkv", channels + heads * size, 1, activation=None)
        rows = self.reshape(qkv, f"{name}/rows", (heads, 2 * size, pixels))
        by_row = self.permute(rows, f"{name}/by_row", (1, 0, 2))
        q, k, v = (
            self.permute(part, f"{name}/{key}", order)
            for key, part, order in zip(
                "qkv",
                self.split(by_row, f"{name}/split", (size // 2, size // 2, size)),
                ((1, 2, 0), (1, 0, 2), (1, 0, 2)),
                strict=True,
            )
        )
        weights = self.softmax(self.product(q, k, f"{name}/scores"), f"{name}/softmax", axis=-1)
        weights = self.permute(weights, f"{name}/turned", (0, 2, 1))
        y = self.reshape(self.product(v, weights, f"{name}/mixed"), f"{name}/image", x.shape)
        image = self.reshape(v, f"{name}/values", x.shape)
        place = self.conv(image, f"{name}/pe", channels, 3, groups=channels, activation=None)
        y = self.add(y, place, f"{name}/placed", relu=False)
        y = self.conv(y, f"{name}/proj", channels, 1, activation=None)
        y = self.add(x, y, f"{name}/add1", relu=False)
        z = self.unit(y, f"{name}/ffn1", 2 * channels)
        z = self.conv(z, f"{name}/ffn2", channels, 1, activation=None)
        return self.add(y, z, f"{name}/add2", relu=False)

    def detect(self, features: Sequence[Feature], *, light: bool) -> bytes:
        """Add the heads and return the model: boxes and classes of every pixel."""
        boxes = max(16, features[0].channels // 4, 4 * BINS)
        classes = max(features[0].channels, CLASSES)
        sides, scores = [], []
        for index, x in enumerate(features):
            name = f"detect{index}"
            y = self.unit(self.unit(x, f"{name}/box1", boxes, 3), f"{name}/box2", boxes, 3)
            y = self.conv(y, f"{name}/box3", 4 * BINS, 1, activation=None)
            pixels = x.shape[1] * x.shape[2]
            sides.append(self.reshape(y, f"{name}/boxes", (4 * BINS, pixels)))
            for number in range(2):
                place = f"{name}/class{number}"
                if light:
                    x = self.unit(x, f"{place}/dw", x.channels, 3, groups=x.channels)
                x = self.unit(x, place, classes, 1 if light else 3)
            y = self.conv(x, f"{name}/class2", CLASSES, 1, activation=None)
            scores.append(self.reshape(y, f"{name}/classes", (CLASSES, pixels)))
        joined = self.concat(sides, "boxes", axis=2)
        bins = self.reshape(joined, "bins", (4, BINS, joined.shape[1]))
        bins = self.softmax(self.permute(bins, "bins/first", (1, 0, 2)), "bins/softmax")
        box = self.reshape(
            self.conv(bins, "bins/mean", 1, 1, activation=None), "box", (4, joined.shape[1])
        )
        score = self.activate(self.concat(scores, "classes", axis=2), "scores", "Sigmoid")
        return self.build(self.concat([box, score], "result"))


def build_yolo(name: str, pixels: int = 640) -> bytes:
    """Return ``yolov8`` or ``yolo11`` and its size, n, s, m, l or x, for square images."""
    new, size = name.startswith("yolo11"), name[-1]
    scale = (YOLO11 if new else YOLOV8)[size]
    net = _Yolo(name, 3, pixels, pixels)
    deep = size in "mlx"

    def wide(channels: int) -> int:
        return -(-int(min(channels, scale.most) * scale.width) // 8) * 8

    def stage(
        x: Feature, name: str, channels: int, count: int, *, adds: bool = True,
        share: float = 0.5, inner_three: bool = False,
    ) -> Feature:  # fmt: skip
        count = max(1, round(count * scale.depth))
        inner = int(wide(channels) * share)

        def block(y: Feature, place: str) -> Feature:
            if not new:
                return net.bottleneck(y, place, inner, adds=adds)
            if inner_three or deep:
                return net.three(y, place, adds=True)
            return net.bottleneck(y, place, inner // 2, adds=True)

        return net.stages(x, name, wide(channels), inner, [block] * count)

    few, share = (2, 0.25) if new else (3, 0.5)
    x = net.unit(net.input, "b0", wide(64), 3, 2)
    x = net.unit(x, "b1", wide(128), 3, 2)
    x = stage(x, "b2", 256 if new else 128, few, share=share)
    x = net.unit(x, "b3", wide(256), 3, 2)
    p3 = stage(x, "b4", 512 if new else 256, 2 if new else 6, share=share)
    x = net.unit(p3, "b5", wide(512), 3, 2)
    p4 = stage(x, "b6", 512, 2 if new else 6, inner_three=True)
    x = net.unit(p4, "b7", wide(1024), 3, 2)
    x = stage(x, "b8", 1024, few, inner_three=True)
    p5 = net.pyramid(x, "b9")
    if new:
        half = p5.channels // 2
        parts = net.split(net.unit(p5, "b10/cv1", 2 * half), "b10/split", (half, half))
        for index in range(max(1, round(2 * scale.depth))):
            parts[1] = net.attention(parts[1], f"b10/m{index}")
        p5 = net.unit(net.concat(parts, "b10/join"), "b10/cv2", p5.channels)
    x = net.concat([net.enlarge(p5, "h0/up"), p4], "h0")
    middle = stage(x, "h1", 512, few, adds=False)
    x = net.concat([net.enlarge(middle, "h2/up"), p3], "h2")
    small = stage(x, "h3", 256, few, adds=False)
    x = net.concat([net.unit(small, "h4/down", wide(256), 3, 2), middle], "h4")
    medium = stage(x, "h5", 512, few, adds=False)
    x = net.concat([net.unit(medium, "h6/down", wide(512), 3, 2), p5], "h6")
    large = stage(x, "h7", 1024, few, adds=False, inner_three=True)
    return net.detect([small, medium, large], light=new)

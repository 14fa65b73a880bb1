"""Builders of detectors of 80 classes from their published configurations: YOLOv5, YOLOv5u, YOLOX,
YOLOv8, YOLOv10 and YOLO11."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.catalogue.network_builder import Feature, NetworkBuilder

CLASSES = 80
BINS = 16
"""Bins of the distribution that each side of a box is read from."""


@dataclass(frozen=True)
class Family:
    """What the sizes of a detector have in common.

    ``counts``: blocks of the backbone's four stages, before the factor. The neck's have the first.
    """

    title: str
    source: str
    counts: tuple[int, int, int, int] = (3, 6, 6, 3)


@dataclass(frozen=True)
class Size:
    """A size of a detector, and its accuracy: COCO mAP 50-95.

    ``most``: channels of a stage before the factor ``width``. ``blocks``: by a letter each, those
    of the backbone's four stages and the neck's four: ``s`` one split across the whole stage, ``f``
    a bottleneck, ``h`` one of half the channels, ``t`` two beside a pointwise convolution, ``c``
    depthwise and pointwise convolutions, ``w`` those with a depthwise one of 7 x 7.
    """

    family: Family
    depth: float
    width: float
    most: int
    blocks: str
    percent: float
    pixels: int = 640


_ULTRALYTICS = "https://docs.ultralytics.com/models/"
YOLOV5 = Family("YOLOv5", "https://github.com/ultralytics/yolov5", (3, 6, 9, 3))
YOLOV5U = Family("YOLOv5u", f"{_ULTRALYTICS}yolov5", (3, 6, 9, 3))
YOLOX = Family("YOLOX", "https://github.com/Megvii-BaseDetection/YOLOX", (3, 9, 9, 3))
YOLOV8 = Family("YOLOv8", f"{_ULTRALYTICS}yolov8")
YOLOV10 = Family("YOLOv10", "https://github.com/THU-MIG/yolov10")
YOLO11 = Family("YOLO11", f"{_ULTRALYTICS}yolo11", (2, 2, 2, 2))
SIZES = {
    "yolov5n": Size(YOLOV5, 0.33, 0.25, 1024, "ssssssss", 28.0),
    "yolov5s": Size(YOLOV5, 0.33, 0.5, 1024, "ssssssss", 37.4),
    "yolov5m": Size(YOLOV5, 0.67, 0.75, 1024, "ssssssss", 45.4),
    "yolov5l": Size(YOLOV5, 1, 1, 1024, "ssssssss", 49.0),
    "yolov5x": Size(YOLOV5, 1.33, 1.25, 1024, "ssssssss", 50.7),
    "yolov5nu": Size(YOLOV5U, 0.33, 0.25, 1024, "ssssssss", 34.3),
    "yolov5su": Size(YOLOV5U, 0.33, 0.5, 1024, "ssssssss", 43.0),
    "yolov5mu": Size(YOLOV5U, 0.67, 0.75, 1024, "ssssssss", 49.0),
    "yolov5lu": Size(YOLOV5U, 1, 1, 1024, "ssssssss", 52.2),
    "yolov5xu": Size(YOLOV5U, 1.33, 1.25, 1024, "ssssssss", 53.2),
    "yolox_nano": Size(YOLOX, 0.33, 0.25, 1024, "ssssssss", 25.8, 416),
    "yolox_tiny": Size(YOLOX, 0.33, 0.375, 1024, "ssssssss", 32.8, 416),
    "yolox_s": Size(YOLOX, 0.33, 0.5, 1024, "ssssssss", 40.5),
    "yolox_m": Size(YOLOX, 0.67, 0.75, 1024, "ssssssss", 46.9),
    "yolox_l": Size(YOLOX, 1, 1, 1024, "ssssssss", 49.7),
    "yolox_x": Size(YOLOX, 1.33, 1.25, 1024, "ssssssss", 51.1),
    "yolov8n": Size(YOLOV8, 0.33, 0.25, 1024, "ffffffff", 37.3),
    "yolov8s": Size(YOLOV8, 0.33, 0.5, 1024, "ffffffff", 44.9),
    "yolov8m": Size(YOLOV8, 0.67, 0.75, 768, "ffffffff", 50.2),
    "yolov8l": Size(YOLOV8, 1, 1, 512, "ffffffff", 52.9),
    "yolov8x": Size(YOLOV8, 1, 1.25, 512, "ffffffff", 53.9),
    "yolov10n": Size(YOLOV10, 0.33, 0.25, 1024, "fffffffw", 38.5),
    "yolov10s": Size(YOLOV10, 0.33, 0.5, 1024, "fffwfffw", 46.3),
    "yolov10m": Size(YOLOV10, 0.67, 0.75, 768, "fffcffcc", 51.1),
    "yolov10b": Size(YOLOV10, 0.67, 1, 512, "fffccfcc", 52.5),
    "yolov10l": Size(YOLOV10, 1, 1, 512, "fffccfcc", 53.2),
    "yolov10x": Size(YOLOV10, 1, 1.25, 512, "ffcccfcc", 54.4),
    "yolo11n": Size(YOLO11, 0.5, 0.25, 1024, "hhtthhht", 39.5),
    "yolo11s": Size(YOLO11, 0.5, 0.5, 1024, "hhtthhht", 47.0),
    "yolo11m": Size(YOLO11, 0.5, 1, 512, "tttttttt", 51.5),
    "yolo11l": Size(YOLO11, 1, 1, 512, "tttttttt", 53.4),
    "yolo11x": Size(YOLO11, 1, 1.5, 512, "tttttttt", 54.7),
}


class _Yolo(NetworkBuilder):
    """Blocks of the detectors. ``thin`` ones have depthwise and pointwise convolutions only."""

    def __init__(self, name: str, pixels: int, *, thin: bool) -> None:
        super().__init__(name, 3, pixels, pixels)
        self._thin = thin

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
        if self._thin and kernel > groups == 1:
            x = self.unit(x, f"{name}/dw", x.channels, kernel, stride, x.channels)
            kernel = stride = 1
        y = self.conv(x, name, channels, kernel, stride=stride, groups=groups, activation=None)
        return self.silu(y, f"{name}/act")

    def first(self, name: str, channels: int, *, old: bool, sliced: bool) -> Feature:
        """Add the convolution that halves the image, of 3 x 3, 6 x 6 or on every other pixel."""
        if sliced:
            x = self.every_other(self.input, f"{name}/pixels")
            y = self.conv(x, name, channels, 3, activation=None)
        elif old:
            y = self.conv(self.input, name, channels, 6, stride=2, pad=2, activation=None)
        else:
            y = self.conv(self.input, name, channels, 3, stride=2, activation=None)
        return self.silu(y, f"{name}/act")

    def light_down(self, x: Feature, name: str, channels: int) -> Feature:
        """Add a pointwise convolution and a depthwise one that halves the image."""
        y = self.unit(x, f"{name}/cv1", channels)
        return self.conv(y, f"{name}/cv2", channels, 3, stride=2, groups=channels, activation=None)

    def bottleneck(
        self, x: Feature, name: str, hidden: int, *, adds: bool, kernel: int = 3
    ) -> Feature:
        """Add two convolutions, the second of 3 x 3, and their input to the result."""
        y = self.unit(self.unit(x, f"{name}/cv1", hidden, kernel), f"{name}/cv2", x.channels, 3)
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

    def pyramid(self, x: Feature, name: str, *, old: bool) -> Feature:
        """Add three poolings, joined: of 5 x 5 in a row, or of 5, 9 and 13 pixels side by side."""
        parts = [self.unit(x, f"{name}/cv1", x.channels // 2)]
        for index in range(3):
            source, size = (parts[0], 5 + 4 * index) if old else (parts[-1], 5)
            parts.append(self.pool(source, f"{name}/pool{index}", size, 1, pad=size // 2))
        return self.unit(self.concat(parts, f"{name}/join"), f"{name}/cv2", x.channels)

    def beside(
        self, x: Feature, name: str, channels: int, count: int, *, adds: bool, kernel: int
    ) -> Feature:
        """Add bottlenecks in a row beside a pointwise convolution."""
        half = channels // 2
        y = self.unit(x, f"{name}/cv1", half)
        for index in range(count):
            y = self.bottleneck(y, f"{name}/m{index}", half, adds=adds, kernel=kernel)
        joined = self.concat([y, self.unit(x, f"{name}/cv2", half)], f"{name}/join")
        return self.unit(joined, f"{name}/cv3", channels)

    def separable(self, x: Feature, name: str, kernel: int) -> Feature:
        """Add depthwise and pointwise convolutions in turn, and their input to the result."""
        y = self.unit(x, f"{name}/dw1", x.channels, 3, groups=x.channels)
        y = self.unit(y, f"{name}/pw1", 2 * x.channels)
        y = self.unit(y, f"{name}/dw2", y.channels, kernel, groups=y.channels)
        y = self.unit(y, f"{name}/pw2", x.channels)
        y = self.unit(y, f"{name}/dw3", x.channels, 3, groups=x.channels)
        return self.add(x, y, f"{name}/add", relu=False)

    def stage(
        self, x: Feature, name: str, channels: int, count: int, kind: str, *,
        adds: bool, share: float = 0.5,
    ) -> Feature:  # fmt: skip
        """Add blocks of a kind (:class:`Size`). ``share``: channels of a block."""
        if kind == "s":
            return self.beside(x, name, channels, count, adds=adds, kernel=1)
        inner = int(channels * share)

        def block(y: Feature, place: str) -> Feature:
            if kind == "f":
                return self.bottleneck(y, place, inner, adds=adds)
            if kind == "h":
                return self.bottleneck(y, place, inner // 2, adds=True)
            if kind == "t":
                return self.beside(y, place, inner, 2, adds=True, kernel=3)
            return self.separable(y, place, 7 if kind == "w" else 3)

        return self.stages(x, name, channels, inner, [block] * count)

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

    def attend(self, x: Feature, name: str, count: int) -> Feature:
        """Add attention to half of the channels."""
        half = x.channels // 2
        parts = self.split(self.unit(x, f"{name}/cv1", x.channels), f"{name}/split", (half, half))
        for index in range(count):
            parts[1] = self.attention(parts[1], f"{name}/m{index}")
        return self.unit(self.concat(parts, f"{name}/join"), f"{name}/cv2", x.channels)

    def detect_anchored(self, features: Sequence[Feature]) -> bytes:
        """Add YOLOv5's heads and return the model: box, object and classes of every pixel and
        anchor."""
        found = []
        for index, x in enumerate(features):
            name = f"detect{index}"
            y = self.conv(x, name, 3 * (5 + CLASSES), 1, activation=None)
            y = self.activate(y, f"{name}/act", "Sigmoid")
            found.append(self.reshape(y, f"{name}/rows", (3, 5 + CLASSES, y.shape[1] * y.shape[2])))
        return self.build(self.concat(found, "result", axis=3))

    def detect_decoupled(self, features: Sequence[Feature], channels: int) -> bytes:
        """Add YOLOX's heads and return the model: box, object and classes of every pixel."""
        found = []
        for index, x in enumerate(features):
            name = f"detect{index}"
            x = self.unit(x, f"{name}/stem", channels)
            parts = []
            for key, kept in (
                ("box", ((4, ""), (1, "Sigmoid"))),
                ("class", ((CLASSES, "Sigmoid"),)),
            ):
                y = x
                for number in range(2):
                    y = self.unit(y, f"{name}/{key}{number}", channels, 3)
                for count, activation in kept:
                    part = f"{name}/{key}/out{count}"
                    z = self.conv(y, part, count, 1, activation=None)
                    parts.append(self.activate(z, f"{part}/act", activation) if activation else z)
            y = self.concat(parts, f"{name}/join")
            found.append(self.reshape(y, f"{name}/rows", (5 + CLASSES, y.shape[1] * y.shape[2])))
        return self.build(self.concat(found, "result", axis=2))


def build_yolo(name: str, pixels: int = 0) -> bytes:
    """Return the network of a size for square images, by default those of its accuracy."""
    size = SIZES[name]
    x_like, ten, eleven = (size.family == family for family in (YOLOX, YOLOV10, YOLO11))
    old = x_like or size.family in (YOLOV5, YOLOV5U)
    net = _Yolo(name, pixels or size.pixels, thin=name == "yolox_nano")

    def wide(channels: int) -> int:
        return -(-int(min(channels, size.most) * size.width) // 8) * 8

    def many(count: int) -> int:
        return max(1, round(count * size.depth))

    def down(x: Feature, name: str, channels: int) -> Feature:
        if ten and channels > 256:
            return net.light_down(x, name, wide(channels))
        return net.unit(x, name, wide(channels), 3, 2)

    counts = [many(count) for count in size.family.counts]
    outs = (256, 512, 512, 1024) if eleven else (128, 256, 512, 1024)
    x = net.first("b0", wide(64), old=old, sliced=x_like)
    levels = []
    for level, (kind, count, channels) in enumerate(zip(size.blocks, counts, outs, strict=False)):
        place, last = f"b{2 * level + 2}", level == 3
        x = down(x, f"b{2 * level + 1}", 128 << level)
        if last and x_like:
            x = net.pyramid(x, "b9", old=True)
        x = net.stage(
            x, place, wide(channels), count, kind,
            adds=not (last and x_like), share=0.25 if eleven and level < 2 else 0.5,
        )  # fmt: skip
        levels.append(x)
    _, p3, p4, p5 = levels
    if not x_like:
        p5 = net.pyramid(p5, "b9", old=False)
    if ten or eleven:
        p5 = net.attend(p5, "b10", many(2) if eleven else 1)

    def join(left: Feature, right: Feature, name: str, channels: int, place: int) -> Feature:
        x = net.concat([left, right], f"h{2 * place}")
        kind = size.blocks[4 + place]
        return net.stage(x, f"h{2 * place + 1}", wide(channels), counts[0], kind, adds=False)

    if old:
        p5 = net.unit(p5, "h0/side", wide(512))
    middle = join(net.enlarge(p5, "h0/up"), p4, "h0", 512, 0)
    if old:
        middle = net.unit(middle, "h2/side", wide(256))
    small = join(net.enlarge(middle, "h2/up"), p3, "h2", 256, 1)
    medium = join(down(small, "h4/down", 256), middle, "h4", 512, 2)
    large = join(down(medium, "h6/down", 512), p5, "h6", 1024, 3)
    if x_like:
        return net.detect_decoupled([small, medium, large], wide(256))
    if size.family == YOLOV5:
        return net.detect_anchored([small, medium, large])
    return net.detect([small, medium, large], light=ten or eleven)

"""Builders of Darknet's detectors of 80 classes: YOLOv3 and YOLOv4."""

from __future__ import annotations

from benchmarks.catalogue.network_builder import Feature, NetworkBuilder

ANCHORS = 3
CLASSES = 80
PIXELS = 416
STAGES = ((64, 1), (128, 2), (256, 8), (512, 8), (1024, 4))
"""Channels and residual blocks of the backbone, which halves the image before each."""


class _Darknet(NetworkBuilder):
    """Convolutions with their activation: ``mish`` in YOLOv4's backbone, ``leaky`` elsewhere."""

    def unit(
        self, x: Feature, name: str, channels: int, kernel: int, stride: int = 1, *,
        mish: bool = False,
    ) -> Feature:  # fmt: skip
        """Add a convolution and its activation."""
        y = self.conv(x, name, channels, kernel, stride=stride, activation=None)
        if not mish:
            return self.activate(y, f"{name}/leaky", "LeakyRelu")
        gate = self.activate(y, f"{name}/softplus", "Softplus")
        return self.times(y, self.activate(gate, f"{name}/tanh", "Tanh"), f"{name}/mish")

    def residuals(
        self, x: Feature, name: str, inner: int, count: int, *, mish: bool = False
    ) -> Feature:
        """Add blocks of a pointwise convolution to ``inner`` channels and one of 3 x 3 back."""
        for block in range(count):
            y = self.unit(x, f"{name}/{block}/a", inner, 1, mish=mish)
            y = self.unit(y, f"{name}/{block}/b", x.channels, 3, mish=mish)
            x = self.add(x, y, f"{name}/{block}/add", relu=False)
        return x

    def turns(self, x: Feature, name: str, channels: int, count: int) -> Feature:
        """Add pointwise convolutions and ones of 3 x 3 to twice the channels in turn."""
        for index in range(count):
            x = self.unit(x, f"{name}/{index}", channels << index % 2, 1 + 2 * (index % 2))
        return x

    def above(self, x: Feature, side: Feature, name: str, channels: int) -> Feature:
        """Join the next larger level with this one enlarged."""
        up = self.enlarge(self.unit(x, f"{name}/to", channels, 1), f"{name}/up")
        return self.concat([side, up], f"{name}/join")

    def head(self, x: Feature, name: str) -> Feature:
        """Add the boxes and classes of every pixel."""
        y = self.unit(x, f"{name}/wide", 2 * x.channels, 3)
        return self.conv(y, name, ANCHORS * (5 + CLASSES), 1, activation=None)


def yolov3() -> bytes:
    """YOLOv3: residual blocks, three levels that are enlarged and joined."""
    net = _Darknet("yolov3", 3, PIXELS, PIXELS)
    x, levels = net.unit(net.input, "stem", 32, 3), []
    for channels, count in STAGES:
        x = net.unit(x, f"down{channels}", channels, 3, 2)
        x = net.residuals(x, f"stage{channels}", channels // 2, count)
        levels.append(x)
    found = []
    for size, channels in ((32, 512), (16, 256), (8, 128)):
        side = levels.pop()
        x = side if size == 32 else net.above(x, side, f"above{size}", channels)
        x = net.turns(x, f"level{size}", channels, 5)
        found.append(net.head(x, f"head{size}"))
    return net.build(*found)


def yolov4() -> bytes:
    """YOLOv4: half of the channels pass a stage unchanged, levels are joined up and down."""
    net = _Darknet("yolov4", 3, PIXELS, PIXELS)
    x, levels = net.unit(net.input, "stem", 32, 3, mish=True), []
    for channels, count in STAGES:
        name = f"stage{channels}"
        half = channels if count == 1 else channels // 2
        x = net.unit(x, f"{name}/down", channels, 3, 2, mish=True)
        beside = net.unit(x, f"{name}/beside", half, 1, mish=True)
        y = net.unit(x, f"{name}/before", half, 1, mish=True)
        y = net.residuals(y, name, channels // 2 if count == 1 else half, count, mish=True)
        y = net.unit(y, f"{name}/after", half, 1, mish=True)
        x = net.unit(net.concat([y, beside], f"{name}/join"), f"{name}/out", channels, 1, mish=True)
        levels.append(x)
    x = net.turns(x, "before", 512, 3)
    pools = [net.pool(x, f"pool{k}", k, 1, pad=k // 2) for k in (5, 9, 13)]
    ways = {32: net.turns(net.concat([*pools, x], "pools"), "level32", 512, 3)}
    for size, channels in ((16, 256), (8, 128)):
        side = net.unit(levels[-2 if size == 16 else -3], f"side{size}", channels, 1)
        joined = net.above(ways[2 * size], side, f"above{size}", channels)
        ways[size] = net.turns(joined, f"level{size}", channels, 5)
    found = [net.head(ways[8], "head8")]
    x = ways[8]
    for size in (16, 32):
        down = net.unit(x, f"down{size}", 2 * x.channels, 3, 2)
        joined = net.concat([down, ways[size]], f"below{size}")
        x = net.turns(joined, f"again{size}", down.channels, 5)
        found.append(net.head(x, f"head{size}"))
    return net.build(*found)

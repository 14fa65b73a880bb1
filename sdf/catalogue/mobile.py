"""Builders of networks for phones: depthwise convolutions."""

from __future__ import annotations

from paretosoc.sdf.catalogue.network_builder import Feature, NetworkBuilder


def mobilenet_v1() -> bytes:
    """MobileNet v1, width 1: depthwise and 1 x 1 convolutions in turn."""
    net = NetworkBuilder("mobilenet_v1", 3, 224, 224)
    x = _separable_blocks(net)[-1]
    return net.build(net.softmax(net.dense(net.global_pool(x, "pool"), "fc", 1000), "prob"))


def _separable_blocks(net: NetworkBuilder) -> list[Feature]:
    """Return the output of each of MobileNet v1's thirteen blocks."""
    x = net.conv(net.input, "conv1", 32, 3, stride=2)
    strided = {2, 4, 6, 12}
    widths = (64, 128, 128, 256, 256, *(512,) * 6, 1024, 1024)
    blocks = []
    for number, channels in enumerate(widths, 1):
        stride = 2 if number in strided else 1
        x = net.conv(x, f"conv{number + 1}/dw", x.channels, 3, stride=stride, groups=x.channels)
        x = net.conv(x, f"conv{number + 1}/sep", channels, 1)
        blocks.append(x)
    return blocks


def mobilenet_ssd() -> bytes:
    """MobileNet-SSD: MobileNet v1 and six pairs of detection heads, twenty classes, 300 x 300."""
    net = NetworkBuilder("mobilenet_ssd", 3, 300, 300)
    blocks = _separable_blocks(net)
    x = blocks[-1]
    maps = [blocks[10], x]
    for number, (narrow, wide) in enumerate(((256, 512), (128, 256), (128, 256), (64, 128)), 14):
        x = net.conv(x, f"conv{number}_1", narrow, 1)
        x = net.conv(x, f"conv{number}_2", wide, 3, stride=2)
        maps.append(x)
    places: list[Feature] = []
    classes: list[Feature] = []
    for number, feature in enumerate(maps):
        boxes = 3 if number == 0 else 6
        for kind, width, heads in (("loc", 4, places), ("conf", 21, classes)):
            name = f"head{number}/{kind}"
            head = net.conv(feature, name, boxes * width, 1, activation=None)
            heads.append(net.transpose(head, f"{name}/perm"))
    scores = net.softmax(net.rows(classes, "mbox_conf", 21), "prob", axis=2)
    return net.build(net.rows(places, "mbox_loc", 4), scores)


def mobilenet_v2() -> bytes:
    """MobileNet v2, width 1: narrow blocks that widen inside, with shortcuts."""
    net = NetworkBuilder("mobilenet_v2", 3, 224, 224)
    x = _relu6_conv(net, net.input, "conv1", 32, 3, stride=2)
    number = 0
    # Expansion, channels, blocks, stride of the first block.
    for expansion, channels, blocks, first in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
        (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for block in range(blocks):
            number += 1
            name, stride = f"block{number}", first if block == 0 else 1
            y = x
            if expansion > 1:
                y = _relu6_conv(net, y, f"{name}/expand", expansion * x.channels, 1)
            y = _relu6_conv(net, y, f"{name}/dw", y.channels, 3, stride=stride, groups=y.channels)
            y = net.conv(y, f"{name}/project", channels, 1, activation=None)
            x = net.add(x, y, name, relu=False) if block > 0 else y
    x = _relu6_conv(net, x, "conv2", 1280, 1)
    return net.build(net.softmax(net.dense(net.global_pool(x, "pool"), "fc", 1000), "prob"))


def _relu6_conv(
    net: NetworkBuilder,
    data: Feature,
    name: str,
    channels: int,
    kernel: int,
    *,
    stride: int = 1,
    groups: int = 1,
) -> Feature:
    x = net.conv(data, name, channels, kernel, stride=stride, groups=groups, activation=None)
    return net.relu6(x, f"{name}/relu")

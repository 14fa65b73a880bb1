"""Builders of networks without parallel branches: AlexNet and its variants, VGG, Tiny YOLO, faces,
MobileNet, ResNet as in Caffe, and a segmentation network on ResNet-18."""

from __future__ import annotations

from benchmarks.catalogue.network_builder import Feature, NetworkBuilder


def alexnet() -> bytes:
    """AlexNet as in Caffe: two groups of filters, normalisation before pooling, 227 x 227 input."""
    return _alexnet("alexnet", pool_first=False)


def caffenet() -> bytes:
    """CaffeNet: AlexNet with pooling before normalisation."""
    return _alexnet("caffenet", pool_first=True)


def _alexnet(name: str, *, pool_first: bool) -> bytes:
    net = NetworkBuilder(name, 3, 227, 227)

    def pool_and_normalise(data: Feature, number: int) -> Feature:
        if pool_first:
            pooled = net.pool(data, f"pool{number}", 3, 2)
            return net.local_response(pooled, f"norm{number}")
        return net.pool(net.local_response(data, f"norm{number}"), f"pool{number}", 3, 2)

    x = pool_and_normalise(net.conv(net.input, "conv1", 96, 11, stride=4, pad=0), 1)
    x = pool_and_normalise(net.conv(x, "conv2", 256, 5, groups=2), 2)
    x = net.conv(x, "conv3", 384, 3)
    x = net.conv(x, "conv4", 384, 3, groups=2)
    x = net.pool(net.conv(x, "conv5", 256, 3, groups=2), "pool5", 3, 2)
    for number in (6, 7):
        x = net.dense(x, f"fc{number}", 4096, activation="Relu")
        x = net.dropout(x, f"drop{number}")
    return net.build(net.softmax(net.dense(x, "fc8", 1000), "prob"))


def agenet() -> bytes:
    """AgeNet: eight age groups from a face, 227 x 227 input."""
    return _levi_hassner("agenet", 8)


def gendernet() -> bytes:
    """GenderNet: AgeNet with two classes."""
    return _levi_hassner("gendernet", 2)


def _levi_hassner(name: str, classes: int) -> bytes:
    net = NetworkBuilder(name, 3, 227, 227)
    x = net.pool(net.conv(net.input, "conv1", 96, 7, stride=4, pad=0), "pool1", 3, 2, ceil=True)
    x = net.local_response(x, "norm1")
    x = net.pool(net.conv(x, "conv2", 256, 5), "pool2", 3, 2, ceil=True)
    x = net.local_response(x, "norm2")
    x = net.pool(net.conv(x, "conv3", 384, 3), "pool5", 3, 2, ceil=True)
    for number in (6, 7):
        x = net.dense(x, f"fc{number}", 512, activation="Relu")
        x = net.dropout(x, f"drop{number}")
    return net.build(net.softmax(net.dense(x, "fc8", classes), "prob"))


def vgg16() -> bytes:
    """VGG-16: thirteen 3 x 3 convolutions and three large products."""
    net = NetworkBuilder("vgg16", 3, 224, 224)
    x = _vgg_blocks(net, ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)))
    for number in (6, 7):
        x = net.dense(x, f"fc{number}", 4096, activation="Relu")
        x = net.dropout(x, f"drop{number}")
    return net.build(net.softmax(net.dense(x, "fc8", 1000), "prob"))


def emotion_ferplus() -> bytes:
    """Emotion FER+: a small VGG-13 that classifies a 64 x 64 grey face into eight emotions."""
    net = NetworkBuilder("emotion_ferplus", 1, 64, 64)
    x = _vgg_blocks(net, ((64, 2), (128, 2), (256, 3), (256, 3)), dropout=True)
    for number in (1, 2):
        x = net.dense(x, f"fc{number}", 1024, activation="Relu")
        x = net.dropout(x, f"fc{number}/drop")
    return net.build(net.dense(x, "fc3", 8))


def _vgg_blocks(
    net: NetworkBuilder, blocks: tuple[tuple[int, int], ...], *, dropout: bool = False
) -> Feature:
    x = net.input
    for block, (channels, depth) in enumerate(blocks, 1):
        for layer in range(1, depth + 1):
            x = net.conv(x, f"conv{block}_{layer}", channels, 3)
        x = net.pool(x, f"pool{block}", 2, 2)
        if dropout:
            x = net.dropout(x, f"drop{block}")
    return x


def tiny_yolo() -> bytes:
    """Tiny YOLOv2 for the twenty Pascal VOC classes, 416 x 416 input."""
    net = NetworkBuilder("tiny_yolo", 3, 416, 416)
    x = net.input
    for number, channels in enumerate((16, 32, 64, 128, 256, 512), 1):
        x = net.conv(x, f"conv{number}", channels, 3, activation="LeakyRelu")
        last = number == 6
        x = net.same_pool(x, "pool6", 2) if last else net.pool(x, f"pool{number}", 2, 2)
    for number in (7, 8):
        x = net.conv(x, f"conv{number}", 1024, 3, activation="LeakyRelu")
    # Five boxes of four sides, a confidence and twenty classes each.
    return net.build(net.conv(x, "conv9", 5 * (5 + 20), 1, activation=None))


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


def resnet18() -> bytes:
    """ResNet-18 as in Caffe: a projection at the head of all four stages."""
    net = NetworkBuilder("resnet18", 3, 224, 224)
    x = _basic_backbone(net, project_first=True)
    return _classifier(net, x)


def resnet101() -> bytes:
    """ResNet-101 as in Caffe: the first 1 x 1 convolution of a stage halves the size."""
    return _deep_resnet("resnet101", (3, 4, 23, 3))


def resnet152() -> bytes:
    """ResNet-152 as in Caffe: the first 1 x 1 convolution of a stage halves the size."""
    return _deep_resnet("resnet152", (3, 8, 36, 3))


def fcn_resnet18() -> bytes:
    """FCN-ResNet-18: segmentation of a 512 x 256 image into 21 classes at stride 32."""
    net = NetworkBuilder("fcn_resnet18", 3, 256, 512)
    x = _basic_backbone(net, project_first=False)
    x = net.dropout(net.conv(x, "head/conv1", 128, 3), "head/drop")
    x = net.conv(x, "head/conv2", 21, 1, activation=None)
    return net.build(net.upsample(x, "upsample", 32))


def _stem(net: NetworkBuilder) -> Feature:
    x = net.conv(net.input, "conv1", 64, 7, stride=2)
    return net.pool(x, "pool1", 3, 2, pad=1)


def _classifier(net: NetworkBuilder, x: Feature) -> bytes:
    return net.build(net.softmax(net.dense(net.global_pool(x, "pool5"), "fc1000", 1000), "prob"))


def _basic_backbone(net: NetworkBuilder, *, project_first: bool) -> Feature:
    """Add two blocks of two 3 x 3 convolutions in each of four stages."""
    x = _stem(net)
    for stage, channels in enumerate((64, 128, 256, 512), 2):
        for block in range(2):
            name = f"res{stage}{'ab'[block]}"
            stride = 2 if stage > 2 and block == 0 else 1
            shortcut = x
            if block == 0 and (stage > 2 or project_first):
                shortcut = net.conv(
                    x, f"{name}/branch1", channels, 1, stride=stride, activation=None
                )
            y = net.conv(x, f"{name}/branch2a", channels, 3, stride=stride)
            y = net.conv(y, f"{name}/branch2b", channels, 3, activation=None)
            x = net.add(shortcut, y, name)
    return x


def _deep_resnet(name: str, blocks: tuple[int, ...]) -> bytes:
    """Build blocks of 1 x 1, 3 x 3 and 1 x 1 convolutions, ``blocks`` in each stage."""
    net = NetworkBuilder(name, 3, 224, 224)
    x = _stem(net)
    for stage, count in enumerate(blocks, 2):
        inner = 64 * 2 ** (stage - 2)
        for block in range(count):
            label = f"res{stage}_{block + 1}"
            stride = 2 if stage > 2 and block == 0 else 1
            shortcut = x
            if block == 0:
                shortcut = net.conv(
                    x, f"{label}/branch1", 4 * inner, 1, stride=stride, activation=None
                )
            y = net.conv(x, f"{label}/branch2a", inner, 1, stride=stride)
            y = net.conv(y, f"{label}/branch2b", inner, 3)
            y = net.conv(y, f"{label}/branch2c", 4 * inner, 1, activation=None)
            x = net.add(shortcut, y, label)
    return _classifier(net, x)

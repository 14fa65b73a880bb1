"""Builders of plain chains: AlexNet and its variants, VGG, Tiny YOLO, faces."""

from __future__ import annotations

from paretosoc.sdf.catalogue.network_builder import Feature, NetworkBuilder


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

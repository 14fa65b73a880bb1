"""Builders of residual networks: ResNet as in Caffe, and a segmentation network on ResNet-18."""

from __future__ import annotations

from paretosoc.sdf.catalogue.network_builder import Feature, NetworkBuilder


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

"""Builders of networks with parallel branches: GoogLeNet, Inception v4, Inception-ResNet v2."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.catalogue.network_builder import Feature, NetworkBuilder

Kernel = int | tuple[int, int]
_WIDE, _TALL = (1, 7), (7, 1)

# Filters of 1x1; 3x3 reduce, 3x3; 5x5 reduce, 5x5; after the pooling.
_GOOGLENET = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}


def googlenet() -> bytes:
    """GoogLeNet as in Caffe, which rounds pooling sizes up, with layers in Caffe's order."""
    net = NetworkBuilder("googlenet", 3, 224, 224)
    x = net.conv(net.input, "conv1/7x7_s2", 64, 7, stride=2)
    x = net.pool(x, "pool1/3x3_s2", 3, 2, ceil=True)
    x = net.local_response(x, "pool1/norm1")
    x = net.conv(x, "conv2/3x3_reduce", 64, 1)
    x = net.conv(x, "conv2/3x3", 192, 3)
    x = net.local_response(x, "conv2/norm2")
    x = net.pool(x, "pool2/3x3_s2", 3, 2, ceil=True)
    for module, (single, reduce3, wide3, reduce5, wide5, pooled) in _GOOGLENET.items():
        name = f"inception_{module}"
        branches = [net.conv(x, f"{name}/1x1", single, 1)]
        y = net.conv(x, f"{name}/3x3_reduce", reduce3, 1)
        branches.append(net.conv(y, f"{name}/3x3", wide3, 3))
        y = net.conv(x, f"{name}/5x5_reduce", reduce5, 1)
        branches.append(net.conv(y, f"{name}/5x5", wide5, 5))
        y = net.pool(x, f"{name}/pool", 3, 1, pad=1)
        branches.append(net.conv(y, f"{name}/pool_proj", pooled, 1))
        x = net.concat(branches, f"{name}/output")
        if module in ("3b", "4e"):
            x = net.pool(x, f"pool{int(module[0])}/3x3_s2", 3, 2, ceil=True)
    x = net.pool(x, "pool5/7x7_s1", 7, 1, average=True)
    x = net.dropout(x, "pool5/drop_7x7_s1")
    return net.build(net.softmax(net.dense(x, "loss3/classifier", 1000), "prob"))


def _branch(
    net: NetworkBuilder,
    data: Feature,
    name: str,
    convolutions: Sequence[tuple[int, Kernel]],
    *,
    shrink: bool = False,
) -> Feature:
    """Add convolutions (channels, kernel) in a row. ``shrink``: the last halves the size,
    unpadded."""
    for number, (channels, kernel) in enumerate(convolutions, 1):
        last = shrink and number == len(convolutions)
        data = net.conv(
            data, f"{name}_{number}", channels, kernel,
            stride=2 if last else 1, pad=0 if last else None,
        )  # fmt: skip
    return data


def _module(
    net: NetworkBuilder,
    data: Feature,
    name: str,
    branches: Sequence[Sequence[tuple[int, Kernel]]],
    *,
    pooled: int | None = None,
    shrink: bool = False,
) -> Feature:
    """Add parallel branches and their concatenation.

    ``pooled``: channels of a 1 x 1 convolution after an average pooling. ``shrink``: the module
    halves the size, and a maximum pooling is one more branch.
    """
    outputs = [
        _branch(net, data, f"{name}/branch{number}", convolutions, shrink=shrink)
        for number, convolutions in enumerate(branches, 1)
    ]
    if shrink:
        outputs.append(net.pool(data, f"{name}/pool", 3, 2))
    if pooled is not None:
        average = net.pool(data, f"{name}/pool", 3, 1, pad=1, average=True)
        outputs.append(net.conv(average, f"{name}/pool_proj", pooled, 1))
    return net.concat(outputs, f"{name}/concat")


def inception_v4() -> bytes:
    """Inception v4, 299 x 299 input."""
    net = NetworkBuilder("inception_v4", 3, 299, 299)
    x = net.conv(net.input, "stem/conv1", 32, 3, stride=2, pad=0)
    x = net.conv(x, "stem/conv2", 32, 3, pad=0)
    x = net.conv(x, "stem/conv3", 64, 3)
    x = _module(net, x, "stem/mixed1", [[(96, 3)]], shrink=True)
    left = net.conv(_branch(net, x, "stem/mixed2/left", [(64, 1)]), "stem/left", 96, 3, pad=0)
    right = _branch(net, x, "stem/mixed2/right", [(64, 1), (64, _WIDE), (64, _TALL)])
    right = net.conv(right, "stem/right", 96, 3, pad=0)
    x = net.concat([left, right], "stem/mixed2/concat")
    x = _module(net, x, "stem/mixed3", [[(192, 3)]], shrink=True)
    for number in range(1, 5):
        x = _module(
            net, x, f"inception_a{number}",
            [[(96, 1)], [(64, 1), (96, 3)], [(64, 1), (96, 3), (96, 3)]], pooled=96,
        )  # fmt: skip
    x = _module(net, x, "reduction_a", [[(384, 3)], [(192, 1), (224, 3), (256, 3)]], shrink=True)
    for number in range(1, 8):
        x = _module(
            net, x, f"inception_b{number}",
            [
                [(384, 1)],
                [(192, 1), (224, _WIDE), (256, _TALL)],
                [(192, 1), (192, _TALL), (224, _WIDE), (224, _TALL), (256, _WIDE)],
            ],
            pooled=128,
        )  # fmt: skip
    x = _module(
        net, x, "reduction_b",
        [[(192, 1), (192, 3)], [(256, 1), (256, _WIDE), (320, _TALL), (320, 3)]], shrink=True,
    )  # fmt: skip
    for number in range(1, 4):
        x = _inception_c(net, x, f"inception_c{number}")
    x = net.dropout(net.global_pool(x, "pool"), "drop")
    return net.build(net.softmax(net.dense(x, "classifier", 1000), "prob"))


def _inception_c(net: NetworkBuilder, data: Feature, name: str) -> Feature:
    """Add the one module whose branches fork once more at their ends."""
    outputs = [net.conv(data, f"{name}/branch1", 256, 1)]
    trunks: list[list[tuple[int, Kernel]]] = [
        [(384, 1)],
        [(384, 1), (448, (3, 1)), (512, (1, 3))],
    ]
    for number, convolutions in enumerate(trunks, 2):
        x = _branch(net, data, f"{name}/branch{number}", convolutions)
        outputs.append(net.conv(x, f"{name}/branch{number}/wide", 256, (1, 3)))
        outputs.append(net.conv(x, f"{name}/branch{number}/tall", 256, (3, 1)))
    average = net.pool(data, f"{name}/pool", 3, 1, pad=1, average=True)
    outputs.append(net.conv(average, f"{name}/pool_proj", 256, 1))
    return net.concat(outputs, f"{name}/concat")


def inception_resnet_v2() -> bytes:
    """Inception-ResNet v2, 299 x 299 input: inception modules with shortcuts."""
    net = NetworkBuilder("inception_resnet_v2", 3, 299, 299)
    x = net.conv(net.input, "stem/conv1", 32, 3, stride=2, pad=0)
    x = net.conv(x, "stem/conv2", 32, 3, pad=0)
    x = net.conv(x, "stem/conv3", 64, 3)
    x = net.pool(x, "stem/pool1", 3, 2)
    x = net.conv(x, "stem/conv4", 80, 1)
    x = net.conv(x, "stem/conv5", 192, 3, pad=0)
    x = net.pool(x, "stem/pool2", 3, 2)
    x = _module(
        net, x, "mixed_5b",
        [[(96, 1)], [(48, 1), (64, 5)], [(64, 1), (96, 3), (96, 3)]], pooled=64,
    )  # fmt: skip
    for number in range(1, 11):
        x = _residual_module(
            net,
            x,
            f"block35_{number}",
            [[(32, 1)], [(32, 1), (32, 3)], [(32, 1), (48, 3), (64, 3)]],
        )
    x = _module(net, x, "mixed_6a", [[(384, 3)], [(256, 1), (256, 3), (384, 3)]], shrink=True)
    for number in range(1, 21):
        x = _residual_module(
            net, x, f"block17_{number}", [[(192, 1)], [(128, 1), (160, _WIDE), (192, _TALL)]]
        )
    x = _module(
        net, x, "mixed_7a",
        [[(256, 1), (384, 3)], [(256, 1), (288, 3)], [(256, 1), (288, 3), (320, 3)]], shrink=True,
    )  # fmt: skip
    for number in range(1, 11):
        x = _residual_module(
            net, x, f"block8_{number}", [[(192, 1)], [(192, 1), (224, (1, 3)), (256, (3, 1))]],
            relu=number < 10,
        )  # fmt: skip
    x = net.conv(x, "conv_7b", 1536, 1)
    x = net.dropout(net.global_pool(x, "pool"), "drop")
    return net.build(net.softmax(net.dense(x, "classifier", 1000), "prob"))


def _residual_module(
    net: NetworkBuilder,
    data: Feature,
    name: str,
    branches: Sequence[Sequence[tuple[int, Kernel]]],
    *,
    relu: bool = True,
) -> Feature:
    x = _module(net, data, name, branches)
    x = net.conv(x, f"{name}/expand", data.channels, 1, activation=None)
    return net.add(data, x, name, relu=relu)

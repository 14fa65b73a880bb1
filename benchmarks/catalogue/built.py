"""The networks that functions of this package write down, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.catalogue import darknet, inception
from benchmarks.catalogue import image_networks as images
from benchmarks.catalogue.source import Source
from benchmarks.catalogue.yolo import SIZES, build_yolo

_CAFFE = "layers as in Caffe"
_FUNCTIONS: tuple[tuple[Callable[[], bytes], str, tuple[int, int, int], str], ...] = (
    (images.alexnet, "AlexNet", (3, 227, 227), f"Krizhevsky et al. 2012, {_CAFFE}"),
    (images.caffenet, "AlexNet", (3, 227, 227), "Caffe's reference model"),
    (images.agenet, "AlexNet", (3, 227, 227), f"Levi and Hassner 2015, {_CAFFE}"),
    (images.gendernet, "AlexNet", (3, 227, 227), f"Levi and Hassner 2015, {_CAFFE}"),
    (images.vgg16, "VGG", (3, 224, 224), "Simonyan and Zisserman 2014"),
    (images.emotion_ferplus, "VGG", (1, 64, 64), "Barsoum et al. 2016"),
    (images.tiny_yolo, "YOLO", (3, 416, 416), "Redmon and Farhadi 2016"),
    (darknet.yolov3, "YOLO", (3, 416, 416), "Redmon and Farhadi 2018"),
    (darknet.yolov4, "YOLO", (3, 416, 416), "Bochkovskiy et al. 2020"),
    (images.resnet18, "ResNet", (3, 224, 224), f"He et al. 2015, {_CAFFE}"),
    (images.resnet101, "ResNet", (3, 224, 224), f"He et al. 2015, {_CAFFE}"),
    (images.resnet152, "ResNet", (3, 224, 224), f"He et al. 2015, {_CAFFE}"),
    (images.fcn_resnet18, "ResNet", (3, 256, 512), "Long et al. 2015 on ResNet-18"),
    (inception.googlenet, "Inception", (3, 224, 224), f"Szegedy et al. 2014, {_CAFFE}"),
    (inception.inception_v4, "Inception", (3, 299, 299), "Szegedy et al. 2016"),
    (inception.inception_resnet_v2, "Inception", (3, 299, 299), "Szegedy et al. 2016"),
    (images.mobilenet_v1, "MobileNet", (3, 224, 224), "Howard et al. 2017"),
    (images.mobilenet_ssd, "MobileNet", (3, 300, 300), "chuanqi305's model on Howard et al. 2017"),
    (images.mobilenet_v2, "MobileNet", (3, 224, 224), "Sandler et al. 2018"),
)
_TOP1 = {"mobilenet_v2": 71.878, "vgg16": 71.592}
"""Accuracies of those whose layers are torchvision's, with its first weights."""


def sources() -> Iterator[Source]:
    """Return all of them. ``build`` returns the ONNX model."""
    for build, family, shape, origin in _FUNCTIONS:
        name, text = build.__name__, (build.__doc__ or "").splitlines()[0].rstrip(".")
        accuracy = (
            (_TOP1[name], "ImageNet-1K top-1", "https://docs.pytorch.org/vision/stable/models.html")
            if name in _TOP1
            else ()
        )
        yield Source(name, family, text, origin, ((1, *shape),), build, *accuracy)
    for name, size in SIZES.items():
        yield Source(
            name,
            "YOLO",
            f"{size.family.title}, detects 80 classes of objects",
            "published configuration",
            ((1, 3, size.pixels, size.pixels),),
            partial(build_yolo, name),
            size.percent,
            "COCO mAP 50-95",
            size.family.source,
        )

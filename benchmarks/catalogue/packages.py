"""The networks that packages of permissive licences build: torchvision, transformers, timm, effdet,
segmentation-models-pytorch. Configurations are those of the published weights."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.catalogue import efficientvit, super_resolution, transformer_networks
from benchmarks.catalogue.source import Source, with_forward
from examples.mapformer.mixes import TORCHVISION_TOO


def sources() -> Iterator[Source]:
    """Return all networks that the extra ``export`` builds, in the order of their packages."""
    import timm
    import torchvision

    yield from _torchvision(torchvision.models)
    yield from transformer_networks.sources()
    yield from _timm(timm)
    yield from _detectors()
    yield from _unet()
    yield from super_resolution.sources()
    yield from efficientvit.sources()


_CLASSIFIERS = {
    "convnext": ("ConvNeXt", "7 x 7 depthwise convolutions, layer normalisation"),
    "densenet": ("DenseNet", "every layer of a block reads all before it"),
    "efficientnet_b": ("EfficientNet", "inverted residuals that weigh their channels"),
    "efficientnet_v2": ("EfficientNet", "the first inverted residuals fused to 3 x 3 convolutions"),
    "inception_v3": ("Inception", "convolutions factorised to 1 x 7 and 7 x 1"),
    "maxvit": ("MaxViT", "inverted residuals, attention in blocks and over a grid"),
    "mnasnet": ("MNASNet", "inverted residuals found by search, 3 x 3 and 5 x 5"),
    "mobilenet_v3": ("MobileNet", "inverted residuals found by search, hard swish"),
    "regnet_x": ("RegNet", "residual blocks with grouped convolutions"),
    "regnet_y": ("RegNet", "residual blocks with grouped convolutions that weigh their channels"),
    "resnet": ("ResNet", "residual blocks of two convolutions"),
    "resnext": ("ResNet", "residual blocks with grouped convolutions"),
    "shufflenet_v2": ("ShuffleNet", "half of the channels pass a block unchanged"),
    "squeezenet": ("SqueezeNet", "fire modules"),
    "swin": ("Swin", "attention in windows that shift, transformer of four stages"),
    "vgg": ("VGG", "3 x 3 convolutions and three large products"),
    "vit": ("ViT", "transformer on patches of the image"),
    "wide_resnet": ("ResNet", "residual blocks with twice the channels inside"),
}
"""Family and building blocks of torchvision's networks, by the beginnings of their names."""
_TORCHVISION = "torchvision, exported without weights"
_MODELS = "https://docs.pytorch.org/vision/stable/models.html"


def _torchvision(models: Any) -> Iterator[Source]:
    """Take classifiers at the smallest crop with published weights, detectors and segmentation
    without what follows their last layers."""
    for name in models.list_models(module=models):
        if name in TORCHVISION_TOO:
            continue
        options = {"init_weights": False} if name == "inception_v3" else {}
        prefix = max((key for key in _CLASSIFIERS if name.startswith(key)), key=len)
        weights = min(models.get_model_weights(name), key=_crop)
        yield Source(
            name, *_CLASSIFIERS[prefix], _TORCHVISION, ((1, 3, _crop(weights), _crop(weights)),),
            partial(models.get_model, name, weights=None, **options),
            weights.meta["_metrics"]["ImageNet-1K"]["acc@1"], "ImageNet-1K top-1", _MODELS,
        )  # fmt: skip

    def detector(name: str) -> Any:
        model = models.get_model(name, weights=None, weights_backbone=None)
        return with_forward(model, lambda forward, x: model.head(list(model.backbone(x).values())))

    def segments(name: str) -> Any:
        model = models.get_model(name, weights=None, weights_backbone=None)
        return with_forward(model, lambda forward, x: forward(x)["out"])

    for name, family, text, pixels, build in (
        ("ssd300_vgg16", "SSD", "boxes from six levels of VGG-16", 300, detector),
        ("ssdlite320_mobilenet_v3_large", "SSD", "SSD of depthwise convolutions", 320, detector),
        ("deeplabv3_mobilenet_v3_large", "DeepLab", "dilated MobileNet-v3 and pyramid", 520,
         segments),
        ("deeplabv3_resnet50", "DeepLab", "dilated ResNet-50 and pyramid of dilations", 520,
         segments),
        ("deeplabv3_resnet101", "DeepLab", "dilated ResNet-101 and pyramid of dilations", 520,
         segments),
        ("fcn_resnet50", "FCN", "dilated ResNet-50, two convolutions", 520, segments),
        ("fcn_resnet101", "FCN", "dilated ResNet-101, two convolutions", 520, segments),
        ("lraspp_mobilenet_v3_large", "LRASPP", "MobileNet-v3 with a light segmentation head", 520,
         segments),
    ):  # fmt: skip
        ((key, measured),) = models.get_model_weights(name).DEFAULT.meta["_metrics"].items()
        metric = "box_map" if "box_map" in measured else "miou"
        what = "COCO mAP 50-95" if metric == "box_map" else f"{key} mIoU"
        yield Source(
            name, family, text, _TORCHVISION, ((1, 3, pixels, pixels),),
            partial(build, name), measured[metric], what, _MODELS,
        )  # fmt: skip

    def retina() -> Any:
        """Build the RetinaNet of MLPerf's inference benchmarks: 264 classes of OpenImages."""
        import torch
        from torchvision.ops.feature_pyramid_network import LastLevelP6P7

        utils = models.detection.backbone_utils
        backbone = utils.resnet_fpn_backbone(
            backbone_name="resnext50_32x4d", weights=None, returned_layers=[2, 3, 4],
            extra_blocks=LastLevelP6P7(256, 256), norm_layer=torch.nn.BatchNorm2d,
        )  # fmt: skip
        model = models.detection.RetinaNet(backbone, 264)

        def take(forward: Any, x: Any) -> Any:
            return tuple(model.head(list(model.backbone(x).values())).values())

        return with_forward(model, take)

    yield Source(
        "retinanet_resnext50", "RetinaNet", "MLPerf's detector: ResNeXt-50, five levels",
        _TORCHVISION, ((1, 3, 800, 800),), retina,
    )  # fmt: skip


def _crop(weights: Any) -> int:
    size = weights.transforms.keywords["crop_size"]
    return int(size if isinstance(size, int) else size[0])


_LITE = "inverted residuals that do not weigh their channels, ReLU6"
_TIMM: tuple[tuple[str, str, str, str, int], ...] = (
    *((f"efficientnet_lite{k}", f"efficientnet_lite{k}", "EfficientNet", _LITE, pixels)
      for k, pixels in enumerate((224, 240, 260, 280, 300))),
    ("dla102x", "dla102x", "Deep aggregation",
     "grouped convolutions, all levels joined in trees", 224),
    ("efficientformer_l1", "efficientformer_l1", "EfficientFormer",
     "pooling mixes pixels, attention at the end", 224),
    *((f"efficientvit_{size}", f"efficientvit_{size}", "EfficientViT",
       "inverted residuals, attention without softmax", 224) for size in ("b1", "b2", "b3", "l2")),
    ("ese_vovnet19b_dw", "ese_vovnet19b_dw", "VoVNet",
     "depthwise and pointwise convolutions in a row, joined and weighed", 224),
    ("fastvit_sa12", "fastvit_sa12", "FastViT",
     "large depthwise convolutions, attention at the end", 256),
    ("mnasnet_a1", "semnasnet_100", "MNASNet",
     "inverted residuals found by search that weigh their channels", 224),
    ("mobilenet_v2_0_5", "mobilenetv2_050", "MobileNet",
     "inverted residuals with half the channels", 224),
    ("mobilenet_v2_1_1d", "mobilenetv2_110d", "MobileNet",
     "inverted residuals with 1.1 times the channels, deeper", 224),
    ("mobilenet_v2_1_4", "mobilenetv2_140", "MobileNet",
     "inverted residuals with 1.4 times the channels", 224),
    ("repvgg_a1", "repvgg_a1", "RepVGG", "3 x 3 convolutions, branches folded into them", 224),
    ("repvgg_a2", "repvgg_a2", "RepVGG", "3 x 3 convolutions, branches folded into them", 224),
    ("resmlp_12", "resmlp_12_224", "ResMLP", "products across patches, then across channels", 224),
    ("se_resnet50", "seresnet50", "ResNet", "bottleneck residuals that weigh their channels", 224),
    ("vit_small", "vit_small_patch16_224", "ViT", "transformer on patches of the image", 224),
    ("vit_tiny", "vit_tiny_patch16_224", "ViT", "transformer on patches of the image", 224),
)  # fmt: skip
"""Name, timm's name, family, building blocks, pixels."""


def _timm(timm: Any) -> Iterator[Source]:
    origin = "timm, exported without weights"

    def mobile_sam() -> Any:
        """Build the encoder, whose last stage keeps the size of the one before."""
        import torch
        from timm.models.tiny_vit import TinyVit

        model = TinyVit(
            num_classes=0, embed_dims=(64, 128, 160, 320), depths=(2, 2, 6, 2),
            num_heads=(2, 4, 5, 10), window_sizes=(7, 7, 14, 7), drop_path_rate=0.0,
        )  # fmt: skip
        model.stages[-1].downsample.conv2.conv.stride = (1, 1)
        norm = timm.layers.LayerNorm2d
        model.neck = torch.nn.Sequential(
            torch.nn.Conv2d(320, 256, 1, bias=False), norm(256),
            torch.nn.Conv2d(256, 256, 3, padding=1, bias=False), norm(256),
        )  # fmt: skip
        return with_forward(model, lambda forward, x: model.neck(model.forward_features(x)))

    def folded(name: str) -> Any:
        """Build a network as it is deployed: parallel branches are one convolution."""
        return timm.utils.reparameterize_model(timm.create_model(name))

    for name, of, family, text, pixels in _TIMM:
        shape = (1, 3, pixels, pixels)
        yield Source(name, family, text, origin, (shape,), partial(folded, of))
    for name, family, text, pixels, build in (
        ("mobile_sam", "SAM", "MobileSAM's image encoder, a small transformer", 1024, mobile_sam),
        ("mobilevit_s", "MobileViT", "inverted residuals, attention over every fourth pixel", 256,
         lambda: timm.create_model("mobilevit_s")),
    ):  # fmt: skip
        yield Source(name, family, text, origin, ((1, 3, pixels, pixels),), build)


def _detectors() -> Iterator[Source]:
    import effdet

    for size, pixels, percent in (
        (0, 512, 34.3), (1, 640, 40.2), (2, 768, 42.5), (3, 896, 47.2),
    ):  # fmt: skip
        name = f"efficientdet_d{size}"
        build = partial(effdet.create_model, name, pretrained=False, pretrained_backbone=False)
        yield Source(
            name, "EfficientDet", "EfficientNet, levels joined by weights both ways",
            "effdet, exported without weights", ((1, 3, pixels, pixels),), build, percent,
            "COCO mAP 50-95", "https://github.com/google/automl/tree/master/efficientdet",
        )  # fmt: skip


def _unet() -> Iterator[Source]:
    """Take U-Net of segmentation-models-pytorch, and the first one, with padding."""
    import segmentation_models_pytorch as smp
    import torch

    class UNet(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            widths = (64, 128, 256, 512, 1024)
            self.down = torch.nn.ModuleList(map(self._two, (3, *widths), widths))
            self.rise = torch.nn.ModuleList(
                torch.nn.ConvTranspose2d(width, width // 2, 2, 2) for width in widths[:0:-1]
            )
            self.up = torch.nn.ModuleList(self._two(w, w // 2) for w in widths[:0:-1])
            self.last = torch.nn.Conv2d(64, 2, 1)

        def _two(self, before: int, after: int) -> Any:
            layers: list[Any] = []
            for width in (before, after):
                layers += [
                    torch.nn.Conv2d(width, after, 3, padding=1, bias=False),
                    torch.nn.BatchNorm2d(after),
                    torch.nn.ReLU(),
                ]
            return torch.nn.Sequential(*layers)

        def forward(self, x: Any) -> Any:
            seen = []
            for index, part in enumerate(self.down):
                x = part(torch.nn.functional.max_pool2d(x, 2) if index else x)
                seen.append(x)
            for rise, up, old in zip(self.rise, self.up, seen[-2::-1], strict=True):
                x = up(torch.cat([old, rise(x)], dim=1))
            return self.last(x)

    yield Source(
        "unet", "U-Net", "convolutions of 3 x 3 down and up again, two classes",
        "Ronneberger et al. 2015, with padding", ((1, 3, 640, 1280),), UNet,
    )  # fmt: skip
    yield Source(
        "unet_resnet34", "U-Net", "ResNet-34 down, convolutions up again",
        "segmentation-models-pytorch, exported without weights", ((1, 3, 512, 512),),
        lambda: smp.Unet("resnet34", encoder_weights=None),
    )  # fmt: skip

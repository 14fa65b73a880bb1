"""Makers of classifiers, detectors and segmenters."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from tests.data.models.makers.sources import First, by_dynamo, by_script, hf, source


@source("torch TorchScript, opset 9")
def resnet18_opset9() -> Any:
    import torchvision

    return by_script(torchvision.models.resnet18().eval(), (torch.rand(1, 3, 224, 224),), 9)


@source("torch TorchScript, opset 11, dynamic batch")
def mobilenet_v3_small() -> Any:
    import torchvision

    network = torchvision.models.mobilenet_v3_small().eval()
    dynamic = {"x": {0: "batch_size"}, "y": {0: "batch_size"}}
    return by_script(network, (torch.rand(1, 3, 224, 224),), 11, dynamic=dynamic)


@source("torch TorchScript, opset 13")
def efficientnet_b0() -> Any:
    import torchvision

    return by_script(torchvision.models.efficientnet_b0().eval(), (torch.rand(1, 3, 224, 224),), 13)


@source("torch.export, opset 18")
def swin_tiny() -> Any:
    import torchvision

    network = torchvision.models.SwinTransformer([4, 4], 96, [2, 2], [3, 6], [7, 7]).eval()
    return by_dynamo(network, (torch.rand(1, 3, 224, 224),), 18)


@source("torch.export, opset 20, dynamic batch")
def vit_tiny() -> Any:
    import timm

    network = timm.create_model("vit_tiny_patch16_224", depth=4).eval()
    dynamic = ({0: torch.export.Dim("batch", min=1, max=64)},)
    return by_dynamo(network, (torch.rand(2, 3, 224, 224),), 20, dynamic=dynamic)


@source("timm, torch.export, opset 23 (one node Attention)")
def vit_tiny_attention23() -> Any:
    import timm

    network = timm.create_model("vit_tiny_patch16_224", depth=4).eval()
    return by_dynamo(network, (torch.rand(1, 3, 224, 224),), 23)


@source("timm, torch.export, opset 18")
def convnext_atto() -> Any:
    import timm

    network = timm.create_model("convnext_atto", depths=(2, 2, 2, 2)).eval()
    return by_dynamo(network, (torch.rand(1, 3, 224, 224),), 18)


def yolo(configuration: str, size: int, opset: int, **more: Any) -> Any:
    from ultralytics import RTDETR, YOLO

    network = (RTDETR if configuration.startswith("rtdetr") else YOLO)(configuration)
    with tempfile.TemporaryDirectory() as folder:
        network.ckpt_path = str(Path(folder) / "model.pt")
        network.model.pt_path = network.ckpt_path
        network.model.yaml_file = str(Path(folder) / "model.yaml")
        path = network.export(format="onnx", imgsz=size, opset=opset, simplify=False, **more)
        return onnx.load(path)


@source("ultralytics, opset 12")
def yolov8n() -> Any:
    return yolo("yolov8n.yaml", 640, 12)


@source("ultralytics, opset 17, all sizes dynamic", height=640, width=640)
def yolo11n_seg() -> Any:
    return yolo("yolo11n-seg.yaml", 640, 17, dynamic=True)


@source("ultralytics, opset 16")
def rtdetr_l() -> Any:
    return yolo("rtdetr-l.yaml", 640, 16)


@source("ultralytics and a NonMaxSuppression behind it, opset 12")
def yolov8n_nms() -> Any:
    model = yolo("yolov8n.yaml", 320, 12)
    name = model.graph.output[0].name
    graph = model.graph
    for tensor, values in (("z4", [0]), ("z84", [84]), ("a1", [1])):
        graph.initializer.append(numpy_helper.from_array(np.array(values, np.int64), tensor))
    four = numpy_helper.from_array(np.array([4], np.int64), "f4")
    graph.initializer.extend([four, numpy_helper.from_array(np.int64([100]), "most")])
    for tensor, number in (("iou", 0.45), ("score", 0.25)):
        graph.initializer.append(numpy_helper.from_array(np.float32([number]), tensor))
    graph.node.extend(
        [
            helper.make_node("Slice", [name, "z4", "f4", "a1"], ["xywh"], name="nms/boxes"),
            helper.make_node("Slice", [name, "f4", "z84", "a1"], ["scores"], name="nms/scores"),
            helper.make_node("Transpose", ["xywh"], ["boxes"], perm=[0, 2, 1], name="nms/turn"),
            helper.make_node(
                "NonMaxSuppression", ["boxes", "scores", "most", "iou", "score"], ["selected"],
                center_point_box=1, name="nms/select",
            ),
        ]
    )  # fmt: skip
    graph.output.append(helper.make_tensor_value_info("selected", TensorProto.INT64, ["k", 3]))
    return model


class UNet(torch.nn.Module):
    """Four levels; every decoder block sees the encoder's map of its size."""

    def __init__(self, width: int = 16, levels: int = 4) -> None:
        super().__init__()
        sizes = [width << level for level in range(levels)]
        self.down = torch.nn.ModuleList(
            self.block(a, b) for a, b in zip([3, *sizes], sizes, strict=False)
        )
        self.up = torch.nn.ModuleList(
            torch.nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in pairwise(sizes)
        )
        self.join = torch.nn.ModuleList(self.block(2 * a, a) for a in sizes[:-1])
        self.head = torch.nn.Conv2d(width, 2, 1)

    @staticmethod
    def block(inputs: int, outputs: int) -> Any:
        layers = torch.nn
        return layers.Sequential(
            layers.Conv2d(inputs, outputs, 3, padding=1), layers.BatchNorm2d(outputs),
            layers.ReLU(), layers.Conv2d(outputs, outputs, 3, padding=1), layers.ReLU(),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        maps = []
        for level, block in enumerate(self.down):
            x = block(x if not level else torch.nn.functional.max_pool2d(x, 2))
            maps.append(x)
        for level in reversed(range(len(self.up))):
            x = self.join[level](torch.cat([self.up[level](x), maps[level]], 1))
        return self.head(x)


@source("torch TorchScript, opset 11, dynamic height and width", h=256, w=256)
def unet() -> Any:
    dynamic = {"x": {0: "N", 2: "h", 3: "w"}}
    return by_script(UNet().eval(), (torch.rand(1, 3, 64, 64),), 11, dynamic=dynamic)


@source("names as PaddlePaddle's exporter writes them, opset 11", **{"p2o.DynamicDimension.2": 320})
def paddle_names() -> Any:
    return by_script(
        UNet(8, 2).eval(), (torch.rand(1, 3, 48, 48),), 11,
        dynamic={"x": {0: "p2o.DynamicDimension.0", 3: "p2o.DynamicDimension.2"}},
    )  # fmt: skip


@source("transformers, TorchScript, opset 14")
def segformer_b0() -> Any:
    from transformers import SegformerConfig

    network = hf("SegformerForSemanticSegmentation", SegformerConfig(num_labels=19))
    inputs = (torch.rand(1, 3, 256, 256),)
    return by_script(First(network, "pixel_values", "logits"), inputs, 14)


@source("transformers, torch.export, opset 18")
def detr_resnet18() -> Any:
    from transformers import DetrConfig, ResNetConfig

    backbone = ResNetConfig(
        depths=[2, 2, 2, 2], layer_type="basic", hidden_sizes=[64, 128, 256, 512],
        out_features=["stage4"],
    )  # fmt: skip
    configuration = DetrConfig(
        use_timm_backbone=False, backbone_config=backbone, backbone=None, encoder_layers=2,
        decoder_layers=2, num_queries=50, use_pretrained_backbone=False,
    )  # fmt: skip
    network = First(
        hf("DetrForObjectDetection", configuration), "pixel_values", "logits pred_boxes"
    )
    return by_dynamo(network, (torch.rand(1, 3, 256, 320),), 18, outputs="logits boxes")

"""Makes the model files beside it: ``python -m tests.data.models.make_models [NAME...]``.

Not run by the tests. Needs torch, torchvision, timm, transformers, ultralytics, onnxscript, onnx,
onnxruntime and onnxruntime-genai; downloads nothing. Networks are built from public configurations
with random weights, often with fewer blocks, and exported. ONNX Runtime runs every file once; the
shapes of all tensors in that run, not this project's importer, are what ``expected.json`` is
counted from (:mod:`tests.data.models.count_model`). Then the weights lose their values, so that
files are small.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from tests.data.models.count_model import count_model

FOLDER = Path(__file__).parent
_KEPT_ELEMENTS = 64
"""Constants up to this size keep their values: sizes, axes, scales."""


@dataclass(frozen=True)
class Source:
    """How a file is made."""

    exporter: str
    make: Callable[[], Any]
    dimensions: dict[str, int] = field(default_factory=dict)
    """What ``--dim`` has to give."""
    feeds: dict[str, Any] = field(default_factory=dict)
    """Values of inputs that must not be random."""
    counted: Callable[[], Any] | None = None
    """Makes a model of the same work that ONNX Runtime can run without an accelerator."""


SOURCES: dict[str, Source] = {}


def source(
    exporter: str, *, feeds: dict[str, Any] | None = None, counted: Any = None, **dimensions: int
) -> Any:
    """Registers the function as the maker of a file."""

    def register(make: Callable[[], Any]) -> Callable[[], Any]:
        SOURCES[make.__name__] = Source(exporter, make, dimensions, feeds or {}, counted)
        return make

    return register


def by_script(
    model: Any, inputs: tuple[Any, ...], opset: int, names: str = "x", outputs: str = "y",
    dynamic: dict[str, dict[int, str]] | None = None,
) -> Any:  # fmt: skip
    """Exported by torch's TorchScript exporter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        torch.onnx.export(
            model, inputs, str(path), opset_version=opset, input_names=names.split(),
            output_names=outputs.split(), dynamic_axes=dynamic or {}, dynamo=False,
        )  # fmt: skip
        return onnx.load(path)


def by_dynamo(
    model: Any, inputs: tuple[Any, ...], opset: int, names: str = "x", outputs: str = "y",
    dynamic: Any = None,
) -> Any:  # fmt: skip
    """Exported by torch.export."""
    program = torch.onnx.export(
        model, inputs, opset_version=opset, input_names=names.split(),
        output_names=outputs.split(), dynamic_shapes=dynamic, dynamo=True,
    )  # fmt: skip
    return program.model_proto


# ---------------------------------------------------------------------------- vision


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


def hf(name: str, configuration: Any, **more: Any) -> Any:
    import transformers

    configuration._attn_implementation = more.get("attention", "eager")
    return getattr(transformers, name)(configuration).eval()


class First(torch.nn.Module):
    """A network of transformers with one result or several, and no cache."""

    def __init__(self, network: Any, names: str, results: str, **fixed: Any) -> None:
        super().__init__()
        self.network, self.names, self.results = network, names.split(), results.split()
        self.fixed = fixed

    def forward(self, *tensors: Any) -> Any:
        given = dict(zip(self.names, tensors, strict=True))
        result = self.network(**given, **self.fixed)
        found = tuple(getattr(result, name) for name in self.results)
        return found[0] if len(found) == 1 else found


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


# ---------------------------------------------------------------------------- speech and text


def whisper() -> Any:
    from transformers import WhisperConfig

    return hf(
        "WhisperModel",
        WhisperConfig(
            d_model=384, encoder_layers=2, decoder_layers=2, encoder_attention_heads=6,
            decoder_attention_heads=6, encoder_ffn_dim=1536, decoder_ffn_dim=1536,
        ),
    )  # fmt: skip


@source("transformers, TorchScript, opset 17")
def whisper_tiny_encoder() -> Any:
    network = First(whisper().encoder, "input_features", "last_hidden_state")
    return by_script(network, (torch.rand(1, 80, 3000),), 17, "input_features", "hidden")


class Cached(torch.nn.Module):
    """A decoder step whose cache is a list of tensors: key and value of every layer."""

    def __init__(self, network: Any, layers: int, names: str, result: str) -> None:
        super().__init__()
        self.network, self.layers, self.names, self.result = network, layers, names.split(), result

    def forward(self, *tensors: Any) -> Any:
        from transformers import DynamicCache

        given = dict(zip(self.names, tensors, strict=False))
        flat = tensors[len(self.names) :]
        cache = DynamicCache()
        for layer in range(self.layers):
            cache.update(flat[2 * layer], flat[2 * layer + 1], layer)
        result = self.network(**given, past_key_values=cache, use_cache=True)
        present = [part for layer in cache.layers for part in (layer.keys, layer.values)]
        return (getattr(result, self.result), *present)


def cached(
    network: Any,
    layers: int,
    heads: int,
    size: int,
    export: Any,
    opset: int,
    result: str = "logits",
) -> Any:
    """A decoder step with the names that Optimum gives; all sizes dynamic."""
    past, step = 8, 1
    names = "input_ids attention_mask position_ids"
    inputs = [
        torch.ones(1, step, dtype=torch.int64), torch.ones(1, past + step, dtype=torch.int64),
        torch.full((1, step), past),
    ]  # fmt: skip
    inputs += [torch.rand(1, heads, past, size) for _ in range(2 * layers)]
    keys = [f"{layer}.{part}" for layer in range(layers) for part in ("key", "value")]
    if export is by_script:
        dynamic = {
            "input_ids": {0: "batch_size", 1: "sequence_length"},
            "attention_mask": {0: "batch_size", 1: "past_sequence_length + 1"},
            "position_ids": {0: "batch_size", 1: "sequence_length"},
            **{
                f"past_key_values.{key}": {0: "batch_size", 2: "past_sequence_length"}
                for key in keys
            },
        }
    else:
        length = torch.export.Dim("past_sequence_length", min=2, max=4096)
        dynamic = ((None, {1: length + 1}, None, *[{2: length}] * (2 * layers)),)
    wrapped = Cached(network, layers, names, result)
    return export(
        wrapped, tuple(inputs), opset, f"{names} " + " ".join(f"past_key_values.{k}" for k in keys),
        f"{result} " + " ".join(f"present.{key}" for key in keys), dynamic,
    )  # fmt: skip


def gpt2() -> Any:
    from transformers import GPT2Config

    return hf("GPT2LMHeadModel", GPT2Config(n_layer=2))


def smollm(attention: str = "eager") -> Any:
    from transformers import LlamaConfig

    return hf("LlamaForCausalLM", llama_configuration(LlamaConfig), attention=attention)


def llama_configuration(kind: Any) -> Any:
    """SmolLM-135M with 2 of its 30 blocks."""
    return kind(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=2,
        num_attention_heads=9, num_key_value_heads=3, tie_word_embeddings=True,
        max_position_embeddings=2048,
    )  # fmt: skip


_PAST = {"sequence_length": 1, "past_sequence_length": 1023}


@source("transformers, TorchScript, opset 14, names of Optimum", **_PAST)
def gpt2_with_past() -> Any:
    return cached(gpt2(), 2, 12, 64, by_script, 14)


@source("transformers, torch.export, opset 18, dynamic past", past_sequence_length=1023)
def smollm_with_past() -> Any:
    return cached(smollm(), 2, 3, 64, by_dynamo, 18)


@source("transformers, torch.export, opset 23 (Attention with grouped heads)",
        past_sequence_length=1023)  # fmt: skip
def smollm_attention23() -> Any:
    return cached(smollm("sdpa"), 2, 3, 64, by_dynamo, 23)


@source("transformers, torch.export, opset 18, 32 tokens at once")
def smollm_prefill() -> Any:
    network = First(smollm(), "input_ids", "logits", use_cache=False)
    return by_dynamo(network, (torch.ones(1, 32, dtype=torch.int64),), 18, "input_ids", "logits")


@source("transformers, TorchScript, opset 14", sequence_length=1, past_sequence_length=1023)
def whisper_tiny_decoder() -> Any:
    model = whisper()

    class Decoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.decoder = model.decoder

        def forward(self, ids: Any, hidden: Any, *flat: Any) -> Any:
            from transformers import DynamicCache, EncoderDecoderCache

            own = DynamicCache()
            for layer in range(2):
                own.update(flat[2 * layer], flat[2 * layer + 1], layer)
            cache = EncoderDecoderCache(own, DynamicCache())
            result = self.decoder(
                input_ids=ids, encoder_hidden_states=hidden, past_key_values=cache, use_cache=True,
                position_ids=torch.full_like(ids, 8),
            )  # fmt: skip
            present = [p for layer in own.layers for p in (layer.keys, layer.values)]
            return (result.last_hidden_state, *present)

    inputs = [torch.ones(1, 1, dtype=torch.int64), torch.rand(1, 1500, 384)]
    inputs += [torch.rand(1, 6, 8, 64) for _ in range(4)]
    keys = [f"{layer}.decoder.{part}" for layer in range(2) for part in ("key", "value")]
    names = "input_ids encoder_hidden_states " + " ".join(f"past_key_values.{k}" for k in keys)
    dynamic = {
        f"past_key_values.{key}": {0: "batch_size", 2: "past_sequence_length"} for key in keys
    }
    dynamic["input_ids"] = {0: "batch_size", 1: "sequence_length"}
    dynamic["encoder_hidden_states"] = {0: "batch_size"}
    outputs = "hidden " + " ".join(f"present.{key}" for key in keys)
    return by_script(Decoder().eval(), tuple(inputs), 14, names, outputs, dynamic)


def bert() -> Any:
    from transformers import BertConfig

    return hf(
        "BertModel",
        BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=2,
                   intermediate_size=512),
    )  # fmt: skip


def exported_bert(opset: int) -> Any:
    names = "input_ids attention_mask token_type_ids"
    axes = {0: "batch_size", 1: "sequence_length"}
    inputs = tuple(torch.ones(1, 16, dtype=torch.int64) for _ in range(3))
    network = First(bert(), names, "last_hidden_state pooler_output")
    dynamic = dict.fromkeys(names.split(), axes)
    return by_script(network, inputs, opset, names, "hidden pooled", dynamic)


@source("transformers, TorchScript, opset 14, with mask", sequence_length=128)
def bert_tiny() -> Any:
    return exported_bert(14)


@source("transformers, torch.export, opset 20, with mask")
def clip_text() -> Any:
    from transformers import CLIPTextConfig

    network = hf("CLIPTextModelWithProjection", CLIPTextConfig(num_hidden_layers=2))
    names = "input_ids attention_mask"
    inputs = tuple(torch.ones(1, 77, dtype=torch.int64) for _ in range(2))
    return by_dynamo(First(network, names, "text_embeds"), inputs, 20, names)


@source("transformers, TorchScript, opset 16")
def clip_vision() -> Any:
    from transformers import CLIPVisionConfig

    network = hf("CLIPVisionModelWithProjection", CLIPVisionConfig(num_hidden_layers=2))
    inputs = (torch.rand(1, 3, 224, 224),)
    return by_script(First(network, "pixel_values", "image_embeds"), inputs, 16)


@source("torch TorchScript, opset 15: LSTM and GRU")
def keyword_spotter() -> Any:
    class Spotter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.front = torch.nn.Conv1d(40, 64, 3, padding=1)
            self.lstm = torch.nn.LSTM(64, 96, bidirectional=True, batch_first=True)
            self.gru = torch.nn.GRU(192, 64, batch_first=True)
            self.head = torch.nn.Linear(64, 12)

        def forward(self, x: Any) -> Any:
            x = torch.relu(self.front(x)).transpose(1, 2)
            x, _ = self.lstm(x)
            x, _ = self.gru(x)
            return self.head(x[:, -1])

    return by_script(Spotter().eval(), (torch.rand(1, 40, 98),), 15)


# ---------------------------------------------------------------------------- ONNX Runtime's tools


def with_files(work: Callable[[Path, Path], Any], model: Any) -> Any:
    """A tool that reads one file and writes another."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "given.onnx", Path(folder) / "made.onnx"
        onnx.save(model, given)
        work(given, made)
        return onnx.load(made)


def quantised(model: Any, size: tuple[int, ...], **options: Any) -> Any:
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            name = model.graph.input[0].name
            self.rows = iter([{name: np.random.default_rng(0).random(size).astype(np.float32)}])

        def get_next(self) -> Any:
            return next(self.rows, None)

    def work(given: Path, made: Path) -> None:
        prepared = given.with_name("prepared.onnx")
        quantization.quant_pre_process(str(given), str(prepared), skip_symbolic_shape=True)
        quantization.quantize_static(str(prepared), str(made), Reader(), **options)

    return with_files(work, model)


@source("ONNX Runtime's static quantiser, Q/DQ pairs, opset 13")
def resnet18_qdq() -> Any:
    import torchvision

    model = by_script(torchvision.models.resnet18().eval(), (torch.rand(1, 3, 224, 224),), 13)
    return quantised(model, (1, 3, 224, 224), per_channel=True)


@source("ultralytics, then ONNX Runtime's static quantiser, Q/DQ pairs, opset 13")
def yolov8n_qdq() -> Any:
    return quantised(yolo("yolov8n.yaml", 320, 13), (1, 3, 320, 320))


@source("ONNX Runtime's static quantiser, QLinear operators, opset 13")
def mobilenet_v2_qoperator() -> Any:
    import torchvision
    from onnxruntime.quantization import QuantFormat

    model = by_script(torchvision.models.mobilenet_v2().eval(), (torch.rand(1, 3, 224, 224),), 13)
    return quantised(model, (1, 3, 224, 224), quant_format=QuantFormat.QOperator)


@source("ONNX Runtime's dynamic quantiser, opset 14", sequence_length=128)
def bert_tiny_dynamic_int8() -> Any:
    from onnxruntime.quantization import quantize_dynamic

    return with_files(lambda a, b: quantize_dynamic(str(a), str(b)), exported_bert(14))


@source("ONNX Runtime's 4-bit quantiser: MatMulNBits", past_sequence_length=1023)
def smollm_int4() -> Any:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantiser = MatMulNBitsQuantizer(smollm_with_past(), block_size=32, is_symmetric=False)
    quantiser.process()
    return quantiser.model.model


def runtime_optimised(model: Any, level: str) -> Any:
    import onnxruntime

    def work(given: Path, made: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        options.optimized_model_filepath = str(made)
        onnxruntime.InferenceSession(str(given), options, providers=["CPUExecutionProvider"])

    return with_files(work, model)


@source("ONNX Runtime's graph optimiser, extended: FusedConv, FusedMatMul")
def resnet18_fused() -> Any:
    return runtime_optimised(resnet18_opset9(), "ORT_ENABLE_EXTENDED")


@source("ONNX Runtime's graph optimiser, extended: FusedMatMul, BiasGelu", sequence_length=128)
def bert_tiny_fused() -> Any:
    return runtime_optimised(exported_bert(14), "ORT_ENABLE_EXTENDED")


def transformer_optimised(
    model: Any, kind: str, heads: int, hidden: int, half: bool = False
) -> Any:
    from onnxruntime.transformers.optimizer import optimize_model

    def work(given: Path, made: Path) -> None:
        optimised = optimize_model(
            str(given), model_type=kind, num_heads=heads, hidden_size=hidden, opt_level=0
        )
        if half:
            optimised.convert_float_to_float16(keep_io_types=False)
        optimised.save_model_to_file(str(made))
        print("  fused:", optimised.get_fused_operator_statistics())

    return with_files(work, model)


@source("ONNX Runtime's transformer optimiser: Attention, SkipLayerNormalization",
        sequence_length=128)  # fmt: skip
def bert_tiny_contrib() -> Any:
    return transformer_optimised(exported_bert(14), "bert", 2, 128)


@source("ONNX Runtime's transformer optimiser: MultiHeadAttention, fp16")
def whisper_tiny_encoder_contrib_fp16() -> Any:
    return transformer_optimised(whisper_tiny_encoder(), "bart", 6, 384, half=True)


@source(
    "ONNX Runtime's transformer optimiser, then its dynamic quantiser: QAttention",
    sequence_length=128,
)
def bert_tiny_contrib_int8() -> Any:
    from onnxruntime.quantization import quantize_dynamic

    more = {"DefaultTensorType": TensorProto.FLOAT}

    def work(given: Path, made: Path) -> None:
        quantize_dynamic(str(given), str(made), extra_options=more)

    return with_files(work, bert_tiny_contrib())


@source("ONNX Runtime's transformer optimiser, fp16, with past",
        counted=lambda: in_float(gpt2_contrib_fp16()), **_PAST)  # fmt: skip
def gpt2_contrib_fp16() -> Any:
    return transformer_optimised(gpt2_with_past(), "gpt2", 12, 768, half=True)


def attention_node(
    operator: str, domain: str, inputs: dict[str, tuple[int, list[Any]]], outputs: str, **more: Any
) -> Any:
    """A model with one node; an input of no dimensions is left out."""
    held = {name: kind for name, kind in inputs.items() if not name.startswith("_")}
    node = helper.make_node(
        operator, [n if n in held else "" for n in inputs], outputs.split(), name="attention",
        domain=domain, **more,
    )  # fmt: skip
    graph = helper.make_graph(
        [node], "one",
        [helper.make_tensor_value_info(name, *kind) for name, kind in held.items()],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs.split()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


@source("by hand: com.microsoft.Attention with past", past=1023)
def contrib_attention_past() -> Any:
    model = attention_node(
        "Attention", "com.microsoft",
        {"x": (1, ["batch", 1, 512]), "w": (1, [512, 1536]), "b": (1, [1536]), "_mask": (1, []),
         "past": (1, [2, "batch", 8, "past", 64])},
        "y present", num_heads=8, unidirectional=1,
    )  # fmt: skip
    for value in list(model.graph.input)[1:3]:
        dims = [size.dim_value for size in value.type.tensor_type.shape.dim]
        tensor = numpy_helper.from_array(
            np.random.default_rng(0).random(dims).astype(np.float32), value.name
        )
        model.graph.initializer.append(tensor)
        model.graph.input.remove(value)
    return model


@source("by hand: com.microsoft.MultiHeadAttention with past", past=1023)
def contrib_multi_head_attention_past() -> Any:
    return attention_node(
        "MultiHeadAttention", "com.microsoft",
        {"q": (1, ["batch", 1, 512]), "k": (1, ["batch", 1, 512]), "v": (1, ["batch", 1, 512]),
         "_1": (1, []), "_2": (1, []), "_3": (1, []),
         "past_key": (1, ["batch", 8, "past", 64]), "past_value": (1, ["batch", 8, "past", 64])},
        "y present_key present_value", num_heads=8,
    )  # fmt: skip


@source("by hand: Attention of opset 23 with past", past=1023)
def attention23_past() -> Any:
    return attention_node(
        "Attention", "",
        {"q": (1, ["batch", 8, 1, 64]), "k": (1, ["batch", 2, 1, 64]),
         "v": (1, ["batch", 2, 1, 32]), "_mask": (1, []),
         "past_key": (1, ["batch", 2, "past", 64]), "past_value": (1, ["batch", 2, "past", 32])},
        "y present_key present_value",
    )  # fmt: skip


# ---------------------------------------------------------------------------- onnxruntime-genai


def built(precision: str, kind: str = "LlamaForCausalLM") -> Any:
    """A model of onnxruntime-genai's builder, from a folder with random weights."""
    import transformers
    from onnxruntime_genai.models import builder

    families = {"LlamaForCausalLM": "LlamaConfig", "Qwen3ForCausalLM": "Qwen3Config"}
    configuration = llama_configuration(getattr(transformers, families[kind]))
    configuration.architectures = [kind]
    configuration.head_dim = 64
    configuration.pad_token_id = configuration.eos_token_id = configuration.bos_token_id = 0
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "given", Path(folder) / "made"
        hf(kind, configuration).save_pretrained(given)
        from tokenizers import Tokenizer, models

        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
        )
        tokenizer.save_pretrained(given)
        given_and_made = (None, str(given), str(made), precision, "cpu", folder)
        options = builder.parse_extra_options(*given_and_made, None)
        builder.create_model(*given_and_made, **options)
        return onnx.load(made / "model.onnx")


_GENAI = {"sequence_length": 1, "past_sequence_length": 1023, "total_sequence_length": 1024,
          "kv_cache_dim": 64}  # fmt: skip
_LENGTHS = {"attention_mask": [[1] * 1024]}


@source("onnxruntime-genai's builder, fp32: GroupQueryAttention", feeds=_LENGTHS, **_GENAI)
def genai_llama_fp32() -> Any:
    return built("fp32")


@source("onnxruntime-genai's builder, fp16", feeds=_LENGTHS,
        counted=lambda: in_float(genai_qwen3_fp16()), **_GENAI)  # fmt: skip
def genai_qwen3_fp16() -> Any:
    return built("fp16", kind="Qwen3ForCausalLM")


@source("onnxruntime-genai's builder, int4: MatMulNBits", feeds=_LENGTHS, **_GENAI)
def genai_llama_int4() -> Any:
    return built("int4")


# ---------------------------------------------------------------------------- control flow


class Rated(torch.nn.Module):
    """What is computed depends on a size, as in silero-vad."""

    def __init__(self) -> None:
        super().__init__()
        self.low, self.high = torch.nn.Conv1d(1, 16, 3), torch.nn.Conv1d(1, 32, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[2] > 256:
            return torch.relu(self.high(x)).mean(2).sum(1)
        return torch.relu(self.low(x)).mean(2).sum(1)


@source("torch.jit.script, opset 16: If on a size", samples=512)
def if_on_shape() -> Any:
    dynamic = {"x": {0: "batch", 2: "samples"}}
    return by_script(
        torch.jit.script(Rated().eval()), (torch.rand(1, 1, 512),), 16, dynamic=dynamic
    )


class Chosen(torch.nn.Module):
    """What is computed depends on the data."""

    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool(x.sum() > 0):
            return self.head(x)
        return x


@source("torch.jit.script, opset 16: If on data")
def if_on_data() -> Any:
    return by_script(torch.jit.script(Chosen().eval()), (torch.rand(1, 8),), 16)


class Repeated(torch.nn.Module):
    """A loop whose length is an input's size."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = torch.zeros_like(x[0])
        for step in range(x.size(0)):
            state = torch.tanh(self.cell(x[step] + state))
        return state


@source("torch.jit.script, opset 16: Loop")
def loop() -> Any:
    return by_script(torch.jit.script(Repeated().eval()), (torch.rand(5, 1, 8),), 16)


@source("by hand: Scan")
def scan() -> Any:
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["sum", "x"], ["next"]),
         helper.make_node("Identity", ["next"], ["row"])],
        "body", [value("sum", 1, [4]), value("x", 1, [4])],
        [value("next", 1, [4]), value("row", 1, [4])],
    )  # fmt: skip
    node = helper.make_node(
        "Scan", ["start", "rows"], ["end", "sums"], body=body, num_scan_inputs=1, name="cumulate"
    )
    graph = helper.make_graph(
        [node], "scan", [value("start", 1, [4]), value("rows", 1, [6, 4])],
        [value("end", 1, [4]), value("sums", 1, [6, 4])],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


# ---------------------------------------------------------------------------- writing


REFUSED = ("if_on_data", "loop", "scan")
"""Files whose work depends on the data, or that repeat a graph."""


def without_values(model: Any) -> Any:
    """The model with the values of its large constants gone, and no notes of the exporter."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    graphs = [made.graph, *made.functions]
    for proto in (made, made.graph):
        proto.doc_string = ""
        del proto.metadata_props[:]
    while graphs:
        graph = graphs.pop()
        tensors = list(getattr(graph, "initializer", ()))
        for value in getattr(graph, "value_info", ()):
            del value.metadata_props[:]
        for node in graph.node:
            node.doc_string = ""
            del node.metadata_props[:]
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    graphs.append(attribute.g)
                if attribute.HasField("t"):
                    tensors.append(attribute.t)
        for tensor in tensors:
            elements = int(np.prod(tensor.dims, dtype=object))
            whole = tensor.data_type == TensorProto.INT64 and elements <= 4096
            if elements > _KEPT_ELEMENTS and not whole:
                bare = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
                tensor.CopyFrom(bare)
    return made


def in_float(model: Any) -> Any:
    """The same graph in 32 bits, for processors whose operators know no half precision."""
    half, single = TensorProto.FLOAT16, TensorProto.FLOAT

    def widen(tensor: Any) -> None:
        if tensor.data_type == half:
            values = numpy_helper.to_array(tensor).astype(np.float32)
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))

    for tensor in model.graph.initializer:
        widen(tensor)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        if value.type.tensor_type.elem_type == half:
            value.type.tensor_type.elem_type = single
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                widen(attribute.t)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == half:
                attribute.i = single
    return model


def without_branches(model: Any, dimensions: dict[str, int]) -> Any:
    """ONNX Runtime resolves an ``If`` on sizes once the sizes are known."""
    if all(node.op_type != "If" for node in model.graph.node):
        return model
    import onnxruntime

    def work(given: Path, made: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(made)
        for name, size in {"batch": 1, **dimensions}.items():
            options.add_free_dimension_override_by_name(name, size)
        onnxruntime.InferenceSession(str(given), options, providers=["CPUExecutionProvider"])

    return with_files(work, model)


def main(names: list[str]) -> None:
    """Makes the files named, or all."""
    warnings.filterwarnings("ignore")
    table_file = FOLDER / "expected.json"
    table = json.loads(table_file.read_text()) if table_file.exists() else {}
    for name in names or SOURCES:
        entry = SOURCES[name]
        torch.manual_seed(0)
        try:
            model = entry.make()
            row: dict[str, Any] = {"exporter": entry.exporter}
            if entry.dimensions:
                row["dimensions"] = entry.dimensions
            if name not in REFUSED:
                flat = without_branches(
                    entry.counted() if entry.counted else model, entry.dimensions
                )
                row |= count_model(flat, entry.dimensions, entry.feeds)
            small = without_values(model).SerializeToString(deterministic=True)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            continue
        (FOLDER / f"{name}.onnx").write_bytes(small)
        table[name] = row
        print(f"{name}: {len(model.graph.node)} nodes, {len(small)} bytes, {row}", flush=True)
        table_file.write_text(json.dumps(dict(sorted(table.items())), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Makers of what ONNX Runtime's tools write: quantised, fused, with operators of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper

from tests.data.models.makers.sources import by_script, source
from tests.data.models.makers.speech_and_text import (
    ONE_AFTER_1023,
    exported_bert,
    gpt2_with_past,
    smollm_with_past,
    whisper_tiny_encoder,
)
from tests.data.models.makers.trim import in_float, with_files
from tests.data.models.makers.vision import resnet18_opset9, yolo


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
        counted=lambda: in_float(gpt2_contrib_fp16()), **ONE_AFTER_1023)  # fmt: skip
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

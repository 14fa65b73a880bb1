"""A model with its weights, and the same with some of its layers in another number format, as ONNX
Runtime quantises them."""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.tools.deploy.random_weights import take_fillings
from paretosoc.dse.tools.deploy.strong_types import QDQ_OPSET, CalibrationReader, quantising
from paretosoc.dse.tools.sensitivity.samples import Sample
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import
from paretosoc.sdf.catalogue.catalogue import model_file
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.onnx.importer import import_onnx_bytes, model_errors
from paretosoc.sdf.onnx.nodes import FLOAT, FLOAT16
from paretosoc.sdf.onnx.parts import PartTensor, cut_model, put_in


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A network whose nodes have the names of its layers."""

    name: str
    model: Any
    """``onnx.ModelProto``, all weights inside."""
    layers: tuple[str, ...]
    """In an order of execution."""
    inputs: tuple[PartTensor, ...]
    outputs: tuple[str, ...]


def trained_model(source: str, dimensions: Mapping[str, int] | None = None) -> TrainedModel:
    """Read a model.

    Args:
        source: an ``.onnx`` file, or a name of the catalogue.
        dimensions: sizes of dynamic dimensions by name.

    Raises:
        GraphError: if it cannot be read, has a dimension without a size or no trained weights.
        ResultError: if it is quantised.
    """
    from onnx import version_converter
    from onnx.external_data_helper import load_external_data_for_model

    file = model_file(source, dimensions)
    network = import_onnx_bytes(
        file.data, name=file.name, folder=file.folder, dimensions=dimensions, label=file.label
    )
    if network.is_quantised:
        raise ResultError(f"{file.label}: a model in floats is required, this one is quantised")
    layers = tuple(actor.name for actor in network.graph.actors)
    (part,) = cut_model(file.data, file.folder, [layers], dimensions=dimensions, label=file.label)
    model = part.model
    with model_errors(file.label):
        if file.folder is not None:
            load_external_data_for_model(model, str(file.folder))
        if part.weights or _is_filled(model):
            raise GraphError("a model with trained weights is required, this one has none")
        version = next(entry.version for entry in model.opset_import if not entry.domain)
        if version < QDQ_OPSET:
            model = version_converter.convert_version(model, QDQ_OPSET)
            _name_replaced(model, part.model, layers)
    return TrainedModel(
        file.name, model, layers, part.inputs, tuple(tensor.name for tensor in part.outputs)
    )


def _name_replaced(model: Any, before: Any, layers: Sequence[str]) -> None:
    """Give the nodes that the converter of versions put in place of layers their names."""
    made_by = {output: node.name for node in before.graph.node for output in node.output}
    lost = set(layers) - {node.name for node in model.graph.node}
    for node in model.graph.node:
        names = lost.intersection(made_by.get(output) for output in node.output)
        if names:
            node.name = names.pop()
            lost.discard(node.name)
    if lost:
        raise GraphError(f"layer {min(lost)!r}: cannot be converted to ONNX's version {QDQ_OPSET}")


def _is_filled(model: Any) -> bool:
    """Return whether most weights are one number throughout, as in graphs without weights."""
    held = sum(math.prod(tensor.dims) for tensor in model.graph.initializer)
    copy = type(model).FromString(model.SerializeToString())
    filled = sum(math.prod(shape) for _, shape, _ in take_fillings(copy))
    return filled > int(held)


INT8, FP16 = "int8", "fp16"
FORMATS = (INT8, FP16)
"""Number formats that a layer can have."""
_QUANTISED = ("Conv", "ConvTranspose", "Gemm", "MatMul")
"""What multiplies. Products are what integer units are for; a normalisation or a sum written in
single operators would lose what it computes, and no runtime has it in int8."""
_PERCENTILE = 99.99
"""Of a tensor's values that the scale covers. The losses of layers add up worse with scales by
extremes or by entropy (benchmarks/sensitivity.py)."""
_WITH_BODY = frozenset({"If", "Loop", "Scan"})


class Rewriter:
    """Rewrites layers of a network.

    In int8 a convolution or matrix product reads its activations and weights through pairs of
    QuantizeLinear and DequantizeLinear: symmetric, weights by channel, as TensorRT wants them.
    Scales are calibrated on the samples. Its outputs are not quantised, and all other layers stay
    as they are. In fp16 whatever a layer reads is rounded to fp16.

    Args:
        samples: calibrate the scales.

    Raises:
        ResultError: if ONNX Runtime is not installed or cannot calibrate the model.
    """

    def __init__(self, network: TrainedModel, samples: Sequence[Sample]) -> None:
        optional_import("onnxruntime", extra="host", purpose="quantising layers")
        from onnx import save_model
        from onnxruntime.quantization.calibrate import CalibrationMethod, create_calibrator
        from onnxruntime.quantization.quant_utils import load_model_with_shape_infer

        self._label = network.name
        with quantising(self._label), temporary_folder() as folder:
            path = folder / "model.onnx"
            save_model(network.model, str(path))
            self._model = load_model_with_shape_infer(path)
            calibrator = create_calibrator(
                path,
                list(_QUANTISED),
                augmented_model_path=str(folder / "augmented.onnx"),
                calibrate_method=CalibrationMethod.Percentile,
                extra_options={"percentile": _PERCENTILE, "symmetric": True},
            )
            # It prints what it does, and keeps all tensors of the samples that it is given at once.
            with redirect_stdout(io.StringIO()):
                for sample in samples:
                    calibrator.collect_data(CalibrationReader([sample]))
                self._ranges = calibrator.compute_data()
        self._types = _element_types(self._model)

    def rewritten(self, formats: Mapping[str, str]) -> Any:
        """Return the model with these layers in these formats.

        Args:
            formats: layer name -> one of :data:`FORMATS`.

        Returns:
            ``onnx.ModelProto``.

        Raises:
            ResultError: if ONNX Runtime cannot quantise them.
        """
        quantised = [name for name, number_format in formats.items() if number_format == INT8]
        halved = {name for name, number_format in formats.items() if number_format == FP16}
        model = type(self._model)()
        model.CopyFrom(self._model)
        if quantised:
            with quantising(self._label):
                model = self._quantised(model, quantised)
        if halved:
            _round_inputs(model, halved, self._types)
        return model

    def changes(self, layer: str, number_format: str) -> bool:
        """Return whether the layer's result depends on its format: it reads floats and, for int8,
        multiplies."""
        node = next(node for node in self._model.graph.node if node.name == layer)
        if node.op_type in _WITH_BODY or (number_format == INT8 and node.op_type not in _QUANTISED):
            return False
        return any(self._types.get(name) == FLOAT for name in node.input)

    def _quantised(self, model: Any, layers: Sequence[str]) -> Any:
        from onnxruntime.quantization import QDQQuantizer, QuantType

        quantizer = QDQQuantizer(
            model, True, False, QuantType.QInt8, QuantType.QInt8, self._ranges, list(layers), [],
            list(_QUANTISED),
            {
                "ActivationSymmetric": True,
                "WeightSymmetric": True,
                "OpTypesToExcludeOutputQuantization": list(_QUANTISED),
            },
        )  # fmt: skip
        quantised = quantizer.quantize_model()
        _let_others_read_originals(quantised, set(layers))
        return quantised


def _let_others_read_originals(model: Any, layers: Collection[str]) -> None:
    """Take the pairs on activations from all readers but ``layers``: the quantiser gives them to
    every reader of a tensor."""
    producers = {name: node for node in model.graph.node for name in node.output}
    for node in model.graph.node:
        if node.name in layers or node.op_type == "DequantizeLinear":
            continue
        for k, name in enumerate(node.input):
            back = producers.get(name)
            if back is not None and back.op_type == "DequantizeLinear":
                there = producers.get(back.input[0])
                if there is not None and there.op_type == "QuantizeLinear":
                    node.input[k] = there.input[0]


def _element_types(model: Any) -> dict[str, int]:
    """Return the type of each tensor, of activations and of weights."""
    graph = model.graph
    types = {
        value.name: value.type.tensor_type.elem_type
        for value in (*graph.value_info, *graph.input, *graph.output)
    }
    return types | {tensor.name: tensor.data_type for tensor in graph.initializer}


def _round_inputs(model: Any, layers: Collection[str], types: Mapping[str, int]) -> None:
    """Cast the FP32 tensors that layers read to FP16 and back."""
    from onnx import helper

    nodes: list[Any] = []
    for node in model.graph.node:
        if node.name in layers:
            for k, name in enumerate(node.input):
                if types.get(name) != FLOAT:
                    continue
                half, back = (f"{name} {step} {node.name}" for step in ("half", "back"))
                if not any(back in made.output for made in nodes[-2 * len(node.input) :]):
                    nodes += [
                        helper.make_node("Cast", [name], [half], to=FLOAT16),
                        helper.make_node("Cast", [half], [back], to=FLOAT),
                    ]
                node.input[k] = back
        nodes.append(node)
    put_in(model.graph.node, nodes)

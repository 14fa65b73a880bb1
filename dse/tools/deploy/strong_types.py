"""Models whose tensors' types say the number format, as TensorRT takes them from version 11 on."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.options import as_written
from paretosoc.common.text import reason_of
from paretosoc.dse.tools.deploy.check_onnx import Values, WrittenPart, run_model
from paretosoc.dse.tools.deploy.random_weights import numpy_type, random_input
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import
from paretosoc.sdf.onnx.nodes import FLOAT, FLOAT16
from paretosoc.sdf.onnx.parts import ModelPart, PartTensor

_SAMPLES = 4
"""Random inputs for a calibration."""
QDQ_OPSET = 13
"""From it on Q/DQ nodes have a scale for each channel."""
_WARNINGS, _ERRORS_ONLY = 2, 3
"""Severities of ONNX Runtime's log: its own, and ours."""
_PURPOSE = "casting models to the types that TensorRT 11 reads"


def kept_types(parts: Sequence[ModelPart]) -> frozenset[str]:
    """Return the tensors that an application gives and gets: inputs of the network, and results
    that no part reads. Tensors between parts are cast."""
    made = {tensor.name for part in parts for tensor in part.outputs}
    read = {tensor.name for part in parts for tensor in part.inputs}
    return frozenset(made ^ read)


def to_half(part: ModelPart, folder: Path | None, kept: Collection[str], label: str) -> ModelPart:
    """Cast a model's FP32 tensors to FP16, if the operators permit it.

    Args:
        folder: if it keeps data in other files.
        kept: inputs and outputs that keep their type.

    Raises:
        ResultError: if ONNX Runtime is not installed, or a weight is too large for FP16.
    """
    optional_import("onnxruntime", extra="deploy", purpose=_PURPOSE)
    from onnx.external_data_helper import load_external_data_for_model
    from onnxruntime.transformers.float16 import convert_float_to_float16

    _give_values(part.model)
    if folder is not None:
        load_external_data_for_model(part.model, str(folder))
    _check_range(part.model, label)
    ends = {value.name for value in (*part.model.graph.input, *part.model.graph.output)}
    model = convert_float_to_float16(
        part.model, keep_io_types=[name for name in ends if name in kept]
    )
    del model.graph.value_info[:]

    def cast(tensors: Sequence[PartTensor]) -> tuple[PartTensor, ...]:
        return tuple(
            replace(tensor, data_type=FLOAT16)
            if tensor.data_type == FLOAT and tensor.name not in kept
            else tensor
            for tensor in tensors
        )

    return ModelPart(model, cast(part.inputs), cast(part.weights), cast(part.outputs))


def _give_values(model: Any) -> None:
    """Write the fill value of ``ConstantOfShape`` if it is implicit, since the cast reads it."""
    from onnx import helper, numpy_helper

    for node in model.graph.node:
        if node.op_type == "ConstantOfShape" and not node.attribute:
            zero = numpy_helper.from_array(np.zeros(1, np.float32))
            node.attribute.append(helper.make_attribute("value", zero))


def _check_range(model: Any, label: str) -> None:
    from onnx import numpy_helper

    largest = float(np.finfo(np.float16).max)
    for tensor in model.graph.initializer:
        if tensor.data_type != FLOAT:
            continue
        values = numpy_helper.to_array(tensor)
        # Masks are filled with the lowest number; the cast clips these to FP16's.
        finite = values[np.isfinite(values) & (np.abs(values) < np.finfo(np.float32).max)]
        if finite.size and float(np.abs(finite).max()) > largest:
            raise ResultError(
                f"{label}: weight {tensor.name!r} has values above {largest:g}, which FP16 does "
                f"not have; scale it, or explore with {as_written('precision', 'fp32')}"
            )


class CalibrationReader:
    """Samples for ONNX Runtime's calibration, one at a time."""

    def __init__(self, samples: Sequence[Mapping[str, NDArray[Any]]]) -> None:
        self._samples = iter(samples)

    def get_next(self) -> Mapping[str, NDArray[Any]] | None:
        """Return the next sample, or None at the end."""
        return next(self._samples, None)


def has_scales(part: ModelPart) -> bool:
    """Return whether a model is quantised already."""
    return any(node.op_type == "QuantizeLinear" for node in part.model.graph.node)


def to_int8(parts: Sequence[WrittenPart], label: str) -> None:
    """Put Q/DQ nodes into the models of a network, symmetric as TensorRT wants them.

    Scales are calibrated by ONNX Runtime on random input of the network.

    Args:
        parts: in an order of execution, with all their weights. Their files are replaced.

    Raises:
        ResultError: if ONNX Runtime is not installed, or cannot quantise a model.
    """
    runtime = optional_import("onnxruntime", extra="deploy", purpose=_PURPOSE)
    import onnx

    samples: list[Values] = [{} for _ in range(_SAMPLES)]
    for written in parts:
        model = onnx.load(str(written.path))
        names = [tensor.name for tensor in written.part.outputs]
        for seed, values in enumerate(samples):
            for tensor in written.part.inputs:
                if tensor.name not in values:
                    values[tensor.name] = random_input(seed, tensor, numpy_type(tensor, label))
            values |= run_model(runtime, model, written.path.parent, values, names, label)
        fed = [
            {tensor.name: values[tensor.name] for tensor in written.part.inputs}
            for values in samples
        ]
        _quantise(written.path, fed, label)


def _quantise(path: Path, samples: Sequence[Values], label: str) -> None:
    from onnx import load, save, version_converter
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    with quantising(label):
        model = load(str(path))
        if next(entry.version for entry in model.opset_import if not entry.domain) < QDQ_OPSET:
            save(version_converter.convert_version(model, QDQ_OPSET), str(path))
        quantize_static(
            str(path), str(path), CalibrationReader(samples), quant_format=QuantFormat.QDQ,
            per_channel=True, activation_type=QuantType.QInt8, weight_type=QuantType.QInt8,
            extra_options={"ActivationSymmetric": True, "WeightSymmetric": True},
        )  # fmt: skip


@contextmanager
def quantising(label: str) -> Iterator[None]:
    """Convert errors of ONNX and ONNX Runtime, which share no base class but Exception.

    Their advice on preprocessing, and a line for each weight that becomes an integer, are
    suppressed: neither has a place on our stderr.

    Raises:
        ResultError: on any of these errors. ``label`` starts the message.
    """
    from onnxruntime import set_default_logger_severity

    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    set_default_logger_severity(_ERRORS_ONLY)
    try:
        yield
    except Exception as error:
        raise ResultError(f"{label}: ONNX Runtime cannot quantise it: {reason_of(error)}") from None
    finally:
        logging.disable(level)
        set_default_logger_severity(_WARNINGS)

"""The loss of every layer, measured one at a time: how far a network's outputs are off, in
millionths."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.tables import csv_text
from paretosoc.common.text import reason_of
from paretosoc.common.units import PPM
from paretosoc.dse.tools.sensitivity.rewrite import Rewriter, TrainedModel
from paretosoc.dse.tools.sensitivity.samples import Sample
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import
from paretosoc.sdf.onnx.nodes import numpy_dtype

_LAYOUT = frozenset(
    {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Cast", "Dropout"}
)  # fmt: skip
"""Operators that leave values as they are."""
_SCORES = frozenset({"Softmax", "LogSoftmax"})
_PRODUCTS = frozenset({"Gemm", "MatMul"})


class Metric(Enum):
    """Compared quantity."""

    TOP1 = "top1"
    """The loss is the share of positions at which another class, or label, comes out."""
    NOISE = "noise"
    """The loss is the power of the difference over the power of the signal, at most 1."""


@dataclass(frozen=True)
class Measure:
    """A metric and its outputs. The loss is the mean over them."""

    metric: Metric
    outputs: tuple[str, ...]


def choose_measure(model: Any, outputs: Sequence[str], metric: Metric | None = None) -> Measure:
    """Choose top-1 agreement if outputs are classes, else noise over signal.

    Classes are integers, outputs of a softmax over the last axis, and products of a matrix (with a
    bias) of two dimensions.

    Args:
        model: ``onnx.ModelProto`` with the types and shapes of its outputs.
        metric: compares all outputs by this one, whatever they are.
    """
    if metric is not None:
        return Measure(metric, tuple(outputs))
    producers = {name: node for node in model.graph.node for name in node.output}
    described = {value.name: value.type.tensor_type for value in model.graph.output}
    constants = {tensor.name for tensor in model.graph.initializer}
    classes = tuple(
        name for name in outputs if _gives_classes(name, described[name], producers, constants)
    )
    return Measure(Metric.TOP1, classes) if classes else Measure(Metric.NOISE, tuple(outputs))


def _gives_classes(
    name: str, described: Any, producers: Mapping[str, Any], constants: Collection[str]
) -> bool:
    kind = numpy_dtype(described.elem_type)
    if kind is not None and not np.issubdtype(kind, np.floating):
        return True
    rank = len(described.shape.dim)
    if not rank or described.shape.dim[-1].dim_value == 1:
        return False
    node = producers.get(name)
    while node is not None and node.op_type in _LAYOUT:
        node = producers.get(node.input[0])
    if node is None:
        return False
    if node.op_type in _SCORES:
        axis = next((entry.i for entry in node.attribute if entry.name == "axis"), -1)
        return axis in (-1, rank - 1)
    if node.op_type == "Add":
        made = [producers.get(entry) for entry in node.input if entry not in constants]
        node = made[0] if len(made) == 1 and made[0] is not None else node
    return node.op_type in _PRODUCTS and rank == 2


def loss_ppm(
    measure: Measure,
    expected: Sequence[Sequence[NDArray[Any]]],
    found: Sequence[Sequence[NDArray[Any]]],
) -> int:
    """Return the loss over all samples.

    Args:
        expected: result of the original for each sample and each of these outputs.
        found: the same with some layers in another format.

    Returns:
        Millionths: of positions that disagree, or noise over signal. 10^6 if a result is not
        finite.
    """
    losses = []
    for k in range(len(measure.outputs)):
        pairs = [(one[k], other[k]) for one, other in zip(expected, found, strict=True)]
        losses.append(_disagreement(pairs) if measure.metric is Metric.TOP1 else _noise(pairs))
    return round(PPM * sum(losses) / len(losses))


Pairs = Sequence[tuple[NDArray[Any], NDArray[Any]]]


def _disagreement(pairs: Pairs) -> float:
    different = positions = 0
    for one, other in pairs:
        has_scores = one.dtype.kind == "f"
        classes = one.argmax(axis=-1) if has_scores else one
        if one.shape != other.shape:
            wrong = np.ones(max(1, classes.size))
        elif has_scores:
            # No class comes out where a score is no number.
            missing = ~np.isfinite(other).all(axis=-1)
            wrong = (classes != np.nan_to_num(other).argmax(axis=-1)) | missing
        else:
            wrong = classes != other
        different += int(np.sum(wrong))
        positions += max(1, wrong.size)
    return different / positions


def _noise(pairs: Pairs) -> float:
    signal = noise = 0.0
    for one, other in pairs:
        first, second = one.astype(np.float64), other.astype(np.float64)
        if first.shape != second.shape or not np.isfinite(second).all():
            return 1.0
        signal += float(np.sum(first**2))
        noise += float(np.sum((first - second) ** 2))
    return min(1.0, noise / signal) if signal > 0 else float(noise > 0)


COLUMNS = ("network", "layer", "format", "loss_ppm", "metric")


@dataclass(frozen=True)
class LayerLoss:
    """Loss of a network if one layer runs in another format."""

    layer: str
    number_format: str
    loss_ppm: int


class LossMeter:
    """Measures the loss of a network on samples.

    Args:
        samples: inputs, which also calibrate int8's scales.
        metric: None chooses by the outputs (:func:`choose_measure`).

    Raises:
        ResultError: if ONNX Runtime is not installed or cannot run the model, or a result on a
            sample is not finite.
    """

    def __init__(
        self, network: TrainedModel, samples: Sequence[Sample], metric: Metric | None = None
    ) -> None:
        self._runtime = optional_import("onnxruntime", extra="host", purpose="measuring losses")
        self._network, self._samples = network, samples
        self.measure: Measure = choose_measure(network.model, network.outputs, metric)
        self._rewriter = Rewriter(network, samples)
        self._expected = self._results({})
        for k, results in enumerate(self._expected):
            for output, values in zip(self.measure.outputs, results, strict=True):
                if values.dtype.kind == "f" and not np.isfinite(values).all():
                    raise ResultError(f"{network.name}: {output!r} is not finite on sample {k}")

    def loss_ppm(self, formats: Mapping[str, str]) -> int:
        """Return the loss with some layers in other formats: layer -> format.

        Raises:
            ResultError: if ONNX Runtime cannot quantise or run it.
        """
        changed = {
            name: number_format
            for name, number_format in formats.items()
            if self._rewriter.changes(name, number_format)
        }
        if not changed:
            return 0
        return loss_ppm(self.measure, self._expected, self._results(changed))

    def _results(self, formats: Mapping[str, str]) -> list[list[NDArray[Any]]]:
        runtime = self._runtime
        options = runtime.SessionOptions()
        # Every operator rounds as its nodes say; fused integer kernels would not on all processors.
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        try:
            session = runtime.InferenceSession(
                self._rewriter.rewritten(formats).SerializeToString(),
                options,
                providers=["CPUExecutionProvider"],
            )
            names = list(self.measure.outputs)
            return [session.run(names, sample) for sample in self._samples]
        except ResultError:
            raise
        except Exception as error:
            # ONNX Runtime's errors share no base class but Exception.
            raise ResultError(
                f"{self._network.name}: ONNX Runtime cannot run it: {reason_of(error)}"
            ) from None


def layer_losses(
    network: TrainedModel,
    meter: LossMeter,
    formats: Sequence[str],
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[LayerLoss]:
    """Return the loss of every layer in every format, measured with all other layers as they are.

    Layers that do not multiply have the loss 0 in int8.

    Args:
        formats: some of :data:`dse.tools.sensitivity.rewrite.FORMATS`.
        progress: is called with the rows measured, and all.

    Raises:
        ResultError: if ONNX Runtime cannot quantise or run one of them.
    """
    rows: list[LayerLoss] = []
    total = len(network.layers) * len(formats)
    for number_format in formats:
        for layer in network.layers:
            loss = meter.loss_ppm({layer: number_format})
            rows.append(LayerLoss(layer, number_format, loss))
            progress(len(rows), total)
    return rows


def losses_csv(network: str, rows: Sequence[LayerLoss], metric: Metric) -> bytes:
    """Return the rows as a table with the columns :data:`COLUMNS`."""
    cells = ((network, row.layer, row.number_format, row.loss_ppm, metric.value) for row in rows)
    return csv_text(COLUMNS, cells).encode()

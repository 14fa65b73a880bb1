"""The loss of every layer, measured one at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from paretosoc.common.text import reason_of
from paretosoc.dse.tools.sensitivity.loss import Measure, Metric, choose_measure, loss_ppm
from paretosoc.dse.tools.sensitivity.rewrite import Rewriter
from paretosoc.dse.tools.sensitivity.samples import Sample
from paretosoc.dse.tools.sensitivity.trained_model import TrainedModel
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import

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
        network: the model.
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
        network: the model.
        meter: measures it.
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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(
        (network, row.layer, row.number_format, row.loss_ppm, metric.value) for row in rows
    )
    return text.getvalue().encode()

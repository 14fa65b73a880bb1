"""The estimator without PyTorch: the same transformer in numpy, and the predictor made of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paretosoc.common.arrays import Float32Array, IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.inputs import Inputs, inputs_of
from paretosoc.dse.papers.estimator.predictor import Prediction, PredictorName
from paretosoc.dse.papers.estimator.settings import (
    HEADS,
    LAYERS,
    WIDTH,
    EstimatorSettings,
    distances,
    sinusoids,
)
from paretosoc.dse.papers.estimator.tokens import TokenMaker
from paretosoc.results.io.optional import optional_import
from paretosoc.results.problem.problem import Problem

EPSILON = np.float32(1e-5)
"""As in PyTorch's layer normalisation."""
BATCH = 256
_MASKED, _ZERO = np.float32(-1e30), np.float32(0.0)


class NumpyEstimator:
    """The forward pass of :class:`dse.papers.estimator.transformer.Estimator`."""

    def __init__(self, weights: Mapping[str, Float32Array]) -> None:
        self._weights = {name: value.astype(np.float32) for name, value in weights.items()}
        self._sinusoid = sinusoids()

    def __call__(self, inputs: Inputs) -> tuple[Float32Array, Float32Array]:
        """Return scores [n, 16] of the classes of throughput and of power."""
        parts = []
        # Rows of like length together, so that there is little padding.
        order = np.argsort(inputs.present.sum(axis=1), kind="stable")
        for begin in range(0, len(order), BATCH):
            parts.append(self._batch(inputs.take(order[begin : begin + BATCH])))
        back = np.argsort(order, kind="stable")
        throughput, power = (np.concatenate(columns)[back] for columns in zip(*parts, strict=True))
        return throughput, power

    def _batch(self, inputs: Inputs) -> tuple[Float32Array, Float32Array]:
        x = self._embedded(inputs)
        n, length, _ = x.shape
        present = np.concatenate((np.ones((n, 1), dtype=np.bool_), inputs.present), axis=1)
        mask = np.where(present, np.float32(0.0), _MASKED)[:, None, None, :]
        for k in range(LAYERS):
            x = self._layer(f"layers.{k}.", x, mask, length if k + 1 < LAYERS else 1)
        last = self._normal("normal", x[:, 0])
        return (
            self._head("throughput", last, inputs.places[:, :1]),
            self._head("power", last, inputs.places[:, 1:]),
        )

    def _head(self, name: str, x: Float32Array, place: Float32Array) -> Float32Array:
        """Return scores [n, 16]. ``place`` is [n, 1] with a short play, [n, 0] without one."""
        scores = self._linear(f"{name}.classes", x)
        if place.shape[1]:
            trust: Float32Array = np.exp(self._linear(f"{name}.trust", x))
            scores -= trust * distances(place[:, 0])
        return scores

    def _embedded(self, inputs: Inputs) -> Float32Array:
        weights = self._weights
        stretch = np.maximum(self._linear("embedding.stretch", inputs.figures), _ZERO)
        tokens = self._linear("embedding.stretch_out", stretch)
        tokens += weights["embedding.component.weight"][inputs.unit]
        tokens += weights["embedding.point.weight"][inputs.point]
        tokens += self._sinusoid[inputs.position]
        summary = np.maximum(self._linear("embedding.summary", inputs.summary), _ZERO)
        first = self._linear("embedding.summary_out", summary)
        return np.concatenate((first[:, None], tokens), axis=1)

    def _layer(self, name: str, x: Float32Array, mask: Float32Array, read: int) -> Float32Array:
        n, length, _ = x.shape
        depth = WIDTH // HEADS
        normal = self._normal(f"{name}before_attention", x)
        query = self._linear(f"{name}query", normal[:, :read])
        query = query.reshape(n, read, HEADS, depth).transpose(0, 2, 1, 3)
        both = self._linear(f"{name}key_value", normal).reshape(n, length, 2, HEADS, depth)
        key, value = both[:, :, 0].transpose(0, 2, 3, 1), both[:, :, 1].transpose(0, 2, 1, 3)
        scores: Float32Array = query @ key * np.float32(depth**-0.5) + mask
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed: Float32Array = (scores @ value).transpose(0, 2, 1, 3).reshape(n, read, WIDTH)
        x = np.add(x[:, :read], self._linear(f"{name}out", mixed))
        fed = self._linear(f"{name}feed", self._normal(f"{name}before_feed", x))
        np.maximum(fed, _ZERO, out=fed)
        x += self._linear(f"{name}feed_out", fed)
        return x

    def _linear(self, name: str, x: Float32Array) -> Float32Array:
        weight = self._weights[f"{name}.weight"]
        flat = x.reshape(-1, x.shape[-1]) @ weight.T
        result: Float32Array = flat.reshape(*x.shape[:-1], len(weight))
        result += self._weights[f"{name}.bias"]
        return result

    def _normal(self, name: str, x: Float32Array) -> Float32Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        centred /= np.sqrt(variance + EPSILON)
        centred *= self._weights[f"{name}.weight"]
        result: Float32Array = centred + self._weights[f"{name}.bias"]
        return result


class LearnedPredictor:
    """MapFormer's estimator as managers ask it: classes, and the middle of each class."""

    def __init__(self, weights: Mapping[str, Float32Array], settings: EstimatorSettings) -> None:
        self.settings = settings
        static, played = PredictorName.LEARNED_STATIC, PredictorName.LEARNED
        self.name = (played if settings.short_play else static).value
        self._estimate = NumpyEstimator(weights)
        self._problem: Problem | None = None
        self._tokens: TokenMaker | None = None
        # The loaded libraries for linear algebra. threadpoolctl comes with scikit-learn.
        threads = optional_import("threadpoolctl", extra="mapformer", purpose="the estimator")
        self._threads = threads.ThreadpoolController()

    def predict(self, problem: Problem, rows: IntArray) -> Prediction:
        """Predict throughput and power of canonical rows [n, groups + domains].

        Raises:
            WorkloadError: if the networks of the problem do not run freely, or not on the board
                that it was trained for.
        """
        if self._tokens is None or self._problem is not problem:
            if problem.execution.has_frame:
                raise WorkloadError(
                    f"--predictor {self.name}: --free-running is required; it was trained on "
                    "networks without a common frame"
                )
            self.settings.board.check(problem)
            self._tokens = TokenMaker(problem, short_play=self.settings.short_play)
            self._problem = problem
        if len(rows) == 0:
            none, classes = np.zeros(0), np.zeros(0, dtype=np.int64)
            return Prediction(none, none, classes, classes)
        # The products are too small to share: threads made batches of ten rows 13 times slower.
        with self._threads.limit(limits=1):
            throughput, power = self._estimate(inputs_of(self._tokens(rows), self.settings))
        first = throughput.argmax(axis=1).astype(np.int64)
        second = power.argmax(axis=1).astype(np.int64)
        return Prediction(
            throughput_hz=self.settings.throughput.centre_of(first),
            power_w=self.settings.power.centre_of(second),
            throughput_class=first,
            power_class=second,
        )

"""The way from a data set to a trained estimator and its accuracy on workloads that it never
saw."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.arrays import Float32Array, IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.interrupts import deferred_interrupt
from paretosoc.dse.papers.estimator.inference import NumpyEstimator
from paretosoc.dse.papers.estimator.inputs import Examples, inputs_of, scaling_of, take_tokens
from paretosoc.dse.papers.estimator.predictor import CLASSES, Bins
from paretosoc.dse.papers.estimator.settings import BoardShape, EstimatorSettings
from paretosoc.dse.papers.estimator.training.data_set import DataSet
from paretosoc.dse.papers.estimator.training.workloads import build
from paretosoc.results.io.canonical_json import Json

if TYPE_CHECKING:
    from paretosoc.dse.papers.estimator.training.training import Trained

TRAINING_SHARE = 0.8
"""Share of the workloads for training (MapFormer 5.1). The rest is held out."""
VALIDATION_SHARE = 0.05
"""Share of the training workloads that choose the epoch, so that no held-out one does. The paper
does not say how its epoch was chosen."""
MIN_WORKLOADS = 10


@dataclass(frozen=True, eq=False)
class Split:
    """The uses of design points. All those of a workload are for the same use."""

    training: IntArray
    validation: IntArray
    held_out: IntArray


def split_of(data: DataSet, seed: int) -> Split:
    """Share the workloads out at random.

    Raises:
        WorkloadError: if there are too few workloads or design points for that.
    """
    count = len(data.workloads)
    training = round(TRAINING_SHARE * count)
    validation = max(round(VALIDATION_SHARE * training), 1)
    if count < MIN_WORKLOADS:
        raise WorkloadError(f"data: at least {MIN_WORKLOADS} workloads are required, got {count}")
    order = np.random.default_rng([seed, 1]).permutation(count)
    kind = np.empty(count, dtype=np.int64)
    for k, chosen in enumerate(np.split(order, [validation, training])):
        kind[chosen] = k
    of_row = kind[data.workload]
    split = Split(*(np.flatnonzero(of_row == k) for k in (1, 0, 2)))
    if len(split.training) < CLASSES:
        raise WorkloadError(
            f"data: at least {CLASSES} mappings for training are required, got "
            f"{len(split.training)}"
        )
    return split


def settings_of(data: DataSet, split: Split) -> EstimatorSettings:
    """Return bins with equal counts of the training data, and its scaling.

    They have a short play if the data's tokens have one.
    """
    assert data.tokens is not None, "data with tokens"
    training = split.training
    problem = build(data.workloads[0], data.platform, groups=data.groups)
    return EstimatorSettings(
        board=BoardShape.of(problem),
        throughput=Bins.of(data.throughput_hz[training]),
        power=Bins.of(data.power_w[training]),
        scaling=scaling_of(take_tokens(data.tokens, training)),
        short_play=data.tokens.played.shape[1] > 0,
    )


def examples_of(data: DataSet, chosen: IntArray, settings: EstimatorSettings) -> Examples:
    """Return the design points ``chosen`` as sequences with their classes."""
    assert data.tokens is not None, "data with tokens"
    return Examples(
        inputs_of(take_tokens(data.tokens, chosen), settings),
        settings.throughput.class_of(data.throughput_hz[chosen]),
        settings.power.class_of(data.power_w[chosen]),
    )


@dataclass(frozen=True)
class HeadAccuracy:
    """The accuracy of one predicted quantity on design points of held-out workloads."""

    exact: float
    """Share whose class is the true one."""
    within_one: float
    """Share at most one class off."""
    mean_error_classes: float
    """Mean distance of the class from the true one, in classes."""
    typical_bin_width: float
    """Median over the inner bins of their width, as a share of their lower edge."""
    error_allowed: float
    """The mean relative error with which 89.2 % would be exact in a bin of that width."""

    def document(self) -> dict[str, Json]:
        """Return the accuracy as JSON content."""
        return {name: round(float(value), 6) for name, value in vars(self).items()}


def head_accuracy(bins: Bins, said: IntArray, true: IntArray) -> HeadAccuracy:
    """Compare predicted and true classes [n]."""
    off = np.abs(said - true)
    width = float(np.median(bins.edges[1:] / bins.edges[:-1] - 1.0))
    return HeadAccuracy(
        exact=float((off == 0).mean()),
        within_one=float((off <= 1).mean()),
        mean_error_classes=float(off.mean()),
        typical_bin_width=width,
        # A value anywhere in a bin of width w, moved by e, leaves it with a chance of |e| / w.
        error_allowed=(1.0 - 0.892) * width,
    )


@dataclass(frozen=True, eq=False)
class Accuracy:
    """The accuracy of both heads, and of the short play alone, if the transformer starts from one:
    ``throughput``, ``played_throughput``, ``power``, ``played_power``."""

    heads: dict[str, HeadAccuracy]
    mappings: int
    workloads: int

    def document(self) -> dict[str, Json]:
        """Return JSON content."""
        counts: dict[str, Json] = {"mappings": self.mappings, "workloads": self.workloads}
        return counts | {name: head.document() for name, head in self.heads.items()}


def accuracy_of(
    data: DataSet, chosen: IntArray, settings: EstimatorSettings, weights: dict[str, Float32Array]
) -> Accuracy:
    """Return the accuracy of the weights, in numpy as they are used, on the design points
    ``chosen``."""
    assert data.tokens is not None, "data with tokens"
    tokens = take_tokens(data.tokens, chosen)
    scores = NumpyEstimator(weights)(inputs_of(tokens, settings))
    heads = {}
    for k, (name, bins, values) in enumerate(
        (
            ("throughput", settings.throughput, data.throughput_hz),
            ("power", settings.power, data.power_w),
        )
    ):
        true = bins.class_of(values[chosen])
        heads[name] = head_accuracy(bins, scores[k].argmax(axis=1), true)
        if settings.short_play:
            played = bins.class_of(tokens.played[:, k])
            heads[f"played_{name}"] = head_accuracy(bins, played, true)
    return Accuracy(heads, len(chosen), len(np.unique(data.workload[chosen])))


@dataclass(frozen=True)
class Epoch:
    """Losses and accuracies of one pass over the training data."""

    number: int
    training_loss: float
    """Cross-entropy of both heads, added, as met on the way."""
    loss: float
    """The same on the examples for validation, afterwards."""
    throughput_accuracy: float
    """Share of exact classes among the examples for validation."""
    power_accuracy: float


@dataclass(frozen=True)
class TrainingProgress:
    """Progress of a training: the share of all epochs that is done, and the last whole one."""

    share: float
    epoch: Epoch | None


@dataclass(frozen=True, eq=False)
class Learned:
    """An estimator, and its accuracy on workloads that it never saw."""

    settings: EstimatorSettings
    trained: Trained
    accuracy: Accuracy
    training_s: float


def learn(
    data: DataSet,
    *,
    seed: int,
    epochs: int,
    learning_rate: float,
    on_progress: Callable[[TrainingProgress], None] | None = None,
) -> Learned:
    """Split the data, scale, train, and predict the held-out part.

    Ctrl-C ends the training with the best epoch so far.

    Raises:
        KeyboardInterrupt: at a second Ctrl-C, or before the first epoch has ended.
        WorkloadError: if there are too few data, or no epoch has a loss that is a number.
    """
    from paretosoc.dse.papers.estimator.training.training import train

    split = split_of(data, seed)
    settings = settings_of(data, split)
    last: list[Epoch] = []

    def report(share: float) -> None:
        if on_progress is not None:
            on_progress(TrainingProgress(share, last[-1] if last else None))

    began = time.monotonic()
    with deferred_interrupt() as interrupt:
        trained = train(
            settings,
            examples_of(data, split.training, settings),
            examples_of(data, split.validation, settings),
            seed=seed,
            epochs=epochs,
            learning_rate=learning_rate,
            on_batch=report,
            on_epoch=last.append,
            stop=lambda: interrupt.requested,
        )
    seconds = time.monotonic() - began
    accuracy = accuracy_of(data, split.held_out, settings, trained.weights)
    return Learned(settings, trained, accuracy, seconds)

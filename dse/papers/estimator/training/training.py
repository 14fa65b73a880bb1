"""Training of the estimator: cross-entropy, AdamW, cosine schedule (MapFormer 5.1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from paretosoc.common.arrays import Float32Array, IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.inputs import Examples
from paretosoc.dse.papers.estimator.settings import EstimatorSettings
from paretosoc.dse.papers.estimator.training.machine import one_torch_thread
from paretosoc.dse.papers.estimator.training.pipeline import Epoch
from paretosoc.dse.papers.estimator.transformer import Estimator, TorchInputs, parameter_count

BATCH = 32
"""The paper is silent on the size of batches, and on decay; AdamW's own 0.01 is used."""


@dataclass(frozen=True, eq=False)
class Trained:
    """The weights of the epoch with the least validation loss."""

    weights: dict[str, Float32Array]
    epochs: tuple[Epoch, ...]
    best: int
    """Number of that epoch."""
    parameters: int


@one_torch_thread()
def train(
    settings: EstimatorSettings,
    training: Examples,
    validation: Examples,
    *,
    seed: int,
    epochs: int,
    learning_rate: float,
    on_epoch: Callable[[Epoch], None] | None = None,
    on_batch: Callable[[float], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Trained:
    """Train from random weights. The same seed gives the same weights on the same machine.

    Args:
        on_batch: called with the share of all epochs that is done.
        stop: polled after each batch. True ends the training with the best epoch so far.

    Raises:
        KeyboardInterrupt: if it is stopped before the first epoch has ended.
        WorkloadError: if no epoch has a loss that is a number.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = Estimator(settings)
    optimiser = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    batches = math.ceil(len(training) / BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs * batches)
    history: list[Epoch] = []
    best, chosen, weights = math.inf, 0, {}
    length = training.inputs.present.sum(axis=1)
    for number in range(1, epochs + 1):
        model.train()
        losses = 0.0
        for done, index in enumerate(_batches(rng, length), 1):
            loss = _loss(model, training, index)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            losses += float(loss.detach()) * len(index)
            if on_batch is not None:
                on_batch((number - 1 + done / batches) / epochs)
            if stop():
                break
        else:
            epoch = _judged(model, validation, number, losses / len(training))
            history.append(epoch)
            if epoch.loss < best:
                best, chosen = epoch.loss, number
                weights = {k: value.numpy().copy() for k, value in model.state_dict().items()}
            if on_epoch is not None:
                on_epoch(epoch)
            continue
        break
    if not history:
        raise KeyboardInterrupt
    if not weights:
        raise WorkloadError(
            f"--learning-rate: a smaller one is required, got {learning_rate:g}: the loss is no "
            "number after any epoch"
        )
    return Trained(weights, tuple(history), chosen, parameter_count(model))


def _batches(rng: np.random.Generator, length: NDArray[np.int64]) -> list[IntArray]:
    """Return the examples, redrawn at each call, in batches of similar length, with little
    padding."""
    order = np.argsort(length + 3.0 * rng.random(len(length)), kind="stable")
    batches = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
    return [batches[i] for i in rng.permutation(len(batches)).tolist()]


def _loss(model: Estimator, examples: Examples, index: IntArray) -> torch.Tensor:
    throughput, power = model(TorchInputs(examples.inputs.take(index)))
    first = functional.cross_entropy(throughput, torch.from_numpy(examples.throughput[index]))
    return first + functional.cross_entropy(power, torch.from_numpy(examples.power[index]))


def _judged(model: Estimator, examples: Examples, number: int, training_loss: float) -> Epoch:
    model.eval()
    loss, right = 0.0, np.zeros(2)
    with torch.no_grad():
        for begin in range(0, len(examples), 256):
            index = np.arange(begin, min(begin + 256, len(examples)))
            scores = model(TorchInputs(examples.inputs.take(index)))
            for k, classes in enumerate((examples.throughput, examples.power)):
                wanted = torch.from_numpy(classes[index])
                loss += float(functional.cross_entropy(scores[k], wanted)) * len(index)
                right[k] += int((scores[k].argmax(dim=1) == wanted).sum())
    share = right / len(examples)
    return Epoch(number, training_loss, loss / len(examples), float(share[0]), float(share[1]))

"""Train OmniBoost's estimators. Needs PyTorch (the extra ``learn``). Run as a module.

``python -m examples.mapformer.omniboost_training DATA.npz -o FOLDER`` reads a data set
of ``dse learn`` and writes weights for all samples, and for those within 10, 15 and 30 W
(OmniBoost*). OmniBoost's loss is the mean absolute error. Its schedule is not known: Adam at 1e-3
is used, falling as a cosine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from examples.arguments import output_folder
from paretosoc.common.arrays import BoolArray, Float32Array, FloatArray
from paretosoc.dse.papers.estimator.training.data_set import DataSet, load_data, problems_with_rows
from paretosoc.dse.papers.estimator.training.machine import one_torch_thread
from paretosoc.dse.papers.estimator.training.pipeline import split_of
from paretosoc.dse.papers.managers.omniboost.network import (
    CHANNELS,
    HIDDEN,
    UNITS,
    Embedding,
)
from paretosoc.dse.papers.managers.omniboost.omniboost import THRESHOLDS_W, weights_name
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.io.optional import optional_import

EPOCHS = 60
BATCH = 128
LEARNING_RATE = 1e-3


def embed(data: DataSet) -> Float32Array:
    """Return [n, 4, 10, 32]: the embedding of every sample."""
    return np.concatenate(
        [Embedding(DesignSpace(problem)).of(rows) for problem, rows in problems_with_rows(data)]
    )


def train(
    embedded: Float32Array,
    throughput_hz: FloatArray,
    *,
    seed: int = 0,
    epochs: int = EPOCHS,
    on_epoch: Callable[[int, float], None] | None = None,
) -> dict[str, Float32Array]:
    """Return weights by name, single precision, from samples [n, 4, 10, 32] and their throughput
    [n].

    Raises:
        ResultError: if PyTorch is not installed.
    """
    torch = optional_import("torch", extra="learn", purpose="training")
    with one_torch_thread():
        return _trained(torch, embedded, throughput_hz, seed, epochs, on_epoch)


def _trained(
    torch: Any,
    embedded: Float32Array,
    throughput_hz: FloatArray,
    seed: int,
    epochs: int,
    on_epoch: Callable[[int, float], None] | None,
) -> dict[str, Float32Array]:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    target = np.log(throughput_hz)
    mean, deviation = float(target.mean()), float(target.std())
    x = torch.from_numpy(np.ascontiguousarray(embedded, dtype=np.float32))
    y = torch.from_numpy(((target - mean) / deviation).astype(np.float32))
    network = _network(torch)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(epochs):
        total = 0.0
        order = torch.from_numpy(rng.permutation(len(y)))
        for chosen in order.split(BATCH):
            loss = torch.nn.functional.l1_loss(network(x[chosen]), y[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * len(chosen)
        schedule.step()
        if on_epoch is not None:
            on_epoch(epoch, total / len(y))
    weights = {name: value.detach().numpy().copy() for name, value in network.named_parameters()}
    weights["target.mean"] = np.array([mean], dtype=np.float32)
    weights["target.deviation"] = np.array([deviation], dtype=np.float32)
    return weights


def _network(torch: Any) -> Any:
    """Return the network of :mod:`dse.papers.managers.omniboost.network`, to be trained."""
    nn = torch.nn

    class Network(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(UNITS, CHANNELS, 3, padding=1)
            self.second = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
            self.third = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
            self.hidden = nn.Linear(2 * CHANNELS, HIDDEN)
            self.out = nn.Linear(HIDDEN, 1)

        def forward(self, x: Any) -> Any:
            x = torch.relu(self.first(x))
            x = torch.relu(self.second(x) + x)
            x = torch.relu(self.third(x))
            pooled = torch.cat((x.mean(dim=(2, 3)), x.amax(dim=(2, 3))), dim=1)
            return self.out(torch.relu(self.hidden(pooled)))[:, 0]

    return Network()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. The exit status is 2 on input that cannot be used."""
    parser = argparse.ArgumentParser(description="Trains OmniBoost's estimators.")
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=output_folder, required=True)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--split-seed", type=int, default=1, help="the seed given to dse papers learn"
    )
    options = parser.parse_args(arguments)
    try:
        numbers = optional_import("safetensors.numpy", extra="learn", purpose="training")
        data = load_data(options.data)
        embedded = embed(data)
        training = np.zeros(len(data), dtype=np.bool_)
        training[split_of(data, options.split_seed).training] = True
        for threshold in (None, *THRESHOLDS_W):
            chosen: BoolArray = (
                training if threshold is None else training & (data.power_w <= threshold)
            )
            print(f"{weights_name(threshold)}: {int(chosen.sum())} samples", flush=True)
            weights = train(
                embedded[chosen],
                data.throughput_hz[chosen],
                seed=options.seed,
                epochs=options.epochs,
                on_epoch=lambda epoch, loss: print(f"  {epoch + 1:3d}  {loss:.4f}", flush=True),
            )
            origin = {"seed": str(options.seed), "epochs": str(options.epochs), "data": data.sha256}
            numbers.save_file(weights, options.output / weights_name(threshold), metadata=origin)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""OmniBoost's estimator of throughput: its input, and the convolutional network in numpy.

OmniBoost (Karatzas and Anagnostopoulos, DAC 2023) stacks, for every processor, a matrix of networks
by layers with the profiled time of the layer there, and blanks layers that are mapped elsewhere.
Here a row of the matrix is a network, a column a group. A cell holds ln(1 + time / 1 us) of the
group at the fastest clocks if it is mapped on that unit, else 0. Frequencies are not in it, which
MapFormer criticises.

Known of the network: small, residual, convolutional. It regresses the mean throughput. Chosen:
three 3x3 convolutions, the second with a shortcut around it, mean and maximum over all cells, two
fully connected layers. The target is the logarithm of inferences per second, standardised. Weights
are made by ``examples/mapformer/omniboost_training.py`` and kept as safetensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from paretosoc.common.arrays import Float32Array, FloatArray, IntArray
from paretosoc.common.options import as_written
from paretosoc.common.units import PS_PER_US
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import

UNITS = 4
NETWORKS = 10
GROUPS = 32
"""Cells of the matrices. Missing ones are 0."""


class Embedding:
    """The matrices of one problem.

    Raises:
        WorkloadError: if it has more units, networks or groups than there are cells.
    """

    def __init__(self, space: DesignSpace) -> None:
        problem = space.problem
        largest = int(space.size.max())
        for what, most, got in (
            ("units", UNITS, len(problem.units)),
            ("networks", NETWORKS, len(problem.networks)),
            (f"groups of a network ({as_written('groups')})", GROUPS, largest),
        ):
            if got > most:
                raise WorkloadError(f"omniboost: {what}: at most {most} are required, got {got}")
        self._owner = space.owner
        self._position = np.arange(space.groups) - space.first[space.owner]
        self._groups = space.groups
        micros = np.where(problem.allowed, space.fastest_time, 0) / PS_PER_US
        self._cells = np.log1p(micros).astype(np.float32)

    def of(self, mappings: IntArray) -> NDArray[np.float32]:
        """Return [n, 4, 10, 32] in single precision from mappings [n, groups and more]."""
        mappings = mappings[:, : self._groups]
        n = len(mappings)
        tensor = np.zeros((n, UNITS, NETWORKS, GROUPS), dtype=np.float32)
        every = np.arange(self._groups)
        tensor[np.arange(n)[:, None], mappings, self._owner, self._position] = self._cells[
            every, mappings
        ]
        return tensor


CHANNELS = 16
HIDDEN = 64
SHAPES: dict[str, tuple[int, ...]] = {
    "first.weight": (CHANNELS, UNITS, 3, 3),
    "first.bias": (CHANNELS,),
    "second.weight": (CHANNELS, CHANNELS, 3, 3),
    "second.bias": (CHANNELS,),
    "third.weight": (CHANNELS, CHANNELS, 3, 3),
    "third.bias": (CHANNELS,),
    "hidden.weight": (HIDDEN, 2 * CHANNELS),
    "hidden.bias": (HIDDEN,),
    "out.weight": (1, HIDDEN),
    "out.bias": (1,),
    "target.mean": (1,),
    "target.deviation": (1,),
}
BATCH = 64
"""Rows that go through at once, so that windows stay in the cache."""


@dataclass(frozen=True, eq=False)
class OmniBoostNetwork:
    """Weights by name, see ``SHAPES``."""

    weights: Mapping[str, Float32Array]

    def __post_init__(self) -> None:
        for name, shape in SHAPES.items():
            got = self.weights.get(name)
            if got is None or got.shape != shape or not np.isfinite(got).all():
                found = "nothing" if got is None else f"shape {got.shape}"
                raise ResultError(
                    f"omniboost: {name}: finite numbers of shape {shape} are required, got {found}"
                )

    def throughput_hz(self, embedded: Float32Array) -> FloatArray:
        """Return [n]: mean inferences per second from [n, 4, 10, 32]."""
        parts = [self._forward(embedded[i : i + BATCH]) for i in range(0, len(embedded), BATCH)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _forward(self, x: Float32Array) -> FloatArray:
        w = self.weights
        x = np.maximum(_convolved(x, w["first.weight"], w["first.bias"]), 0.0)
        x = np.maximum(_convolved(x, w["second.weight"], w["second.bias"]) + x, 0.0)
        x = np.maximum(_convolved(x, w["third.weight"], w["third.bias"]), 0.0)
        pooled = np.concatenate((x.mean(axis=(2, 3)), x.max(axis=(2, 3))), axis=1)
        hidden = np.maximum(pooled @ w["hidden.weight"].T + w["hidden.bias"], 0.0)
        out = (hidden @ w["out.weight"].T + w["out.bias"])[:, 0]
        hertz: FloatArray = np.exp(out * w["target.deviation"] + w["target.mean"]).astype(
            np.float64
        )
        return hertz


def read_omniboost(path: Path) -> OmniBoostNetwork:
    """Read weights from a file.

    Raises:
        ResultError: if it cannot be read, or is another network's.
    """
    purpose = "--engine omniboost"
    package = optional_import("safetensors", extra="mapformer", purpose=purpose)
    numbers = optional_import("safetensors.numpy", extra="mapformer", purpose=purpose)
    try:
        return OmniBoostNetwork(numbers.load_file(path))
    except (OSError, package.SafetensorError) as error:
        raise ResultError(f"{path}: weights are required: {error}") from None


def _convolved(x: Float32Array, weight: Float32Array, bias: Float32Array) -> Float32Array:
    """Return [n, out, rows, columns]: a 3x3 convolution with a border of zeros."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(padded, (3, 3), axis=(2, 3))
    n, channels, rows, columns = x.shape
    table = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * rows * columns, channels * 9)
    result = table @ weight.reshape(len(weight), -1).T + bias
    return result.reshape(n, rows, columns, -1).transpose(0, 3, 1, 2)

r"""OmniBoost (Karatzas and Anagnostopoulos, DAC 2023): tree search for throughput on CPU and GPU.

Known: Monte Carlo tree search with a constant budget. A convolutional network predicts the mean
throughput of a playout's mapping. CPU and GPU, throughput alone. A network that would be cut into
more stages than there are processors is a lost game.

Assumed: decisions in the order of networks and their groups, upper confidence bounds with the
square root of two, rewards scaled to the range seen. Playouts stay on a unit with a probability
that gives about one cut a network, and there are 500. Clocks: the power mode of the cap
(:mod:`dse.papers.managers.base`). The answer is the playout with the best prediction.

The weights that come with the program were trained on the Xavier's timeline. On another chip they
see that chip's times.

*OmniBoost\** is the same with an estimator that was trained on the samples within a power threshold
only, "retraining ... under different power thresholds" (MapFormer, 5).

OmniBoost's estimator of throughput: its input, and the convolutional network in numpy.

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

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PS_PER_US
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.managers.base import Manager, cpu_and_gpu, power_mode, whole_row
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
            ("groups of a network", GROUPS, largest),
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


Singles = NDArray[np.float32]

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

    weights: Mapping[str, Singles]

    def __post_init__(self) -> None:
        for name, shape in SHAPES.items():
            got = self.weights.get(name)
            if got is None or got.shape != shape or not np.isfinite(got).all():
                found = "nothing" if got is None else f"shape {got.shape}"
                raise ResultError(
                    f"omniboost: {name}: finite numbers of shape {shape} are required, got {found}"
                )

    def throughput_hz(self, embedded: Singles) -> FloatArray:
        """Return [n]: mean inferences per second from [n, 4, 10, 32]."""
        parts = [self._forward(embedded[i : i + BATCH]) for i in range(0, len(embedded), BATCH)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _forward(self, x: Singles) -> FloatArray:
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


def _convolved(x: Singles, weight: Singles, bias: Singles) -> Singles:
    """Return [n, out, rows, columns]: a 3x3 convolution with a border of zeros."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(padded, (3, 3), axis=(2, 3))
    n, channels, rows, columns = x.shape
    table = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * rows * columns, channels * 9)
    result = table @ weight.reshape(len(weight), -1).T + bias
    shaped: Singles = result.reshape(n, rows, columns, -1).transpose(0, 3, 1, 2)
    return shaped


PLAYOUTS = 500
EXPLORATION = math.sqrt(2.0)
THRESHOLDS_W = (10, 15, 30)
"""Power thresholds for which OmniBoost* was trained."""


@dataclass
class _Node:
    """A decided beginning of the mapping, with its children by unit."""

    visits: int = 0
    total: float = 0.0
    children: dict[int, _Node] = field(default_factory=dict)


class OmniBoost(Manager):
    """Tree search over the units of all groups, in order."""

    name: ClassVar[str] = "omniboost"
    label: ClassVar[str] = "OmniBoost"

    def __init__(
        self,
        space: DesignSpace,
        *,
        seed: int,
        network: OmniBoostNetwork | None = None,
        playouts: int = PLAYOUTS,
    ) -> None:
        super().__init__(space, seed=seed)
        self._playouts = playouts
        self._network = network or shipped_network(self._threshold_w())
        self._embedding = Embedding(space)
        units = cpu_and_gpu(space.problem)
        self._allowed = [[u for u in units if row[u]] for row in space.problem.allowed.tolist()]

    def _threshold_w(self) -> int | None:
        return None

    def decide(self) -> IntArray:
        """Return [groups + domains]: the best of all playouts by prediction."""
        threads = optional_import("threadpoolctl", extra="mapformer", purpose="--engine omniboost")
        # One playout is too little work to share: threads would cost more than they bring.
        with threads.threadpool_limits(1):
            return self._searched()

    def _searched(self) -> IntArray:
        space = self._space
        units = cpu_and_gpu(space.problem)
        root = _Node()
        best_value, best = -math.inf, np.zeros(space.groups, dtype=np.int64)
        low, high = math.inf, -math.inf
        for _ in range(self._playouts):
            path, mapping = self._play(root, units, low, high)
            value = float(self._network.throughput_hz(self._embedding.of(mapping[None]))[0])
            low, high = min(low, value), max(high, value)
            if value > best_value:
                best_value, best = value, mapping
            for node in path:
                node.visits += 1
                node.total += value
        return whole_row(space, best, power_mode(space, units))

    def _play(
        self, root: _Node, units: tuple[int, ...], low: float, high: float
    ) -> tuple[list[_Node], IntArray]:
        """Play one game: down the tree, one new node, then at random. Return the nodes passed, and
        [groups]."""
        space, rng = self._space, self._rng
        owner, size = space.owner.tolist(), space.size.tolist()
        draws = rng.random((space.groups, 2)).tolist()
        mapping: list[int] = []
        path, in_tree, stages = [root], True, 0
        for g in range(space.groups):
            starts = g == 0 or owner[g] != owner[g - 1]
            stages = 0 if starts else stages
            here = -1 if starts else mapping[-1]
            allowed = self._allowed[g]
            choices = [here] if stages >= len(units) and here in allowed else allowed
            pick = choices[int(draws[g][1] * len(choices))]
            if in_tree:
                node = path[-1]
                new = [u for u in choices if u not in node.children]
                if new:
                    pick = new[int(draws[g][1] * len(new))]
                    node.children[pick] = _Node()
                    in_tree = False
                else:
                    pick = _promising(node, choices, low, high)
                path.append(node.children[pick])
            elif here in choices and draws[g][0] >= 1.0 / size[owner[g]]:
                pick = here
            stages += pick != here
            mapping.append(pick)
        return path, np.array(mapping, dtype=np.int64)


def _promising(node: _Node, choices: list[int], low: float, high: float) -> int:
    """Return the child of the largest upper confidence bound, rewards as shares of the range
    seen."""
    extent = max(high - low, 1e-12)

    def bound(unit: int) -> float:
        child = node.children[unit]
        mean = (child.total / child.visits - low) / extent
        return mean + EXPLORATION * math.sqrt(math.log(node.visits) / child.visits)

    return max(choices, key=bound)


class OmniBoostStar(OmniBoost):
    """OmniBoost with the estimator of the present power threshold.

    Raises:
        WorkloadError: if the power cap is none of those that it was trained for.
    """

    name = "omniboost-star"
    label = "OmniBoost*"

    def _threshold_w(self) -> int | None:
        cap = self._space.problem.power_cap_mw
        if cap is None:
            return THRESHOLDS_W[-1]
        if cap % 1000 or cap // 1000 not in THRESHOLDS_W:
            raise WorkloadError(
                f"omniboost-star: a power cap of {', '.join(map(str, THRESHOLDS_W))} W is "
                f"required, got {cap / 1000:g} W"
            )
        return cap // 1000


def weights_name(threshold_w: int | None) -> str:
    """Return the file of the weights that come with the program."""
    return (
        "omniboost.safetensors" if threshold_w is None else f"omniboost_{threshold_w}w.safetensors"
    )


def shipped_network(threshold_w: int | None) -> OmniBoostNetwork:
    """Return the weights that come with the program, for samples within a threshold, or for all."""
    folder = resources.files("paretosoc.dse.papers.managers.omniboost.weights")
    with resources.as_file(folder / weights_name(threshold_w)) as path:
        return read_omniboost(Path(path))

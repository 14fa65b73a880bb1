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
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import ClassVar

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.managers.base import Manager, cpu_and_gpu, power_mode, whole_row
from paretosoc.dse.papers.managers.omniboost.network import (
    Embedding,
    OmniBoostNetwork,
    read_omniboost,
)
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.io.optional import optional_import

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
    """Return the child of the largest upper confidence bound, rewards as shares of their range."""
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

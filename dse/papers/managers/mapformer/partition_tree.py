"""A tree over partitions of a search space, learnt from samples (LA-MCTS).

Wang, Fonseca, Tian: "Learning Search Space Partition for Black-box Optimization using Monte Carlo
Tree Search", NeurIPS 2020. A node holds the samples that fell into its region. One that holds many
is split: k-means with two clusters, on features and value together, says which of its samples are
good and which bad. An SVM learns that boundary from the features alone and so extends it to rows
that were never sampled. Its children are the good and the bad side. From the root down, UCB chooses
a leaf: the region to sample in.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from paretosoc.common.arrays import BoolArray, FloatArray, IntArray
from paretosoc.dse.space.design_space import Random

LEAF_SIZE = 24
"""A node with more samples than this is split, if it can be."""
DEEPEST = 8
"""Most splits on one path: each halves the share of random draws that hit the region."""
EXPLORATION = 0.1
"""UCB's C_p, as a share of the spread of all values (the paper advises a tenth of the best)."""
RETRIED_AFTER = 1.25
"""A leaf that could not be split is tried again when its samples have grown by this factor."""
REBUILT_AFTER = 1.5
"""The tree is relearnt when the samples have grown by this factor."""


@dataclass(frozen=True, eq=False)
class Boundary:
    """The boundary of a split: an SVM with Gaussian kernel over standardised features.

    scikit-learn fits it. Its decision is computed here, since scikit-learn's checks of arguments
    take longer than the decision itself.
    """

    mean: FloatArray
    """[d]"""
    scale: FloatArray
    """[d]"""
    gamma: float
    support: FloatArray
    """[vectors, d]"""
    weight: FloatArray
    """[vectors]"""
    intercept: float

    def good(self, features: FloatArray) -> BoolArray:
        """Return [n]: whether rows of features [n, d] are on the good side."""
        points = (features - self.mean) / self.scale
        squares = (points**2).sum(axis=1)[:, None] + (self.support**2).sum(axis=1)
        distance = np.maximum(squares - 2.0 * points @ self.support.T, 0.0)
        side: BoolArray = np.exp(-self.gamma * distance) @ self.weight + self.intercept > 0.0
        return side


@dataclass(eq=False)
class Node:
    """A region. ``members`` are indices of samples in it. Leaves have no boundary."""

    members: IntArray
    depth: int = 0
    boundary: Boundary | None = None
    good: Node | None = None
    bad: Node | None = None
    tried_at: int = 0
    """Number of its members when no boundary was found."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf that was selected. ``path``: the boundaries above it, and whether it is on their good
    side."""

    members: IntArray
    path: tuple[tuple[Boundary, bool], ...]

    def depth_of(self, features: FloatArray) -> IntArray:
        """Return [n]: the number of decisions of the path that rows of features [n, d] follow.

        It is ``len(path)`` for rows inside the leaf.
        """
        depth = np.zeros(len(features), dtype=np.int64)
        inside = np.arange(len(features))
        for boundary, side in self.path:
            inside = inside[boundary.good(features[inside]) == side]
            depth[inside] += 1
        return depth


class PartitionTree:
    """Samples and the tree over them.

    Values are maximised. Minus infinity counts as one spread below the worst finite one, so that
    clusters and means exist.
    """

    def __init__(
        self,
        rng: Random,
        *,
        leaf_size: int = LEAF_SIZE,
        deepest: int = DEEPEST,
        exploration: float = EXPLORATION,
    ) -> None:
        self._rng = rng
        self._leaf_size = leaf_size
        self._deepest = deepest
        self._exploration = exploration
        self._features: FloatArray = np.zeros((0, 0))
        self._values: FloatArray = np.zeros(0)
        self._learnt_from = 0
        self.root = Node(np.zeros(0, dtype=np.int64))

    def add(self, features: FloatArray, values: FloatArray) -> None:
        """Add samples: features [n, d] and values [n].

        They go to the leaves they fall into, and leaves with too many are split. After many of them
        the whole tree is relearnt.
        """
        before = len(self._values)
        self._features = np.concatenate(
            (self._features.reshape(before, features.shape[1]), features)
        )
        self._values = np.concatenate((self._values, values))
        if len(self._values) >= REBUILT_AFTER * self._learnt_from:
            self._learnt_from = len(self._values)
            self.root = Node(np.arange(len(self._values)))
            self._grow(self.root)
            return
        self._route(self.root, np.arange(before, len(self._values)))

    def select(self) -> Leaf:
        """Return a leaf, reached by taking the child with the larger UCB at each split.

        UCB is mean value + 2 C_p sqrt(2 ln n / n_child), n being samples (Eq. 1 of Wang et al.).
        """
        values = self._finite_values
        constant = self._exploration * (float(np.ptp(values)) if len(values) else 0.0)
        node, path = self.root, list[tuple[Boundary, bool]]()
        while node.boundary is not None and node.good is not None and node.bad is not None:
            total = np.log(len(node.members))

            def score(child: Node, total: float = total) -> float:
                count = len(child.members)
                mean = float(values[child.members].mean())
                return mean + 2.0 * constant * float(np.sqrt(2.0 * total / count))

            side = score(node.good) >= score(node.bad)
            path.append((node.boundary, side))
            node = node.good if side else node.bad
        return Leaf(node.members, tuple(path))

    @property
    def _finite_values(self) -> FloatArray:
        finite = np.isfinite(self._values)
        if not finite.any():
            return np.zeros(len(self._values))
        low, spread = self._values[finite].min(), np.ptp(self._values[finite])
        return np.where(finite, self._values, low - max(float(spread), 1.0))

    def _route(self, node: Node, members: IntArray) -> None:
        node.members = np.concatenate((node.members, members))
        if node.boundary is None:
            self._grow(node)
            return
        assert node.good is not None
        assert node.bad is not None
        good = node.boundary.good(self._features[members])
        for child, part in ((node.good, members[good]), (node.bad, members[~good])):
            if len(part):
                self._route(child, part)

    def _grow(self, node: Node) -> None:
        """Split a leaf, and its children in turn, as long as there is something to split."""
        waiting = [node]
        while waiting:
            leaf = waiting.pop()
            many = len(leaf.members) > max(self._leaf_size, RETRIED_AFTER * leaf.tried_at)
            if many and leaf.depth < self._deepest:
                self._split(leaf)
            if leaf.good is not None and leaf.bad is not None:
                waiting += [leaf.bad, leaf.good]

    def _split(self, leaf: Node) -> None:
        features, values = self._features[leaf.members], self._finite_values[leaf.members]
        boundary = learn_boundary(self._rng, features, values)
        if boundary is None:
            leaf.tried_at = len(leaf.members)
            return
        good = boundary.good(features)
        leaf.boundary = boundary
        leaf.good = Node(leaf.members[good], leaf.depth + 1)
        leaf.bad = Node(leaf.members[~good], leaf.depth + 1)


def learn_boundary(rng: Random, features: FloatArray, values: FloatArray) -> Boundary | None:
    """Learn the boundary between good and bad samples with features [n, d] and values [n].

    Returns None if they form one cluster, or no boundary has some of them on either side. Features
    and value are standardised, and the value counts as much as all features together: with equal
    weights it would be one of fifty, and "good" a matter of chance.
    """
    from sklearn.cluster import KMeans
    from sklearn.svm import SVC

    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    points = (features - mean) / scale
    spread = float(values.std())
    varying = max(int((features.std(axis=0) > 0.0).sum()), 1)
    height = (values - values.mean()) / (spread if spread > 0.0 else 1.0) * np.sqrt(varying)
    together = np.concatenate((points, height[:, None]), axis=1)
    if (together == together[0]).all():
        return None
    cluster = KMeans(2, n_init=2, random_state=int(rng.integers(2**31))).fit(together).labels_
    if cluster.min() == cluster.max():
        return None
    means = [values[cluster == k].mean() for k in (0, 1)]
    good = (cluster == int(means[1] >= means[0])).astype(np.int64)
    gamma = 1.0 / varying
    machine = SVC(kernel="rbf", gamma=gamma).fit(points, good)
    boundary = Boundary(
        mean,
        scale,
        gamma,
        machine.support_vectors_,
        machine.dual_coef_[0],
        float(machine.intercept_[0]),
    )
    side = boundary.good(features)
    return None if side.all() or not side.any() else boundary


@cache
def _controller() -> Any:
    import sklearn.svm  # noqa: F401 - loads the libraries that are to be held to one thread
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Hold linear algebra and k-means to one thread.

    Their sums then do not depend on the number of cores, and matrices of a hundred rows are faster
    that way.
    """
    return cast(AbstractContextManager[Any], _controller().limit(limits=1))

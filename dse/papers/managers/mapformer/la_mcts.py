"""MapFormer's manager: LA-MCTS over a predictor (MapFormer 4.3).

Each iteration selects a region by
:class:`dse.papers.managers.mapformer.partition_tree.PartitionTree`, draws a batch of rows in it,
and asks the predictor for their value (Eq. 1). Nothing runs on the board meanwhile: of the first
random rows and of each iteration only the row that would be put there is proposed, the best of its
batch, if it is predicted to keep the cap. So ``--max-evaluations`` counts these rows, and not the
predictions. The simulated outcome is not used: the answer is the row with the best predicted value
of all.

100 iterations are the paper's. It names no batch: 42 predictions a second (Table 2) for the 23 s of
5.4 are about ten per iteration.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.papers.estimator.predictor import Prediction, Predictor, default_predictor
from paretosoc.dse.papers.managers.mapformer.partition_tree import Leaf, PartitionTree, one_thread
from paretosoc.dse.space.design_space import DesignSpace, unique_rows
from paretosoc.fitness.objectives import Outcomes
from paretosoc.results.io.optional import optional_import


class Mode(Enum):
    """MapFormer's modes of operation (5.2), with the weights of Eq. 1. Values are names for
    ``--mode``."""

    HIGH_PERFORMANCE = ("HP", 1.0, 0.0)
    PERFORMANCE_BOOST = ("PB", 0.7, 0.3)
    STANDARD = ("SM", 0.5, 0.5)
    POWER_REDUCE = ("PR", 0.3, 0.7)

    throughput_weight: float
    """W_T"""
    power_weight: float
    """W_P"""

    def __new__(cls, name: str, throughput_weight: float, power_weight: float) -> Mode:
        """Return the mode of a name, which is its value."""
        mode = object.__new__(cls)
        mode._value_ = name
        mode.throughput_weight, mode.power_weight = throughput_weight, power_weight
        return mode


DEFAULT_MODE = Mode.PERFORMANCE_BOOST
"""The default of the paper after 5.2."""


def value_of(mode: Mode, prediction: Prediction, threshold_w: float = np.inf) -> FloatArray:
    """Return [n]: V = W_T * T - W_P * P, to be maximised, minus infinity above the threshold (Eq.
    1).

    T and P are the predicted classes, 0 to 15: the text calls V "the weighted difference between
    the predicted throughput class and the predicted power consumption class". The printed equation
    has one more factor, w_2, before W_P, which the paper does not define. The text, Fig. 4 and the
    modes know two weights only, so w_2 is taken for a remnant of an older name of W_P, and is 1.

    The threshold is compared with the predicted power in watts, the centre of its class if a
    predictor classifies: classes are too coarse to be a limit (10 and 15 W may share one).
    """
    difference = (
        mode.throughput_weight * prediction.throughput_class
        - mode.power_weight * prediction.power_class
    )
    value: FloatArray = np.where(prediction.power_w <= threshold_w, difference, -np.inf)
    return np.where(prediction.throughput_hz > 0.0, value, -np.inf)


def tie_break(mode: Mode, prediction: Prediction) -> FloatArray:
    """Return [n]: a rank among rows of the same value, to be maximised: W_T * log T - W_P * log P.

    The paper has nothing of the kind. With a predictor that classifies, rows of the same two
    classes stay tied. One that predicts more precisely breaks the tie.
    """
    with np.errstate(divide="ignore"):
        rate, power = np.log(prediction.throughput_hz), np.log(prediction.power_w)
    cost = mode.power_weight * power if mode.power_weight else np.zeros_like(power)
    return mode.throughput_weight * rate - cost


ITERATIONS = 100
BATCH = 10
FIRST = 64
"""Random rows before the first iteration."""
DRAWN = 64
"""Rows drawn at a time, of which those inside the leaf are kept."""
ATTEMPTS = 4
"""Number of draws. Missing rows are then made up of those that came nearest to the leaf."""
NEAR = 0.5
"""The share of draws that are mutations of the leaf's own samples, better ones more often: few
random rows get through many boundaries. The rest is drawn from the entire space."""


class LaMctsEngine:
    """The tree search. ``answer`` is its result."""

    name = "la-mcts"

    def __init__(
        self,
        space: DesignSpace,
        predictor: Predictor | None = None,
        *,
        seed: int,
        mode: Mode = DEFAULT_MODE,
        iterations: int = ITERATIONS,
        batch: int = BATCH,
    ) -> None:
        """Begin a search with ``predictor``, or one that fits the problem.

        Raises:
            ResultError: if scikit-learn is missing.
        """
        optional_import("sklearn", extra="mapformer", purpose="--engine la-mcts")
        self._space = space
        self._predictor = predictor or default_predictor(space.problem)
        self._mode = mode
        self._left = iterations
        self._batch = batch
        self._rng = np.random.default_rng(seed)
        cap = space.problem.power_cap_mw
        self._threshold_w = np.inf if cap is None else cap / 1000
        self._tree = PartitionTree(self._rng)
        self._seen: set[bytes] = set()
        self._rows: IntArray = np.zeros((0, space.width), dtype=np.int64)
        self._values: FloatArray = np.zeros(0)
        self._ties: FloatArray = np.zeros(0)

    @property
    def predictions(self) -> int:
        """Return the number of rows that were predicted."""
        return len(self._rows)

    @property
    def answer(self) -> IntArray | None:
        """Return [width]: the row of the best predicted value, or None if none keeps the cap so
        far."""
        best = self._best(np.arange(len(self._rows)))
        return self._rows[best[0]] if len(best) else None

    def ask(self) -> IntArray:
        """Return the row that the first random rows, then the next iteration, would put on the
        board.

        If all are predicted to be above the cap there is none, and the next ones follow.
        """
        while len(self._rows) == 0 or self._left > 0:
            best = self._judged(self._next())
            if len(best):
                return best
        return self._rows[:0]

    def _next(self) -> IntArray:
        """Return [n, width]: rows to predict, none if every row near the selected leaf is known."""
        if len(self._rows) == 0:
            first = self._space.random(self._rng, FIRST)
            return first[unique_rows(first)]
        self._left -= 1
        with one_thread():
            return self._sampled(self._tree.select())

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Ignore the outcomes: only predictions guide the search."""

    def _judged(self, rows: IntArray) -> IntArray:
        """Have rows predicted, add them to the tree, and return the best, [1 or 0, width]."""
        if len(rows) == 0:
            return rows
        began = len(self._rows)
        predicted = self._predictor.predict(self._space.problem, rows)
        values = value_of(self._mode, predicted, self._threshold_w)
        self._seen |= {row.tobytes() for row in rows}
        self._rows = np.concatenate((self._rows, rows))
        self._values = np.concatenate((self._values, values))
        self._ties = np.concatenate((self._ties, tie_break(self._mode, predicted)))
        with one_thread():
            self._tree.add(row_features(self._space, rows), values)
        return self._rows[self._best(np.arange(began, len(self._rows)))]

    def _best(self, which: IntArray) -> IntArray:
        """Return [1 or 0]: the best of these rows that keeps the cap."""
        which = which[np.isfinite(self._values[which])]
        return which[np.lexsort((self._ties[which], self._values[which]))[-1:]]

    def _sampled(self, leaf: Leaf) -> IntArray:
        """Draw [at most batch, width]: new rows inside the leaf, as many as can be drawn."""
        rows = np.zeros((0, self._space.width), dtype=np.int64)
        for _ in range(ATTEMPTS):
            rows = np.concatenate((rows, self._drawn(leaf)))
            rows = rows[unique_rows(rows, self._seen)]
            depth = leaf.depth_of(row_features(self._space, rows))
            if int((depth == len(leaf.path)).sum()) >= self._batch:
                break
        return rows[np.argsort(-depth, kind="stable")[: self._batch]]

    def _drawn(self, leaf: Leaf) -> IntArray:
        near = round(NEAR * DRAWN) if len(leaf.members) else 0
        anywhere = self._space.random(self._rng, DRAWN - near)
        if not near:
            return anywhere
        # The better one of each two members.
        pair = leaf.members[self._rng.integers(0, len(leaf.members), (near, 2))]
        first, second = self._values[pair].T
        parents = self._rows[np.where(first >= second, pair[:, 0], pair[:, 1])]
        children = self._space.mutate(self._rng, parents)
        children = self._space.repair(self._rng, children, self._space.domains_used(parents))
        return np.concatenate((children, anywhere))[self._rng.permutation(DRAWN)]


def row_features(space: DesignSpace, rows: IntArray) -> FloatArray:
    """Return few numbers that distinguish mappings: [n, features] of canonical rows.

    A gene per group and unit would be 200 x 4 numbers for ten networks, in which two mappings whose
    transition points differ by one group are as near as two that have nothing in common. So a row
    is, all between 0 and 1:

    * per network and unit, the share of the network's groups that are mapped there;
    * per network, its edges between different units, as a share of all its edges;
    * per network, the place of its first change of unit, as a share of its length (1: none);
    * per domain with a choice, its clock's place on the ladder, and 0 if the domain is off;
    * per unit, whether anything is mapped there.
    """
    mapping = rows[:, : space.groups]
    n, networks = len(rows), len(space.first)
    units = np.arange(len(space.problem.units))
    on = (mapping[:, :, None] == units).astype(np.float64)
    shares = np.add.reduceat(on, space.first, axis=1) / space.size[:, None]
    changes = np.zeros((n, space.groups))
    same_network = space.owner[1:] == space.owner[:-1]
    changes[:, 1:] = (mapping[:, 1:] != mapping[:, :-1]) & same_network
    edges = np.maximum(space.size - 1, 1)
    cuts = np.add.reduceat(changes, space.first, axis=1) / edges
    position = (np.arange(space.groups) - space.first[space.owner]) / space.size[space.owner]
    first_cut = np.minimum.reduceat(np.where(changes > 0, position, 1.0), space.first, axis=1)
    free = space.free_domains
    places = (space.place_of_point[free, rows[:, space.groups + free]] + 1) / space.point_count[
        free
    ]
    used = space.units_used(rows)
    clocks = np.where(space.domains_on(used)[:, free], places, 0.0)
    return np.concatenate(
        (shares.reshape(n, networks * len(units)), cuts, first_cut, clocks, used), axis=1
    )

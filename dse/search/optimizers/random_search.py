"""Random search: what any other one has to beat."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.search.base import EngineState
from paretosoc.dse.search.optimizers.dedup import SeenRows
from paretosoc.dse.search.rng_state import generator_from, state_of
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes

BATCH = 1000
ATTEMPTS = 20
"""Batches drawn in a row where none holds a new row."""


class RandomEngine:
    """Each network on one to three units in turn at any clocks (:meth:`DesignSpace.random`), no row
    twice. It begins with nothing better."""

    name = "random"

    def __init__(self, space: DesignSpace, *, seed: int, batch: int = BATCH) -> None:
        self._space = space
        self._batch = batch
        self._rng = np.random.default_rng(seed)
        self._seen = SeenRows(space.width)

    def ask(self) -> IntArray:
        """The next rows; none where no new one was drawn."""
        for _ in range(ATTEMPTS):
            rows = self._space.random(self._rng, self._batch)
            rows = rows[self._seen.first_seen(rows)]
            if len(rows):
                break
        return rows

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Learns nothing."""

    def state(self) -> EngineState:
        """What was drawn."""
        return EngineState({"seen": self._seen.entries}, state_of(self._rng))

    def restore(self, state: EngineState) -> None:
        """Goes on from there."""
        self._seen.entries = state.array("seen", np.uint64, (None,))
        self._rng = generator_from(state.generator)

"""Random search, which any other one has to beat, and the search of every row."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.options import as_engine
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.search.base import EngineState, generator_from, state_of
from paretosoc.dse.search.optimizers.selection import SeenRows
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes

BATCH = 1000


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
        """Return the next rows, or none if no new one was drawn."""
        return self._seen.new_of(lambda: self._space.random(self._rng, self._batch))

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Ignore the outcomes: rows do not depend on them."""

    def state(self) -> EngineState:
        """Return hashes of the rows drawn."""
        return EngineState({"seen": self._seen.entries}, state_of(self._rng))

    def restore(self, state: EngineState) -> None:
        """Continue from a state."""
        self._seen.entries = state.array("seen", np.uint64, (None,))
        self._rng = generator_from(state.generator)


MAX_COMBINATIONS = 100_000_000
"""About a minute and a half for two small networks on one core, much longer for larger ones."""
BATCH = 20_000


class ExhaustiveEngine:
    """Every combination of allowed units and operating points, numbered as in a mixed-radix number
    (the last domain counts fastest).

    Combinations that are not canonical are left out, as their canonical form has its own number.

    Raises:
        WorkloadError: if there are more than ``MAX_COMBINATIONS``.
    """

    name = "exhaustive"

    def __init__(self, space: DesignSpace, *, seed: int = 0, batch: int = BATCH) -> None:
        if (count := space.combinations) > MAX_COMBINATIONS:
            magnitude = f"{count:,}" if count < 10**15 else f"about 10^{len(str(count)) - 1}"
            raise WorkloadError(
                f"{as_engine(self.name)}: at most {MAX_COMBINATIONS:,} combinations of units and "
                f"operating points are required, got {magnitude}; fewer "
                f"groups, units or clocks make it less, {as_engine('nsga2')} needs no limit"
            )
        self._space = space
        self._batch = batch
        self._next = 0
        choices = [*(np.flatnonzero(row) for row in space.problem.allowed), *space.points]
        self._choices = [choice.astype(np.int64) for choice in choices]
        self._total = space.combinations

    def ask(self) -> IntArray:
        """Return the next canonical rows, none at the end."""
        while self._next < self._total:
            numbers = np.arange(self._next, min(self._next + self._batch, self._total))
            self._next += len(numbers)
            columns = []
            for choice in reversed(self._choices):
                numbers, place = np.divmod(numbers, len(choice))
                columns.append(choice[place])
            rows: IntArray = np.stack(columns[::-1], axis=1)
            rows = rows[(self._space.canonical(rows) == rows).all(axis=1)]
            if len(rows):
                return rows
        return np.zeros((0, self._space.width), dtype=np.int64)

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Ignore the outcomes: rows do not depend on them."""

    def state(self) -> EngineState:
        """Return the number of the next combination."""
        return EngineState({"next": np.array([self._next])}, {})

    def restore(self, state: EngineState) -> None:
        """Continue from a state."""
        self._next = int(state.array("next", np.int64, (1,), least=0, most=self._total)[0])

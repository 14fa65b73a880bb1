"""A hill climber as an optimizer of paretosoc, in a package of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class HillClimber:
    """Change one gene of the best row at a time.

    ``neighbours``: rows of a generation.
    """

    neighbours: int = 50

    def start(self, space: Any, seed: int) -> _Climb:
        """Return the search at its first generation."""
        return _Climb(space, np.random.default_rng(seed), self.neighbours)


class _Climb:
    """One climb: ``ask`` proposes neighbours, ``tell`` moves to the best of them."""

    name = "hill-climber"

    def __init__(self, space: Any, rng: np.random.Generator, neighbours: int) -> None:
        self._space, self._rng, self._neighbours = space, rng, neighbours
        self._best: Rows | None = None
        self._value: tuple[int, ...] | None = None

    def ask(self) -> Rows:
        """Return rows [neighbours, groups + domains] inside the space."""
        fresh: Rows = self._space.random(self._rng, self._neighbours)
        if self._best is None:
            return fresh
        rows = np.repeat(self._best[None], self._neighbours, axis=0)
        genes = self._rng.integers(0, rows.shape[1], self._neighbours)
        each = np.arange(self._neighbours)
        rows[each, genes] = fresh[each, genes]
        repaired: Rows = self._space.repair(self._rng, rows)
        return repaired

    def tell(self, rows: Rows, outcomes: Any) -> None:
        """Move to the feasible row with the smallest first objective, if it is better."""
        for row in np.flatnonzero(outcomes.feasible):
            value = tuple(int(entry) for entry in outcomes.objectives[row])
            if self._value is None or value < self._value:
                self._best, self._value = rows[row].copy(), value


HILL_CLIMBER = HillClimber()

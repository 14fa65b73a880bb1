"""A search on guesses: how long it lasts, and what the engine is told."""

from __future__ import annotations

import numpy as np
import pytest

from paretosoc.common.arrays import IntArray
from paretosoc.dse.search.base import surrogate_search
from paretosoc.fitness.objectives import Outcomes


class Counting:
    """An engine that proposes ``batch`` rows at a time, ``most`` in all."""

    name = "counting"

    def __init__(self, batch: int, most: int) -> None:
        self.batch, self.left = batch, most
        self.told: list[tuple[IntArray, Outcomes]] = []

    def ask(self) -> IntArray:
        count = min(self.batch, self.left)
        self.left -= count
        return np.full((count, 3), self.left, dtype=np.int64)

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        self.told.append((rows, outcomes))


def guess(rows: IntArray) -> Outcomes:
    kept = np.ones(len(rows), dtype=np.bool_)
    return Outcomes(kept, rows[:, :1] + 1, np.zeros((len(rows), 0), dtype=np.int64), kept)


@pytest.mark.parametrize(
    ("batch", "most", "rows", "told"),
    [(4, 100, 10, 12), (5, 100, 10, 10), (4, 6, 10, 6), (4, 0, 10, 0), (4, 100, 0, 0)],
)
def test_it_ends_with_the_rows_asked_for_or_where_the_engine_has_no_more(
    batch: int, most: int, rows: int, told: int
) -> None:
    engine = Counting(batch, most)
    surrogate_search(engine, guess, rows)
    assert sum(len(batch) for batch, _ in engine.told) == told
    for batch_, outcomes in engine.told:
        assert (outcomes.objectives[:, 0] == batch_[:, 0] + 1).all()

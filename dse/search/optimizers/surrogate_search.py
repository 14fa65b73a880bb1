"""A search on guesses instead of evaluations, for rows to begin the real one with."""

from __future__ import annotations

from paretosoc.dse.search.base import Engine
from paretosoc.fitness.objectives import OutcomeFunction


def surrogate_search(engine: Engine, guess: OutcomeFunction, rows: int) -> None:
    """Run ``engine`` on outcomes by ``guess`` for a number of rows."""
    while rows > 0:
        proposed = engine.ask()
        if len(proposed) == 0:
            return
        engine.tell(proposed, guess(proposed))
        rows -= len(proposed)

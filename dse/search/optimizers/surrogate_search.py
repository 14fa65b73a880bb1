"""A search on guesses instead of evaluations, for rows to begin the real one with."""

from __future__ import annotations

from dse.search.base import Engine
from fitness.objectives import OutcomeFunction


def surrogate_search(engine: Engine, guess: OutcomeFunction, rows: int) -> None:
    """Runs ``engine`` until it has been told what ``guess`` says of so many rows."""
    while rows > 0:
        proposed = engine.ask()
        if len(proposed) == 0:
            return
        engine.tell(proposed, guess(proposed))
        rows -= len(proposed)

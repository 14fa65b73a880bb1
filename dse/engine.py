"""What every search strategy is: it proposes rows and is told what they gave."""

from __future__ import annotations

from typing import Protocol

from fitness.outcomes import Outcomes
from results.problem import IntArray


class Engine(Protocol):
    """A search strategy. The driver in :mod:`dse.search` evaluates, keeps the front and stops."""

    @property
    def name(self) -> str:
        """Name in results and on the command line."""
        ...

    def ask(self) -> IntArray:
        """Rows [n, groups + domains] to evaluate next, canonical; none: the search has ended."""
        ...

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """What the rows of the last :meth:`ask` gave."""
        ...

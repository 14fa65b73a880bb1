"""Rates of cyclo-static actors (Bilsen et al. 1996): tokens that a run of firings moves.

An actor goes through its phases in turn, over and over. An actor of synchronous dataflow is one
with a single phase, so one number does for it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from paretosoc.sdf.errors import GraphError

PerPhase = int | tuple[int, ...]
"""A figure of a firing: the same in all phases, or one for each phase."""

IntArray = npt.NDArray[Any]
"""int64, or Python integers (dtype object) if 64 bits would not do."""


def per_phase(figures: Sequence[int]) -> PerPhase:
    """Return the shortest form of one figure per phase: a number if all are equal."""
    return figures[0] if len(set(figures)) == 1 else tuple(figures)


def in_phases(figure: PerPhase, phases: int) -> tuple[int, ...]:
    """Return the figure with one entry per phase."""
    return (figure,) * phases if isinstance(figure, int) else figure


def cycle_total(figure: PerPhase, phases: int) -> int:
    """Return the sum over all phases."""
    return figure * phases if isinstance(figure, int) else sum(figure)


def single_rate(rate: PerPhase, where: str) -> int:
    """Return the rate itself.

    Raises:
        GraphError: if it differs from phase to phase. ``where`` names it.
    """
    if not isinstance(rate, int):
        raise GraphError(f"{where}: must have one rate, got a cyclo-static one")
    return rate


class Rate:
    """Tokens moved by the firings 0, 1, 2, ... of an actor on one end of a channel.

    Firings are counted through all iterations, also backwards from the first.
    """

    def __init__(self, rate: PerPhase) -> None:
        self._sums = (0, *accumulate((rate,) if isinstance(rate, int) else rate))
        self.phases = len(self._sums) - 1
        self._total = self._sums[-1]

    def moved(self, firings: int) -> int:
        """Return the tokens of the firings before this one."""
        if self.phases == 1:
            return firings * self._total
        cycles, phase = divmod(firings, self.phases)
        return cycles * self._total + self._sums[phase]

    def most(self, tokens: int) -> int:
        """Return the most firings, from the first one on, that move no more than ``tokens``."""
        if self.phases == 1:
            return tokens // self._total
        cycles, rest = divmod(tokens, self._total)
        return cycles * self.phases + bisect_right(self._sums, rest) - 1

    def moved_by_each(self, firings: IntArray) -> IntArray:
        """Return ``moved`` of every entry."""
        if self.phases == 1:
            return firings * self._total
        phase = (firings % self.phases).astype(np.int64)
        return firings // self.phases * self._total + self._array[phase]

    def last_needed(self, tokens: IntArray) -> IntArray:
        """Return, for every entry, the firing that moves the last of these tokens."""
        if self.phases == 1:
            return (tokens - 1) // self._total
        before = tokens - 1
        phase = np.searchsorted(self._array[1:], before % self._total, side="right")
        return before // self._total * self.phases + phase

    @cached_property
    def _array(self) -> IntArray:
        return np.array(self._sums, dtype=object if self._total >> 61 else np.int64)

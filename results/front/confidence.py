"""How sure the figures of a front are, if its costs are as far off as is stated of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DRAWS = 1000
"""How often costs are drawn unless another number is asked for."""
SURE = 0.9
"""Share of the draws in which one of two members must be better for the two to be told apart."""
BROKEN = 1.0
"""Loss of a choice in a draw in which it breaks a limit that another member keeps: as if it were
twice as slow as the best. Regrets do not count for more."""
STOP_BEST, STOP_LOSS = 0.95, 0.01
"""A choice is sure enough if it is as good as the best, within the resolution, with this
probability, or loses less in the mean."""
PERCENTILES = (5, 95)
"""Percentiles at the ends of an interval."""


@dataclass(frozen=True)
class Odds:
    """The chances of a choice for a goal."""

    best: float
    """Share of the draws in which the best of all members is one that the choice stands for."""
    near_best: float
    """Share of the draws in which the choice is as good as the best of all members within the
    resolution."""
    regret: float | None
    """Mean share by which it is worse than the best of all members, over the draws in which it
    meets all limits. None if there are none. For the knee: in shares of the front's ranges."""
    loss: float
    """Mean over all draws of that share, of :data:`BROKEN` at most, which also counts if it breaks
    a limit that another member keeps."""

    @property
    def is_sure(self) -> bool:
        """Return whether measuring more is not worth while."""
        return self.near_best >= STOP_BEST or self.loss < STOP_LOSS


@dataclass(frozen=True)
class ChoiceConfidence:
    """How sure the figures of a choice are."""

    member: int
    """Its position in the front."""
    stands_for: int
    intervals: Mapping[str, tuple[float, float]]
    """5th and 95th percentile of each objective, by its name with its unit as in the table, the
    smaller one first. Infinite if networks with rates are overloaded there."""
    limits: Mapping[str, float]
    """By limit that someone asked for: share of the draws in which it is kept."""
    meets_limits: float
    """Share of the draws in which all limits are kept, also the chip's."""
    goals: Mapping[str, Odds]


@dataclass(frozen=True)
class Confidence:
    """How sure the choices of a front are."""

    draws: int
    seed: int
    resolution: float
    choices: tuple[ChoiceConfidence, ...]
    alike: Mapping[str, tuple[tuple[int, int], ...]]
    """By goal: pairs of choices, by their positions in the front, neither of which is better in
    ``SURE`` of the draws."""

    def advised(self, goal: str) -> ChoiceConfidence:
        """Return the choice that is to be taken: the one that loses least in the mean."""
        return min(self.choices, key=lambda entry: entry.goals[goal].loss)

"""What each constraint asks for and what a design point gives, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass

from fitness.objectives import Constraint, ConstraintKind, Outcomes, constraints_of
from results.problem.problem import Problem

_SCALES = {"ps": (10**9, " ms"), "uW": (10**6, " W"), "fJ": (10**12, " mJ")}


@dataclass(frozen=True)
class ConstraintState:
    """One constraint and the figure that it limits."""

    constraint: Constraint
    value: int

    @property
    def met(self) -> bool:
        """Whether the figure is within the limit."""
        return self.value <= self.constraint.limit

    def to_document(self) -> dict[str, object]:
        """As plain data; ``excess`` is how far the limit is passed, 0 where it is met."""
        return {
            "name": self.constraint.name,
            "limit": self.constraint.limit,
            "value": self.value,
            "unit": self.constraint.unit,
            "met": self.met,
            "excess": max(0, self.value - self.constraint.limit),
        }

    def in_words(self) -> str:
        """``power: 18.2 W, at most 15 W asked for: 3.2 W too much``."""
        limit, unit = self.constraint.limit, self.constraint.unit
        value, at_most = shown_apart(self.value, limit, unit)
        text = f"{self.constraint.name}: {value}, at most {at_most} {limited_by(self.constraint)}"
        return text if self.met else f"{text}: {shown(self.value - limit, unit)} too much"


def limited_by(constraint: Constraint) -> str:
    """Where a limit is from, as a word behind ``at most 3``."""
    return "on this chip" if constraint.kind is ConstraintKind.SEGMENTS else "asked for"


def constraint_states(problem: Problem, outcomes: Outcomes, row: int) -> list[ConstraintState]:
    """The state of every constraint of ``problem`` for one row of ``outcomes``."""
    return [
        ConstraintState(constraint, int(value))
        for constraint, value in zip(constraints_of(problem), outcomes.figures[row], strict=True)
    ]


def shown(value: int, unit: str, digits: int = 4) -> str:
    """The figure in the unit for people: ms, W, mJ."""
    factor, symbol = _SCALES.get(unit, (1, ""))
    if factor == 1:
        return str(value)
    return f"{value / factor:.{digits}g}{symbol}"


def shown_apart(first: int, second: int, unit: str) -> tuple[str, str]:
    """Both by :func:`shown`, with as many digits as it takes to tell them apart."""
    for digits in range(4, 20):
        texts = shown(first, unit, digits), shown(second, unit, digits)
        if texts[0] != texts[1] or first == second:
            break
    return texts

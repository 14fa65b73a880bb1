"""Each constraint's limit and a design point's value, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.results.problem.limits import UNITS, Constraint, constraints_of
from paretosoc.results.problem.objectives import significant
from paretosoc.results.problem.problem import DesignPoint, Problem

if TYPE_CHECKING:
    from paretosoc.fitness.objectives import Outcomes


@dataclass(frozen=True)
class ConstraintState:
    """One constraint and the figure that it limits."""

    constraint: Constraint
    value: int

    @property
    def met(self) -> bool:
        """Return whether the figure is within the limit."""
        return self.value <= self.constraint.limit

    def to_document(self) -> dict[str, object]:
        """Return the state as plain data. ``bound``: whether ``limit`` is the ``most`` or the
        ``least`` that is permitted. ``excess``: the amount beyond the limit, 0 if it is met."""
        constraint = self.constraint
        return {
            "name": constraint.name,
            "bound": "least" if constraint.is_least else "most",
            "limit": -constraint.limit if constraint.is_least else constraint.limit,
            "value": -self.value if constraint.is_least else self.value,
            "unit": constraint.unit,
            "met": self.met,
            "excess": max(0, self.value - self.constraint.limit),
        }

    @property
    def limit(self) -> str:
        """Return the limit as text: ``power at most 15 W asked for``."""
        return f"{self.constraint.name} {limit_and_value(self.constraint, self.value)[0]}"

    @property
    def margin(self) -> str:
        """Return the value with its margin: ``13.1 W (1.9 W to spare)``."""
        value = limit_and_value(self.constraint, self.value)[1]
        return f"{value} ({self._difference()})"

    def _difference(self) -> str:
        amount = shown(abs(self.value - self.constraint.limit), self.constraint.unit)
        if self.met:
            return f"{amount} to spare"
        much = "much" if self.constraint.unit else "many"
        return f"{amount} {'too little' if self.constraint.is_least else f'too {much}'}"

    def describe(self) -> str:
        """Return the state as text: ``power: 18.2 W, at most 15 W asked for: 3.2 W too much``, or
        ``3.2 W to spare``."""
        constraint = self.constraint
        limit, value = limit_and_value(constraint, self.value)
        return f"{constraint.name}: {value}, {limit}: {self._difference()}"


def limit_states(problem: Problem, designs: Sequence[DesignPoint]) -> list[list[ConstraintState]]:
    """Return the state of every limit that is asked for, per design. Without limits nothing is
    simulated, nor for those that a mapping shows, such as transitions."""

    def is_told(limit: Constraint) -> bool:
        return limit.kind.is_asked and limit.kind.counts is None

    if not designs or not any(map(is_told, constraints_of(problem))):
        return [[] for _ in designs]
    from paretosoc.fitness.objectives import make_outcomes

    outcomes = make_outcomes(problem)(np.stack([design.row for design in designs]))
    states = (constraint_states(problem, outcomes, row) for row in range(len(designs)))
    return [[state for state in own if is_told(state.constraint)] for own in states]


def limit_and_value(constraint: Constraint, figure: int) -> tuple[str, str]:
    """Return ``at most 15 W asked for`` and the value, with enough digits to differ from the
    limit."""
    sign = -1 if constraint.is_least else 1
    limit, value = shown_apart(sign * constraint.limit, sign * figure, constraint.unit)
    return f"{constraint.kind.at} {limit} {constraint.kind.source}", value


def limit_for(constraint: Constraint, figure: int) -> str:
    """Return the limit with four digits, or more, that a figure of the constraint keeps: it is
    rounded to the loose side, in steps that the problem has."""
    factor, symbol = UNITS[constraint.unit]
    if not figure:
        return shown(figure, constraint.unit)
    # Of one step of four digits, and one of the problem's field, the coarser.
    step = Fraction(10) ** (floor(log10(abs(figure) / factor)) - 3)
    step = max(step, Fraction(constraint.kind.scale, factor))
    value = ceil(figure / (step * factor)) * step
    number = f"{float(-value if constraint.is_least else value):.12g}"
    return f"{number} {symbol}" if symbol else number


def constraint_states(problem: Problem, outcomes: Outcomes, row: int) -> list[ConstraintState]:
    """Return the state of every constraint of ``problem`` for one row of ``outcomes``."""
    return [
        ConstraintState(constraint, int(value))
        for constraint, value in zip(
            constraints_of(problem), outcomes.constraint_values[row], strict=True
        )
    ]


def limit_in_units(constraint: Constraint, figure: int) -> tuple[float, str]:
    """Return a figure of a constraint and its unit for people: ms, W, mJ, images/s, ... ``figure``
    is negative for a lower limit, as in the constraint."""
    factor, symbol = UNITS[constraint.unit]
    return (-figure if constraint.is_least else figure) / factor, symbol


def shown(value: int, unit: str, digits: int = 4) -> str:
    """Return the figure in the unit for people: ms, W, mJ, images/s."""
    factor, symbol = UNITS[unit]
    return f"{significant(value / factor, digits)} {symbol}" if symbol else str(value)


def shown_apart(first: int, second: int, unit: str) -> tuple[str, str]:
    """Return both by :func:`shown`, with enough digits to differ."""
    for digits in range(4, 20):
        texts = shown(first, unit, digits), shown(second, unit, digits)
        if texts[0] != texts[1] or first == second:
            break
    return texts

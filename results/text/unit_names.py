"""Names of units in texts that do not distinguish between equal ones."""

from __future__ import annotations

import re

from paretosoc.results.problem.problem import Problem

_NUMBER = re.compile("[-_]?(?<![0-9])[0-9]+$")
"""Digits at the end of a name. They are looked at from their first on only."""


def without_number(name: str) -> str:
    """Return ``dla`` of ``dla0``, and ``dla:int8`` of ``dla0:int8``. A name that is only a number
    stays."""
    unit, colon, number_format = name.partition(":")
    return (_NUMBER.sub("", unit) or unit) + colon + number_format


def names_of_kinds(problem: Problem) -> tuple[str, ...]:
    """Return the name of each unit, without the number if another unit has the same costs,
    [units]."""
    costs = [
        (
            *(table.tobytes() for table in (unit.time_ps, unit.demand_kbps, unit.dynamic_mw)),
            unit.idle_mw.tobytes(),
            problem.allowed[:, u].tobytes(),
        )
        for u, unit in enumerate(problem.units)
    ]
    return tuple(
        without_number(unit.name) if costs.count(own) > 1 else unit.name
        for unit, own in zip(problem.units, costs, strict=True)
    )

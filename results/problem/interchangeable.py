"""Units that are alike in all that counts, such as two cores of one accelerator."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np

from results.problem.problem import Problem, ProblemUnit


def interchangeable_before(problem: Problem) -> tuple[int, ...]:
    """For each unit the last one before it with which it is interchangeable; -1: none.

    If two units change places in a design point, its schedule does the same and all objectives
    stay: their costs, clocks, contention and limits are equal, the same groups may be on them, and
    transitions and hand-overs take as long. The order of units decides nothing in a simulation
    (docs/model.md).
    """
    before = []
    for v in range(len(problem.units)):
        alike = [u for u in range(v) if _are_interchangeable(problem, u, v)]
        before.append(alike[-1] if alike else -1)
    return tuple(before)


def _are_interchangeable(problem: Problem, u: int, v: int) -> bool:
    a, b = problem.units[u], problem.units[v]
    names = [field.name for field in fields(ProblemUnit) if field.name != "name"]
    if not all(_equal(getattr(a, name), getattr(b, name)) for name in names):
        return False
    if not np.array_equal(problem.allowed[:, u], problem.allowed[:, v]):
        return False
    swapped = np.arange(len(problem.units))
    swapped[[u, v]] = v, u
    return all(
        np.array_equal(table, table[:, swapped][:, :, swapped])
        for table in (problem.transition_ps, problem.handovers_ps)
    )


def _equal(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if is_dataclass(a) and type(a) is type(b):
        return all(_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return a == b

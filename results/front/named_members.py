"""Which members of a front deserve a name: the best at each objective, and the knee."""

from __future__ import annotations

from functools import lru_cache

from results.front.dominance import knee
from results.front.front import Front
from results.front.front_check import objective_array
from results.problem.objectives import Objective
from results.problem.problem import Problem

KNEE = "knee"


def mark_of_best(problem: Problem, objective: Objective) -> str:
    """Name of the member that is best at ``objective``: ``fastest``, ``lowest energy``, ..."""
    name = objective.kind.spec.best
    if objective.network is None:
        return name
    return f"{name} {problem.networks[objective.network].name}"


def mark_members(front: Front) -> dict[int, tuple[str, ...]]:
    """Marks by member index, rising; of several members that are best, the first has the mark."""
    return dict(_marks(front))


@lru_cache(maxsize=4)
def _marks(front: Front) -> dict[int, tuple[str, ...]]:
    """Cached for the last fronts: a page needs it for each of its members."""
    marks: dict[int, list[str]] = {}
    if front.members:
        values = objective_array(front)
        for column, objective in enumerate(front.problem.objectives):
            best = int(values[:, column].argmin())
            marks.setdefault(best, []).append(mark_of_best(front.problem, objective))
        if len(front.members) > 1:
            marks.setdefault(knee(values), []).append(KNEE)
    return {index: tuple(marks[index]) for index in sorted(marks)}


def marked_member(front: Front, mark: str) -> int | None:
    """Index of the member with this mark, or None."""
    return next((index for index, marks in mark_members(front).items() if mark in marks), None)

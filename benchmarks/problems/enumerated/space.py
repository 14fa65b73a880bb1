"""All design points of a small problem, and the truth of claims about them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.front import Front
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Enumerated:
    """A problem and the objectives of all its feasible design points."""

    problem: Problem
    feasible: np.ndarray
    """[n, objectives]"""
    possible: np.ndarray
    """The same of all design points, limits or not."""


def all_designs(problem: Problem) -> IntArray:
    """Return every allowed design point, [n, groups + domains + searched priorities]."""
    choices = [np.flatnonzero(row) for row in problem.allowed]
    choices += [np.flatnonzero(domain.allowed) for domain in problem.domains]
    choices += [np.arange(PRIORITY_LEVELS)] * problem.priority_count
    return np.array(list(product(*choices)), dtype=np.int64)


def holds_a_point(values: np.ndarray, corner: tuple[int | None, ...]) -> bool:
    """Return whether one of the values is at or below the corner in all objectives."""
    inside = np.ones(len(values), dtype=np.bool_)
    for j, value in enumerate(corner):
        if value is not None:
            inside &= values[:, j] <= value
    return bool(inside.any())


def is_within(members: np.ndarray, feasible: np.ndarray, epsilon_ppm: int) -> bool:
    """Return whether every design point has a member that is worse by no more than ``epsilon_ppm``.

    Members and design points are [n, objectives]. All objectives count.
    """
    factor = 1 + epsilon_ppm / 1e6
    limits = np.where(feasible < 0, feasible / factor, feasible * factor) + 1
    return all((members <= limit).all(axis=1).any() for limit in limits)


def front_of(found: Enumerated, rng: np.random.Generator, most: int = 6) -> Front | None:
    """Return a front of some feasible design points, or None if there are none."""
    rows = all_designs(found.problem)
    rows = rows[make_outcomes(found.problem)(rows).feasible]
    if not len(rows):
        return None
    some = DesignSpace(found.problem).canonical(rows[rng.integers(0, len(rows), most)])
    return seed_front(found.problem, some, engine="search")

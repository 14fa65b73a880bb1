"""A design space in the flat arrays that the compiled operators read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import IntArray
from paretosoc.results.problem.execution import SearchedOrder
from paretosoc.results.problem.limits import TRANSITIONS, limits_by_owner

if TYPE_CHECKING:
    from paretosoc.dse.space.design_space import DesignSpace
    from paretosoc.dse.space.operators_jit import SpaceTables


class Scratch(NamedTuple):
    """Scratch arrays of the operators."""

    used: IntArray
    """[2, settings]"""
    stream: NDArray[np.uint64]
    """[1]: the state of the random numbers."""


def make_scratch(space: DesignSpace) -> Scratch:
    """Return scratch arrays for one thread."""
    used = np.zeros((2, len(space.points)), dtype=np.int64)
    return Scratch(used, np.zeros(1, dtype=np.uint64))


def make_tables(space: DesignSpace) -> SpaceTables:
    """Return the tables of a space."""
    from paretosoc.dse.space.operators_jit import SpaceTables

    problem = space.problem
    domains, settings = len(problem.domains), len(space.points)
    orders_groups = problem.searched_order is SearchedOrder.GROUPS
    rests, may_be_off = (np.zeros(settings, dtype=np.int64) for _ in range(2))
    rests[list(space.idle_powered_domains)] = 1
    may_be_off[:domains] = [domain.may_be_off for domain in problem.domains]
    drives = np.zeros((settings, len(problem.units)), dtype=np.int64)
    drives[:domains] = space.drives
    return SpaceTables(
        groups=space.groups,
        units=len(problem.units),
        settings=settings,
        priorities=settings - domains,
        orders_groups=int(orders_groups),
        networks=len(problem.networks),
        first=space.first,
        size=space.size,
        limit=limits_by_owner(problem, TRANSITIONS),
        owner=space.owner,
        allowed=problem.allowed.astype(np.int64),
        best_unit=space.best_unit,
        unit_of=np.array(problem.unit_of, dtype=np.int64),
        drives=drives,
        may_be_off=may_be_off,
        rests=rests,
        free=space.free_domains if orders_groups else space.free_settings,
        point_count=space.point_count,
        point_at=space.point_at,
        place_of_point=space.place_of_point,
    )

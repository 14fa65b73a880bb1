"""A design space in the flat arrays that the compiled operators read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from common.arrays import IntArray

if TYPE_CHECKING:
    from dse.space.design_space import DesignSpace
    from dse.space.operators_jit import SpaceTables


class Scratch(NamedTuple):
    """What the operators write to while they work."""

    used: IntArray
    """[2, domains]"""
    stream: NDArray[np.uint64]
    """[1]: the state of the random numbers."""


def make_scratch(space: DesignSpace) -> Scratch:
    """Scratch for one thread."""
    domains = len(space.problem.domains)
    return Scratch(np.zeros((2, domains), dtype=np.int64), np.zeros(1, dtype=np.uint64))


def make_tables(space: DesignSpace) -> SpaceTables:
    """The tables of a space."""
    from dse.space.operators_jit import SpaceTables

    problem = space.problem
    rests = np.zeros(len(problem.domains), dtype=np.int64)
    rests[list(space.idle_powered_domains)] = 1
    limits = [network.max_transitions for network in problem.networks]
    return SpaceTables(
        groups=space.groups,
        units=len(problem.units),
        domains=len(problem.domains),
        networks=len(problem.networks),
        first=space.first,
        size=space.size,
        limit=np.array([-1 if limit is None else limit for limit in limits], dtype=np.int64),
        owner=space.owner,
        allowed=problem.allowed.astype(np.int64),
        best_unit=space.best_unit,
        drives=space.drives.astype(np.int64),
        may_be_off=np.array([domain.may_be_off for domain in problem.domains], dtype=np.int64),
        rests=rests,
        free=space.free_domains,
        point_count=space.point_count,
        point_at=space.point_at,
        place_of_point=space.place_of_point,
    )

"""What groups cost over the choices that a lemma names: smallest times, and costs that are certain.

A lemma gives every domain a set of operating points. Over these a group's cost on a unit is
*certain* where its time, its demand and the unit's contention parameters have one value each: then
the group can start in the timeline without a further choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from common.arrays import IntArray
from results.problem.problem import ContentionTable, Problem

Points = tuple[int, ...]
"""Operating points of one domain."""


class CertainCost(NamedTuple):
    """What a group costs on a unit, whatever the lemma leaves open."""

    time_ps: int
    step_ps: int
    """What each further repeat takes longer."""
    demand_kbps: int
    memory_point: int
    """An operating point of the memory that has the unit's contention parameters."""


@dataclass(frozen=True)
class LemmaCosts:
    """Costs over one choice of operating point sets.

    ``smallest_ps`` [units + 1][groups]: smallest stand-alone times; the last row, which the index
    ``NOT_NAMED`` leads to, is over all allowed units. ``step_ps``, the same: by how much they grow
    at least from repeat to repeat. ``certain`` [units][groups]: None where several values are
    possible. Entries of units that a group may not use mean nothing.
    """

    smallest_ps: tuple[tuple[int, ...], ...]
    step_ps: tuple[tuple[int, ...], ...]
    certain: tuple[tuple[CertainCost | None, ...], ...]


_UnitCosts = tuple[tuple[int, ...], tuple[int, ...], tuple[CertainCost | None, ...]]
"""Of one unit: smallest times, smallest steps, certain costs."""


class LemmaCostTables:
    """Makes :class:`LemmaCosts`, each only once."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._allowed = [np.flatnonzero(row).tolist() for row in problem.allowed]
        self._costs: dict[tuple[Points, ...], LemmaCosts] = {}
        self._units: dict[tuple[int, tuple[Points, ...]], _UnitCosts] = {}

    def over(self, points: tuple[Points, ...]) -> LemmaCosts:
        """Costs over ``points``, for every domain those that it may have; none of them empty."""
        costs = self._costs.get(points)
        if costs is None:
            units = [self._of_unit(u, points) for u in range(len(self._problem.units))]
            smallest, steps, certain = zip(*units, strict=True)
            costs = LemmaCosts(
                smallest_ps=(*smallest, self._anywhere(smallest)),
                step_ps=(*steps, self._anywhere(steps)),
                certain=certain,
            )
            self._costs[points] = costs
        return costs

    def _anywhere(self, of_units: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """[groups]: the smallest over the allowed units."""
        return tuple(
            min(of_units[u][group] for u in allowed) for group, allowed in enumerate(self._allowed)
        )

    def _of_unit(self, u: int, points: tuple[Points, ...]) -> _UnitCosts:
        unit = self._problem.units[u]
        memory = self._problem.memory_domain
        memory_points: Points = (0,)
        if unit.contention is not None and memory is not None:
            memory_points = points[memory]
        own_points = tuple(points[clock] for clock in unit.clocks)
        key = (u, (*own_points, memory_points))
        if key not in self._units:
            smallest, largest = _range(unit.time_ps, own_points)
            least, most = _range(unit.demand_kbps, own_points)
            least_step, most_step = _range(unit.steps_ps, own_points)
            slowdown = _common_point(unit.contention, memory_points)
            self._units[key] = (
                tuple(smallest),
                tuple(least_step),
                tuple(
                    None
                    if slowdown is None
                    or smallest[g] != largest[g]
                    or least[g] != most[g]
                    or least_step[g] != most_step[g]
                    else CertainCost(smallest[g], least_step[g], least[g], slowdown)
                    for g in range(len(smallest))
                ),
            )
        return self._units[key]


def _range(table: IntArray, points: Sequence[Points]) -> tuple[list[int], list[int]]:
    """Smallest and largest entry of every group over the operating points of a unit's clocks."""
    groups = len(table)
    chosen = table[np.ix_(range(groups), *points)].reshape(groups, -1)
    return chosen.min(axis=1).tolist(), chosen.max(axis=1).tolist()


def _common_point(table: ContentionTable | None, memory_points: Points) -> int | None:
    """The first operating point of the memory with the parameters that all of ``memory_points``
    have; None where they differ."""
    if table is None:
        return 0
    rows = np.stack(list(vars(table).values()), axis=1).tolist()
    wanted = rows[memory_points[0]]
    if any(rows[point] != wanted for point in memory_points):
        return None
    return int(rows.index(wanted))

"""What groups cost over the choices that a lemma names: smallest times, and costs that are certain.

A lemma gives every domain a set of operating points. Costs on a unit are *certain* where this is
one point for each of its clocks and for the memory: then a group can start there in the timeline
without a further choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from common.arrays import IntArray
from results.problem.problem import Problem

Points = tuple[int, ...]
"""Operating points of one domain."""


class CertainCost(NamedTuple):
    """What a group costs on a unit, whatever the lemma leaves open."""

    time_ps: int
    step_ps: int
    """What each further repeat takes longer."""
    demand_kbps: int
    memory_point: int


@dataclass(frozen=True)
class LemmaCosts:
    """Costs over one choice of operating point sets.

    ``smallest_ps`` [units + 1][groups]: smallest stand-alone times; the last row, which the index
    ``NOT_NAMED`` leads to, is over all allowed units. ``step_ps``, the same: by how much they grow
    at least from repeat to repeat. ``certain`` [units][groups]: None where a clock of the unit, or
    the memory's, is open. Entries of units that a group may not use mean nothing.
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
        memory_points: Points = (0,) if memory is None else points[memory]
        own_points = tuple(points[clock] for clock in unit.clocks)
        key = (u, (*own_points, memory_points))
        if key not in self._units:
            smallest = _smallest(unit.time_ps, own_points)
            steps = _smallest(unit.steps_ps, own_points)
            certain: list[CertainCost | None] = [None] * len(smallest)
            if all(len(chosen) == 1 for chosen in (*own_points, memory_points)):
                demand = _smallest(unit.demand_kbps, own_points)
                certain = [
                    CertainCost(time, steps[g], demand[g], memory_points[0])
                    for g, time in enumerate(smallest)
                ]
            self._units[key] = (tuple(smallest), tuple(steps), tuple(certain))
        return self._units[key]


def _smallest(table: IntArray, points: Sequence[Points]) -> list[int]:
    """The smallest entry of every group over the operating points of a unit's clocks."""
    groups = len(table)
    chosen = table[np.ix_(range(groups), *points)].reshape(groups, -1)
    least: list[int] = chosen.min(axis=1).tolist()
    return least

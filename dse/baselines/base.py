"""The common part of all baselines: an engine that proposes once, and the costs that methods
use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes
from paretosoc.results.problem.problem import Problem

GPU = "gpu"


class Baseline(ABC):
    """An engine (:mod:`dse.search.base`) that proposes the rows of a method once.

    The methods of HaX-CoNN run at the fastest clocks that may be chosen: their papers know no
    others. All keep no constraint but the units' abilities and, if a method has one, the energy
    budget.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    """For people: in tables and pictures."""
    has_front: ClassVar[bool] = False
    """Whether all non-dominated rows that the method proposes count, or only the best."""

    def __init__(self, space: DesignSpace) -> None:
        self._space = space
        self._asked = False

    def title(self) -> str:
        """Return the label on this problem."""
        return self.label

    @abstractmethod
    def rows(self) -> IntArray:
        """Return [n, groups + domains]: the method's rows, canonical, none if it does not apply."""

    def ask(self) -> IntArray:
        """Return the rows, the first time only."""
        if self._asked:
            return np.zeros((0, self._space.width), dtype=np.int64)
        self._asked = True
        return self.rows()

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Ignore the outcomes: the method decides by its own costs alone."""
        del rows, outcomes

    def _row(self, mapping: list[int] | IntArray) -> IntArray:
        """Return [1, width]: a mapping at the fastest clocks."""
        return at_fastest_clocks(self._space, np.asarray(mapping, dtype=np.int64)[None])

    def _nothing(self) -> IntArray:
        return np.zeros((0, self._space.width), dtype=np.int64)


def at_fastest_clocks(space: DesignSpace, mappings: IntArray) -> IntArray:
    """Return [n, width]: mappings [n, groups] with the fastest clocks that may be chosen,
    canonical."""
    clocks = np.broadcast_to(space.fastest, (len(mappings), len(space.fastest)))
    return space.canonical(np.concatenate((mappings, clocks), axis=1))


def has_gpu(space: DesignSpace) -> bool:
    """Return whether a unit is called ``gpu``."""
    return any(unit.name == GPU for unit in space.problem.units)


def gpu_of(space: DesignSpace) -> int:
    """Return the unit called ``gpu``, or without one the unit that runs all networks fastest."""
    names = [unit.name for unit in space.problem.units]
    if GPU in names:
        return names.index(GPU)
    return int(clipped_times(space).sum(axis=0).argmin())


def whole_networks(space: DesignSpace, units: list[int]) -> IntArray:
    """Return [groups]: network n on ``units[n]``.

    Groups that this unit cannot run go to the GPU, as TensorRT lets layers fall back, or else to
    the unit that is fastest for them.
    """
    mapping = np.array(units, dtype=np.int64)[space.owner]
    allowed = space.problem.allowed
    every = np.arange(space.groups)
    gpu = gpu_of(space)
    fallback = np.where(allowed[:, gpu], gpu, space.best_unit)
    return np.where(allowed[every, mapping], mapping, fallback)


def clipped_times(space: DesignSpace) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return [groups, units]: times, a thousand times the group's best on units that cannot run
    it."""
    times = space.fastest_time.astype(np.float64)
    return np.where(space.problem.allowed, times, 1e3 * times.min(axis=1)[:, None])


@dataclass(frozen=True)
class Costs:
    """The costs that methods use: stand-alone times and transitions, Python integers, no
    contention.

    ``time_ps[g]``: unit -> time, of the units that may have group g. ``incoming[g]``: (group that
    feeds it, index of the edge).
    """

    problem: Problem
    time_ps: tuple[dict[int, int], ...]
    incoming: tuple[tuple[tuple[int, int], ...], ...]

    def transition_ps(self, edge: int, source: int, target: int) -> int:
        """Hand-over on an edge from one unit to another (HaX-CoNN, Eq. 2)."""
        return int(self.problem.transition_ps[edge, source, target])


def costs_of(space: DesignSpace) -> Costs:
    """Return the costs at the fastest clocks that may be chosen."""
    problem = space.problem
    incoming: list[list[tuple[int, int]]] = [[] for _ in range(space.groups)]
    for e, (source, target) in enumerate(problem.edges):
        incoming[target].append((source, e))
    return Costs(
        problem=problem,
        time_ps=tuple(
            {u: int(row[u]) for u in np.flatnonzero(allowed).tolist()}
            for row, allowed in zip(space.fastest_time, problem.allowed, strict=True)
        ),
        incoming=tuple(tuple(row) for row in incoming),
    )

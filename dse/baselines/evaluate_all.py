"""Baselines on a problem: each is run as an engine and its best point is simulated."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.axonn import AxoNN
from paretosoc.dse.baselines.base import Baseline
from paretosoc.dse.baselines.group_by_group import H2h, Herald, Mensa
from paretosoc.dse.baselines.one_unit import OneUnit, formats_of, in_one_format
from paretosoc.dse.baselines.whole_networks import GpuAndDsa, GpuOnly, TensorRtStyle
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import make_members
from paretosoc.fitness.objectives import OutcomeFunction, make_outcomes
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import BaselinePoint
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem

BASELINES: tuple[type[Baseline], ...] = (
    GpuOnly,
    GpuAndDsa,
    Mensa,
    Herald,
    H2h,
    AxoNN,
    TensorRtStyle,
)
"""The methods in the order of HaX-CoNN's tables, then Tang's."""

COMPARED = (ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY, ObjectiveKind.THROUGHPUT)


def compared_objective(problem: Problem) -> int:
    """Return the index of the objective that methods are compared by.

    It is the first that HaX-CoNN has (Eq. 10, 11, or throughput), else the first of all.
    """
    for index, objective in enumerate(problem.objectives):
        if objective.kind in COMPARED and objective.network is None:
            return index
    return 0


def method_of(name: str) -> str:
    """Name of the method of a point: ``gpu-only`` of ``gpu-only:int8``."""
    return name.partition(":")[0]


@dataclass(frozen=True, eq=False)
class _Best:
    """The best points of a method."""

    name: str
    label: str
    row: IntArray
    """[groups + domains]"""
    objectives: IntArray
    breaks: tuple[str, ...]
    """Constraints that it does not keep."""


@lru_cache(maxsize=2)
def baseline_points(space: DesignSpace) -> tuple[BaselinePoint, ...]:
    """Return the best point of each method that applies, or its whole front.

    The best comes first: a point that keeps all constraints, then by :func:`compared_objective`,
    then by the other objectives. If groups choose among number formats, each method is there once
    in each of them, as the methods choose units alone.
    """
    return _points(space, BASELINES)


@lru_cache(maxsize=2)
def one_unit_points(space: DesignSpace) -> tuple[BaselinePoint, ...]:
    """Return the front of one unit per network at free clocks, empty if it takes too long."""
    return _points(space, (OneUnit,))


def _points(space: DesignSpace, methods: tuple[type[Baseline], ...]) -> tuple[BaselinePoint, ...]:
    found = _best_of_all(space, methods)
    if not found:
        return ()
    rows = np.stack([best.row for best in found])
    objectives = np.stack([best.objectives for best in found])
    jobs = os.cpu_count() or 1
    members = make_members(space.problem, rows, objectives, jobs=jobs, keep_names=True)
    of_row = {member.design.row.tobytes(): member for member in members}
    return tuple(
        BaselinePoint(best.name, best.label, best.breaks, member=of_row[best.row.tobytes()])
        for best in found
    )


def baseline_rows(space: DesignSpace) -> IntArray:
    """Return [points, width]: the methods' points, for an initial population."""
    rows = [best.row for best in _best_of_all(space, BASELINES)]
    return np.array(rows, dtype=np.int64).reshape(-1, space.width)


@lru_cache(maxsize=4)
def _best_of_all(space: DesignSpace, methods: tuple[type[Baseline], ...]) -> tuple[_Best, ...]:
    """Return the best rows of all methods, cached: the first population and the front need them."""
    problem = space.problem
    evaluate = make_outcomes(problem)
    constraints = constraints_of(problem)
    found = []
    for name, label, has_front, blocks in _proposals(space, methods):
        best = [_best(block, evaluate, has_front, problem) for block in blocks]
        if not best:
            continue
        rows = np.concatenate(best)
        if len(best) > 1:
            rows = _best(rows, evaluate, has_front, problem)
        outcomes = evaluate(rows)
        for row, objectives, values in zip(
            rows, outcomes.objectives, outcomes.constraint_values, strict=True
        ):
            breaks = tuple(
                constraint.name
                for constraint, value in zip(constraints, values, strict=True)
                if value > constraint.limit
            )
            found.append(_Best(name, label, row, objectives, breaks))
    return tuple(found)


def _best(rows: IntArray, evaluate: OutcomeFunction, has_front: bool, problem: Problem) -> IntArray:
    """Return the best row, or of a method with a front all non-dominated ones within the limits."""
    outcomes = evaluate(rows)
    column = compared_objective(problem)
    # The last key of lexsort is the first to count.
    others = np.delete(outcomes.objectives, column, axis=1)
    keys = (*others.T[::-1], outcomes.objectives[:, column], ~outcomes.feasible)
    order = np.lexsort(keys)
    if not has_front or not outcomes.feasible[order[0]]:
        return rows[order[:1]]
    feasible = order[outcomes.feasible[order]]
    return rows[feasible[non_dominated(outcomes.objectives[feasible])]]


def _proposals(
    space: DesignSpace, methods: tuple[type[Baseline], ...]
) -> Iterator[tuple[str, str, bool, Iterable[IntArray]]]:
    """Yield name, label, whether it has a front, and rows of all methods, in each number format."""
    views = [in_one_format(space.problem, name) for name in formats_of(space.problem)]
    spaces = [DesignSpace(view.problem) for view in views]
    for method in methods:
        if not views:
            engine = method(space)
            yield method.name, engine.title(), method.has_front, _asked(engine)
        for view, own in zip(views, spaces, strict=True):
            engine = method(own)
            blocks = (rows for block in _asked(engine) if len(rows := view.rows(block)))
            name, label = f"{method.name}:{view.number_format}", engine.title()
            yield name, f"{label} ({view.number_format})", method.has_front, blocks


def _asked(engine: Baseline) -> Iterator[IntArray]:
    """Yield the rows that an engine proposes until it has ended."""
    while len(rows := engine.ask()):
        yield rows

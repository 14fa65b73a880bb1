"""Units that are alike in all that counts, such as two cores of one accelerator."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import permutations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.results.problem.parts import ProblemUnit
from paretosoc.results.problem.problem import Problem


def interchangeable_before(problem: Problem) -> tuple[int, ...]:
    """Return, for each unit, the last one before it with which it is interchangeable, or -1 if
    there is none.

    Interchangeable units can change places in a design point without a change of any objective.
    Their costs, clocks, contention and limits are equal, the same groups may be on them, and
    transitions and hand-overs take as long. The order of units decides nothing in a simulation
    (docs/concepts/model.md).
    """
    before = []
    for v, unit in enumerate(problem.units):
        # All number formats of the two units change places.
        alike = [
            u
            for u, other in enumerate(problem.units[:v])
            if other.number_format == unit.number_format
            and other.unit_name != unit.unit_name
            and _are_interchangeable(problem, _entries(problem, u), _entries(problem, v))
        ]
        before.append(alike[-1] if alike else -1)
    return tuple(before)


def in_order_of_use(problem: Problem, mapping: IntArray) -> IntArray:
    """Return mappings [n, groups] with interchangeable units renamed in the order of their first
    groups.

    No objective changes. Two mappings that differ in such names only become equal.
    """
    renamed = mapping
    for entries in _alike(problem):
        used = (mapping[:, None, None, :] == entries[:, :, None]).any(axis=2)
        first_use = np.where(used.any(axis=2), used.argmax(axis=2), mapping.shape[1])
        place = first_use.argsort(axis=1, kind="stable").argsort(axis=1)
        renamed = _renamed(problem, renamed, entries, entries[place])
    return renamed


def nearest_names(problem: Problem, mapping: IntArray, base: IntArray) -> IntArray:
    """Return a mapping [groups] with interchangeable units renamed so that most groups are on the
    same units as in ``base`` [groups]."""
    nearest = mapping
    for entries in _alike(problem):
        ways = [entries[list(places)] for places in permutations(range(len(entries)))]
        found = _renamed(problem, np.tile(nearest, (len(ways), 1)), entries, np.stack(ways))
        nearest = found[(found == base).sum(axis=1).argmax()]
    return nearest


def _alike(problem: Problem) -> list[IntArray]:
    """Return sets of interchangeable units: [units, number formats], the entries of each unit."""
    before = interchangeable_before(problem)
    sets = []
    for u, first in enumerate(problem.unit_of):
        units = [u]
        while units[-1] in before:
            units.append(before.index(units[-1]))
        if first == u and before[u] < 0 and len(units) > 1:
            sets.append(np.array([_entries(problem, v) for v in units], dtype=np.int64))
    return sets


def _renamed(problem: Problem, mapping: IntArray, old: IntArray, new: IntArray) -> IntArray:
    """Return mappings [n, groups] with new entries [n, units, number formats] for old ones."""
    names = np.tile(np.arange(len(problem.units)), (len(mapping), 1))
    names[:, old] = new
    return np.take_along_axis(names, mapping, axis=1)


def _entries(problem: Problem, u: int) -> list[int]:
    """Return the entries of the unit that ``u`` is an entry of."""
    return [v for v, first in enumerate(problem.unit_of) if first == problem.unit_of[u]]


def _are_interchangeable(problem: Problem, ours: list[int], theirs: list[int]) -> bool:
    if len(ours) != len(theirs):
        return False
    names = [field.name for field in fields(ProblemUnit) if field.name not in ("name", "unit")]
    swapped = np.arange(len(problem.units))
    for u, v in zip(ours, theirs, strict=True):
        a, b = problem.units[u], problem.units[v]
        if not all(are_equal(getattr(a, name), getattr(b, name)) for name in names):
            return False
        if not np.array_equal(problem.allowed[:, u], problem.allowed[:, v]):
            return False
        swapped[[u, v]] = v, u
    return all(
        np.array_equal(table, table[:, swapped][:, :, swapped])
        for table in (problem.transition_ps, problem.handovers_ps)
    )


def are_equal(a: object, b: object) -> bool:
    """Return whether two arrays, or dataclasses of arrays, are equal."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if is_dataclass(a) and type(a) is type(b):
        return all(are_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return a == b

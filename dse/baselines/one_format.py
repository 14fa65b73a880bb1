"""A problem as it is in one number format, for methods that choose units and no formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.results.problem.parts import ProblemUnit
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class OneFormat:
    """The problem with one entry per unit, and the translation of its rows to the whole problem.

    A group that cannot run in ``number_format`` on a unit runs there in the first other format in
    which it can, as engines fall back to a wider one. If such a unit loads whole networks, this
    problem has each group there in that format, and the whole problem all in the used one.
    """

    problem: Problem
    number_format: str
    entries: IntArray
    """[groups, units]: the entry of the whole problem that a group has on a unit."""
    in_format: IntArray
    """Entries of the whole problem in ``number_format``."""

    def rows(self, rows: IntArray) -> IntArray:
        """Return rows of :attr:`problem` [n, width] as rows of the whole problem.

        Rows without a group in the format are left out.
        """
        groups = len(self.entries)
        result = rows.copy()
        result[:, :groups] = self.entries[np.arange(groups), rows[:, :groups]]
        kept: IntArray = result[np.isin(result[:, :groups], self.in_format).any(axis=1)]
        return kept


def formats_of(problem: Problem) -> tuple[str, ...]:
    """Return the number formats that may be chosen, in the order of the units, none without a
    choice."""
    names = (unit.number_format for unit in problem.units)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def in_one_format(problem: Problem, number_format: str) -> OneFormat:
    """Return the problem in one of its :func:`formats_of`."""
    groups = np.arange(problem.group_count)
    units, columns = [], []
    for first in dict.fromkeys(problem.unit_of):
        own = [e for e, unit in enumerate(problem.unit_of) if unit == first]
        # Sorting is stable: the others keep their order.
        own.sort(key=lambda e: problem.units[e].number_format != number_format)
        choice = problem.allowed[:, own].argmax(axis=1)
        units.append(_unit(problem, first, own, choice))
        columns.append(np.array(own)[choice])
    entries: IntArray = np.stack(columns, axis=1).astype(np.int64)
    names = [unit.number_format for unit in problem.units]
    return OneFormat(
        problem=replace(
            problem,
            units=tuple(units),
            allowed=problem.allowed[groups[:, None], entries],
            transition_ps=_between(problem.transition_ps, problem.edges, entries),
            handover_ps=(
                None
                if problem.handover_ps is None
                else _between(problem.handover_ps, problem.handovers, entries)
            ),
        ),
        number_format=number_format,
        entries=entries,
        in_format=np.flatnonzero([name == number_format for name in names]),
    )


def _unit(problem: Problem, first: int, own: Sequence[int], choice: IntArray) -> ProblemUnit:
    """Return a unit whose tables have the row of the chosen entry for every group."""
    entries = [problem.units[e] for e in own]

    def picked(tables: Sequence[IntArray]) -> IntArray:
        rows: IntArray = np.stack(tables)[choice, np.arange(problem.group_count)]
        return rows

    def known(tables: Sequence[IntArray | None]) -> IntArray | None:
        given = [table for table in tables if table is not None]
        return picked(given) if len(given) == len(tables) else None

    unit, has_steps = problem.units[first], any(entry.step_ps is not None for entry in entries)
    return replace(
        unit,
        name=unit.unit_name,
        unit=None,
        number_format=None,
        time_ps=picked([entry.time_ps for entry in entries]),
        demand_kbps=picked([entry.demand_kbps for entry in entries]),
        dynamic_mw=picked([entry.dynamic_mw for entry in entries]),
        step_ps=picked([entry.steps_ps for entry in entries]) if has_steps else None,
        loss_ppm=known([entry.loss_ppm for entry in entries]),
        weight_bytes=known([entry.weight_bytes for entry in entries]),
    )


def _between(table: IntArray, pairs: Sequence[tuple[int, int]], entries: IntArray) -> IntArray:
    """Return [pairs, units, units] of a table [pairs, entries, entries]."""
    sources = entries[[source for source, _ in pairs]][:, :, None]
    targets = entries[[target for _, target in pairs]][:, None, :]
    between: IntArray = table[np.arange(len(pairs))[:, None, None], sources, targets]
    return between

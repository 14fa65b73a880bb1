"""One unit per network at free clocks: the front that needs no mapping inside networks; and one
number format for everything."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.base import Baseline, at_fastest_clocks, whole_networks
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.front.mapping_gain import ONE_UNIT, ONE_UNIT_LABEL
from paretosoc.results.problem.execution import FreeRunning, Pipeline, Rates
from paretosoc.results.problem.interchangeable import interchangeable_before
from paretosoc.results.problem.parts import ProblemUnit
from paretosoc.results.problem.problem import Problem

MAX_EXECUTIONS = 40_000_000
"""Executions of groups in all simulations: about two seconds of one core."""
MAX_MAPPINGS = 20_000
"""Mappings that are written down: about half a second of one core."""
_FRAMES = {Rates: 4, Pipeline: 50, FreeRunning: 2_000}
"""About how many frames a simulation takes, if not one."""


class OneUnit(Baseline):
    """Whole networks on units in every way, at all clocks and priorities that may be chosen.

    It proposes all of them, a mapping at a time, so that its front is exact. It proposes none if
    there are more than ``MAX_MAPPINGS`` or if simulating them takes more than ``MAX_EXECUTIONS``.
    Groups that a unit cannot run fall back to the GPU, as in TensorRT. Clocks that nothing depends
    on are at their lowest power.
    """

    name = ONE_UNIT
    label = ONE_UNIT_LABEL
    has_front = True

    def __init__(self, space: DesignSpace) -> None:
        super().__init__(space)
        self._blocks = self._every_block()

    def ask(self) -> IntArray:
        """Return the next mapping at all clocks, none after the last."""
        return next(self._blocks, self._nothing())

    def rows(self) -> IntArray:
        """Return [n, width]: all rows."""
        return np.concatenate((self._nothing(), *self._every_block()))

    def _every_block(self) -> Iterator[IntArray]:
        space, problem = self._space, self._space.problem
        mappings = list(itertools.islice(self._mappings(), MAX_MAPPINGS + 1))
        if len(mappings) > MAX_MAPPINGS:
            return
        starts = at_fastest_clocks(space, np.unique(np.stack(mappings), axis=0))
        axes = [
            self._axes(start, used)
            for start, used in zip(starts, space.domains_used(starts), strict=True)
        ]
        frame = sum(network.repeats * len(network.groups) for network in problem.networks)
        frame *= _FRAMES.get(type(problem.execution), 1)
        if frame * sum(math.prod(map(len, choice)) for choice in axes) > MAX_EXECUTIONS:
            return
        for start, choice in zip(starts, axes, strict=True):
            grid = np.meshgrid(*choice, indexing="ij")
            rows = np.repeat(start[None], grid[0].size, axis=0)
            rows[:, space.groups :] = np.stack([axis.reshape(-1) for axis in grid], axis=1)
            rows = space.repair(np.random.default_rng(0), rows)
            # Rows with too many transitions have been repaired to another mapping.
            same = (rows[:, : space.groups] == start[: space.groups]).all(axis=1)
            if same.any():
                yield rows[same]

    def _axes(self, start: IntArray, used: IntArray) -> list[IntArray]:
        """Return the points of each setting that make a difference, with the fastest of others."""
        space = self._space
        memory = space.problem.memory_domain
        return [
            points
            if used[d] or d == memory or d >= len(space.problem.domains)
            else start[space.groups + d : space.groups + d + 1]
            for d, points in enumerate(space.points)
        ]

    def _mappings(self) -> Iterator[IntArray]:
        """Yield every mapping, [groups]. Of alike units the first ones are used."""
        space = self._space
        before = interchangeable_before(space.problem)
        units = range(len(space.problem.units))
        for choice in itertools.product(units, repeat=len(space.size)):
            if all(before[unit] < 0 or before[unit] in choice[:n] for n, unit in enumerate(choice)):
                yield whole_networks(space, list(choice))


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
        return result[np.isin(result[:, :groups], self.in_format).any(axis=1)]


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
        return np.stack(tables)[choice, np.arange(problem.group_count)]

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
    return table[np.arange(len(pairs))[:, None, None], sources, targets]

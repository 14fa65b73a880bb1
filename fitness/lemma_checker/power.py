"""The least power and energy of all design points with a lemma's choices, in Python integers.

The idle power P' is that of what is on for sure: the board; the static power of the domains that
may not be off, or that a named group needs; the idle power of the units whose own domain is one of
these. Other domains may turn out to be on, which only adds.

The dynamic energy E' of a frame adds up dynamic power times the time from start to end. What has
ended or runs in the common past has the same times in every design point; what runs then ends no
earlier than its work left allows. What has not started takes its stand-alone time at least.

Every figure is the smallest over the named operating points, and over the allowed units where a
group's is not named. Each is taken alone, although the design points choose one operating point per
domain for all of them: so the sums are lower bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from common.arrays import IntArray
from fitness.lemma_checker.costs import Points
from fitness.lemma_checker.simulate import Instance, State
from results.front.certificate import NOT_NAMED
from results.problem.arithmetic import WORK_PER_PS
from results.problem.problem import Problem


@dataclass(frozen=True)
class LeastPower:
    """What no design point with a lemma's choices draws less than."""

    idle_mw: int
    dynamic_fj: int
    is_complete: bool
    """The timeline was simulated to its end: its makespan is that of every design point."""


@dataclass(frozen=True)
class _LeastTables:
    """Smallest figures over one choice of operating point sets."""

    dynamic_mw: tuple[tuple[int, ...], ...]
    """[units][groups]"""
    alone_fj: tuple[tuple[int, ...], ...]
    """[units + 1][groups]: dynamic energy alone; the last row, which the index ``NOT_NAMED`` leads
    to, is over all allowed units."""
    step_fj: tuple[tuple[int, ...], ...]
    """[units + 1][groups]: by how much that grows at least from repeat to repeat."""
    idle_mw: tuple[int, ...]
    """[units]"""
    static_mw: tuple[int, ...]
    """[domains]"""


class LemmaPower:
    """Bounds of power and energy of lemmas of one problem."""

    def __init__(self, problem: Problem, instances: Sequence[Instance]) -> None:
        self._problem = problem
        self._instances = instances
        self._allowed = [np.flatnonzero(row).tolist() for row in problem.allowed]
        self._tables: dict[tuple[Points, ...], _LeastTables] = {}
        self._never_off = {d for d, domain in enumerate(problem.domains) if not domain.may_be_off}

    def least(self, state: State, units: Sequence[int], points: tuple[Points, ...]) -> LeastPower:
        """The least over all that resumes from ``state`` with these choices.

        Args:
            state: where the lemma's timeline stops, or is over.
            units: [groups]: a unit, or ``NOT_NAMED``.
            points: [domains]: operating points that are named and allowed; none of them empty.
        """
        tables = self._over(points)
        return LeastPower(
            idle_mw=self._idle_mw(units, tables),
            dynamic_fj=self._dynamic_fj(state, units, tables),
            is_complete=None not in state.end_ps,
        )

    def _idle_mw(self, units: Sequence[int], tables: _LeastTables) -> int:
        on = set(self._never_off)
        for unit in {unit for unit in units if unit != NOT_NAMED}:
            on.update(self._problem.units[unit].clocks)
        static = sum(tables.static_mw[d] for d in on)
        idle = sum(
            least
            for unit, least in zip(self._problem.units, tables.idle_mw, strict=True)
            if unit.clocks[0] in on
        )
        return self._problem.board_mw + static + idle

    def _dynamic_fj(self, state: State, units: Sequence[int], tables: _LeastTables) -> int:
        left = {job.instance: -(-job.work_left // WORK_PER_PS) for job in state.running.values()}
        energy = 0
        for i, instance in enumerate(self._instances):
            unit = units[instance.group]
            start, end = state.start_ps[i], state.end_ps[i]
            if start is None:
                energy += tables.alone_fj[unit][instance.group]
                energy += instance.repeat * tables.step_fj[unit][instance.group]
                continue
            if end is None:
                end = state.now_ps + left[i]
            energy += tables.dynamic_mw[unit][instance.group] * (end - start)
        return energy

    def _over(self, points: tuple[Points, ...]) -> _LeastTables:
        tables = self._tables.get(points)
        if tables is None:
            tables = self._tables[points] = self._make_tables(points)
        return tables

    def _make_tables(self, points: tuple[Points, ...]) -> _LeastTables:
        dynamic, alone, growth, idle = [], [], [], []
        for unit in self._problem.units:
            own = tuple(points[clock] for clock in unit.clocks)
            power = over_points(unit.dynamic_mw, own)
            energy = power * over_points(unit.time_ps, own)
            dynamic.append(tuple(power.min(axis=1).tolist()))
            alone.append(tuple(energy.min(axis=1).tolist()))
            steps = power * over_points(unit.steps_ps, own)
            growth.append(tuple(steps.min(axis=1).tolist()))
            idle.append(int(over_points(unit.idle_mw[None], own).min()))
        for tables in (alone, growth):
            anywhere = [
                min(tables[unit][group] for unit in allowed)
                for group, allowed in enumerate(self._allowed)
            ]
            tables.append(tuple(anywhere))
        static = tuple(
            min(int(domain.static_mw[point]) for point in chosen)
            for domain, chosen in zip(self._problem.domains, points, strict=True)
        )
        return _LeastTables(tuple(dynamic), tuple(alone), tuple(growth), tuple(idle), static)


def over_points(table: IntArray, points: Sequence[Points]) -> np.ndarray:
    """[first axis of ``table``, choices of points] of Python integers, which cannot overflow."""
    rows = len(table)
    chosen = table[np.ix_(range(rows), *points)].reshape(rows, -1)
    return chosen.astype(object)


def power_must_break(
    problem: Problem, least: LeastPower, makespan_ps: int, optimum_ps: int | None
) -> bool:
    """Whether every design point must break the power cap or the energy budget, or is not better.

    With T the makespan, P the idle power and E the dynamic energy of a design point:

    * cap, *frame*: P T + E > cap T is broken where E > (cap - P) T. In a complete timeline T is
      known. Else, a point that is better than the certified makespan T* has T < T*; so it breaks
      the cap where E' >= (cap - P') T* and E' > 0.
    * cap, *periodic*: where E' > (cap - P') period.
    * budget: where P' times the period, or the bound of the makespan, + E' > budget.

    Args:
        problem: whose execution model is *frame* or *periodic*.
        least: P' and E'.
        makespan_ps: the lemma's bound of the makespan.
        optimum_ps: T*; None where something else is certified.
    """
    idle, energy = least.idle_mw, least.dynamic_fj
    period = problem.execution.period_ps
    time = makespan_ps if period is None else period
    cap, budget = problem.power_cap_mw, problem.energy_budget_fj
    if cap is not None:
        if period is not None or least.is_complete:
            if energy > (cap - idle) * time:
                return True
        elif optimum_ps is not None and energy > 0 and energy >= (cap - idle) * optimum_ps:
            return True
    return budget is not None and idle * time + energy > budget

"""A problem whose costs are off, and one with the operating points of a few members only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.units import PPM
from paretosoc.dse.problem.int64_bounds import check_magnitudes
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.parts import ContentionTable, ProblemDomain, ProblemUnit
from paretosoc.results.problem.problem import Problem


def with_cost_errors(problem: Problem, factors_ppm: IntArray) -> Problem:
    """Return the problem with all times multiplied, and demands divided, by factors.

    Args:
        problem: without errors.
        factors_ppm: [groups, units], above 0, millionths.

    Exact: times t * f / 10^6 and demands d * 10^6 / f are rounded half up. A time is at least 1.
    """
    return replace(
        problem,
        units=tuple(_with_errors(unit, factors_ppm[:, u]) for u, unit in enumerate(problem.units)),
    )


def _with_errors(unit: ProblemUnit, factors: IntArray) -> ProblemUnit:
    f = factors.reshape(-1, *(1 for _ in unit.clocks))

    def times_f(table: IntArray) -> IntArray:
        # Quotient and remainder apart, for t * f does not fit in 64 bits.
        whole, rest = np.divmod(table, PPM)
        product: IntArray = whole * f + (rest * f + PPM // 2) // PPM
        return product

    time = np.maximum(times_f(unit.time_ps), 1)
    whole, rest = np.divmod(unit.demand_kbps, f)
    return replace(
        unit,
        time_ps=np.where(unit.time_ps < 0, -1, time),
        demand_kbps=whole * PPM + (2 * rest * PPM + f) // (2 * f),
        step_ps=None if unit.step_ps is None else times_f(unit.step_ps),
    )


def check_errors(problem: Problem, percent: int) -> None:
    """Accepts errors with which all sums and products stay within int64.

    Raises:
        ResultError: if they would not.
    """
    shape = (problem.group_count, len(problem.units))
    for sign in (1, -1):
        factor = PPM + sign * percent * PPM // 100
        extreme = with_cost_errors(problem, np.full(shape, factor, dtype=np.int64))
        try:
            check_magnitudes(extreme)
        except ResultError as error:
            raise ResultError(f"with errors of {percent} %: {error}") from None


def at_clocks_of(problem: Problem, rows: IntArray) -> tuple[Problem, IntArray]:
    """Return the problem with only those operating points that ``rows`` use, and the rows in it.

    It gives the same results for these rows, from tables a hundred times smaller.
    """
    groups = problem.group_count
    kept = [np.unique(rows[:, groups + d]) for d in range(len(problem.domains))]
    fewer = rows.copy()
    for d, points in enumerate(kept):
        fewer[:, groups + d] = np.searchsorted(points, rows[:, groups + d])
    memory = None if problem.memory_domain is None else kept[problem.memory_domain]
    return (
        replace(
            problem,
            domains=tuple(
                _fewer_points(domain, points)
                for domain, points in zip(problem.domains, kept, strict=True)
            ),
            units=tuple(_at_points(unit, kept, memory) for unit in problem.units),
        ),
        fewer,
    )


def _fewer_points(domain: ProblemDomain, points: IntArray) -> ProblemDomain:
    return replace(
        domain,
        frequencies_khz=tuple(domain.frequencies_khz[point] for point in points),
        voltages_mv=tuple(domain.voltages_mv[point] for point in points),
        static_mw=domain.static_mw[points],
        allowed=np.ones(len(points), dtype=np.bool_),
    )


def _at_points(unit: ProblemUnit, kept: list[IntArray], memory: IntArray | None) -> ProblemUnit:
    def cut(table: IntArray, first: int) -> IntArray:
        for axis, clock in enumerate(unit.clocks):
            table = np.take(table, kept[clock], axis=first + axis)
        return table

    contention = unit.contention
    if contention is not None and memory is not None:
        contention = ContentionTable(
            **{name: column[memory] for name, column in vars(contention).items()}
        )
    return replace(
        unit,
        time_ps=cut(unit.time_ps, 1),
        demand_kbps=cut(unit.demand_kbps, 1),
        dynamic_mw=cut(unit.dynamic_mw, 1),
        idle_mw=cut(unit.idle_mw, 0),
        step_ps=None if unit.step_ps is None else cut(unit.step_ps, 1),
        contention=contention,
    )

"""Problems whose costs are drawn from their errors.

A draw multiplies the stand-alone times of the groups on each unit by one factor per group and unit,
at all operating points alike. Traffic in bytes stays, so demands are divided by it, up to the
memory's peak. Powers above idle have a factor per unit, powers that are drawn whatever runs have
one together. The logarithm of a time's factor is the sum of three errors: of the unit, of the
network there, and of the group. The last one shares the time of the network anew among its groups,
whose sum it leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PPM
from paretosoc.dse.problem.int64_bounds import check_magnitudes
from paretosoc.results.costs.cost_origins import TAIL, CostError, CostOrigins
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.parts import ContentionTable, ProblemDomain, ProblemUnit
from paretosoc.results.problem.problem import Problem

MOST = 8
"""Factor beyond which no draw goes, either way."""


@dataclass(frozen=True, eq=False)
class Factors:
    """One draw, in millionths."""

    times: IntArray
    """[groups, units]: of stand-alone times."""
    powers: IntArray
    """[units]: of powers above idle."""
    idle: int
    """Factor of powers that are drawn whatever runs."""


@dataclass(frozen=True, eq=False)
class CostErrors:
    """Standard errors of all costs of a problem: scales of Student's t with ``TAIL`` degrees of
    freedom, of logarithms."""

    problem: Problem
    unit: FloatArray
    """[groups, units]"""
    network: FloatArray
    """[groups, units]"""
    group: FloatArray
    """[groups, units]"""
    power: FloatArray
    """[units]"""
    idle: float

    @cached_property
    def alike(self) -> IntArray:
        """Return the first unit with the same times, [units]: cores of a kind have their errors in
        common."""
        units = self.problem.units
        return np.array(
            [
                next(v for v, other in enumerate(units) if _have_same_times(unit, other))
                for unit in units
            ],
            dtype=np.int64,
        )

    @cached_property
    def weights(self) -> FloatArray:
        """Return the share of each group in the time of its network on a unit, at the fastest
        clocks, 0 if it cannot run there, [groups, units]."""
        fastest = [
            unit.time_ps.reshape(len(unit.time_ps), -1)[:, -1] for unit in self.problem.units
        ]
        times = np.maximum(np.stack(fastest, axis=1), 0) * self.problem.repeats[:, None]
        shares = np.zeros(times.shape)
        for network in self.problem.networks:
            groups = slice(network.groups.start, network.groups.stop)
            shares[groups] = times[groups] / np.maximum(times[groups].sum(axis=0), 1)
        return shares

    def draws(self, count: int, seed: int) -> Iterator[Factors]:
        """Yield draws. The first ones do not depend on how many follow."""
        for index in range(count):
            yield self._draw(np.random.default_rng([seed, index]))

    def _draw(self, rng: np.random.Generator) -> Factors:
        problem, alike = self.problem, self.alike
        units = len(problem.units)

        def errors(rows: int) -> FloatArray:
            return rng.standard_t(TAIL, (rows, units))[:, alike]

        network_of = np.array(problem.network_of)
        common = self.unit * errors(1) + self.network * errors(len(problem.networks))[network_of]
        shared = np.exp(_bounded(self.group * errors(problem.group_count)))
        for network in problem.networks:
            groups = slice(network.groups.start, network.groups.stop)
            total = (self.weights[groups] * shared[groups]).sum(axis=0)
            shared[groups] /= np.where(total > 0, total, 1)
        logs = _bounded(common + np.log(shared))
        powers, idle = self.power * errors(1)[0], self.idle * rng.standard_t(TAIL)
        return Factors(_ppm(logs), _ppm(powers), int(_ppm(np.array(idle))))


def stated_errors(problem: Problem, origins: CostOrigins) -> CostErrors:
    """Return the errors that a problem's costs are stated with."""
    rows = [
        [origin.error for origin in group.by_unit]
        for network in origins.networks
        for group in network.groups
    ]

    def table(name: str) -> FloatArray:
        return np.array([[getattr(error, name) / 1000 for error in row] for row in rows])

    # If some groups have measured powers and others not, the unit takes the larger error.
    power = table("power").max(axis=0, initial=0.0)
    idle = origins.idle_error / 1000
    return CostErrors(problem, table("unit"), table("network"), table("group"), power, idle)


def same_errors(problem: Problem, error: CostError, idle: float = 0.0) -> CostErrors:
    """Return errors that are the same for all groups on all units."""
    shape = problem.group_count, len(problem.units)
    unit, network, group = (
        np.full(shape, part / 1000) for part in (error.unit, error.network, error.group)
    )
    return CostErrors(problem, unit, network, group, np.full(shape[1], error.power / 1000), idle)


def _have_same_times(unit: ProblemUnit, other: ProblemUnit) -> bool:
    return np.array_equal(unit.time_ps, other.time_ps)


def _bounded(logs: FloatArray) -> FloatArray:
    return np.clip(logs, -np.log(MOST), np.log(MOST))


def _ppm(logs: FloatArray) -> IntArray:
    factors: IntArray = np.rint(PPM * np.exp(_bounded(logs))).astype(np.int64)
    return factors


def with_factors(problem: Problem, factors: Factors) -> Problem:
    """Return the problem with all costs multiplied by factors.

    Exact: times t * f / 10^6, demands d * 10^6 / f and powers p * f / 10^6 are rounded half up. A
    time is at least 1, and a demand at most the memory's peak.
    """
    idle = factors.idle
    return replace(
        problem,
        board_mw=int(_times(np.array(problem.board_mw), idle)),
        domains=tuple(
            replace(domain, static_mw=_times(domain.static_mw, idle)) for domain in problem.domains
        ),
        units=tuple(
            _with_factors(
                unit, problem.memory_domain, factors.times[:, u], int(factors.powers[u]), idle
            )
            for u, unit in enumerate(problem.units)
        ),
    )


def _with_factors(
    unit: ProblemUnit, memory: int | None, times: IntArray, power: int, idle: int
) -> ProblemUnit:
    f: IntArray = times.reshape(-1, *(1 for _ in unit.clocks))
    time = np.maximum(_times(unit.time_ps, f), 1)
    whole, rest = np.divmod(unit.demand_kbps, f)
    demand = whole * PPM + (2 * rest * PPM + f) // (2 * f)
    if unit.contention is not None and memory is not None:
        # However fast a unit is, it draws no more than the memory has at its clock.
        shape = [1, *(-1 if clock == memory else 1 for clock in unit.clocks)]
        peak = unit.contention.peak_kbps.reshape(shape)
        demand = np.minimum(demand, np.maximum(unit.demand_kbps, peak))
    return replace(
        unit,
        time_ps=np.where(unit.time_ps < 0, -1, time),
        demand_kbps=demand,
        dynamic_mw=_times(unit.dynamic_mw, power),
        idle_mw=_times(unit.idle_mw, idle),
        step_ps=None if unit.step_ps is None else _times(unit.step_ps, f),
    )


def _times(table: IntArray, factor: IntArray | int) -> IntArray:
    # Quotient and remainder apart, for t * f does not fit in 64 bits.
    by: IntArray = np.asarray(factor, dtype=np.int64)
    whole, rest = np.divmod(table, PPM)
    product: IntArray = whole * by + (rest * by + PPM // 2) // PPM
    return product


def check_draws(problem: Problem, draws: Iterable[Factors]) -> None:
    """Accept draws with which all sums and products of a problem stay within int64.

    Raises:
        ResultError: if they would not.
    """
    least = most = power = PPM
    for factors in draws:
        least, most = min(least, int(factors.times.min())), max(most, int(factors.times.max()))
        power = max(power, int(factors.powers.max()), factors.idle)
    shape = problem.group_count, len(problem.units)
    for times in (least, most):
        extreme = Factors(
            np.full(shape, times, dtype=np.int64), np.full(shape[1], power, dtype=np.int64), power
        )
        try:
            check_magnitudes(with_factors(problem, extreme))
        except ResultError as error:
            raise ResultError(f"with times off by a factor of {times / PPM:.2g}: {error}") from None


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

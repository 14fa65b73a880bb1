"""Problems whose costs are drawn from their errors.

A draw multiplies the stand-alone times of the groups on each unit by one factor per group and unit,
times one per network, unit and operating point. Traffic in bytes stays, so demands are divided by
them, up to the memory's peak. What units do to each other is off, too: demands have one more factor
per unit, and the overheads of units that several networks share have one together. Powers above
idle have a factor per unit, powers that are drawn whatever runs have one together. The logarithm of
a time's factor is the sum of four errors: of the unit, of the network there, of the group, and of
the exponent of each clock. The third one shares the time of the network anew among its groups,
whose sum it leaves. The last one is 0 at the clocks that the time was measured at, or at the
fastest.

Measurements condition the draws (:mod:`dse.tools.analysis.posterior`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PPM, TAIL
from paretosoc.dse.problem.int64_bounds import check_magnitudes
from paretosoc.results.costs.cost_origins import CostError, CostMeasurement, CostOrigins
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.parts import MAX_SHARING_PERMILLE, ContentionTable, ProblemUnit
from paretosoc.results.problem.problem import Problem

MOST = 8
"""Factor beyond which no draw goes, either way."""
_LESS = (4, 2)
"""Such factors for problems whose sums would leave int64."""
_PROPOSALS, _MANY = 4, 8000
"""Draws before measurements for each draw after them, and draws that are not made more."""


@dataclass(frozen=True, eq=False)
class Factors:
    """One draw, in millionths."""

    times: IntArray
    """[groups, units]: of stand-alone times."""
    powers: IntArray
    """[units]: of powers above idle."""
    idle: int
    """Factor of powers that are drawn whatever runs."""
    demands: IntArray
    """[units]: of demands, besides those of times."""
    sharing: int
    """Factor of the overheads of sharing."""
    exponents: FloatArray
    """[groups, units, domains]: of the slowdowns of the clocks."""
    known_khz: IntArray
    """[groups, units, domains]: clocks without slowdown."""
    most: int = MOST

    def of_times(self, problem: Problem, u: int) -> IntArray:
        """Return the factors of the times of a unit, [groups, *operating points of its clocks]."""
        unit = problem.units[u]
        clocks = unit.clocks
        found: IntArray = self.times[:, u].reshape(-1, *(1 for _ in clocks))
        if not self.exponents[:, u].any():
            return found
        logs = np.zeros((len(self.times), *(1 for _ in clocks)))
        for axis, d in enumerate(clocks):
            khz = np.array(problem.domains[d].frequencies_khz)
            slower = np.log(self.known_khz[:, u, d, None] / khz)
            each = self.exponents[:, u, d, None] * slower
            logs = logs + np.expand_dims(each, [1 + k for k in range(len(clocks)) if k != axis])
        return np.rint(
            np.clip(found * np.exp(bounded(logs)), PPM / self.most, PPM * self.most)
        ).astype(np.int64)


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
    clock: FloatArray
    """[groups, units]: of the exponents of all clocks of the unit."""
    known_khz: IntArray
    """[groups, units, domains]: clocks at which these errors are 0."""
    power: FloatArray
    """[units]"""
    idle: float
    demand: float = 0.0
    sharing: float = 0.0
    measured: tuple[CostMeasurement, ...] = ()
    """Measurements that the draws agree with."""
    most: int = MOST
    """Factor beyond which no draw goes."""

    @cached_property
    def alike(self) -> IntArray:
        """Return the first unit with the same times, [units]: cores of a kind have their errors in
        common."""
        units = self.problem.units
        return np.array(
            [
                next(v for v, one in enumerate(units) if np.array_equal(unit.time_ps, one.time_ps))
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

    @cached_property
    def rows(self) -> ErrorRows:
        """Return where each error is in :meth:`latent`."""
        problem, networks = self.problem, len(self.problem.networks)
        groups = 1 + networks
        clocks = groups + problem.group_count
        power = clocks + networks * len(problem.domains)
        spans = slice(1, groups), slice(groups, clocks), slice(clocks, power)
        return ErrorRows(0, *spans, *range(power, power + 5))

    def draws(self, count: int, seed: int) -> Iterator[Factors]:
        """Yield draws. Without measurements the first ones do not depend on how many follow."""
        if self.measured:
            yield from map(self.factors, self.latent(count, seed))
        else:
            for index in range(count):
                yield self.factors(self._draw(seed, index)[0])

    def latent(self, count: int, seed: int) -> FloatArray:
        """Return draws of all errors, in their scales, [draws, rows, units]."""
        proposals = max(count, min(_PROPOSALS * count, _MANY)) if self.measured else count
        drawn = [self._draw(seed, index) for index in range(proposals)]
        errors, variances = (np.stack(each) for each in zip(*drawn, strict=True))
        if not self.measured:
            return errors
        # Imported here, for it needs this module.
        from paretosoc.dse.tools.analysis.posterior import conditioned

        return conditioned(self, errors, variances, count, seed)

    def _draw(self, seed: int, index: int) -> tuple[FloatArray, FloatArray]:
        """Return independent draws of Student's t, as normal ones of random variances, and these
        variances, [rows, units]."""
        alone, both = self.rows.demand, self.rows.count - self.rows.demand
        # Errors of co-runs have a generator of their own, which leaves the numbers of the others.
        parts = [(np.random.default_rng([seed, index]), alone)]
        parts.append((np.random.default_rng([seed, index, 1]), both))
        found = []
        for rng, rows in parts:
            shape = rows, len(self.alike)
            variances = TAIL / 2 / rng.standard_gamma(TAIL / 2, shape)
            found.append((variances, np.sqrt(variances) * rng.standard_normal(shape)))
        variances, errors = (
            np.concatenate(kind)[:, self.alike] for kind in zip(*found, strict=True)
        )
        return errors, variances

    def factors(self, latent: FloatArray) -> Factors:
        """Return the factors of one draw of the errors, [rows, units]."""
        problem, rows = self.problem, self.rows
        network_of = np.array(problem.network_of)
        common = self.unit * latent[rows.unit] + self.network * latent[rows.networks][network_of]
        shared = np.exp(bounded(self.group * latent[rows.groups]))
        for network in problem.networks:
            groups = slice(network.groups.start, network.groups.stop)
            total = (self.weights[groups] * shared[groups]).sum(axis=0)
            shared[groups] /= np.where(total > 0, total, 1)
        clocks = latent[rows.clocks].reshape(len(problem.networks), len(problem.domains), -1)
        return Factors(
            times=self._ppm(common + np.log(shared)),
            powers=self._ppm(self.power * latent[rows.power]),
            idle=int(self._ppm(self.idle * latent[rows.idle, :1])[0]),
            demands=self._ppm(self.demand * latent[rows.demand]),
            sharing=int(self._ppm(self.sharing * latent[rows.sharing, :1])[0]),
            exponents=self.clock[:, :, None] * clocks.transpose(0, 2, 1)[network_of],
            known_khz=self.known_khz,
            most=self.most,
        )

    def _ppm(self, logs: FloatArray) -> IntArray:
        factors: IntArray = np.rint(PPM * np.exp(bounded(logs, self.most))).astype(np.int64)
        return factors


@dataclass(frozen=True)
class ErrorRows:
    """The rows of errors: one of the unit, one of each network, of each group, and of each network
    and clock domain (domain by domain for each network), one of powers above idle, one of idle
    powers, one of demands, and one of overheads of sharing. Of those of idle powers and of sharing
    only the first column counts."""

    unit: int
    networks: slice
    groups: slice
    clocks: slice
    power: int
    idle: int
    demand: int
    sharing: int
    count: int


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
    return CostErrors(
        problem,
        table("unit"),
        table("network"),
        table("group"),
        table("clock"),
        np.array([[error.known_khz(problem.domains) for error in row] for row in rows]),
        power,
        idle=origins.idle_error / 1000,
        demand=origins.demand_error / 1000,
        sharing=origins.sharing_error / 1000,
        measured=origins.measured,
    )


def same_errors(problem: Problem, error: CostError, idle: float = 0.0) -> CostErrors:
    """Return errors that are the same for all groups on all units."""
    shape = problem.group_count, len(problem.units)
    return CostErrors(
        problem,
        unit=np.full(shape, error.unit / 1000),
        network=np.full(shape, error.network / 1000),
        group=np.full(shape, error.group / 1000),
        clock=np.full(shape, error.clock / 1000),
        known_khz=np.broadcast_to(error.known_khz(problem.domains), (*shape, len(problem.domains))),
        power=np.full(shape[1], error.power / 1000),
        idle=idle,
    )


def bounded(logs: FloatArray, most: int = MOST) -> FloatArray:
    """Return logarithms of factors that are not beyond ``most``."""
    return np.clip(logs, -np.log(most), np.log(most))


def with_factors(problem: Problem, factors: Factors) -> Problem:
    """Return the problem with all costs multiplied by factors.

    Exact: times t * f / 10^6, demands (d * g / 10^6) * 10^6 / f, powers p * f / 10^6 and overheads
    are rounded half up, each step. A time is at least 1, a demand at most the memory's peak, and an
    overhead at most the largest that a problem may have.
    """
    idle = factors.idle
    return replace(
        problem,
        board_mw=int(_times(np.array(problem.board_mw), idle)),
        domains=tuple(
            replace(domain, static_mw=_times(domain.static_mw, idle)) for domain in problem.domains
        ),
        units=tuple(
            _with_factors(unit, problem.memory_domain, factors.of_times(problem, u), factors, u)
            for u, unit in enumerate(problem.units)
        ),
    )


def _with_factors(
    unit: ProblemUnit, memory: int | None, f: IntArray, factors: Factors, u: int
) -> ProblemUnit:
    """Return a unit, the u-th, with its costs multiplied. ``f``: the factors of its times."""
    time = np.maximum(_times(unit.time_ps, f), 1)
    whole, rest = np.divmod(_times(unit.demand_kbps, factors.demands[u]), f)
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
        dynamic_mw=_times(unit.dynamic_mw, factors.powers[u]),
        idle_mw=_times(unit.idle_mw, factors.idle),
        sharing_permille=min(
            int(_times(np.array(unit.sharing_permille), factors.sharing)), MAX_SHARING_PERMILLE
        ),
        step_ps=None if unit.step_ps is None else _times(unit.step_ps, f),
    )


def _times(table: IntArray, factor: IntArray | int) -> IntArray:
    # Quotient and remainder apart, for t * f does not fit in 64 bits.
    by: IntArray = np.asarray(factor, dtype=np.int64)
    whole, rest = np.divmod(table, PPM)
    return whole * by + (rest * by + PPM // 2) // PPM


def same_factors(problem: Problem, factor: int) -> Factors:
    """Return a draw in which all factors are the same, in millionths."""
    shape = problem.group_count, len(problem.units)
    return Factors(
        times=np.full(shape, factor, dtype=np.int64),
        powers=np.full(shape[1], factor, dtype=np.int64),
        idle=factor,
        demands=np.full(shape[1], factor, dtype=np.int64),
        sharing=factor,
        exponents=np.zeros((*shape, len(problem.domains))),
        known_khz=np.ones((*shape, len(problem.domains)), dtype=np.int64),
    )


def check_draws(problem: Problem, draws: Iterable[Factors]) -> None:
    """Accept draws with which all sums and products of a problem stay within int64.

    Raises:
        ResultError: if they would not.
    """
    same = same_factors(problem, PPM)
    least, most, power = same.times.copy(), same.times.copy(), PPM
    demands, sharing = same.demands, same.sharing
    for factors in draws:
        for u in range(len(problem.units)):
            times = factors.of_times(problem, u).reshape(len(least), -1)
            least[:, u] = np.minimum(least[:, u], times.min(axis=1))
            most[:, u] = np.maximum(most[:, u], times.max(axis=1))
        power = max(power, int(factors.powers.max()), factors.idle)
        demands = np.maximum(demands, factors.demands)
        sharing = max(sharing, factors.sharing)
    powers = np.full_like(same.powers, power)
    largest = replace(same, powers=powers, idle=power, demands=demands, sharing=sharing)
    for extreme in (least, most):
        try:
            check_magnitudes(with_factors(problem, replace(largest, times=extreme)))
        except ResultError as error:
            off = f"{extreme.min() / PPM:.2g} to {extreme.max() / PPM:.2g}"
            raise ResultError(f"with times off by a factor of {off}: {error}") from None


def fitting(problem: Problem, errors: CostErrors, draws: int, seed: int) -> CostErrors:
    """Return errors whose draws a problem can be simulated with: if sums and products would leave
    int64, none goes beyond a smaller factor than :data:`MOST`.

    Raises:
        ResultError: if they would leave it still.
    """
    with suppress(ResultError):
        # Most problems have room for whatever may be drawn.
        ends = (PPM // errors.most, PPM * errors.most)
        check_draws(problem, (same_factors(problem, factor) for factor in ends))
        return errors
    for bound in (errors.most, *_LESS[:-1]):
        fewer = replace(errors, most=bound)
        with suppress(ResultError):
            check_draws(problem, fewer.draws(draws, seed))
            return fewer
    fewest = replace(errors, most=_LESS[-1])
    check_draws(problem, fewest.draws(draws, seed))
    return fewest


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
    domains = tuple(
        replace(
            domain,
            frequencies_khz=tuple(domain.frequencies_khz[point] for point in points),
            voltages_mv=tuple(domain.voltages_mv[point] for point in points),
            static_mw=domain.static_mw[points],
            allowed=np.ones(len(points), dtype=np.bool_),
        )
        for domain, points in zip(problem.domains, kept, strict=True)
    )
    units = tuple(_at_points(unit, kept, memory) for unit in problem.units)
    return replace(problem, domains=domains, units=units), fewer


def _at_points(unit: ProblemUnit, kept: list[IntArray], memory: IntArray | None) -> ProblemUnit:
    def cut(table: IntArray, first: int) -> IntArray:
        for axis, clock in enumerate(unit.clocks):
            table = np.take(table, kept[clock], axis=first + axis)
        return table

    contention = unit.contention
    if contention is not None and memory is not None:
        contention = ContentionTable(
            **{name: column[memory] for name, column in contention.columns.items()}
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

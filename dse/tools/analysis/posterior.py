"""Draws of the errors of costs that agree with measurements.

A draw of Student's t is a normal one of random variance. Given the variances, measured logarithms
of times are close to linear in the errors, so a draw before the measurements is moved to one after
them by normal conditioning (Matheron's rule), in a few steps of Gauss and Newton for the shares of
groups, which are not linear. Each draw counts by how likely the measurements are with its
variances. Units that are not alike have independent errors, and are conditioned one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.tools.analysis.cost_draws import CostErrors, bounded
from paretosoc.fitness.contention import lost_rate
from paretosoc.fitness.costs.standard_errors import MEASURED_IDLE, MEASURED_POWER, REPEATED
from paretosoc.results.costs.costs_file import MeasuredAt, measured_at
from paretosoc.results.problem.arithmetic import WORK_PER_PS

TIME_NOISE, POWER_NOISE, IDLE_NOISE = (
    permille / 1000 for permille in (REPEATED, MEASURED_POWER, MEASURED_IDLE)
)
"""Standard errors of measured logarithms, normal."""
BESIDE_NOISE = 0.09
"""That of a time beside another network over the one alone: times of published co-runs are off by 6
% in the median with their overhead fitted, which is 0.67 of it."""
_STEPS = 4
_CHUNK = 1000
"""Draws that are conditioned at once."""
Observe = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Errors [draws, rows] to logarithms [draws, measurements], and their derivatives [draws,
measurements, rows]."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """Consecutive groups of a network alone on a unit at some clocks, and how its figures depend on
    the errors."""

    errors: CostErrors
    at: MeasuredAt

    @property
    def column(self) -> int:
        """Return the column of its errors."""
        return int(self.errors.alike[self.at.unit])

    @property
    def times_ps(self) -> FloatArray:
        """Return the stated times of its groups, [groups], in ps."""
        return self._at_clocks(self.errors.problem.units[self.at.unit].time_ps)

    def _at_clocks(self, table: IntArray) -> FloatArray:
        unit = self.errors.problem.units[self.at.unit]
        points = tuple(self.at.points[d] for d in unit.clocks)
        groups = slice(self.at.groups.start, self.at.groups.stop)
        return table[(groups, *points)].astype(np.float64)

    @property
    def time_ps(self) -> float:
        """Return the stated time."""
        return float(self.times_ps.sum())

    @property
    def dynamic_mw(self) -> float:
        """Return the stated mean power above idle."""
        unit = self.errors.problem.units[self.at.unit]
        return float(np.average(self._at_clocks(unit.dynamic_mw), weights=self.times_ps))

    @property
    def idle_mw(self) -> float:
        """Return the stated power of the board at these clocks while nothing runs."""
        problem, points = self.errors.problem, self.at.points
        power = float(problem.board_mw)
        for domain, point in zip(problem.domains, points, strict=True):
            power += 0 if point is None else int(domain.static_mw[point])
        for unit in problem.units:
            at = [points[d] for d in unit.clocks]
            if at[0] is not None:
                power += int(unit.idle_mw[tuple(0 if point is None else point for point in at)])
        return power

    def log_slowdown(self, demands: FloatArray) -> FloatArray:
        """Return the logarithm of its time beside the other stretch over the one alone, [draws].

        Args:
            demands: errors of demands, [draws, units].
        """
        errors, beside = self.errors, self.at.beside
        assert beside is not None, "only pairs"
        problem, other = errors.problem, Stretch(errors, beside)
        unit, memory = problem.units[self.at.unit], problem.memory_domain
        point = None if memory is None else self.at.points[memory]
        if unit.contention is None or point is None:
            return np.zeros(len(demands))
        factors = np.exp(bounded(errors.demand * demands))
        own = factors[:, [self.column]] * self._at_clocks(unit.demand_kbps)
        kbps = other._at_clocks(problem.units[beside.unit].demand_kbps)
        others = factors[:, [other.column]] * np.average(kbps, weights=other.times_ps)
        lose = np.vectorize(partial(lost_rate, unit.contention, point), otypes=[np.float64])
        lost = lose(*(np.rint(kbps).astype(np.int64).astype(object) for kbps in (own, others)))
        logs: FloatArray = np.log((1 / (1 - lost / WORK_PER_PS)) @ self.times_ps / self.time_ps)
        return logs

    def log_time(self, latent: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the logarithm of its time over the stated one, [draws], and the derivatives,
        [draws, rows].

        Args:
            latent: errors in the column, [draws, rows].
        """
        errors, rows, u = self.errors, self.errors.rows, self.at.unit
        problem, own = errors.problem, self.at.groups
        n = problem.network_of[own.start]
        network = problem.networks[n].groups
        whole, part = slice(network.start, network.stop), slice(own.start, own.stop)
        inside = slice(own.start - network.start, own.stop - network.start)
        scale, weights = errors.group[whole, u], errors.weights[whole, u]
        group_rows = latent[:, rows.groups][:, whole]
        of_group = bounded(scale * group_rows)
        shared = np.exp(of_group)
        total = weights * shared
        total /= total.sum(axis=1, keepdims=True)
        domains = len(problem.domains)
        clock_rows = rows.clocks.start + n * domains + np.arange(domains)
        slower = np.zeros((own.stop - own.start, domains))
        for d in problem.units[u].clocks:
            point = self.at.points[d]
            assert point is not None, "measured_at"
            khz = problem.domains[d].frequencies_khz[point]
            slower[:, d] = np.log(errors.known_khz[part, u, d] / khz)
        exponent = latent[:, clock_rows] @ slower.T
        unit, of_network, clock = (
            table[part, u] for table in (errors.unit, errors.network, errors.clock)
        )
        logs = (
            unit * latent[:, [rows.unit]]
            + of_network * latent[:, [1 + n]]
            + clock * exponent
            + of_group[:, inside]
        )
        times = np.exp(logs) * (self.times_ps / self.time_ps)
        found = np.log(times.sum(axis=1)) - np.log((weights * shared).sum(axis=1))
        times /= times.sum(axis=1, keepdims=True)
        derivatives = np.zeros(latent.shape)
        derivatives[:, rows.unit] = times @ unit
        derivatives[:, 1 + n] = times @ of_network
        derivatives[:, clock_rows] = (times * clock) @ slower
        of_groups = -scale * total
        of_groups[:, inside] += scale[inside] * times
        derivatives[:, rows.groups.start + network.start : rows.groups.start + network.stop] = (
            of_groups
        )
        return found, derivatives


def conditioned(
    errors: CostErrors, latent: FloatArray, variances: FloatArray, count: int, seed: int
) -> FloatArray:
    """Return ``count`` draws that agree with the measurements, [count, rows, units].

    Args:
        latent: draws before them, at least as many, [draws, rows, units].
    """
    rows = errors.rows
    moved = latent[:count].copy()
    stretches = [
        Stretch(errors, measured_at(errors.problem, measurement, "$.measured"))
        for measurement in errors.measured
    ]
    pairs = list(zip(stretches, errors.measured, strict=True))

    def move(u: int, own: slice, observe: Observe, values: Sequence[float], noise: float) -> None:
        """Condition some rows of a column by their measurements."""
        if len(values):
            rng = np.random.default_rng([seed, u, own.start, len(latent)])
            found, log_weights = condition(
                latent[:, own, u], variances[:, own, u], observe, np.array(values), noise, rng
            )
            moved[:, own, u] = found[_resampled(log_weights, count)]

    for u in sorted({stretch.column for stretch in stretches}):
        here = [(stretch, m) for stretch, m in pairs if stretch.column == u]
        times = [np.log(m.time_ps / stretch.time_ps) for stretch, m in here]
        move(u, slice(0, rows.power), _times_of([s for s, _ in here]), times, TIME_NOISE)
        powers = [
            np.log((m.power_mw - m.idle_mw) / stretch.dynamic_mw)
            for stretch, m in here
            if m.power_mw is not None and m.idle_mw is not None and stretch.dynamic_mw > 0
        ]
        scale = _scaled(float(errors.power[u]), len(powers))
        move(u, _row(rows.power), scale, powers, POWER_NOISE)
    together = [(stretch, m.beside, m.time_ps) for stretch, m in pairs if m.beside is not None]
    if together and errors.demand:
        # Slowdowns are flat in places, so that draws are chosen, not moved.
        demands = latent[:, rows.demand]
        far = np.stack(
            [
                stretch.log_slowdown(demands) - np.log(beside.time_ps / alone)
                for stretch, beside, alone in together
            ]
        )
        log_weights = -0.5 * np.square(far / BESIDE_NOISE).sum(axis=0)
        moved[:, rows.demand] = demands[_resampled(log_weights, count)]
    idles = [
        np.log(m.idle_mw / stretch.idle_mw)
        for stretch, m in pairs
        if m.idle_mw is not None and stretch.idle_mw > 0
    ]
    move(0, _row(rows.idle), _scaled(errors.idle, len(idles)), idles, IDLE_NOISE)
    return moved[:, :, errors.alike]


def _row(row: int) -> slice:
    return slice(row, row + 1)


def _times_of(stretches: Sequence[Stretch]) -> Observe:
    def observe(latent: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = [stretch.log_time(latent) for stretch in stretches]
        return np.stack([h for h, _ in found], 1), np.stack([d for _, d in found], 1)

    return observe


def _scaled(scale: float, count: int) -> Observe:
    """Return what observes one error times its scale, as often as it was measured."""

    def observe(latent: FloatArray) -> tuple[FloatArray, FloatArray]:
        slopes = np.full((len(latent), count, 1), scale)
        return slopes[..., 0] * latent, slopes

    return observe


def condition(
    latent: FloatArray,
    variances: FloatArray,
    observe: Observe,
    measured: FloatArray,
    noise: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return normal draws moved so that they agree with measurements, [draws, rows], and the
    logarithms of the weights that they have by their variances, [draws].

    Args:
        latent: independent normal draws, [draws, rows].
        observe: gives 0 for errors of 0.
        measured: [measurements].
        noise: standard error of each measurement.
    """
    moved, weights = np.empty_like(latent), np.empty(len(latent))
    count = len(measured)
    noises = noise * rng.standard_normal((len(latent), count))
    _, at_zero = observe(np.zeros((1, latent.shape[1])))
    for start in range(0, len(latent), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        first, variance = latent[chunk], variances[chunk]

        def spread(slopes: FloatArray, variance: FloatArray = variance) -> FloatArray:
            covariance: FloatArray = (slopes * variance[:, None]) @ slopes.swapaxes(1, 2)
            return covariance + noise**2 * np.eye(count)

        known = spread(np.repeat(at_zero, len(first), axis=0))
        far = np.linalg.solve(known, np.broadcast_to(measured, (len(first), count))[..., None])
        weights[chunk] = -0.5 * (np.linalg.slogdet(known)[1] + far[..., 0] @ measured)
        found = first
        for _ in range(_STEPS):
            values, slopes = observe(found)
            along = np.einsum("kml,kl->km", slopes, found - first)
            rest = measured + noises[chunk] - values + along
            gain = np.linalg.solve(spread(slopes), rest[..., None])[..., 0]
            found = first + variance * np.einsum("kml,km->kl", slopes, gain)
        moved[chunk] = found
    return moved, weights


def _resampled(log_weights: FloatArray, count: int) -> IntArray:
    """Return positions, each as often as its weight says."""
    weights = np.exp(log_weights - log_weights.max())
    steps = np.cumsum(weights) / weights.sum()
    places = np.searchsorted(steps, (np.arange(count) + 0.5) / count)
    return np.minimum(places, len(weights) - 1)

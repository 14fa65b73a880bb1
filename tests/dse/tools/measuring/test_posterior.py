"""Draws after measurements: against normal conditioning, numerical integration, and the factors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import paretosoc as dse
from paretosoc.common.units import PPM, TAIL
from paretosoc.dse.tools.analysis.cost_draws import same_errors, with_factors
from paretosoc.dse.tools.analysis.posterior import POWER_NOISE, TIME_NOISE, condition
from paretosoc.dse.tools.measuring.experiments import pairs_of
from paretosoc.fitness.contention import lost_rate
from paretosoc.results.costs.cost_origins import CostError, StretchRun
from tests.dse.tools.analysis.random_fronts import two_networks
from tests.support.measured_fronts import measurement_of, stretch_of, true_time_ps

ERROR = CostError(unit=200, network=150, group=200, power=200, clock=70)


def test_normal_draws_are_conditioned_as_by_the_joint_density():
    """The density of errors given measurements, maximised and curved by its precision matrix,
    which nothing in the program forms."""
    rng = np.random.default_rng(0)
    variances = np.array([1.0, 2.0, 0.5])
    slopes = np.array([[0.3, 0.2, 0.0], [0.3, 0.0, 0.25]])
    measured, noise, draws = np.array([0.4, 0.1]), 0.05, 40_000
    latent = np.sqrt(variances) * rng.standard_normal((draws, 3))
    moved, weights = condition(
        latent,
        np.tile(variances, (draws, 1)),
        lambda x: (x @ slopes.T, np.broadcast_to(slopes, (len(x), 2, 3))),
        measured,
        noise,
        rng,
    )
    precision = np.diag(1 / variances) + slopes.T @ slopes / noise**2
    mean = np.linalg.solve(precision, slopes.T @ measured / noise**2)
    assert moved.mean(axis=0) == pytest.approx(mean, abs=0.02)
    assert np.cov(moved.T) == pytest.approx(np.linalg.inv(precision), abs=0.02)
    assert np.ptp(weights) == pytest.approx(0), "all draws have the same variances"


def test_heavy_tails_against_integration():
    """One network measured: sums of two Student's t, integrated on a grid."""
    problem = two_networks()
    errors = same_errors(problem, CostError(unit=200, network=150))
    stated = measurement_of(problem, 0, 0)
    time = round(stretch_of(errors, stated).time_ps * np.exp(0.5))
    posterior = replace(errors, measured=(replace(stated, time_ps=time),))
    latent = posterior.latent(3000, 1)[:, :, 0]
    measured = np.log(time / stretch_of(errors, stated).time_ps)
    grid = np.linspace(-25, 25, 2501)
    unit, network = np.meshgrid(grid, grid, indexing="ij")
    density = stats.t.pdf(unit, TAIL) * stats.t.pdf(network, TAIL)
    density *= stats.norm.pdf(measured - 0.2 * unit - 0.15 * network, scale=TIME_NOISE)
    density /= density.sum()
    of_unit = density.sum(axis=1).cumsum()
    rows = errors.rows
    for share in (0.1, 0.25, 0.5, 0.75, 0.9):
        expected = grid[of_unit.searchsorted(share)]
        assert np.quantile(latent[:, rows.unit], share) == pytest.approx(expected, abs=0.2)
    total = 0.2 * latent[:, rows.unit] + 0.15 * latent[:, 1]
    assert total.mean() == pytest.approx((density * (0.2 * unit + 0.15 * network)).sum(), abs=2e-3)
    # The other network learns from the error that both have in common.
    assert np.median(latent[:, rows.unit]) > 0.5


def test_a_pair_tells_of_the_demands_of_a_draw(pair_folder):
    """A slowdown is that of the drawn demands, and draws after it have it."""
    front = dse.load(pair_folder).numeric
    errors = replace(same_errors(front.problem, CostError()), demand=1.0)
    pair = pairs_of(front, errors, range(len(front.members)))[0]
    stretch, unit = pair.stretch, errors.problem.units[pair.at.unit]
    prior = errors.latent(200, 5)
    shown = stretch.log_slowdown(prior[:, errors.rows.demand])
    truth = int(np.argsort(shown)[-8])
    drawn = with_factors(errors.problem, errors.factors(prior[truth]))
    own, other = (
        drawn.units[one.at.unit]
        .demand_kbps[
            (
                slice(one.at.groups.start, one.at.groups.stop),
                *(one.at.points[d] for d in drawn.units[one.at.unit].clocks),
            )
        ]
        .astype(float)
        for one in pair.parts
    )
    point = pair.at.points[errors.problem.memory_domain]
    others = round(np.average(other, weights=pair.beside.stretch.times_ps))
    lost = [lost_rate(unit.contention, point, int(kbps), others) / 65536 for kbps in own]
    times = stretch.times_ps
    slower = (times / (1 - np.array(lost))).sum() / times.sum()
    assert np.exp(shown[truth]) == pytest.approx(slower, rel=1e-3)
    problem, at = errors.problem, pair.beside.at
    network = problem.networks[pair.beside.network].name
    last = len(at.groups) - 1
    alone = pair.measurement(10**9)
    beside = StretchRun(network, 0, last, problem.units[at.unit].name, round(slower * 10**9))
    posterior = replace(errors, measured=(replace(alone, beside=beside),))
    now = stretch.log_slowdown(posterior.latent(200, 1)[:, errors.rows.demand])
    far = [np.median(np.abs(logs - np.log(slower))) for logs in (shown, now)]
    assert far[1] < 0.6 * far[0]
    assert len(np.unique(now)) > 20


def test_stretches_are_the_factors_of_the_draws():
    """The time of a stretch by its errors is the one by the factors of groups."""
    problem = two_networks()
    # Far from the bound of factors, also in the tails.
    errors = same_errors(problem, CostError(unit=20, network=15, group=20, clock=7))
    groups = len(problem.networks[0].groups)
    rng = np.random.default_rng(3)
    for first, last in ((0, groups - 1), (0, 0), (1, groups - 1)):
        points = [int(rng.integers(len(d.frequencies_khz))) for d in problem.domains]
        for u in range(2):
            stretch = stretch_of(
                errors, measurement_of(problem, 0, u, groups=(first, last), points=points)
            )
            latent = errors.latent(40, 5)
            logs, slopes = stretch.log_time(latent[:, :, u])
            for k in range(0, 40, 7):
                factors = errors.factors(latent[k])
                expected = true_time_ps(problem, factors, stretch.at)
                assert np.exp(logs[k]) * stretch.time_ps == pytest.approx(expected, rel=1e-4)
            step = 1e-6
            for row in rng.integers(0, latent.shape[1], 12):
                moved = latent[:, :, u].copy()
                moved[:, row] += step
                slope = (stretch.log_time(moved)[0] - logs) / step
                assert slope == pytest.approx(slopes[:, row], abs=1e-4)


def test_measured_figures_are_what_draws_show():
    """Times of a network and of a stretch, and powers, that a draw made, come back."""
    problem = two_networks()
    errors = replace(same_errors(problem, ERROR), idle=0.2)
    truth = errors.latent(1, 77)[0]
    factors = errors.factors(truth)
    measured = []
    last = len(problem.networks[0].groups) - 1
    for network, groups, u in ((0, None, 0), (0, (last, last), 0), (1, None, 0), (0, None, 1)):
        blank = measurement_of(problem, network, u, groups=groups)
        stretch = stretch_of(errors, blank)
        idle = stretch.idle_mw * factors.idle / PPM
        dynamic = stretch.dynamic_mw * factors.powers[u] / PPM
        measured.append(
            replace(
                blank,
                time_ps=round(true_time_ps(problem, factors, stretch.at)),
                power_mw=max(2, round(idle + dynamic)),
                idle_mw=max(1, round(idle)),
            )
        )
    posterior = replace(errors, measured=tuple(measured))
    latent = posterior.latent(800, 0)
    for entry in measured:
        stretch = stretch_of(errors, entry)
        logs, _ = stretch.log_time(latent[:, :, stretch.at.unit])
        assert np.median(logs) == pytest.approx(np.log(entry.time_ps / stretch.time_ps), abs=0.02)
        assert logs.std() < 1.3 * TIME_NOISE
    powers = errors.power[0] * latent[:, errors.rows.power, 0]
    assert powers.std() < POWER_NOISE
    assert np.median(powers) == pytest.approx(np.log(factors.powers[0] / PPM), abs=0.05)
    before = errors.latent(800, 0)
    assert latent[:, :, 1].std(axis=0)[errors.rows.power] < before[:, errors.rows.power, 1].std()


def test_what_is_not_measured_keeps_its_draws():
    problem = two_networks()
    errors = same_errors(problem, ERROR)
    blank = measurement_of(problem, 0, 0)
    posterior = replace(
        errors, measured=(replace(blank, time_ps=round(stretch_of(errors, blank).time_ps)),)
    )
    before, after = errors.latent(50, 0), posterior.latent(50, 0)
    assert np.array_equal(before[:, :, 1], after[:, :, 1])
    assert not np.array_equal(before[:, :, 0], after[:, :, 0])
    same = [factors.times for factors in posterior.draws(50, 0)]
    again = [factors.times for factors in posterior.draws(50, 0)]
    assert np.array_equal(same, again)

"""Draws of costs: applied exactly, within the limits, with the errors in common that are stated."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import paretosoc as dse_library
from paretosoc.common.units import PPM
from paretosoc.dse.tools.analysis.confidence import confidence
from paretosoc.dse.tools.analysis.cost_draws import (
    CostErrors,
    at_clocks_of,
    check_draws,
    fitting,
    same_errors,
    same_factors,
    with_factors,
)
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.costs.cost_origins import CostError
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.execution import OneFrame, Periodic, Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from tests.dse.tools.analysis.random_fronts import (
    ERROR,
    front_of,
    problem_and_rows,
    two_networks,
)


def half_up(value):
    return math.floor(value + Fraction(1, 2))


def ones(problem):
    return same_factors(problem, PPM)


def test_factors_are_applied_exactly():
    for seed in range(10):
        rng, problem, _ = problem_and_rows(seed)
        shape = problem.group_count, len(problem.units)
        drawn = rng.integers(100_000, 1_900_000, (shape[0] + 1, shape[1]))
        factors = replace(
            ones(problem),
            times=drawn[1:],
            powers=drawn[0],
            idle=int(rng.integers(100_000, 1_900_000)),
            demands=rng.integers(100_000, 1_900_000, shape[1]),
            sharing=int(rng.integers(100_000, 1_900_000)),
        )
        problem = replace(
            problem,
            units=tuple(replace(unit, sharing_permille=125) for unit in problem.units),
        )
        changed = with_factors(problem, factors)
        idle = Fraction(factors.idle, PPM)
        assert changed.board_mw == half_up(problem.board_mw * idle)
        for before, after in zip(problem.domains, changed.domains, strict=True):
            assert after.static_mw.tolist() == [half_up(mw * idle) for mw in before.static_mw]
        for u, (before, after) in enumerate(zip(problem.units, changed.units, strict=True)):
            for at, time in np.ndenumerate(before.time_ps):
                factor = Fraction(int(factors.times[at[0], u]), PPM)
                expected = -1 if time < 0 else max(1, half_up(int(time) * factor))
                assert after.time_ps[at] == expected
                own = int(before.demand_kbps[at])
                asked = half_up(own * Fraction(int(factors.demands[u]), PPM))
                drawn_demand = half_up(asked / factor)
                if before.contention is not None:
                    point = at[1 + before.clocks.index(problem.memory_domain)]
                    peak = int(before.contention.peak_kbps[point])
                    drawn_demand = min(drawn_demand, max(own, peak))
                assert after.demand_kbps[at] == drawn_demand
                power = int(before.dynamic_mw[at]) * Fraction(int(factors.powers[u]), PPM)
                assert after.dynamic_mw[at] == half_up(power)
            for at, mw in np.ndenumerate(before.idle_mw):
                assert after.idle_mw[at] == half_up(int(mw) * idle)
            assert after.sharing_permille == half_up(125 * Fraction(factors.sharing, PPM))


def test_errors_of_co_runs_change_no_other_draw():
    _, problem, _ = problem_and_rows(1)
    alone = same_errors(problem, CostError(unit=100, network=100, group=100, clock=50), idle=0.1)
    both = replace(alone, demand=0.7, sharing=0.5)
    for one, other in zip(alone.draws(5, 3), both.draws(5, 3), strict=True):
        for name in ("times", "powers", "exponents"):
            assert (getattr(one, name) == getattr(other, name)).all()
        assert one.idle == other.idle
        assert (one.demands == PPM).all()
        assert one.sharing == PPM
        assert (other.demands != PPM).all()
        assert other.sharing != PPM


def test_times_near_the_limit_do_not_overflow():
    _, problem, _ = problem_and_rows(0)
    near = (1 << 47) - 1
    units = tuple(
        replace(unit, time_ps=np.where(unit.time_ps < 0, -1, near)) for unit in problem.units
    )
    problem = replace(problem, units=units)
    factors = replace(ones(problem), times=np.full((problem.group_count, len(units)), 1_200_000))
    changed = with_factors(problem, factors)
    assert changed.units[0].time_ps.max() == half_up(near * Fraction(6, 5))


def test_draws_that_pass_the_limits_are_refused():
    front = front_of(0)
    units = tuple(
        replace(unit, time_ps=np.where(unit.time_ps < 0, -1, (1 << 47) // 2))
        for unit in front.problem.units
    )
    large = replace(front, problem=replace(front.problem, units=units))
    with pytest.raises(ResultError, match="with times off by a factor of"):
        confidence(large, same_errors(large.problem, CostError(unit=1000)), draws=99)


def test_factors_of_draws_are_smaller_if_sums_would_not_fit():
    """Times eight times as long are too large, those four times as long are not."""
    front = front_of(0)
    units = tuple(
        replace(unit, contention=None, time_ps=np.where(unit.time_ps < 0, -1, (1 << 47) // 6))
        for unit in front.problem.units
    )
    large = replace(front, problem=replace(front.problem, units=units))
    errors = same_errors(large.problem, CostError(unit=1000))
    with pytest.raises(ResultError, match="with times off by a factor of"):
        check_draws(large.problem, errors.draws(99, 0))
    fewer = fitting(large.problem, errors, 99, 0)
    assert fewer.most == 4
    assert max(factors.times.max() for factors in fewer.draws(99, 0)) == 4 * PPM
    assert confidence(large, errors, draws=99).draws == 99


@pytest.mark.parametrize(
    "execution", [OneFrame(), Periodic(10**10), Pipeline(1)], ids=lambda model: model.model
)
def test_fewer_clocks_give_the_same(execution):
    objectives = (
        Objective(ObjectiveKind.LATENCY),
        Objective(ObjectiveKind.ENERGY),
        Objective(ObjectiveKind.STRETCH),
    )
    for seed in range(20):
        _, problem, rows = problem_and_rows(seed)
        problem = replace(problem, objectives=objectives, execution=execution)
        fewer, fewer_rows = at_clocks_of(problem, rows)
        whole = make_outcomes(problem)(rows)
        small = make_outcomes(fewer)(fewer_rows)
        assert np.array_equal(whole.objectives, small.objectives)
        assert np.array_equal(whole.constraint_values, small.constraint_values)
        assert all(len(domain.frequencies_khz) <= len(rows) for domain in fewer.domains), (
            "only clocks that are used are left"
        )


def logs_of(problem, error, draws=2000):
    """Return logarithms of the times of groups [draws, groups, units], and of networks, beside
    those without errors."""
    errors = same_errors(problem, error)
    drawn = np.log(np.stack([f.times / PPM for f in errors.draws(draws, 1)]))
    sums = [
        np.log((np.exp(drawn[:, network.groups]) * errors.weights[network.groups]).sum(axis=1))
        for network in problem.networks
    ]
    return drawn, *sums


def scale_of(logs):
    """Return the scale of t by the median of |t|."""
    return np.median(np.abs(logs)) / 0.7649


def correlation(a, b):
    """Return that of signs, which heavy tails do not disturb."""
    return abs(np.mean(np.sign(a) * np.sign(b)))


def test_draws_have_the_stated_errors_in_common():
    problem = two_networks()
    drawn, first, second = logs_of(problem, CostError(unit=40))
    assert scale_of(first[:, 0]) == pytest.approx(0.04, rel=0.07)
    assert np.allclose(first, second, atol=1e-5)
    assert np.allclose(drawn[:, :1], drawn, atol=1e-5)
    assert correlation(first[:, 0], first[:, 1]) < 0.07

    drawn, first, second = logs_of(problem, CostError(network=40))
    assert scale_of(first[:, 0]) == pytest.approx(0.04, rel=0.07)
    assert scale_of(second[:, 1]) == pytest.approx(0.04, rel=0.07)
    assert correlation(first[:, 0], second[:, 0]) < 0.07
    assert correlation(first[:, 0], first[:, 1]) < 0.07
    assert np.allclose(drawn[:, :1], drawn[:, problem.networks[0].groups], atol=1e-5)

    drawn, first, second = logs_of(problem, CostError(group=40))
    assert np.abs([first, second]).max() < 1e-4
    apart = drawn[:, 0, 0] - drawn[:, 1, 0]
    rng = np.random.default_rng(7)
    alone = 0.04 * (rng.standard_t(3, 100_000) - rng.standard_t(3, 100_000))
    assert scale_of(apart) == pytest.approx(scale_of(alone), rel=0.07)

    drawn, first, second = logs_of(problem, CostError(unit=30, network=40))
    alone = 0.03 * rng.standard_t(3, 100_000) + 0.04 * rng.standard_t(3, 100_000)
    for share in (0.05, 0.25, 0.75, 0.95):
        expected = np.quantile(alone, share)
        assert np.quantile(first[:, 1], share) == pytest.approx(expected, rel=0.15)


def test_cores_of_a_kind_are_off_alike():
    _, problem, _ = problem_and_rows(3)
    twin = replace(problem.units[0], name="twin")
    problem = replace(problem, units=(problem.units[0], twin))
    for factors in same_errors(problem, ERROR).draws(5, 0):
        assert np.array_equal(factors.times[:, 0], factors.times[:, 1])
        assert factors.powers[0] == factors.powers[1]


def test_errors_of_a_problem_take_those_of_its_costs(pair_folder):
    front = dse_library.load(pair_folder)
    from paretosoc.dse.tools.analysis.cost_draws import stated_errors

    errors = stated_errors(front.problem, front.costs)
    assert isinstance(errors, CostErrors)
    assert errors.idle == front.costs.idle_error / 1000
    for network, of in zip(front.problem.networks, front.costs.networks, strict=True):
        for g, group in zip(network.groups, of.groups, strict=True):
            for u, origin in enumerate(group.by_unit):
                assert errors.network[g, u] == origin.error.network / 1000


def test_a_measured_time_is_known_at_its_own_clocks_and_less_at_others():
    problem = front_of(1).problem
    u = next(u for u, unit in enumerate(problem.units) if unit.time_ps.shape[1] > 1)
    domain = problem.domains[problem.units[u].clocks[0]]
    slowest = int(domain.frequencies_khz[0])
    error = CostError(clock=100, at_khz=((domain.name, slowest),))
    spreads = np.zeros(problem.units[u].time_ps.shape[1])
    for factors in same_errors(problem, error).draws(20, 0):
        times = factors.of_times(problem, u)[0]
        fastest_of_others = times.reshape(len(spreads), -1)[:, -1]
        spreads += np.abs(fastest_of_others - PPM)
    assert spreads[0] == 0
    assert (np.diff(spreads) > 0).all()

"""Draws of costs, and what they say of a front: against the independent checker, and exactly where
there are no errors."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import paretosoc as dse_library
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_rates,
)
from paretosoc.common.units import PPM, percent_off
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.tools.analysis.confidence import confidence, confidence_in_all
from paretosoc.dse.tools.analysis.cost_draws import (
    CostErrors,
    at_clocks_of,
    check_draws,
    fitting,
    same_errors,
    same_factors,
    with_factors,
)
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.costs.cost_origins import CostError
from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import ChoiceConfidence, Confidence, Odds
from paretosoc.results.problem.execution import OneFrame, Periodic, Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.text.confidence import describe_costs

SHAPE = RandomShape(networks=(1, 2), groups=(1, 4), units=(2, 3), points=(2, 4))
ERROR = CostError(unit=40, network=60, group=80, power=100)


def half_up(value):
    return math.floor(value + Fraction(1, 2))


def problem_and_rows(seed, count=5):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, SHAPE)
    rows = np.stack([random_design(rng, problem).row for _ in range(count)])
    return rng, problem, DesignSpace(problem).canonical(rows)


def front_of(seed, count=30, *, rates=False):
    """Return a front of at least three members."""
    for more in range(50):
        rng = np.random.default_rng([seed, more])
        problem = random_problem(rng, SHAPE)
        kinds = (ObjectiveKind.LATENCY, ObjectiveKind.ENERGY)
        if rates:
            problem = with_rates(rng, problem)
            kinds = (ObjectiveKind.RELATIVE_RESPONSE, ObjectiveKind.POWER)
        problem = replace(problem, objectives=tuple(map(Objective, kinds)))
        rows = np.stack([random_design(rng, problem).row for _ in range(count)])
        rows = rows[make_outcomes(problem)(rows).feasible]
        if len(rows):
            front = seed_front(problem, DesignSpace(problem).canonical(rows), engine="search")
            if len(front.members) > 2:
                return front
    raise AssertionError("a front is found")


def ones(problem):
    return same_factors(problem, PPM, PPM)


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


def two_networks():
    """Return a problem of two networks, the first of several groups, on units of two kinds."""
    for seed in range(100):
        _, problem, _ = problem_and_rows(seed)
        runs = all((unit.time_ps > 0).all() for unit in problem.units[:2])
        if len(problem.networks) == 2 and len(problem.networks[0].groups) > 1 and runs:
            return problem
    raise AssertionError("a problem is found")


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


@pytest.mark.parametrize("rates", [False, True])
def test_against_plain_simulation(rates):
    """Every figure once more: by the independent checker and counting."""
    for seed in range(4):
        front = front_of(seed, rates=rates)
        problem, members = front.problem, front.members
        if not rates:
            problem = replace(problem, execution=Periodic(max(m.makespan_ps for m in members)))
            front = seed_front(problem, np.stack([m.design.row for m in members]), engine="search")
            members = front.members
        errors, draws = same_errors(problem, ERROR, idle=0.2), 12
        found = confidence(front, errors, resolution=0.0, draws=draws, seed=seed)
        assert len(found.choices) == len(members)
        played = [
            [plain_outcome(with_factors(problem, f), member.design) for member in members]
            for f in errors.draws(draws, seed)
        ]
        for place, choice in enumerate(found.choices):
            own = [draw[place] for draw in played]
            kept = [not outcome.broken for outcome in own]
            assert choice.meets_limits == pytest.approx(sum(kept) / draws)
            for k, (name, interval) in enumerate(choice.intervals.items()):
                if rates and not all(kept):
                    continue
                ordered = sorted(outcome.objectives[k] for outcome in own)
                shown = [problem.objectives[k].shown(ordered[i]) for i in (0, 11)]
                assert interval == pytest.approx(sorted(shown)), name
            goal = next(iter(choice.goals))
            regrets, losses, best = [], [], 0
            for draw in played:
                able = [o.objectives[0] for o in draw if not o.broken]
                lost = 1.0 if draw[place].broken else draw[place].objectives[0] / min(able) - 1
                losses.append(min(1.0, lost) if able else 0.0)
                if able and not draw[place].broken:
                    regrets.append(draw[place].objectives[0] / min(able) - 1)
                    first = next(
                        i
                        for i, o in enumerate(draw)
                        if not o.broken and o.objectives[0] == min(able)
                    )
                    best += first == place
            odds = choice.goals[goal]
            assert odds.best == pytest.approx(best / draws)
            assert odds.near_best == pytest.approx(sum(r <= 0 for r in regrets) / draws)
            assert odds.loss == pytest.approx(np.mean(losses), abs=1e-6)
            if regrets:
                assert odds.regret == pytest.approx(np.mean(regrets), abs=1e-6)
            else:
                assert odds.regret is None


def test_no_error_leaves_no_doubt():
    for seed in range(6):
        front = front_of(seed)
        nothing = same_errors(front.problem, CostError())
        for factors in nothing.draws(3, 0):
            assert (factors.times == PPM).all()
            assert (factors.powers == PPM).all()
            assert factors.idle == PPM
        found = confidence(front, nothing, draws=5, resolution=0.0)
        # Two may be equally near to the ideal point.
        assert all(pairs == () for goal, pairs in found.alike.items() if goal != "knee")
        for choice in found.choices:
            member = front.members[choice.member]
            for k, interval in enumerate(choice.intervals.values()):
                value = front.problem.objectives[k].shown(member.objectives[k])
                assert interval == (value, value)
            assert choice.meets_limits == 1
            for odds in choice.goals.values():
                assert odds.best in (0, 1)
                assert odds.best == 0 or odds.regret == 0


def test_a_choice_stands_for_its_members():
    front = front_of(2)
    errors = same_errors(front.problem, ERROR)
    fine = confidence(front, errors, draws=60, resolution=0.0)
    coarse = confidence(front, errors, draws=60, resolution=0.5)
    assert len(coarse.choices) <= len(fine.choices)
    for goal in fine.alike:
        for found in (fine, coarse):
            assert sum(choice.goals[goal].best for choice in found.choices) == pytest.approx(1)
    by_member = {choice.member: choice for choice in fine.choices}
    for choice in coarse.choices:
        assert choice.intervals == by_member[choice.member].intervals
        assert choice.goals["fastest"].regret == by_member[choice.member].goals["fastest"].regret
        assert choice.goals["fastest"].best >= by_member[choice.member].goals["fastest"].best


def test_members_and_choices_from_the_same_draws_are_as_each_alone():
    front = front_of(2)
    errors = same_errors(front.problem, ERROR)
    assert confidence_in_all(front, errors, draws=20, seed=3) == (
        confidence(front, errors, draws=20, seed=3, resolution=0, pairs=False),
        confidence(front, errors, draws=20, seed=3),
    )


def test_more_draws_begin_with_the_same():
    front = front_of(1)
    errors = same_errors(front.problem, ERROR)
    few, many = list(errors.draws(3, 4)), list(errors.draws(6, 4))
    assert all(np.array_equal(a.times, b.times) for a, b in zip(few, many, strict=False))
    assert not np.array_equal(few[0].times, next(errors.draws(1, 5)).times)


def test_goals_that_are_no_objectives():
    front = front_of(4)
    only = replace(front.problem, objectives=(Objective(ObjectiveKind.STRETCH),))
    front = seed_front(only, np.stack([m.design.row for m in front.members]), engine="search")
    errors = same_errors(only, ERROR)
    for goal in ("fastest", "lowest-energy", "lowest energy"):
        found = confidence(front, errors, goal=goal, draws=5)
        assert list(found.choices[0].goals) == [goal.replace(" ", "-")]
    with pytest.raises(ResultError, match="there is no goal 'knee'"):
        confidence(front, errors, goal="knee")


@pytest.mark.parametrize(
    "wrong", [{"draws": 0}, {"draws": 10**6}, {"draws": 2.5}, {"seed": -1}, {"seed": "0"}]
)
def test_arguments_that_are_refused(wrong):
    front = front_of(0)
    with pytest.raises(WorkloadError, match=f"{next(iter(wrong))}.* is required, got"):
        confidence(front, same_errors(front.problem, ERROR), **wrong)


def test_an_empty_front_is_refused():
    front = front_of(0)
    empty = replace(front, members=())
    with pytest.raises(ResultError, match="the front is empty"):
        confidence(empty, same_errors(front.problem, ERROR))


def test_python(pair_folder):
    front = dse_library.load(pair_folder)
    found = front.confidence("fastest", draws=30)
    assert found == front.confidence("fastest", draws=30)
    assert found != front.confidence("fastest", draws=30, seed=1)
    assert [choice.member for choice in found.choices] == [
        choice.member.index for choice in front.choices(found.resolution)
    ]
    assert list(found.choices[0].intervals) == list(front.objectives)
    exact = front.confidence(error=0, draws=2)
    assert all(low == high for c in exact.choices for low, high in c.intervals.values())
    for wrong in ({"error": -0.1}, {"error": 2}, {"error": "much"}, {"error": math.nan}):
        with pytest.raises(WorkloadError, match="error"):
            front.confidence(draws=1, **wrong)
    with pytest.raises(WorkloadError, match="goal"):
        front.confidence(1, draws=1)
    with pytest.raises(WorkloadError, match="resolution"):
        front.confidence(resolution="1", draws=1)
    with pytest.raises(ResultError, match=r"costs\.json is required"):
        replace(front, costs=None).confidence()


def test_advised_is_what_loses_least():
    def choice(member, loss):
        odds = {"fastest": Odds(0.5, 0.5, 0.0, loss)}
        return ChoiceConfidence(member, 1, {}, {}, 0.9, odds)

    choices = (choice(0, 0.2), choice(1, 0.1), choice(2, 0.4))
    assert Confidence(9, 0, 0.01, choices, {"fastest": ()}).advised("fastest").member == 1


def test_it_is_sure_if_it_is_likely_the_best_or_loses_little():
    assert Odds(0.5, 0.95, 0.1, 0.1).is_sure
    assert Odds(0.2, 0.9, 0.0, 0.0099).is_sure
    assert not Odds(0.9, 0.9499, 0.01, 0.01).is_sure


def test_the_report_shows_intervals_and_regrets(pair_folder, open_page):
    front = dse_library.load(pair_folder)
    html, notes = front.page()
    assert not [note for note in notes if "error bars" in note]
    with open_page(html.decode(), hash="#a=0&b=1") as page:
        assert page.locator("#plot .error-bar.a").count() == 2
        assert page.locator("#plot .error-bar.b").count() == 2
        interval = page.locator("article.member.a .figures .interval").first.inner_text()
        low, high = map(float, interval.split(" to "))
        assert low < front[0].latency_ms < high
        heads = page.locator("#table th").all_text_contents()
        assert "regret, fastest, %" in heads
        assert "fastest: take member" in page.locator("#words").inner_text()
    html, _ = replace(front, costs=None).page()
    with open_page(html.decode()) as page:
        assert page.locator(".error-bar").count() == 0
        assert page.locator(".interval").count() == 0


def test_a_fresh_process_draws_the_same(pair_folder):
    text = (
        "import paretosoc as dse; "
        f"print(dse.load({str(pair_folder)!r}).confidence('knee', draws=9, seed=3).choices)"
    )
    fresh = subprocess.run([sys.executable, "-c", text], capture_output=True, check=True, text=True)
    assert fresh.stdout.strip() == str(
        dse_library.load(pair_folder).confidence("knee", draws=9, seed=3).choices
    )


def test_command(dse, capped_folder):
    got = dse("analyze", "confidence", capped_folder, "--draws", "40", "--json")
    assert (got.status, got.err) == (0, "")
    document = json.loads(got.out)
    assert document["draws"] == 40
    choice = document["choices"][0]
    assert set(choice["goals"]) == set(document["alike"])
    assert any("squeezenet" in name for name in choice["limits"])
    table = dse("analyze", "confidence", capped_folder, "--draws", "40", "--goal", "fastest")
    assert table.status == 0
    assert "Times at the fastest clocks are" in table.out
    assert "fastest: take member" in table.out
    assumed = dse("analyze", "confidence", capped_folder, "--draws", "5", "--error", "10")
    assert assumed.status == 0
    assert "Times at" not in assumed.out


@pytest.mark.parametrize(
    "more",
    [
        ("--draws", "0"),
        ("--draws", "9999999"),
        ("--error", "-1"),
        ("--error", "nan"),
        ("--seed", "-1"),
        ("--resolution", "100"),
        ("--goal", "quickest"),
        ("--goal", ""),
    ],
)
def test_command_refuses_in_one_line(dse, pair_folder, more):
    got = dse("analyze", "confidence", pair_folder, *more)
    assert (got.status, got.out, len(got.lines)) == (2, "", 1)


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


def test_words_say_at_which_clocks_a_time_was_measured(pair_folder):
    front = dse_library.load(pair_folder)
    units = [unit for unit in front.problem.units if unit.clocks]
    domain = front.problem.domains[units[0].clocks[0]]
    at = ((domain.name, int(domain.frequencies_khz[0])),)

    def told(error: CostError) -> str:
        networks = tuple(
            replace(
                network,
                groups=tuple(
                    replace(g, by_unit=tuple(replace(x, error=error) for x in g.by_unit))
                    for g in network.groups
                ),
            )
            for network in front.costs.networks
        )
        return describe_costs(front.numeric, replace(front.costs, networks=networks))[0]

    exact, measured = CostError(network=20, clock=70), CostError(20, clock=70, at_khz=at)
    assert f"at {domain.name} {at[0][1] / 1000:g} MHz, half within" not in told(exact)
    assert f"at {domain.name} {at[0][1] / 1000:g} MHz, half within" in told(measured)


def test_words_say_that_co_runs_are_known_less_well(pair_folder):
    """Intervals of pairs are far wider than the errors of times alone."""
    front = dse_library.load(pair_folder)
    lines = describe_costs(front.numeric, front.costs)
    beside = "What networks do to each other is known less well: the bandwidth that they ask for"
    off = percent_off(front.costs.demand_error)
    assert off > 100
    assert any(line.startswith(f"{beside} half within {off} %") for line in lines)
    exact = replace(front.costs, demand_error=0, sharing_error=0)
    assert not any("each other" in line for line in describe_costs(front.numeric, exact))


def test_words_claim_no_error_of_powers_that_nobody_knows(pair_folder):
    """This machine's power is not measured."""
    front = dse_library.load(pair_folder)
    members = tuple(replace(member, energy_fj=0) for member in front.numeric.members)
    (words, *_) = describe_costs(replace(front.numeric, members=members), front.costs)
    assert words.endswith("No power is known.")


def test_idle_power_has_its_own_words_if_other_powers_are_given(tmp_path) -> None:
    (tmp_path / "w.yaml").write_text(
        "tasks: [{name: a, rate_hz: 100, times: [{unit: cpu, ms: 2, power_mw: 1000}]}]"
    )
    front = dse_library.explore(tmp_path / "w.yaml", "jetson-orin-nano-8gb", max_evaluations=20)
    (words, *_) = describe_costs(front.numeric, front.costs)
    assert words.endswith("Powers above idle: half within 4 %, idle power within 17 %.")

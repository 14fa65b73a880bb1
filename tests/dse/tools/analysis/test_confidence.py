"""What draws of costs say of a front: against the independent checker, and exactly if there are no
errors."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import paretosoc as dse_library
from paretosoc.common.units import PPM
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.analysis.confidence import confidence, confidence_in_all
from paretosoc.dse.tools.analysis.cost_draws import (
    same_errors,
    with_factors,
)
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.results.costs.cost_origins import CostError
from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import ChoiceConfidence, Confidence, Odds
from paretosoc.results.problem.execution import Periodic
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from tests.dse.tools.analysis.random_fronts import (
    ERROR,
    front_of,
)


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
    with pytest.raises(ResultError, match="resolution"):
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
    assert "Errors of times at the fastest clocks, " in table.out
    assert "fastest: take member" in table.out
    assumed = dse("analyze", "confidence", capped_folder, "--draws", "5", "--error", "10")
    assert assumed.status == 0
    assert "Errors of times" not in assumed.out


@pytest.mark.parametrize("width", [60, 80])
def test_a_terminal_cuts_no_figure(dse, capped_folder, monkeypatch, width):
    """What does not fit stands in a further table below, with the members again."""
    command = ("analyze", "confidence", capped_folder, "--draws", "20")
    wide = dse(*command).out.partition("fastest: take")[0]
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = dse(*command).out.partition("fastest: take")[0]
    assert set(narrow.replace("─", "").split()) == set(wide.replace("─", "").split())
    assert max(map(len, narrow.splitlines())) <= width


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

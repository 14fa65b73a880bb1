"""The comparison of MapFormer's Section 5: its mixes, sums and words; small parts run for real."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from rich.console import Console

from dse.papers.managers.mapformer.modes import Mode
from examples.mapformer import contenders, figure6, figure7, predictors, published, table3
from examples.mapformer.contenders import MANAGERS, MAPFORMER, OURS, Answer
from examples.mapformer.figure_options import figure_options
from examples.mapformer.mixes import Mix, mixes, problem_of
from results.problem.problem import ObjectiveKind
from sdf.catalogue.catalogue import torchvision_networks


def shown(table) -> str:
    console = Console(width=200, record=True, file=None, quiet=True)
    console.quiet = False
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_mixes_are_the_same_every_time_and_all_different():
    every = [mix for n, w in itertools.product((6, 8, 10), (10, 15, 30)) for mix in mixes(n, w, 10)]
    assert len({mix.networks for mix in every}) == len(every) == 90
    assert mixes(6, 10, 10) == [mix for mix in every if mix.cap_w == 10 and len(mix.networks) == 6]
    assert mixes(6, 10, 3) == mixes(6, 10, 10)[:3]
    pool = set(torchvision_networks())
    assert len(pool) == 80
    assert all(len(set(mix.networks)) == len(mix.networks) <= 10 for mix in every)
    assert set().union(*(mix.networks for mix in every)) <= pool


def test_a_mix_is_free_running_under_its_cap():
    problem = problem_of(Mix(("squeezenet1_1", "alexnet"), 15, 0), {})
    assert problem.free_running
    assert problem.power_cap_mw == 15_000
    kinds = [objective.kind for objective in problem.objectives]
    assert kinds == [ObjectiveKind.THROUGHPUT, ObjectiveKind.POWER, ObjectiveKind.EFFICIENCY]


def test_managers_answer_and_the_timeline_judges():
    problem = problem_of(Mix(("squeezenet1_1", "alexnet"), 15, 0), {})
    answers = {name: contenders.manager(name, problem, 0) for name in ("MOSAIC", "ODMDEF", "GA")}
    for answer in answers.values():
        assert answer.within_cap
        assert 0 < answer.power_w <= 15
        # Efficiency is the sum of throughputs over power.
        expected = 2 * answer.throughput_hz / answer.power_w
        assert answer.efficiency_per_j == pytest.approx(expected, rel=1e-3)
    assert answers["GA"].efficiency_per_j >= answers["ODMDEF"].efficiency_per_j


def made_up(efficiencies: dict[str, float], *, within: bool = True) -> figure7.Answers:
    return {name: Answer(1.0, 5.0, value, within, 0.5) for name, value in efficiencies.items()}


@pytest.fixture
def results() -> figure7.Results:
    """MapFormer twice as efficient as the managers, ours three times, but once only as much."""
    base = dict.fromkeys(MANAGERS, 10.0)
    usual = made_up(base | {MAPFORMER: 20.0, OURS: 30.0})
    tie = made_up(base | {MAPFORMER: 20.0, OURS: 20.0}, within=False)
    mix = Mix(("a", "b"), 10, 0)
    kinds = itertools.product(figure7.SIZES, figure7.CAPS_W)
    cells = {kind: [(mix, usual), (mix, usual)] for kind in kinds}
    cells[8, 15][1] = (mix, tie)
    return cells


def test_figure_7_by_hand(results):
    assert figure7.efficiency(results, OURS)[8, 15] == 25.0
    assert figure7.gain_percent(results, MAPFORMER, "GA", 6) == pytest.approx(100)
    mean_ratio = (5 * 1.5 + 1) / 6
    gain = figure7.gain_percent(results, OURS, MAPFORMER, 8)
    assert gain == pytest.approx(100 * (mean_ratio - 1))
    lines = figure7.summary(results)
    assert f"{OURS} ahead of {MAPFORMER} on 17 of 18 mixes" in lines
    assert f"{OURS} ahead of everybody on 17 of 18; above the cap on 1" in lines
    text = shown(figure7.published_table(results))
    assert "100 (76.4)" in text
    assert "25.00" in shown(figure7.table(results))
    assert len(json.loads(json.dumps(figure7.document(results)))) == 18


def test_a_manager_without_an_answer_counts_as_nothing_and_is_shown(results):
    mix, entry = results[6, 10][0]
    silent = Answer(0.0, 0.0, 0.0, True, 0.5)
    results[6, 10][0] = (mix, entry | {MAPFORMER: silent})
    assert figure7.efficiency(results, MAPFORMER)[6, 10] == 10.0
    assert figure7.gain_percent(results, MAPFORMER, "GA", 6) == pytest.approx(100)
    row = next(line for line in shown(figure7.table(results)).splitlines() if MAPFORMER in line)
    assert row.rstrip(" │").endswith("1")


def test_figures_are_drawn(results, tmp_path):
    figure7.draw(results, tmp_path / "seven.svg")
    answers = {
        (mode, size): [Answer(1.0, 2.0, 3.0, True, 0.1)] for mode in Mode for size in figure6.SIZES
    }
    figure6.draw(answers, tmp_path / "six.svg")
    seven, six = ((tmp_path / name).read_text() for name in ("seven.svg", "six.svg"))
    assert seven.count('<g id="patch_') > 9 * len(figure7.EVERYBODY)
    assert "</svg>" in six


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--mixes", "0"], "a whole number from 1 is required, got '0'"),
        (["--mixes", "-3"], "a whole number from 1 is required, got '-3'"),
        (["--picture", "figure.doc"], "a file that ends in .svg or .png is required"),
        (["--picture", "no/such/folder/figure.svg"], "there is no folder 'no/such/folder'"),
    ],
)
def test_what_a_figure_cannot_be_made_with_is_told_before_it_is_computed(words, told, capsys):
    with pytest.raises(SystemExit):
        figure_options("A figure.", words)
    assert told in capsys.readouterr().err


def test_figure_6_says_how_much_power_the_modes_save():
    watts = {Mode.HIGH_PERFORMANCE: 20.0, Mode.PERFORMANCE_BOOST: 16.0, Mode.STANDARD: 10.0}
    efficiency = {Mode.STANDARD: 4.0}
    results = {
        (mode, size): [Answer(1.0, watts.get(mode, 5.0), efficiency.get(mode, 2.0), True, 0.1)]
        for mode in Mode
        for size in figure6.SIZES
    }
    power, best = figure6.summary(results)
    assert power.endswith("HP 75 % (63.9), PB 69 % (47.8), SM 50 % (42.2)")
    assert best == "Most efficient on average: SM (published: PB)"


def test_scores_by_hand():
    true = np.array([1.0, 2.0, 3.0])
    assert table3.determination(true, true) == 100
    assert table3.determination(np.full(3, 2.0), true) == 0
    assert table3.exact(np.array([1, 2, 3]), np.array([1, 0, 3])) == pytest.approx(200 / 3)


def test_published_figures_are_those_of_the_paper():
    assert published.ACCURACY_PERCENT["MapFormer"] == (89.2, 92.3)
    assert set(published.GAIN_PERCENT) == set(figure7.SIZES)
    assert all(set(row) == set(MANAGERS) for row in published.GAIN_PERCENT.values())


def test_both_predictors_lead_the_tree_search_to_an_answer(monkeypatch, capsys):
    monkeypatch.setattr(predictors, "KINDS", ((2, 15),))
    predictors.main(["--mixes", "1"])
    *_, row, _, counts = capsys.readouterr().out.splitlines()
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[:2] == ["2", "15"]
    assert all(float(cell) > 0 for cell in (*cells[2:4], *cells[5:7]))
    assert counts in (
        "More efficient answers: " + text
        for text in ("1 timeline, 0 learned", "0 timeline, 1 learned", "0 timeline, 0 learned")
    )

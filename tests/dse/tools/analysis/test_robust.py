"""Searches by a measure over draws of the costs, against plain Python and the independent
checker."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

import paretosoc as dse_library
from benchmarks.problems.random_problem import with_rates
from paretosoc.dse.engines.explore import explore_problem
from paretosoc.dse.engines.optimizers import optimizer_named
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.tools.analysis.cost_draws import same_errors, stated_errors, with_factors
from paretosoc.dse.tools.analysis.robust import DRAWS, aggregated, robust_outcomes, robustness
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.results.costs.cost_origins import CostError
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Robust
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.limits import constraints_of
from tests.support.problems.small_spaces import enumerated, small_space

ERROR = CostError(unit=40, network=300, group=80, power=100)
MEASURES = ("mean", "p50", "p90", "p99", "cvar50", "cvar90", "cvar99")


def measure_of(values, measure):
    """The definition, in fractions."""
    rising = sorted(values)
    share = Fraction(int(measure.strip("meancvrp") or 0), 100)
    if measure.startswith("p"):
        return next(v for k, v in enumerate(rising, 1) if k >= ceil(share * len(rising)))
    worst = rising[floor(share * len(rising)) :]
    return INT64_MAX if INT64_MAX in worst else floor(Fraction(sum(worst), len(worst)))


def by_hand(errors, row, draws, seed):
    """Objectives and limited figures [draws] by the independent checker, and whether the nominal
    figures keep all limits."""
    design = errors.problem.design_of(row)
    objectives, limited = [], []
    for factors in errors.draws(draws, seed):
        outcome = plain_outcome(with_factors(errors.problem, factors), design)
        endless = outcome.responses is not None and outcome.window_ps is None
        objectives.append([INT64_MAX if endless else v for v in outcome.objectives])
        limited.append([INT64_MAX if endless else v for v in outcome.limited])
    return objectives, limited, not plain_outcome(errors.problem, design).broken


def measures_of(figures, measure):
    """The measure of each figure over its draws."""
    return [measure_of(column, measure) for column in zip(*figures, strict=True)]


def test_measures_are_what_they_say():
    values = np.array([[5, -7], [1, INT64_MAX], [9, -8], [2, -2]])
    columns = values.T.tolist()
    for measure in MEASURES:
        expected = [measure_of(column, measure) for column in columns]
        assert aggregated(values, measure).tolist() == expected
    assert aggregated(values, "mean").tolist() == [4, INT64_MAX]
    assert aggregated(values, "p75").tolist() == [5, -2]
    near = np.full((40, 1), INT64_MAX - 5)
    assert aggregated(near, "mean").tolist() == [INT64_MAX - 5]


@pytest.mark.parametrize("rates", [False, True])
def test_outcomes_are_those_of_the_checker_in_every_draw(rates):
    feasible = endless = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        problem = small_space(seed).problem
        if rates:
            problem = with_rates(rng, problem)
        space = DesignSpace(problem)
        rows = space.random(rng, 3)
        robust = Robust(MEASURES[seed % len(MEASURES)], 7, seed)
        errors = same_errors(problem, ERROR)
        outcomes = robust_outcomes(errors, robust)(rows)
        limits = [limit.limit for limit in constraints_of(problem)]
        for k, row in enumerate(rows):
            drawn, figures, keeps = by_hand(errors, row, robust.draws, robust.seed)
            objectives = measures_of(drawn, robust.measure)
            limited = measures_of(figures, robust.measure)
            assert outcomes.objectives[k].tolist() == objectives
            keeps &= all(value <= most for value, most in zip(limited, limits, strict=True))
            assert bool(outcomes.feasible[k]) == keeps
            feasible += keeps
            endless += INT64_MAX in objectives
    assert feasible
    assert (endless > 0) == rates


SMALL = {
    "groups": 2,
    "units": ["gpu", "dla0"],
    "fixed": {"emc": "max", "cpu": "max", "gpu": "max"},
    "deadline_ms": 5.6,
}


@pytest.fixture(scope="module")
def problem():
    return dse_library.Problem(["alexnet", "squeezenet"], "jetson-agx-xavier", **SMALL)


@pytest.fixture(scope="module")
def front(problem):
    return dse_library.explore(problem, max_evaluations=200, robust="p90", seed=5)


@pytest.fixture(scope="module")
def folder(front, tmp_path_factory):
    path = tmp_path_factory.mktemp("robust") / "run"
    front.save(path, pictures=False)
    return path


@pytest.fixture(scope="module")
def every_outcome(problem):
    """What the independent checker says of all design points, in the draws of seed 3."""
    errors = stated_errors(problem.numeric, problem.costs)
    rows = enumerated(DesignSpace(problem.numeric))
    return [by_hand(errors, row, DRAWS, 3) for row in rows]


@pytest.mark.parametrize("measure", ["mean", "p90", "cvar90"])
def test_the_front_is_that_of_all_design_points(problem, every_outcome, measure):
    found = dse_library.explore(problem, robust=measure, seed=3, max_evaluations=500)
    assert found.numeric.robust == Robust(measure, DRAWS, 3)
    limits = [limit.limit for limit in constraints_of(problem.numeric)]
    kept = []
    for objectives, figures, keeps in every_outcome:
        limited = measures_of(figures, measure)
        if keeps and all(value <= most for value, most in zip(limited, limits, strict=True)):
            kept.append(tuple(measures_of(objectives, measure)))
    assert 0 < len(kept) < len(every_outcome)
    best = {
        point
        for point in kept
        if not any(
            other != point and all(a <= b for a, b in zip(other, point, strict=True))
            for other in kept
        )
    }
    assert best == {member.robust for member in found.numeric.members}


def document(front):
    return [(m.objectives, m.robust, m.design.units.tolist()) for m in front.numeric.members]


def test_the_seed_decides(problem, front):
    for jobs in (1, 2):
        again = dse_library.explore(problem, max_evaluations=200, robust="p90", seed=5, jobs=jobs)
        assert document(again) == document(front)
    other = dse_library.explore(problem, max_evaluations=200, robust="p90", seed=4)
    assert {m.robust for m in other.numeric.members}.isdisjoint(
        m.robust for m in front.numeric.members
    )


def test_a_safer_choice_loses_less_on_fresh_draws():
    """The GPU is a little faster by its estimate, which may be far off."""
    problem = dse_library.Problem(
        "resnet50",
        "jetson-agx-xavier",
        groups=1,
        units=["gpu", "dla0"],
        fixed={"emc": "max", "cpu": "max", "gpu": "max", "dla": "max"},
        objectives=["latency"],
    )
    numeric = problem.numeric
    gpu, dla = numeric.units
    slower = replace(dla, time_ps=gpu.time_ps[:, -1:, :] * 102 // 100 + 0 * dla.time_ps)
    numeric = replace(numeric, units=(gpu, slower))
    built = replace(problem.built, problem=numeric)
    errors = same_errors(numeric, CostError(network=20))
    errors = replace(errors, unit=np.array([[0.5, 0.02]]))

    def chosen(measured):
        found = explore_problem(
            built,
            platform="jetson-agx-xavier",
            optimizer=optimizer_named("exhaustive"),
            robustness=measured,
        )
        (member,) = found.members
        return int(member.design.units[0])

    choices = [chosen(None), *(chosen(robustness(errors, m, seed=1)) for m in ("mean", "cvar90"))]
    assert choices == [0, 1, 1]
    # [draws, units]
    times = np.array([factors.times[0] * [1.0, 1.02] for factors in errors.draws(2000, 99)])
    regrets = (times - times.min(axis=1, keepdims=True)).mean(axis=0)
    assert regrets[1] < regrets[0] / 2


def test_limits_are_kept_in_as_many_draws_as_asked_for():
    options = {**SMALL, "fixed": {"emc": "max", "cpu": "max"}, "power_cap_w": 12}
    options["deadline_ms"] = None
    problem = dse_library.Problem(["alexnet", "squeezenet"], "jetson-agx-xavier", **options)
    nominal = dse_library.explore(problem, max_evaluations=500)
    robust = dse_library.explore(problem, max_evaluations=500, robust="p90")
    least = [
        min(choice.meets_limits for choice in front.confidence(seed=99, resolution=0).choices)
        for front in (nominal, robust)
    ]
    assert least[0] < 0.7
    assert least[1] > 0.8
    assert {m.objectives for m in robust.numeric.members} != {
        m.objectives for m in nominal.numeric.members
    }


def checks(folder, *, ignore_hashes=True):
    report = dse_library.verify(folder, ignore_hashes=ignore_hashes)
    return {check.name: check for check in report}


def test_verify_measures_again(folder, front):
    assert dse_library.verify(folder).holds
    assert checks(folder, ignore_hashes=False)["measures"].holds
    again = dse_library.load(folder)
    assert again.numeric.robust == front.numeric.robust
    assert document(again) == document(front)


def one_less(content, _):
    content["members"][0]["robust"]["energy_fj"] -= 1


def other_measure(content, _):
    content["robust"]["measure"] = "p91"


def fewer_draws(content, _):
    content["robust"]["draws"] -= 25


def other_seed(content, _):
    content["robust"]["seed"] += 1


def certain_costs(_, costs):
    costs["idle_error"] = 0


def without_members(content, _):
    del content["members"][:-1]


@pytest.mark.parametrize(
    "edit", [one_less, other_measure, fewer_draws, other_seed, certain_costs, without_members]
)
def test_verify_refuses_what_was_changed(folder, tmp_path, edit):
    changed = tmp_path / "run"
    shutil.copytree(folder, changed)
    paths = [changed / name for name in ("front.json", "costs.json")]
    contents = [json.loads(path.read_text("utf-8")) for path in paths]
    edit(*contents)
    for path, content in zip(paths, contents, strict=True):
        path.write_text(json.dumps(content), "utf-8")
    assert checks(changed, ignore_hashes=False)["files"].verdict.value == "fails"
    report = dse_library.verify(changed, ignore_hashes=True)
    assert report.checks[-1].name == "measures"
    assert report.checks[-1].verdict.value == "fails"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda c: c.pop("robust"), "members.0..robust: must be there if the front has"),
        (lambda c: c["members"][0].pop("robust"), "members.0..robust: must be there if the front"),
        (lambda c: c["robust"].update(measure="p100"), "measure"),
        (
            lambda c: c["baselines"][0]["point"].update(robust=c["members"][0]["robust"]),
            "baselines.0..point.robust: must not be there",
        ),
    ],
)
def test_a_front_without_its_measure_is_refused(folder, tmp_path, edit, words):
    changed = tmp_path / "run"
    shutil.copytree(folder, changed)
    content = json.loads((changed / "front.json").read_text("utf-8"))
    edit(content)
    (changed / "front.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(ResultError, match=words):
        dse_library.load(changed)


def test_costs_are_needed_to_check_measures(folder, tmp_path):
    changed = tmp_path / "run"
    shutil.copytree(folder, changed)
    (changed / "costs.json").unlink()
    assert dse_library.verify(changed).checks[-1].verdict.value == "not checked"


def test_nothing_is_proved_by_a_measure(problem, front):
    with pytest.raises(ResultError, match="nothing is proved of a front by p90"):
        dse_library.certify(front)
    for engine in ("exact", "auto"):
        with pytest.raises(WorkloadError, match=f"robust: a search .* got optimizer='{engine}'"):
            dse_library.explore(problem, engine, robust="p90")
    for wrong in ("p0", "p100", "p", "cvar", "worst", "p9.5", 90, "Mean"):
        with pytest.raises(WorkloadError, match=r"robust: mean, pN or cvarN .* is required, got"):
            dse_library.explore(problem, robust=wrong)


def test_a_checkpoint_is_of_one_measure(problem, tmp_path):
    options = {"max_evaluations": 100, "checkpoint": tmp_path / "state"}
    dse_library.explore(problem, robust="p90", **options)
    for other in (None, "mean"):
        with pytest.raises(ResultError, match="state"):
            dse_library.explore(problem, robust=other, **options)


def test_the_commands_say_which_figures_are_measures(dse, tmp_path):
    words = ("explore", "alexnet", "squeezenet", "-p", "jetson-agx-xavier", "--groups", "2")
    more = ("--units", "gpu,dla0", "--max-evaluations", "300", "-o", tmp_path / "run")
    found = dse(*words, *more, "--robust", "cvar90")
    assert found.status == 0
    shown = dse("show", tmp_path / "run")
    for text in (found.out, shown.out):
        assert text.splitlines()[0].split()[:4] == ["latency", "energy", "cvar90", "cvar90"]
        assert "Searched by the mean of the worst 10 % over 40 draws" in " ".join(text.split())
    rows = json.loads(dse("show", tmp_path / "run", "--json").out)
    rows = rows if isinstance(rows, list) else rows["members"]
    assert rows[0]["robust"]["latency [ms]"] > rows[0]["display"]["latency [ms]"]
    member = dse("show", tmp_path / "run", "--member", "knee").out
    assert "cvar90 of latency: " in member
    assert "cvar90 of energy: " in member
    refused = dse("analyze", "limits", tmp_path / "run")
    assert (refused.status, refused.lines) == (
        2,
        ["dse: limits: fronts of nominal costs are required, got one by cvar90"],
    )
    assert dse("report", tmp_path / "run").status == 0
    tight = dse(*words, *more, "--robust", "p90", "--deadline", "0.5", "--force")
    assert tight.status != 0
    assert "by p90 of all draws: no feasible design point" in tight.err
    infeasible = dse(*words, *more, "--robust", "p0", "--force")
    assert "--robust: mean, pN or cvarN" in infeasible.err
    refused = dse(*words, *more, "--robust", "p90", "--engine", "exact", "--force")
    assert "got --engine exact" in refused.err

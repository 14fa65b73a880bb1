"""What measurements are worth: against nested draws, and where it is known."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import paretosoc as dse_library
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.analysis.cost_draws import same_errors
from paretosoc.dse.tools.analysis.posterior import TIME_NOISE
from paretosoc.dse.tools.measuring.experiments import (
    BUILD_MINUTES,
    RUN_MINUTES,
    Bench,
    experiments_of,
)
from paretosoc.dse.tools.measuring.planning import Decisions, ExpectedLoss, plan_experiments
from paretosoc.results.costs.cost_origins import CostError, CostMeasurement
from paretosoc.results.errors import ResultError
from tests.dse.tools.analysis.random_fronts import front_of


def as_measurement(experiment, time_ps):
    problem = experiment.problem
    return CostMeasurement(
        problem.networks[experiment.network].name,
        experiment.segment.first,
        experiment.segment.last,
        problem.units[experiment.at.unit].name,
        time_ps,
        dict(experiment.clocks_khz),
    )


def nested_loss(front, errors, experiments, goal, outer, inner):
    """Return the expected loss after experiments by conditioning on each possible outcome."""
    truths = errors.latent(outer, 9)
    rng = np.random.default_rng(4)
    losses = []
    for truth in truths:
        measured = []
        for one in experiments:
            log = one.stretch.log_time(truth[None, :, one.stretch.column])[0][0]
            log += TIME_NOISE * rng.standard_normal()
            measured.append(as_measurement(one, max(1, round(one.stretch.time_ps * np.exp(log)))))
        posterior = replace(errors, measured=tuple(measured))
        decisions = Decisions.of(front, posterior, goal, inner, 1)
        losses.append(decisions.drawn.losses[goal].mean(axis=0).min())
    return np.mean(losses)


def bench_for(front):
    networks, units = (
        frozenset(entry.name for entry in entries)
        for entries in (front.problem.networks, front.problem.units)
    )
    return Bench("trtexec", units, networks, has_power=False)


def test_only_what_the_board_runs_is_planned():
    front = front_of(2)
    errors = same_errors(front.problem, CostError(unit=150, network=250, clock=50))
    whole = bench_for(front)
    plan = plan_experiments(front, errors, whole, draws=400)
    first = plan.planned[0].experiment
    unit = front.problem.units[first.at.unit].name
    for less in (
        replace(whole, units=whole.units - {unit}),
        replace(whole, networks=frozenset()),
    ):
        planned = plan_experiments(front, errors, less, draws=400).planned
        assert all(less.runs(entry.experiment) for entry in planned)
    assert planned == ()


def test_against_nested_draws():
    """The loss after one and after two experiments, by the regression and by conditioning on
    outcomes of each."""
    front = front_of(2)
    errors = same_errors(front.problem, CostError(unit=150, network=250, clock=50))
    decisions = Decisions.of(front, errors, "fastest", 1500, 0)
    rivals = decisions.rivals()
    losses = {"fastest": decisions.drawn.losses["fastest"][:, rivals]}
    value = ExpectedLoss(errors, losses, 1500, 0, has_power=False)
    experiments = experiments_of(front, errors, range(len(front.members)))
    alone = [value.after([one]).mean for one in experiments]
    best = experiments[int(np.argmin(alone))]
    assert value.now > 0.02, "there is something to learn"
    assert min(alone) < 0.9 * value.now
    for chosen in ([best], [best, experiments[int(np.argmax(alone))]]):
        nested = nested_loss(front, errors, chosen, "fastest", 24, 80)
        assert value.after(chosen).mean == pytest.approx(nested, abs=0.25 * value.now)


def test_nothing_is_worth_measuring_without_errors():
    front = front_of(3)
    nothing = same_errors(front.problem, CostError())
    plan = plan_experiments(front, nothing, bench_for(front), draws=40)
    assert plan.planned == ()
    assert all(entry.goals[goal].is_sure for goal, entry in plan.now.items())


def test_what_co_runs_would_tell_is_said():
    """Only demands are off, so that measurements of networks alone tell nothing."""
    front = front_of(0)
    certain = same_errors(front.problem, CostError())
    plan = plan_experiments(front, replace(certain, demand=1.0), bench_for(front), draws=400)
    for goal in ("fastest", "knee"):
        assert 0 <= plan.co_runs[goal] < 0.5 * plan.now[goal].goals[goal].loss
    assert plan_experiments(front, certain, bench_for(front), draws=400).co_runs == {}


def test_a_pair_is_planned_if_only_demands_are_off(pair_folder):
    front = dse_library.load(pair_folder).numeric
    errors = replace(same_errors(front.problem, CostError()), demand=1.0)
    plan = plan_experiments(front, errors, bench_for(front), draws=400)
    assert plan.planned[0].experiment.beside is not None
    losses = [sum(entry.losses.values()) for entry in plan.planned]
    assert losses[-1] < 0.8 * sum(now.goals[goal].loss for goal, now in plan.now.items())


def test_plans_keep_to_the_minutes_and_build_once():
    front = front_of(2)
    errors = same_errors(front.problem, CostError(unit=150, network=250, clock=50))
    for minutes in (0.4, 2.4, 3.1, 8):
        plan = plan_experiments(front, errors, bench_for(front), minutes=minutes, draws=400)
        assert plan.minutes <= minutes
        built = set()
        for entry in plan.planned:
            new = entry.experiment.engine not in built
            assert entry.minutes == RUN_MINUTES + new * BUILD_MINUTES["trtexec"]
            built.add(entry.experiment.engine)
        assert len({(e.experiment.engine, e.experiment.at.points) for e in plan.planned}) == len(
            plan.planned
        )
    assert plan.planned, "in eight minutes something is worth it"


def test_python(pair_folder):
    front = dse_library.load(pair_folder)
    plan = dse_library.plan_measurements(front, goal="fastest", minutes=6, draws=200)
    assert len(repr(plan)) < 400
    assert plan.experiments
    assert len(repr(plan.experiments[0])) < 400
    assert plan.minutes <= 6
    assert set(plan.now) == {"fastest"}
    for wrong in ({"minutes": 0}, {"minutes": "long"}, {"draws": 0}, {"seed": -1}, {"goal": 1}):
        with pytest.raises(WorkloadError, match=next(iter(wrong))):
            dse_library.plan_measurements(front, **wrong)
    with pytest.raises(ResultError, match="there is no goal 'quickest'"):
        dse_library.plan_measurements(front, goal="quickest", draws=20)
    with pytest.raises(ResultError, match=r"costs\.json"):
        dse_library.plan_measurements(replace(front, costs=None))
    with pytest.raises(ResultError, match="rk3588 has no such domain; name the platform of the se"):
        dse_library.plan_measurements(front, platform="rk3588", minutes=0.1, draws=20)
    empty = replace(front, numeric=replace(front.numeric, members=()))
    with pytest.raises(ResultError, match="the front is empty"):
        dse_library.plan_measurements(empty)


def test_a_fresh_process_plans_the_same(pair_folder):
    text = (
        "import paretosoc as dse; "
        f"plan = dse.plan_measurements(dse.load({str(pair_folder)!r}), minutes=9, draws=200); "
        "print([(e.experiment.words, e.decides, e.losses) for e in plan.experiments])"
    )
    fresh = subprocess.run([sys.executable, "-c", text], capture_output=True, check=True, text=True)
    plan = dse_library.plan_measurements(dse_library.load(pair_folder), minutes=9, draws=200)
    here = [(e.experiment.words, e.decides, e.losses) for e in plan.experiments]
    assert fresh.stdout.strip() == str(here)


def test_clocks_that_no_file_sets_are_measured_at_their_fastest(tmp_path):
    problem = dse_library.Problem(
        ["resnet18", "mobilenet_v2"], "intel-core-ultra-7-155h", groups=3, runtime="onnxruntime"
    )
    front = dse_library.explore(problem, max_evaluations=400)
    plan = dse_library.plan_measurements(front, draws=200)
    assert plan.experiments
    gpu = [one.experiment.clocks_khz["gpu"] for one in plan.experiments]
    assert set(gpu) <= {2_250_000, None}
    assert {member.clocks_mhz["gpu"] for member in front} - {2250.0, None}, "others are slower"
    (note,) = plan.save(tmp_path / "plan")
    assert note.startswith("No file sets the clocks of cpu, gpu: measure.py leaves them alone")
    assert not [*(tmp_path / "plan").glob("clocks_*")]

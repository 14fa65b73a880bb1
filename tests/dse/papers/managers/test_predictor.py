"""Predictors: bins, and the timeline as one."""

from dataclasses import replace

import numpy as np
import pytest

from paretosoc.dse.papers.estimator.predictor import (
    CLASSES,
    Bins,
    TimelinePredictor,
    default_predictor,
)
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.errors import ResultError
from tests.support.problems.small_spaces import pipeline_space


def test_bins_hold_equally_many_samples():
    values = np.random.default_rng(0).lognormal(size=16 * 25)
    bins = Bins.of(values)
    counts = np.bincount(bins.class_of(values), minlength=CLASSES)
    assert (counts == 25).all()
    assert (bins.class_of(bins.centre_of(np.arange(CLASSES))) == np.arange(CLASSES)).all()
    assert bins.class_of(np.array([-1e9, 1e9])).tolist() == [0, 15]


def test_bins_by_hand():
    bins = Bins.of(np.arange(32.0))
    assert bins.edges.tolist() == [2 * k + 1.5 for k in range(15)]
    assert bins.centres.tolist() == [2 * k + 0.5 for k in range(16)]
    assert bins.class_of(np.array([1.5])).tolist() == [1], "an edge belongs to the bin above"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Bins.of(np.arange(15.0)), "at least 16"),
        (lambda: Bins.of(np.array([np.inf] * 16)), "finite"),
        (lambda: Bins(np.arange(14.0), np.arange(16.0)), "edges: 15 values"),
        (lambda: Bins(np.arange(15.0)[::-1], np.arange(16.0)), "edges: finite values, ascending"),
    ],
)
def test_wrong_bins_are_refused_by_name(make, told):
    with pytest.raises(ResultError, match=told):
        make()


@pytest.mark.parametrize("seed", range(3))
def test_the_timeline_predicts_what_the_search_evaluates(seed):
    space = pipeline_space(seed)
    rows = space.random(np.random.default_rng(seed), 64)
    outcomes = make_outcomes(space.problem)(rows)
    said = TimelinePredictor().predict(space.problem, rows)
    fine = outcomes.possible
    assert fine.sum() >= CLASSES
    assert said.power_w[fine] == pytest.approx(outcomes.objectives[fine, 0] / 1e6)
    assert said.throughput_hz[fine] == pytest.approx(1e12 / outcomes.objectives[fine, 1])
    order = np.argsort(said.throughput_hz)
    assert (np.diff(said.throughput_class[order]) >= 0).all()
    assert said.throughput_class.max() == 15
    assert said.power_class[said.power_w.argmin()] == 0


def test_given_bins_make_the_classes():
    space = pipeline_space(0)
    rows = space.random(np.random.default_rng(0), 5)
    hertz, watts = (np.linspace(0.0, 1e6, 64) for _ in range(2))
    bins = Bins.of(hertz), Bins.of(watts)
    said = TimelinePredictor(*bins).predict(space.problem, rows)
    assert (said.throughput_class == bins[0].class_of(said.throughput_hz)).all()
    assert (said.power_class == bins[1].class_of(said.power_w)).all()


def test_a_missing_objective_is_named():
    space = pipeline_space(0)
    problem = replace(space.problem, objectives=space.problem.objectives[:1])
    with pytest.raises(ResultError, match="throughput is required, got power"):
        TimelinePredictor().predict(problem, space.random(np.random.default_rng(0), 2))


@pytest.mark.parametrize(
    ("platform", "options", "name"),
    [
        ("jetson-agx-xavier", {"free_running": True}, "learned"),
        ("jetson-agx-xavier", {}, "timeline"),
        ("jetson-agx-xavier", {"free_running": True, "units": ("gpu", "dla0")}, "timeline"),
        ("jetson-tx2", {"free_running": True}, "timeline"),
    ],
)
def test_the_default_is_learned_where_it_was_trained_and_can_predict(platform, options, name):
    settings = Options(objectives=("throughput", "power"), groups=3, **options)
    workload = workload_from(["squeezenet", "resnet18"])
    problem = build_problem(workload, load_platform(platform), settings).problem
    predictor = default_predictor(problem)
    assert predictor.name == name
    rows = DesignSpace(problem).random(np.random.default_rng(0), 3)
    assert (predictor.predict(problem, rows).throughput_hz > 0).all()

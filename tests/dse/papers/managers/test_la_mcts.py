"""The tree search as an engine: what it asks, what it answers, what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from paretosoc.dse.cli.main import run as run_command
from paretosoc.dse.engines.optimizers import optimizer_named
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.predictor import Prediction, PredictorName, TimelinePredictor
from paretosoc.dse.papers.managers.mapformer.la_mcts import (
    BATCH,
    FIRST,
    ITERATIONS,
    LaMctsEngine,
    Mode,
    row_features,
    value_of,
)
from paretosoc.dse.papers.optimizers import la_mcts
from paretosoc.dse.search.driver import Budget, StoppedBy, search
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.execution import Pipeline
from tests.support.problems.small_spaces import enumerated, pipeline_space, small_space


class Counting:
    """The timeline, counting what it is asked."""

    name = "counting"

    def __init__(self):
        self.inner = TimelinePredictor()
        self.asked = []

    def predict(self, problem, rows):
        self.asked.append(len(rows))
        return self.inner.predict(problem, rows)


class Smooth:
    """A quick predictor: throughput grows with groups on unit 0, power with the first clock."""

    name = "smooth"

    def predict(self, problem, rows):
        groups = problem.group_count
        share = (rows[:, :groups] == 0).mean(axis=1)
        place = rows[:, groups] / max(len(problem.domains[0].allowed) - 1, 1)
        return Prediction(
            throughput_hz=1.0 + share,
            power_w=1.0 + place,
            throughput_class=np.minimum((16 * share).astype(np.int64), 15),
            power_class=np.minimum((16 * place).astype(np.int64), 15),
        )


def run(engine):
    rows = []
    while len(asked := engine.ask()):
        rows.append(asked)
    return rows


def test_a_hundred_iterations_of_a_batch_each():
    space = pipeline_space(1)
    wide = replace_groups(space)
    predictor = Counting()
    engine = LaMctsEngine(wide, predictor, seed=0)
    proposed = run(engine)
    assert len(predictor.asked) <= 1 + ITERATIONS
    assert max(predictor.asked[1:]) <= BATCH
    assert predictor.asked[0] <= FIRST
    assert engine.predictions == sum(predictor.asked)
    assert 0 < len(proposed) <= 1 + ITERATIONS
    assert all(len(rows) == 1 for rows in proposed)
    few = Counting()
    run(LaMctsEngine(wide, few, seed=0, iterations=7, batch=3))
    assert len(few.asked) == 8
    assert max(few.asked[1:]) == 3


def replace_groups(space):
    """A space too large to be looked at whole in a thousand rows."""
    from benchmarks.problems.random_problem import RandomShape, random_problem

    shape = RandomShape(networks=(3, 3), groups=(6, 8), units=(3, 3), unsupported=0.1)
    problem = random_problem(np.random.default_rng(5), shape)
    return DesignSpace(
        replace(
            problem,
            objectives=space.problem.objectives,
            execution=Pipeline(1),
        )
    )


@pytest.mark.parametrize("mode", Mode, ids=lambda mode: mode.value)
def test_it_finds_the_best_value_of_small_problems_in_most_seeds(mode):
    space = pipeline_space(7)
    every = enumerated(space)
    predictor = TimelinePredictor()
    predictor.predict(space.problem, every)
    best = value_of(mode, predictor.predict(space.problem, every)).max()
    hits = 0
    for seed in range(4):
        engine = LaMctsEngine(space, predictor, seed=seed, mode=mode, iterations=15)
        run(engine)
        said = predictor.predict(space.problem, engine.answer[None])
        hits += value_of(mode, said)[0] == best
    assert hits >= 3


def test_it_is_better_than_as_many_random_rows():
    space = replace_groups(pipeline_space(1))
    mode, ahead = Mode.STANDARD, 0

    def worth(rows):
        return value_of(mode, Smooth().predict(space.problem, rows)).max()

    for seed in range(4):
        engine = LaMctsEngine(space, Smooth(), seed=seed, mode=mode, iterations=30)
        run(engine)
        rows = space.random(np.random.default_rng(seed), engine.predictions)
        ahead += worth(engine.answer[None]) > worth(rows)
        assert worth(engine.answer[None]) >= worth(rows)
    assert ahead >= 3


@pytest.mark.parametrize("seed", range(3))
def test_no_row_above_the_cap_is_proposed_where_the_predictor_is_right(seed):
    space = pipeline_space(seed)
    power = TimelinePredictor().predict(space.problem, enumerated(space)).power_w
    cap = int(np.quantile(power, 0.3) * 1000)
    capped = DesignSpace(replace(space.problem, power_cap_mw=cap))
    engine = LaMctsEngine(capped, TimelinePredictor(), seed=seed, iterations=12)
    rows = np.concatenate([*run(engine), engine.answer[None]])
    assert len(rows) > 1
    assert make_outcomes(capped.problem)(rows).feasible.all()


@pytest.mark.parametrize("seed", range(6))
def test_the_answer_is_among_what_it_proposed(seed):
    # Four iterations of three rows: the best one often is among the random rows before them.
    engine = LaMctsEngine(
        replace_groups(pipeline_space(1)), TimelinePredictor(), seed=seed, iterations=4, batch=3
    )
    rows = np.concatenate(run(engine))
    assert (rows == engine.answer).all(axis=1).any()


def test_a_cap_that_nothing_keeps_gives_no_row_and_ends():
    space = pipeline_space(0)
    capped = DesignSpace(replace(space.problem, power_cap_mw=1))
    engine = LaMctsEngine(capped, Smooth(), seed=0, iterations=5)
    assert run(engine) == []
    assert engine.answer is None


def test_a_seed_gives_the_same_rows_and_another_seed_others():
    space = replace_groups(pipeline_space(1))
    first, second, third = (
        np.concatenate(run(LaMctsEngine(space, Smooth(), seed=seed, iterations=12)))
        for seed in (4, 4, 5)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


def test_the_driver_ends_with_its_iterations():
    space = pipeline_space(2)
    optimizer = la_mcts(Mode.STANDARD, PredictorName.TIMELINE)
    engine = optimizer.start(space, 0)
    result = search(engine, make_outcomes(space.problem), Budget(10_000))
    assert result.stopped_by is StoppedBy.EXHAUSTED
    assert 0 < result.evaluations <= 1 + ITERATIONS
    short = optimizer.start(space, 0)
    assert search(short, make_outcomes(space.problem), Budget(3)).evaluations == 3


def test_features_tell_shares_cuts_and_clocks():
    space = replace_groups(pipeline_space(1))
    rows = space.random(np.random.default_rng(0), 50)
    features = row_features(space, rows)
    assert ((features >= 0.0) & (features <= 1.0)).all()
    networks, units = len(space.first), len(space.problem.units)
    shares = features[:, : networks * units].reshape(50, networks, units)
    assert shares.sum(axis=2) == pytest.approx(1.0)
    on_one = rows[0].copy()
    on_one[: space.groups] = 0
    cuts = row_features(space, on_one[None])[0, networks * units :][: 2 * networks]
    assert cuts.tolist() == [0.0] * networks + [1.0] * networks


def test_objectives_that_are_missing_are_named():
    with pytest.raises(WorkloadError, match=r"la-mcts.*: the objective throughput is required"):
        optimizer_named("la-mcts").start(small_space(0), 0)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--engine", "la-mcts"], "--engine la-mcts: the objective throughput is required"),
        (
            ["--engine", "nsga2", "--mode", "HP"],
            "--mode: --engine la-mcts is required, got nsga2",
        ),
        (
            ["--engine", "nsga2", "--predictor", "timeline"],
            "--predictor: --engine la-mcts is required",
        ),
        (["--engine", "la-mcts", "--mode", "fast"], "'fast' is not one of 'HP', 'PB', 'SM', 'PR'"),
    ],
)
def test_the_command_line_refuses_by_name(arguments, told, tmp_path, capsys):
    code = run_command(
        [
            *("papers", "explore"),
            "alexnet",
            "-p",
            "jetson-agx-xavier",
            "-q",
            *arguments,
            "-o",
            str(tmp_path / "x"),
        ]
    )
    assert code == 2
    assert told in capsys.readouterr().err

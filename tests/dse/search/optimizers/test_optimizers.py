"""Every engine: its rows, its budget, its repetition, and what it refuses."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.engines.optimizers import OPTIMIZERS, optimizer_named
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.training.workloads import random_rows
from paretosoc.dse.search.base import ResumableEngine
from paretosoc.dse.search.driver import Budget, StoppedBy, search
from paretosoc.dse.search.optimizers.pymoo_adapters import nsga2
from paretosoc.dse.space.design_space import DesignSpace, starting_rows
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import hypervolume, non_dominated, reference_point
from paretosoc.results.problem.execution import Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from tests.support.problems.random_spaces import assert_inside, narrowed_problem
from tests.support.problems.small_spaces import exact_front, small_space

NARROW = RandomShape(networks=(1, 2), groups=(1, 4), units=(2, 3), points=(1, 4))
THREE = (ObjectiveKind.LATENCY, ObjectiveKind.ENERGY, ObjectiveKind.POWER)
ROOT = Path(__file__).parents[4]


def with_three_objectives(problem):
    return replace(problem, objectives=tuple(Objective(kind) for kind in THREE))


def asked_for(name, problem):
    """The problem with the objectives that the engine asks for."""
    info = optimizer_named(name)
    if info.least_objectives > 2:
        return with_three_objectives(problem)
    if info.required:
        objectives = tuple(Objective(kind) for kind in info.required)
        return replace(problem, objectives=objectives, execution=Pipeline(1))
    return problem


def space_for(name, seed):
    """A small space with the objectives that the engine asks for."""
    return DesignSpace(asked_for(name, small_space(seed).problem))


def recorded(space, proposed):
    """What evaluates rows, and notes them in ``proposed``."""
    evaluate = make_outcomes(space.problem)

    def noting(rows):
        proposed.append(rows.copy())
        return evaluate(rows)

    return noting


@pytest.mark.parametrize("name", OPTIMIZERS.names())
def test_rows_are_allowed_and_the_budget_is_kept_to_the_last_one(name):
    for seed in range(2):
        space = space_for(name, seed)
        proposed = []
        searching = optimizer_named(name).start(space, seed)
        result = search(searching, recorded(space, proposed), Budget(777))
        rows = np.concatenate(proposed)
        assert_inside(space.problem, rows)
        assert result.evaluations == len(rows) <= 777
        assert len(rows) == 777 or result.stopped_by is StoppedBy.EXHAUSTED
        assert len(result.rows)


@pytest.mark.parametrize("name", OPTIMIZERS.names())
def test_rows_are_inside_spaces_with_fixed_clocks_caps_on_clocks_and_pins(name):
    info, woken = optimizer_named(name), 0
    for seed in range(3 if info.single_decision else 8):
        rng = np.random.default_rng([4, seed])
        problem = asked_for(name, narrowed_problem(rng, random_problem(rng, NARROW)))
        space = DesignSpace(problem)
        proposed = []
        searching = optimizer_named(name).start(space, seed)
        result = search(searching, recorded(space, proposed), Budget(400))
        rows = np.concatenate(proposed)
        assert_inside(problem, rows)
        assert_inside(problem, result.rows)
        # Domains of a single point that is not the first, off in some rows and on in others.
        for d, domain in enumerate(problem.domains):
            if domain.may_be_off and domain.allowed.sum() == 1 and not domain.allowed[0]:
                woken += len(np.unique(space.domains_used(rows)[:, d])) == 2
    # Those that balance loads, or decide, may use the same units in all rows.
    assert woken > 0 or info.required


@pytest.mark.parametrize("seed", range(30))
def test_rows_to_start_from_are_brought_inside(seed):
    rng = np.random.default_rng([5, seed])
    wide = random_problem(rng, NARROW)
    space = DesignSpace(narrowed_problem(rng, wide))
    rows = DesignSpace(wide).random(rng, 40)
    assert_inside(space.problem, starting_rows(space, rows))


@pytest.mark.parametrize("seed", range(30))
def test_rows_of_managers_training_are_inside(seed):
    rng = np.random.default_rng([6, seed])
    problem = asked_for("la-mcts", narrowed_problem(rng, random_problem(rng, NARROW)))
    assert_inside(problem, random_rows(rng, problem, 40))


@pytest.mark.parametrize("seed", range(6))
def test_exhaustive_search_is_plain_enumeration(seed):
    space = small_space(seed)
    result = search(
        optimizer_named("exhaustive").start(space, 0), make_outcomes(space.problem), Budget(10**9)
    )
    front, outcomes = exact_front(space)
    assert {tuple(row) for row in result.objectives.tolist()} == front
    assert result.stopped_by is StoppedBy.EXHAUSTED
    assert result.evaluations == len(outcomes.possible), "each canonical row once"


@pytest.mark.parametrize("name", ["annealing", "nsga2"])
@pytest.mark.parametrize("seed", range(4))
def test_fronts_of_small_problems_are_found(name, seed):
    space = small_space(seed + 20)
    result = search(
        optimizer_named(name).start(space, 1), make_outcomes(space.problem), Budget(20_000)
    )
    front, _ = exact_front(space)
    assert {tuple(row) for row in result.objectives.tolist()} == front


def test_random_search_draws_no_row_twice_and_ends_where_there_is_no_other():
    space = small_space(3)
    seen = []
    evaluate = make_outcomes(space.problem)

    def noting(rows):
        seen.extend(row.tobytes() for row in rows)
        return evaluate(rows)

    result = search(optimizer_named("random").start(space, 0), noting, Budget(10**7))
    assert result.stopped_by is StoppedBy.EXHAUSTED
    assert len(seen) == len(set(seen))


def test_exhaustive_search_refuses_a_space_that_is_too_large():
    shape = RandomShape(networks=(2, 2), groups=(40, 40), units=(4, 4), unsupported=0.0)
    space = DesignSpace(random_problem(np.random.default_rng(0), shape))
    with pytest.raises(WorkloadError, match=r"at most 100,000,000 .* got about 10\^4[789]"):
        optimizer_named("exhaustive").start(space, 0)


@pytest.mark.parametrize("name", ["nsga3", "sms-emoa"])
def test_engines_for_three_objectives_refuse_two(name):
    with pytest.raises(WorkloadError, match=f"{name}.: 3 or more objectives.* got 2"):
        optimizer_named(name).start(small_space(0), 0)


def test_mobile_i_is_for_throughput():
    with pytest.raises(
        WorkloadError, match=r"mobile-i.*: the objective throughput is required, got"
    ):
        optimizer_named("mobile-i").start(small_space(0), 0)


@pytest.mark.parametrize("name", OPTIMIZERS.names())
def test_what_is_declared_resumable_is(name):
    engine = optimizer_named(name).start(space_for(name, 0), 0)
    assert isinstance(engine, ResumableEngine) == optimizer_named(name).resumable
    # What explores is NSGA-II; the exact search comes after it.
    assert engine.name == ("nsga2" if name == "auto" else name)


def test_our_loop_is_as_good_as_pymoos_with_the_same_operators():
    """Median hypervolume of a few seeds, without the local search, at equal evaluations."""
    from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine

    space = DesignSpace(reference_problem())
    evaluate = make_outcomes(space.problem)
    fronts = {"ours": [], "pymoo": []}
    for seed in range(3):
        ours = Nsga2Engine(space, seed=seed, neighbours=0)
        for key, engine in (("ours", ours), ("pymoo", nsga2(space, seed=seed))):
            fronts[key].append(search(engine, evaluate, Budget(3000)).objectives)
    every = np.concatenate([front for found in fronts.values() for front in found])
    reference = reference_point(every[non_dominated(every)])
    volume = {
        key: np.median([hypervolume(f[(f < reference).all(axis=1)], reference) for f in found])
        for key, found in fronts.items()
    }
    assert volume["ours"] > 0.995 * volume["pymoo"]


def digest(name):
    """Of the front that an engine finds, with two threads."""
    space = DesignSpace(asked_for(name, reference_problem()))
    if name == "exhaustive":
        space = small_space(1)
    evaluate = make_outcomes(space.problem, jobs=2)
    result = search(optimizer_named(name).start(space, 5), evaluate, Budget(300))
    return hashlib.sha256(result.rows.tobytes() + result.objectives.tobytes()).hexdigest()


def test_a_seed_gives_the_same_front_in_a_fresh_process():
    code = (
        "from tests.dse.search.optimizers.test_optimizers import digest\n"
        "from paretosoc.dse.engines.optimizers import OPTIMIZERS\n"
        "print(*(digest(name) for name in OPTIMIZERS.names()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [digest(name) for name in OPTIMIZERS.names()]

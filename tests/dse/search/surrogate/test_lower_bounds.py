"""Bounds of whole design points: below what the timeline gives, and exact where nothing shares."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from benchmarks.problems.random_problem import RandomShape, random_problem
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.search.surrogate.lower_bounds import (
    has_lower_bounds,
    make_filter,
    make_lower_bound_evaluator,
)
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.front.dominance import hypervolume, non_dominated, reference_point
from paretosoc.results.problem.execution import Periodic, Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

SHAPE = RandomShape(networks=(1, 3), groups=(1, 7), units=(1, 4), points=(1, 4))


def test_no_design_point_is_below_its_bounds():
    rng = np.random.default_rng(0)
    played = 0
    for _ in range(150):
        space = DesignSpace(random_problem(rng, SHAPE))
        rows = space.random(rng, 30)
        least = make_lower_bound_evaluator(space.problem)(rows)
        real = make_evaluator(space.problem)(rows)
        at = real.possible
        assert np.array_equal(at, least.possible)
        for name in ("makespan_ps", "latency_ps", "dynamic_fj", "busy_ps"):
            assert (getattr(least, name)[at] <= getattr(real, name)[at]).all(), name
        assert np.array_equal(least.idle_mw[at], real.idle_mw[at])
        played += int(at.sum())
    assert played > 3000


def test_one_network_without_contention_reaches_its_bounds():
    shape = replace(SHAPE, networks=(1, 1), graphs=False, contention=False)
    rng = np.random.default_rng(1)
    for _ in range(30):
        space = DesignSpace(random_problem(rng, shape))
        rows = space.random(rng, 20)
        least = make_lower_bound_evaluator(space.problem)(rows)
        real = make_evaluator(space.problem)(rows)
        assert np.array_equal(least.makespan_ps, real.makespan_ps)
        assert np.array_equal(least.energy_fj, real.energy_fj)


def test_what_is_left_out_could_not_have_joined_the_front():
    rng = np.random.default_rng(2)
    left_out = capped = 0
    for case in range(80):
        problem = random_problem(rng, SHAPE)
        if case % 4 > 1:
            n = int(rng.integers(len(problem.networks)))
            tokens = (ObjectiveKind.TOKEN_RATE, ObjectiveKind.TOKEN_ENERGY)
            problem = replace(problem, objectives=tuple(Objective(kind, n) for kind in tokens))
        if not has_lower_bounds(problem):
            continue
        space = DesignSpace(problem)
        rows = space.random(rng, 60)
        if case % 2:
            # A cap that about half of the design points keep.
            frame = make_evaluator(problem)(rows)
            power = frame.energy_fj[frame.possible] // frame.makespan_ps[frame.possible]
            problem = replace(problem, power_cap_mw=int(np.median(power)) + 1)
        outcomes = make_outcomes(problem)(rows)
        feasible = np.flatnonzero(outcomes.feasible)
        if len(feasible) == 0:
            continue
        known = outcomes.objectives[feasible[: len(feasible) // 2 + 1]]
        members = known[non_dominated(known)]
        out = make_filter(problem)(members, rows)
        for row in np.flatnonzero(out & outcomes.feasible):
            assert (members <= outcomes.objectives[row]).all(axis=1).any()
        left_out += int(out.sum())
        capped += int(out.sum()) if case % 2 else 0
    assert left_out > 500
    assert capped > 100


def test_there_are_none_for_pipelines_and_mean_power():
    problem = reference_problem()
    latency = Objective(ObjectiveKind.LATENCY)
    power = (latency, Objective(ObjectiveKind.POWER))
    throughput = (latency, Objective(ObjectiveKind.THROUGHPUT))
    assert has_lower_bounds(problem)
    assert not has_lower_bounds(replace(problem, objectives=power))
    assert not has_lower_bounds(replace(problem, objectives=throughput))
    assert not has_lower_bounds(replace(problem, execution=Pipeline(1)))
    periodic = replace(problem, execution=Periodic(10**11))
    assert has_lower_bounds(replace(periodic, objectives=power))


def test_few_evaluations_go_further_with_bounds():
    problem = reference_problem()
    space, evaluate = DesignSpace(problem), make_outcomes(problem)
    shares = []
    for surrogate_evaluations in (4000, 0):
        found = [
            search(
                Nsga2Engine(space, seed=seed, surrogate_evaluations=surrogate_evaluations),
                evaluate,
                Budget(1500),
            ).objectives
            for seed in range(3)
        ]
        shares.append(found)
    union = np.concatenate([front for found in shares for front in found])
    reference = reference_point(union[non_dominated(union)])
    with_bounds, without = (
        sum(
            Fraction(hypervolume(front[(front < reference).all(axis=1)], reference))
            for front in found
        )
        for found in shares
    )
    assert with_bounds > without

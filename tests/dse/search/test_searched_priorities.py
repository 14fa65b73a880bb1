"""Priorities as genes: the space, its operators, and searches against all fixed priorities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.certificate.preconditions import check_provable
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.search.optimizers.plain import ExhaustiveEngine
from paretosoc.dse.space.design_space import DesignSpace, ranked
from paretosoc.dse.space.operators import mutate, segment_crossover
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem
from tests.support.neighbours import neighbours
from tests.support.problems.small_spaces import exact_front

SHAPE = RandomShape(networks=(2, 3), groups=(1, 2), units=(1, 2), points=(1, 2))
LEVELS = range(PRIORITY_LEVELS)
OBJECTIVES = (Objective(ObjectiveKind.LATENCY, 0), Objective(ObjectiveKind.LATENCY, 1))


def spaces(count: int) -> Iterator[DesignSpace]:
    """Small ones whose priorities are searched, for the latencies of two networks."""
    found = 0
    for seed in range(1000):
        problem = random_problem(np.random.default_rng([23, seed]), SHAPE)
        space = DesignSpace(replace(problem, objectives=OBJECTIVES, searches_priorities=True))
        if space.combinations <= 20_000:
            found += 1
            yield space
        if found == count:
            return


def with_priorities(problem: Problem, priorities: tuple[int, ...]) -> Problem:
    networks = zip(problem.networks, priorities, strict=True)
    return replace(
        problem,
        networks=tuple(replace(n, priority=p) for n, p in networks),
        searches_priorities=False,
    )


def test_orders_are_written_without_gaps() -> None:
    every = np.array(list(product(LEVELS, repeat=3)))
    ranks = ranked(every)
    for before, after in zip(every.tolist(), ranks.tolist(), strict=True):
        assert set(after) == set(range(len(set(before))))
        for a, b in product(range(3), repeat=2):
            assert (before[a] < before[b]) == (after[a] < after[b])
    # Weak orders of three things.
    assert len(np.unique(ranks, axis=0)) == 13


def test_operators_stay_inside_and_reach_every_order() -> None:
    for number, space in enumerate(spaces(20)):
        rng = np.random.default_rng(number)
        rows = space.random(rng, 400)
        near = neighbours(space, rng, rows[:1])
        crossed = segment_crossover(space, rng, rows, rows[rng.permutation(400)])
        bred = space.repair(rng, mutate(space, rng, crossed[0]))
        for some in (rows, near, bred):
            assert space.holds(some).all()
        networks = len(space.first)
        every = np.unique(ranked(np.array(list(product(LEVELS, repeat=networks)))), axis=0)
        for some in (rows, bred):
            assert np.unique(some[:, -networks:], axis=0).tolist() == every.tolist()
        assert len(np.unique(near[:, -networks:], axis=0)) > 1
        design = space.problem.design_of(rows[0])
        assert design.priorities is not None
        assert space.problem.priorities(design) == tuple(rows[0, -networks:].tolist())
        assert np.array_equal(design.row, rows[0])


def test_searches_find_the_best_of_all_priorities() -> None:
    """A front over all priorities is that of the fronts of each."""
    better = 0
    for number, space in enumerate(spaces(30)):
        problem = space.problem
        networks = len(problem.networks)
        fronts = {
            priorities: exact_front(DesignSpace(with_priorities(problem, priorities)))[0]
            for priorities in product(LEVELS, repeat=networks)
        }
        every = set().union(*fronts.values())
        expected = {
            one
            for one in every
            if not any(
                other != one and all(b <= a for a, b in zip(one, other, strict=True))
                for other in every
            )
        }
        evaluate = make_outcomes(problem)
        for engine in (ExhaustiveEngine(space), Nsga2Engine(space, seed=number)):
            found = search(engine, evaluate, Budget(20_000))
            assert set(map(tuple, found.objectives.tolist())) == expected, number
        better += expected != fronts[(0,) * networks]
    assert better > 10


def test_nothing_is_proved_by_the_exact_search() -> None:
    problem = next(spaces(1)).problem
    with pytest.raises(ResultError, match="only bounds over boxes can be proved"):
        check_provable(problem, (0,))


def test_one_network_has_no_order() -> None:
    problem = random_problem(np.random.default_rng(1), replace(SHAPE, networks=(1, 1)))
    check_problem(problem)
    with pytest.raises(ResultError, match=r"^\$\.searches_priorities: must be left out"):
        check_problem(replace(problem, searches_priorities=True))

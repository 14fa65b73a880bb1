"""Exact fronts with memory as an objective or a limit, against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.problems.memory import with_memory
from benchmarks.problems.number_formats import with_formats
from paretosoc.dse.certificate.branch_and_bound import ExactResult, find_front
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem
from tests.support.problems.random_spaces import (
    random_limited_problem,
    random_power_problem,
    size_of,
    space_of,
)
from tests.support.sample import SAMPLE

PROBLEMS = 40 * SAMPLE
MAX_ROWS = 20_000
POOL = (
    Objective(ObjectiveKind.LATENCY),
    Objective(ObjectiveKind.MEMORY),
    Objective(ObjectiveKind.ENERGY),
    Objective(ObjectiveKind.ACCURACY_LOSS),
)


def drawn(seed: int) -> Problem:
    """Two to four objectives, or the makespan alone under a limit."""
    rng = np.random.default_rng([27, seed])
    base = random_limited_problem(rng)
    if seed % 3 == 1:
        base = random_power_problem(rng, ObjectiveKind.LATENCY)
    count = (1, 2, 3)[seed % 3]
    if seed % 2:
        base, count = with_formats(rng, base, most=2), count + 1
    problem = replace(with_memory(rng, base), objectives=POOL[:count])
    check_problem(problem)
    return problem


def claim_of(problem: Problem, result: ExactResult) -> LemmaTarget:
    members = [tuple(row) for row in result.objectives.tolist()]
    return LemmaTarget(
        objectives=tuple(range(len(problem.objectives))),
        members=tuple(members),
        prices=result.prices,
    )


def test_the_front_is_that_of_the_enumeration_and_both_checkers_accept_its_tree() -> None:
    limited = several = empty = 0
    for seed in range(PROBLEMS):
        problem = drawn(seed)
        if size_of(problem) > MAX_ROWS:
            continue
        outcomes = make_outcomes(problem)(space_of(problem).rows)
        feasible = outcomes.objectives[outcomes.feasible]
        result = find_front(problem, jobs=1)
        assert result.complete
        expected = feasible[non_dominated(feasible)] if len(feasible) else feasible
        assert {*map(tuple, result.objectives.tolist())} == {*map(tuple, expected.tolist())}
        limited += problem.memory_cap_bytes is not None
        several += len(result.objectives) > 2
        empty += not len(feasible)
        if not len(feasible):
            continue
        claim = claim_of(problem, result)
        assert check_tree(problem, result.tree, claim, plain=True).fault is None
        assert check_tree(problem, result.tree, claim).fault is None
    assert limited > PROBLEMS // 4
    assert several > PROBLEMS // 10


def test_a_smaller_limit_or_a_better_point_breaks_the_tree() -> None:
    """What was closed by the limit is open without it; what a member closed, without the member."""
    refused = 0
    for seed in range(0, 2 * PROBLEMS, 2):
        problem = drawn(seed)
        if size_of(problem) > MAX_ROWS or problem.memory_cap_bytes is None:
            continue
        result = find_front(problem, jobs=1)
        if not len(result.objectives):
            continue
        claim = claim_of(problem, result)
        free = replace(problem, memory_cap_bytes=None)
        outcomes = make_outcomes(free)(space_of(free).rows)
        feasible = outcomes.objectives[outcomes.feasible]
        better = {*map(tuple, feasible[non_dominated(feasible)].tolist())}
        if better <= {*claim.members}:
            continue
        assert check_tree(free, result.tree, claim, plain=True).fault is not None
        assert check_tree(free, result.tree, claim).fault is not None
        refused += 1
    assert refused > 3

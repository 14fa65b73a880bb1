"""Exact fronts where groups choose among number formats, against enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import count, product

import numpy as np
import pytest

from benchmarks.problems.number_formats import with_formats, with_twin
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.certificate.branch_and_bound import ExactResult, find_front
from paretosoc.dse.certificate.cover.leaves import leaf_table
from paretosoc.dse.certificate.preconditions import Goal, provable
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.problem.interchangeable import interchangeable_before
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

CHUNKS, CHUNK = SAMPLE, 50
MAX_ROWS = 30_000
POOL = (
    Objective(ObjectiveKind.LATENCY),
    Objective(ObjectiveKind.ENERGY),
    Objective(ObjectiveKind.ACCURACY_LOSS),
    Objective(ObjectiveKind.ACCURACY_LOSS, 0),
    Objective(ObjectiveKind.INVERSE_LATENCY),
)


def drawn(seed: int) -> Problem:
    """Three objectives, makespan and energy, or any of the pool."""
    rng = np.random.default_rng([25, seed])
    base = random_limited_problem(rng)
    if seed % 2:
        base = random_power_problem(rng, ObjectiveKind.LATENCY)
    problem = with_formats(rng, base, most=2)
    if seed % 4 in (1, 2):
        problem = with_twin(rng, problem)
    objectives = POOL[: 3 - seed % 3]
    if seed % 3 == 2:
        objectives = tuple(POOL[i] for i in rng.choice(5, rng.integers(1, 4), replace=False))
    problem = replace(problem, objectives=objectives)
    check_problem(problem)
    return problem


def vectors(rows: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(row) for row in rows.tolist()}


def claim_of(problem: Problem, result: ExactResult) -> LemmaTarget:
    columns = tuple(range(len(problem.objectives)))
    return LemmaTarget(columns, tuple(sorted(vectors(result.objectives))), 0, result.prices)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_exact_front_is_that_of_enumeration(chunk: int) -> None:
    alike = several = limited = 0
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        problem = drawn(seed)
        if size_of(problem) > MAX_ROWS:
            continue
        outcomes = make_outcomes(problem)(space_of(problem).rows)
        feasible = outcomes.objectives[outcomes.feasible]
        result = find_front(problem, jobs=1)
        assert result.complete
        assert vectors(result.objectives) == vectors(feasible[non_dominated(feasible)])
        claim = claim_of(problem, result)
        assert check_tree(problem, result.tree, claim, plain=True).fault is None
        assert check_tree(problem, result.tree, claim).fault is None
        alike += max(interchangeable_before(problem)) >= 0
        several += len(result.objectives) > 2
        limited += any(network.max_loss_ppm is not None for network in problem.networks)
    assert alike > 2
    assert several > 2
    assert limited > 2


def test_two_networks_of_ten_groups_with_two_formats_on_each_unit() -> None:
    """Each network on one unit, with any formats for its first eight groups, at some clocks."""
    drawn_problems = (
        with_formats(np.random.default_rng(seed), reference_problem(), most=2) for seed in count()
    )
    problem = next(entry for entry in drawn_problems if len(entry.units) == 4)
    allowed = problem.allowed.copy()
    is_first = np.arange(4) == problem.unit_of
    for network in problem.networks:
        allowed[list(network.groups)[-2:]] &= is_first
    domains = []
    for domain in problem.domains:
        points = np.flatnonzero(domain.allowed)[[0, -1]]
        domains.append(replace(domain, allowed=np.isin(np.arange(len(domain.allowed)), points)))
    problem = replace(
        problem,
        networks=tuple(
            replace(network, max_transitions=0, max_loss_ppm=None) for network in problem.networks
        ),
        domains=tuple(domains),
        allowed=allowed,
        objectives=POOL[:3],
    )
    check_problem(problem)
    mappings = [
        np.array(
            [
                mapping
                for unit in sorted(set(problem.unit_of))
                for mapping in product(
                    *(
                        [u for u in np.flatnonzero(allowed[g]) if problem.unit_of[u] == unit]
                        for g in network.groups
                    )
                )
            ]
        )
        for network in problem.networks
    ]
    evaluate = make_outcomes(problem)
    front = np.zeros((0, 3), dtype=np.int64)
    rows = 0
    for points in product(*(np.flatnonzero(domain.allowed) for domain in problem.domains)):
        for first in np.array_split(mappings[0], 8):
            pairs = np.repeat(first, len(mappings[1]), 0), np.tile(mappings[1], (len(first), 1))
            clocks = np.tile(points, (len(pairs[0]), 1))
            outcomes = evaluate(np.concatenate((*pairs, clocks), axis=1))
            found = np.concatenate((front, outcomes.objectives[outcomes.feasible]))
            front = found[non_dominated(found)]
            rows += len(clocks)
    result = find_front(problem)
    assert rows > 500_000
    assert len(front) > 10
    assert vectors(result.objectives) == vectors(front)
    assert check_tree(problem, result.tree, claim_of(problem, result)).fault is None


def test_a_better_point_breaks_the_tree() -> None:
    """With a member left out neither checker accepts the tree."""
    refused = 0
    for seed in range(20):
        problem = drawn(3 * seed)
        if size_of(problem) > MAX_ROWS:
            continue
        result = find_front(problem, jobs=1)
        claim = claim_of(problem, result)
        for member in claim.members:
            others = tuple(other for other in claim.members if other != member)
            without = replace(claim, members=others)
            assert check_tree(problem, result.tree, without, plain=True).fault is not None
            assert check_tree(problem, result.tree, without).fault is not None
            refused += 1
    assert refused > 8


def test_leaves_of_a_tree_cover_the_space() -> None:
    """Every feasible design point has the choices of a leaf, mirror images counted."""
    for seed in range(40):
        problem = drawn(seed)
        if size_of(problem) > 3000:
            continue
        result = find_front(problem, jobs=1)
        space = space_of(problem)
        outcomes = make_outcomes(problem)(space.rows)
        rows = space.rows[outcomes.feasible]
        lemmas = leaf_table(problem, result.tree, claim_of(problem, result))
        units, points = np.split(rows, [problem.group_count], axis=1)
        caught = np.zeros(len(rows), dtype=np.bool_)
        for named, masks in zip(lemmas.units, lemmas.points.astype(np.int64), strict=True):
            fits = ((named < 0) | (units == named)).all(axis=1)
            caught |= fits & (((masks >> points) & 1) == 1).all(axis=1)
        assert caught.all()


def test_the_exact_front_and_bounds_over_boxes_are_provable() -> None:
    problem = next(p for p in map(drawn, range(0, 60, 3)) if len(p.units) > 2)
    can = provable(problem, Goal.WHOLE_FRONT)
    assert can.front == can.bounded == (0, 1, 2)
    assert can.unbounded is None

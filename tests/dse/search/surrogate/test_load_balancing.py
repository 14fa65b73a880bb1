"""Balanced mappings against all mappings of small problems, and with the limits that they know."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.search.surrogate.load_balancing import balanced_rows, make_balance
from paretosoc.dse.search.surrogate.load_balancing_jit import remap_row
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from tests.support.problems.small_spaces import enumerated

SHAPE = RandomShape(networks=(1, 3), groups=(1, 7), units=(1, 4), points=(1, 4))


def test_rows_are_allowed_and_repeat_with_their_seed():
    for seed in range(40):
        space = DesignSpace(random_problem(np.random.default_rng(seed), SHAPE))
        rows = balanced_rows(space, np.random.default_rng(1), 9)
        again = balanced_rows(space, np.random.default_rng(1), 9)
        anew, stream = rows.copy(), np.array([2], dtype=np.uint64)
        for row in range(len(rows)):
            balance = make_balance(space, 1)
            remap_row(space.tables, space.plan, balance, stream, anew[row : row + 1])
        assert np.array_equal(rows, again)
        for some in (rows, anew):
            mapping = some[:, : space.groups]
            assert space.problem.allowed[np.arange(space.groups), mapping].all()
        assert np.array_equal(rows[:, space.groups :], anew[:, space.groups :])
        changed = rows[:, : space.groups] != anew[:, : space.groups]
        for row in changed:
            assert len(np.unique(space.owner[row])) <= 1, "one network each"


def test_a_network_alone_without_contention_gets_its_fastest_mapping():
    """Its path is the makespan; rows to which energy matters may be slower."""
    alone = RandomShape(
        networks=(1, 1),
        groups=(4, 6),
        units=(3, 3),
        points=(1, 1),
        graphs=False,
        waiting=False,
        contention=False,
    )
    fastest = 0
    for seed in range(12):
        space = DesignSpace(random_problem(np.random.default_rng(seed), alone))
        evaluate = make_outcomes(space.problem)
        best = evaluate(enumerated(space)).objectives[:, 0].min()
        found = evaluate(balanced_rows(space, np.random.default_rng(0), 60)).objectives[:, 0].min()
        assert found <= 1.2 * best
        fastest += int(found == best)
    assert fastest >= 8


def test_they_are_better_than_random_rows():
    space = DesignSpace(reference_problem())
    evaluate = make_outcomes(space.problem)
    rng = np.random.default_rng(0)
    balanced = evaluate(space.repair(rng, balanced_rows(space, rng, 60))).objectives
    drawn = evaluate(space.random(rng, 60)).objectives
    dominated = (balanced[:, None] <= drawn[None]).all(axis=2).any(axis=0)
    assert dominated.mean() > 0.9


@pytest.mark.parametrize("most", [2, 0])
def test_few_segments_are_kept_where_they_are_limited(most):
    shape = replace(SHAPE, networks=(3, 3), groups=(7, 7), units=(3, 3), unsupported=0.0)
    problem = random_problem(np.random.default_rng(3), shape)
    units = (*problem.units[:-1], replace(problem.units[-1], max_segments=most))
    space = DesignSpace(replace(problem, units=units))
    rows = balanced_rows(space, np.random.default_rng(0), 50)
    assert make_outcomes(space.problem)(rows).feasible.mean() > 0.6

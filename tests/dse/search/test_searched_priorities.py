"""Priorities as genes: the space, its operators, and searches against all fixed priorities."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem, with_dispatch
from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.preconditions import check_provable
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.search.optimizers.plain import ExhaustiveEngine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS
from paretosoc.results.problem.execution import SearchedOrder
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem
from tests.support.neighbours import neighbours
from tests.support.problems import small_problems
from tests.support.problems.small_spaces import enumerated, exact_front

SHAPE = RandomShape(networks=(2, 3), groups=(1, 2), units=(1, 2), points=(1, 2))
LEVELS = range(PRIORITY_LEVELS)
OBJECTIVES = (Objective(ObjectiveKind.LATENCY, 0), Objective(ObjectiveKind.LATENCY, 1))


def spaces(count: int, order: SearchedOrder, most: int = 20_000) -> Iterator[DesignSpace]:
    """Small ones whose priorities are searched, for the latencies of two networks."""
    found = 0
    for seed in range(1000):
        problem = random_problem(np.random.default_rng([23, seed]), SHAPE)
        space = DesignSpace(replace(problem, objectives=OBJECTIVES, searched_order=order))
        if space.combinations <= most:
            found += 1
            yield space
        if found == count:
            return


def ranked(priorities: IntArray) -> IntArray:
    """Return priorities [n, of each] in the same order, from 0 on without gaps."""
    ranks = np.zeros_like(priorities)
    for level in LEVELS:
        there = (priorities == level).any(axis=1)
        ranks += there[:, None] & (priorities > level)
    return ranks


def undominated(every: Set[tuple[int, ...]]) -> set[tuple[int, ...]]:
    return {
        one
        for one in every
        if not any(
            other != one and all(b <= a for a, b in zip(one, other, strict=True)) for other in every
        )
    }


def with_priorities(problem: Problem, priorities: tuple[int, ...]) -> Problem:
    networks = zip(problem.networks, priorities, strict=True)
    return replace(
        problem,
        networks=tuple(replace(n, priority=p) for n, p in networks),
        searched_order=None,
    )


def test_orders_of_networks_are_written_without_gaps() -> None:
    for space in spaces(10, SearchedOrder.NETWORKS):
        count = len(space.first)
        every = np.array(list(product(LEVELS, repeat=count)))
        rows = np.repeat(space.random(np.random.default_rng(0), 1), len(every), axis=0)
        rows[:, -count:] = every
        ranks = space.canonical(rows)[:, -count:]
        assert ranks.tolist() == ranked(every).tolist()
        # Weak orders of two or three things.
        assert len(np.unique(ranks, axis=0)) == {2: 3, 3: 13}[count]


def test_orders_of_groups_that_are_written_alike_are_played_alike() -> None:
    """Whatever units take, and with several frames in flight."""
    rewritten = 0
    for seed in range(150):
        rng = np.random.default_rng([31, seed])
        drawn = random_problem(rng, RandomShape(networks=(1, 3), groups=(1, 4), units=(1, 3)))
        problem = replace(with_dispatch(rng, drawn), searched_order=SearchedOrder.GROUPS)
        space = DesignSpace(problem)
        (row,) = space.random(rng, 1)
        row[-problem.priority_count :] = rng.integers(0, PRIORITY_LEVELS, problem.priority_count)
        (written,) = space.canonical(row[None])
        assert np.array_equal(space.canonical(written[None])[0], written)
        rewritten += not np.array_equal(row, written)
        played = [
            plain_timeline.simulate(problem, problem.design_of(each), frames=3, in_flight=2)
            for each in (row, written)
        ]
        assert played[0].schedule == played[1].schedule, seed
    assert rewritten > 100


@pytest.mark.parametrize("order", SearchedOrder)
def test_operators_stay_inside_and_reach_every_order(order: SearchedOrder) -> None:
    reordered = 0
    for number, space in enumerate(spaces(20, order)):
        rng = np.random.default_rng(number)
        rows = space.random(rng, 400)
        near = neighbours(space, rng, rows[:1])
        crossed = space.cross(rng, rows, rows[rng.permutation(400)])
        bred = space.repair(rng, space.mutate(rng, crossed[0]))
        for some in (rows, near, bred):
            assert space.holds(some).all()
        count = space.problem.priority_count
        every = np.unique(ranked(np.array(list(product(LEVELS, repeat=count)))), axis=0)
        for some in (rows, bred):
            found = np.unique(some[:, -count:], axis=0)
            assert len(found) > 1
            if order is SearchedOrder.NETWORKS:
                assert found.tolist() == every.tolist()
        reordered += len(np.unique(near[:, -count:], axis=0)) > 1
        design = space.problem.design_of(rows[0])
        assert [p for each in space.problem.priorities(design) for p in each] == rows[
            0, -count:
        ].tolist()
        assert np.array_equal(design.row, rows[0])
    # Networks may be on units of their own, on which groups have no order.
    assert reordered == 20 if order is SearchedOrder.NETWORKS else reordered > 10


def test_searches_find_the_best_of_all_priorities() -> None:
    """A front over all priorities is that of the fronts of each."""
    better = 0
    for number, space in enumerate(spaces(30, SearchedOrder.NETWORKS)):
        problem = space.problem
        networks = len(problem.networks)
        fronts = {
            priorities: exact_front(DesignSpace(with_priorities(problem, priorities)))[0]
            for priorities in product(LEVELS, repeat=networks)
        }
        every = set().union(*fronts.values())
        expected = undominated(every)
        evaluate = make_outcomes(problem)
        for engine in (ExhaustiveEngine(space), Nsga2Engine(space, seed=number)):
            found = search(engine, evaluate, Budget(20_000))
            assert set(map(tuple, found.objectives.tolist())) == expected, number
        better += expected != fronts[(0,) * networks]
    assert better > 10


def test_searches_find_the_best_of_all_orders_of_groups() -> None:
    """Against the plain simulator, which plays every row. Orders of groups have all that those of
    networks have."""
    for number, space in enumerate(spaces(12, SearchedOrder.GROUPS, most=3_000)):
        problem = space.problem
        every = {
            plain_timeline.simulate(problem, problem.design_of(row)).latency_ps[0][:2]
            for row in enumerated(space)
        }
        expected = undominated(every)
        evaluate = make_outcomes(problem)
        for engine in (ExhaustiveEngine(space), Nsga2Engine(space, seed=number)):
            found = search(engine, evaluate, Budget(20_000))
            assert set(map(tuple, found.objectives.tolist())) == expected, number
        of_networks = replace(problem, searched_order=SearchedOrder.NETWORKS)
        coarser = exact_front(DesignSpace(of_networks))[0]
        assert undominated(expected | coarser) == expected


def test_an_order_of_groups_is_faster_than_any_of_networks() -> None:
    """Both networks go through units 0 and 1, then have a long way to go. Unit 1 is busy until both
    have left unit 0. The second network should be first on 0 and last on 1."""
    networks = [
        small_problems.network(name, *groups)
        for name, *groups in (("a", 0, 3), ("b", 3, 3), ("blocks", 6, 1))
    ]
    times = np.full((7, 4), 1000)
    homes = [0, 1, 3, 0, 1, 2, 1]
    times[range(7), homes] = [10, 5, 100, 10, 20, 120, 25]
    edges = {(0, 1): 0, (1, 2): 0, (3, 4): 0, (3, 5): 0}
    stated = replace(
        small_problems.problem(networks, times.tolist(), edges=edges),
        objectives=(Objective(ObjectiveKind.LATENCY),),
        allowed=times < 1000,
    )
    fastest = {}
    for order in (None, *SearchedOrder):
        space = DesignSpace(replace(stated, searched_order=order))
        found = search(ExhaustiveEngine(space), make_outcomes(space.problem), Budget(20_000))
        fastest[order] = int(found.objectives.min())
    assert fastest == {None: 140, SearchedOrder.NETWORKS: 140, SearchedOrder.GROUPS: 130}


def test_nothing_is_proved_by_the_exact_search() -> None:
    problem = next(spaces(1, SearchedOrder.NETWORKS)).problem
    with pytest.raises(ResultError, match="only bounds over boxes can be proved"):
        check_provable(problem, (0,))


def test_one_network_has_no_order() -> None:
    problem = random_problem(np.random.default_rng(1), replace(SHAPE, networks=(1, 1)))
    check_problem(problem)
    with pytest.raises(ResultError, match=r"^\$\.searched_order: must be left out"):
        check_problem(replace(problem, searched_order=SearchedOrder.NETWORKS))
    check_problem(replace(problem, searched_order=SearchedOrder.GROUPS))

"""Survival and tournaments of NSGA-II, held against pymoo's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymoo.algorithms.moo.nsga2 import binary_tournament
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding

from paretosoc.dse.search.optimizers.selection import survive
from paretosoc.dse.search.optimizers.selection_jit import wins


def pymoo_population(objectives, violation):
    population = Population.new("X", np.arange(len(objectives))[:, None].astype(float))
    for individual, values, broken in zip(population, objectives, violation, strict=True):
        individual.set("F", values)
        individual.set("G", np.array([broken if broken > 0.0 else -1.0]))
    return population


def survivors_of_pymoo(objectives, violation, size):
    """Positions, ranks and crowding distances."""
    count, width = objectives.shape
    problem = Problem(n_var=1, n_obj=width, n_ieq_constr=1, xl=0, xu=count)
    population = pymoo_population(objectives, violation)
    kept = RankAndCrowding().do(
        problem, population, n_survive=size, random_state=np.random.default_rng(0)
    )
    return kept.get("X")[:, 0].astype(int), kept


def random_case(seed):
    """Objectives, some of them equal, and violations, some of them 0."""
    rng = np.random.default_rng(seed)
    count, width = int(rng.integers(1, 120)), int(rng.integers(1, 5))
    span = int(rng.choice([3, 20, 10**6, 10**15]))
    objectives = rng.integers(0, span, (count, width)).astype(float)
    if rng.integers(4) == 0:
        objectives[:, 0] = 7.0
    violation = np.where(rng.random(count) < rng.choice([0.0, 0.3, 1.0]), rng.random(count), 0.0)
    return objectives, violation, int(rng.integers(1, count + 1))


@pytest.mark.parametrize("seed", range(300))
def test_the_same_survive_as_in_pymoo(seed):
    objectives, violation, size = random_case(seed)
    theirs, kept = survivors_of_pymoo(objectives, violation, size)
    ours = survive(objectives, violation, size)
    assert len(ours.chosen) == len(set(ours.chosen.tolist())) == len(theirs) == size
    feasible = violation[ours.chosen] == 0.0
    known = [i for i, individual in enumerate(kept) if violation[theirs[i]] == 0.0]
    crowding = {int(theirs[i]): kept[i].get("crowding") for i in known}
    assert feasible.sum() == len(known)
    # Those that only one of the two kept must be equally crowded members of the last rank.
    mine = {int(i): d for i, d in zip(ours.chosen, ours.crowding, strict=True) if not violation[i]}
    for index in mine.keys() & crowding.keys():
        assert mine[index] == crowding[index]
    assert sorted(mine.values()) == sorted(crowding.values())
    rest, their_rest = set(ours.chosen[~feasible]), set(theirs[violation[theirs] > 0.0])
    assert sorted(violation[list(rest)]) == sorted(violation[list(their_rest)])


def test_crowding_of_a_front_by_hand():
    values = np.array([[0.0, 8.0], [1.0, 6.0], [3.0, 2.0], [4.0, 0.0], [9.0, 9.0]])
    kept = survive(values, np.zeros(5), 5)
    inner = (3 / 4 + 6 / 8) / 2
    assert kept.chosen.tolist() == [0, 1, 2, 3, 4]
    assert kept.crowding.tolist() == [np.inf, inner, inner, np.inf, np.inf]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_every_tournament_is_won_as_in_pymoo(seed):
    objectives, violation, _ = random_case(seed)
    count = len(objectives)
    crowding = np.random.default_rng(seed).choice([0.0, 1.0, np.inf], count)
    population = pymoo_population(objectives, violation)
    for individual, distance in zip(population, crowding, strict=True):
        individual.set("rank", 0)
        individual.set("crowding", distance)

    class Algorithm:
        tournament_type = "comp_by_dom_and_crowding"
        random_state = np.random.default_rng(1)

    rng = np.random.default_rng(seed)
    pairs = np.concatenate([rng.permutation(count) for _ in range(2)]).reshape(-1, 2)
    winners = [a if wins(objectives, violation, crowding, a, b, True) else b for a, b in pairs]
    theirs = binary_tournament(population, pairs, Algorithm())[:, 0]
    for (a, b), mine, other in zip(pairs, winners, theirs, strict=True):
        assert mine in (a, b)
        same_violation = violation[a] == violation[b]
        neither_dominates = (objectives[a] < objectives[b]).any() == (
            objectives[b] < objectives[a]
        ).any()
        tie = same_violation and (violation[a] > 0 or neither_dominates)
        if not (tie and (violation[a] > 0 or crowding[a] == crowding[b])):
            assert mine == other


def test_a_tie_is_won_by_either():
    assert wins(np.zeros((2, 2)), np.zeros(2), np.ones(2), 0, 1, True)
    assert not wins(np.zeros((2, 2)), np.zeros(2), np.ones(2), 0, 1, False)

"""Units that are interchangeable are not searched twice: fronts and proofs against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.reference_problem import reference_problem
from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.dse.certificate.cover.leaves import most_lemmas
from paretosoc.dse.certificate.cover.smtlib import cover_smtlib, prove_cover
from paretosoc.fitness.branch_and_bound import choices
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.problem.interchangeable import (
    in_order_of_use,
    interchangeable_before,
    nearest_names,
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.support.problems.random_spaces import (
    NOTHING,
    random_limited_problem,
    random_power_problem,
    space_of,
)
from tests.support.proofs.lemmas import faults, leaves_of

KINDS = (ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY)
OBJECTIVES = (Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY))


def with_twins(problem: Problem, u: int, v: int) -> Problem:
    """The same, unit ``v`` like unit ``u`` in everything but its name."""
    names = [unit.name for unit in problem.units]
    units = list(problem.units)
    units[v] = replace(units[u], name=names[v])
    allowed = problem.allowed.copy()
    allowed[:, v] = allowed[:, u]

    def alike(table: IntArray) -> IntArray:
        table = table.copy()
        between = table[:, u, v].copy()
        table[:, v, :] = table[:, u, :]
        table[:, :, v] = table[:, :, u]
        table[:, v, v] = table[:, u, u] = 0
        table[:, u, v] = table[:, v, u] = between
        return table

    return replace(
        problem,
        units=tuple(units),
        allowed=allowed,
        transition_ps=alike(problem.transition_ps),
        handover_ps=None if problem.handover_ps is None else alike(problem.handover_ps),
    )


def problems(seed: int, count: int) -> list[tuple[Problem, int, int]]:
    """Random ones with two equal units."""
    rng = np.random.default_rng([77, seed])
    drawn: list[tuple[Problem, int, int]] = []
    while len(drawn) < count:
        if len(drawn) % 2:
            problem = random_power_problem(rng, KINDS[int(rng.integers(2))])
        else:
            problem = random_limited_problem(rng)
        problem = replace(problem, objectives=OBJECTIVES[: int(rng.integers(1, 3))])
        if len(problem.units) > 1:
            u, v = sorted(rng.choice(len(problem.units), 2, replace=False).tolist())
            problem = with_twins(problem, u, v)
            # A group that could be on the unit replaced, and nowhere else, has no unit now.
            if problem.allowed.any(axis=1).all():
                drawn.append((problem, u, v))
    return drawn


def three_alike() -> Problem:
    """Three equal units, first their entries in one number format, then in another."""
    problem = reference_problem()
    units = tuple(
        replace(problem.units[0], name=f"{name}-{form}", unit=name, number_format=form)
        for form in ("fp16", "int8")
        for name in "abc"
    )
    table = np.zeros((len(problem.edges), 6, 6), dtype=np.int64)
    allowed = np.ones((problem.group_count, 6), dtype=np.bool_)
    return replace(problem, units=units, allowed=allowed, transition_ps=table, handover_ps=None)


def outcomes_of(problem: Problem, rows: IntArray) -> IntArray:
    found = make_outcomes(problem)(rows)
    return np.where(found.feasible[:, None], found.objectives, NOTHING)


@pytest.mark.parametrize("seed", range(4))
def test_the_objectives_stay_where_twins_change_places(seed: int) -> None:
    for problem, u, v in problems(seed, 15):
        assert interchangeable_before(problem)[v] == u
        rows = space_of(problem).rows[:3000]
        groups = slice(0, problem.group_count)
        swapped = rows.copy()
        swapped[:, groups][rows[:, groups] == u] = v
        swapped[:, groups][rows[:, groups] == v] = u
        assert (outcomes_of(problem, rows) == outcomes_of(problem, swapped)).all()


@pytest.mark.parametrize("seed", range(4))
def test_members_name_twins_in_the_order_of_their_first_groups(seed: int) -> None:
    renamed = 0
    for problem, u, v in problems(200 + seed, 15):
        rows = space_of(problem).rows[:2000]
        groups = problem.group_count
        found = np.concatenate((in_order_of_use(problem, rows[:, :groups]), rows[:, groups:]), 1)
        assert (outcomes_of(problem, rows) == outcomes_of(problem, found)).all()
        for row, names in zip(rows[:, :groups].tolist(), found[:, :groups].tolist(), strict=True):
            first = next((name for name in row if name in (u, v)), u)
            swap = {u: v, v: u} if first == v else {}
            assert names == [swap.get(name, name) for name in row]
            renamed += bool(swap)
    assert renamed


def test_three_units_alike_and_their_formats_are_renamed_together() -> None:
    problem = three_alike()
    mapping = np.array([[2, 0, 2, 1, 3], [5, 5, 1, 4, 0], [3, 3, 3, 3, 3], [4, 2, 0, 5, 1]])
    # Entries 0 to 2 are the units in one format, 3 to 5 in another.
    assert in_order_of_use(problem, mapping).tolist() == [
        [0, 1, 0, 2, 4],
        [3, 3, 1, 4, 2],
        [3, 3, 3, 3, 3],
        [3, 1, 2, 4, 0],
    ]
    base = np.array([2, 5, 1, 0, 0])
    assert nearest_names(problem, np.array([0, 3, 2, 1, 1]), base).tolist() == base.tolist()
    assert nearest_names(problem, np.array([0, 0, 1, 3, 3]), base).tolist() == [2, 2, 1, 5, 5]


@pytest.mark.parametrize("seed", range(8))
def test_fronts_and_trees_against_enumeration(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = 0
    for problem, _, _ in problems(100 + seed, 20):
        space = space_of(problem)
        vectors = outcomes_of(problem, space.rows)
        feasible = vectors[vectors[:, 0] < NOTHING]
        front = {tuple(row) for row in feasible[non_dominated(feasible)].tolist()}
        result = find_front(problem)
        assert result.complete
        assert {tuple(row) for row in result.objectives.tolist()} == front
        claim = LemmaTarget(
            tuple(range(len(problem.objectives))),
            tuple(tuple(row) for row in result.objectives.tolist()),
            0,
            result.prices,
        )
        assert faults(problem, result.tree, claim) == (None, None)
        if len(space.rows) < 3000:
            lemmas = leaves_of(problem, result.tree)
            covered = np.zeros_like(space.obeys_mapping_rules)
            for index in range(len(lemmas)):
                covered[space.cells(lemmas, index)] = True
            assert covered[space.obeys_mapping_rules].all()
        with monkeypatch.context() as patch:
            patch.setattr(choices, "interchangeable_before", lambda p: (-1,) * len(p.units))
            without = find_front(problem)
        assert {tuple(row) for row in without.objectives.tolist()} == front
        assert result.nodes <= without.nodes
        fewer += result.nodes < without.nodes
        # A tree with all units at every split has more children than the rules have now.
        if without.tree.leaves > result.tree.leaves:
            assert None not in faults(problem, without.tree, claim)
    assert fewer > 5


def test_a_solver_agrees() -> None:
    for problem, _, _ in problems(300, 6):
        result = find_front(problem)
        text = cover_smtlib(problem, leaves_of(problem, result.tree))
        assert prove_cover(text).verdict == "unsat"


def test_mirror_images_are_counted_before_they_are_made() -> None:
    """Of twelve equal cores a leaf has 479 million."""
    problem, _, _ = problems(300, 1)[0]
    tree = find_front(problem).tree
    assert tree.leaves <= len(leaves_of(problem, tree)) <= most_lemmas(problem, tree)
    cores = replace(
        problem,
        units=tuple(replace(problem.units[0], name=f"core{u}") for u in range(12)),
        allowed=np.ones((problem.group_count, 12), dtype=np.bool_),
        transition_ps=np.zeros((len(problem.edges), 12, 12), dtype=np.int64),
        handovers=(),
        handover_ps=None,
    )
    assert most_lemmas(cores, tree) == tree.leaves * 479_001_600


def test_what_differs_in_anything_is_not_interchangeable() -> None:
    problem, u, v = problems(500, 1)[0]
    units = list(problem.units)
    other = units[v].time_ps.copy()
    other.flat[-1] += 1
    changes = {
        "time_ps": other,
        "clocks": (*reversed(units[v].clocks), 0),
        "max_segments": 7,
    }
    for name, value in changes.items():
        units[v] = replace(problem.units[v], **{name: value})
        assert interchangeable_before(replace(problem, units=tuple(units)))[v] != u
    allowed = problem.allowed.copy()
    allowed[0, v] = not allowed[0, v]
    assert interchangeable_before(replace(problem, allowed=allowed))[v] != u
    table = problem.transition_ps + 0
    if len(table):
        table[0, u, v] += 1
        assert interchangeable_before(replace(problem, transition_ps=table))[v] != u

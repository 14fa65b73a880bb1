"""Exact search of problems whose units run engines, and whose hand-overs are slow: what it closes,
the checker and the stranger close, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.execution import ENGINE
from paretosoc.results.problem.problem import Problem
from tests.dse.certificate.test_exact_front import problems
from tests.dse.certificate.verify.test_stranger import tree_refusal
from tests.support.proofs.lemmas import faults

SHAPE = RandomShape(networks=(1, 2), groups=(4, 6), units=(2, 3), points=(1, 1), phases=True)
FIRST, COUNT, PLAIN = 140, 60, 4
MOST_DESIGNS = 20_000


def engines() -> Iterator[Problem]:
    for seed in range(FIRST, FIRST + COUNT):
        problem = random_problem(np.random.default_rng(seed), SHAPE)
        handover = problem.handover_ps
        yield replace(
            problem,
            transition_ps=20 * problem.transition_ps,
            handover_ps=None if handover is None else 20 * handover,
            units=tuple(replace(unit, dispatch=ENGINE) for unit in problem.units),
        )


def test_trees_hold() -> None:
    for number, problem in enumerate(engines()):
        found = find_front(problem, objectives=(0,), jobs=1)
        members = tuple(map(tuple, found.objectives.tolist()))
        claim = LemmaTarget((0,), members, prices=found.prices)
        assert check_tree(problem, found.tree, claim, jobs=1).fault is None
        ways = list(product(*(np.flatnonzero(row).tolist() for row in problem.allowed)))
        if len(ways) <= MOST_DESIGNS:
            rows = np.array([[*way, *(0 for _ in problem.domains)] for way in ways])
            best = int(make_outcomes(problem)(rows).objectives[:, 0].min())
            assert members == ((best,),)
        if number < PLAIN:
            assert check_tree(problem, found.tree, claim, plain=True).fault is None
            assert tree_refusal(problem, found.tree, claim) is None


def test_a_power_cap_counts_transitions_of_a_group_about_to_start() -> None:
    # The search has started the engine's next group at the instant at which the checker stops.
    problem = next(one for one in problems(404) if one.power_cap_mw == 13529)
    found = find_front(problem, objectives=(0, 2), jobs=1)
    members = tuple(map(tuple, found.objectives.tolist()))
    claim = LemmaTarget((0, 2), members, 0, found.prices)
    assert faults(problem, found.tree, claim) == (None, None)

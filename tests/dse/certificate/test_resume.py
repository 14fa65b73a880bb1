"""Exact searches that were ended and go on, in the same process or from the tree's file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretosoc.dse.certificate import branch_and_bound as exact_search
from paretosoc.dse.certificate.improve import FastestResult, find_fastest
from paretosoc.dse.certificate.subtree import Subtree, tree_of_subtrees
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.results.front.proof_tree import tree_bytes, tree_from_bytes
from paretosoc.results.problem.problem import Problem
from tests.support.problems.random_spaces import random_limited_problem
from tests.support.proofs.lemmas import leaves_of


@pytest.mark.parametrize("through_a_file", [False, True])
def test_ended_early_at_every_node_and_gone_on(
    through_a_file: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_search, "SLICE_NODES", 1)
    rng = np.random.default_rng(7)
    checked = 0
    for _ in range(12):
        problem = random_limited_problem(rng)
        whole = find_fastest(problem)
        if whole.nodes > 100 or whole.best_value is None:
            continue
        part = find_fastest(problem, max_nodes=1)
        nodes, bounds = 1, [part.bound]
        while not part.complete:
            assert part.nodes == nodes
            assert part.bound <= whole.best_value
            root = written_and_read(problem, part) if through_a_file else part.root
            part = find_fastest(problem, known=part.best_value, max_nodes=1, resume_from=root)
            bounds.append(part.bound)
            nodes += 1
        checked += nodes
        assert bounds[-1] == whole.best_value
        assert (part.best_value, part.nodes) == (whole.best_value, whole.nodes)
        assert part.tree.leaves == whole.tree.leaves
        some, others = (as_set(problem, result) for result in (part, whole))
        assert some == others
    assert checked > 100


def as_set(problem: Problem, result: FastestResult) -> set[tuple[int, ...]]:
    lemmas = leaves_of(problem, result.tree, (0,))
    rows = np.concatenate((lemmas.units, lemmas.points.astype(np.int64)), axis=1)
    return {tuple(row) for row in rows.tolist()}


def written_and_read(problem: Problem, part: FastestResult) -> Subtree:
    tree = tree_from_bytes(tree_bytes(part.tree))
    assert not tree.is_complete
    members = () if part.best_value is None else ((part.best_value,),)
    claim = LemmaTarget((0,), members, prices=part.prices)
    report = check_tree(problem, tree, claim, jobs=1)
    assert report.wrong is None
    again = tree_of_subtrees(tree, report.open)
    assert tree_bytes(replace(part, root=again).tree) == tree_bytes(tree)
    return again

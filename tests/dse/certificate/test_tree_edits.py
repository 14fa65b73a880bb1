"""Trees with random edits: both checkers say the same, and what they accept is true."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from paretosoc.dse.certificate import branch_and_bound as exact_search
from paretosoc.dse.certificate.branch_and_bound import ExactResult, find_front
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.results.errors import ResultError
from paretosoc.results.front.proof_tree import (
    MEMBERS,
    PART,
    SPLIT,
    ProofTree,
    tree_bytes,
    tree_from_bytes,
)
from paretosoc.results.problem.problem import Problem
from tests.dse.certificate.test_exact_front import problems, vectors_of, within
from tests.support.problems.random_spaces import size_of, space_of
from tests.support.proofs.changed_trees import change_bytes, change_tree
from tests.support.proofs.lemmas import faults, leaves_of
from tests.support.sample import SAMPLE

EDITS = 150 * SAMPLE
PER_PROBLEM = 20
MAX_DESIGNS = 3000


def false_claim(random_: random.Random, claim: LemmaTarget) -> LemmaTarget:
    """A member less, or one that is better than it is."""
    members = list(claim.members)
    index = random_.randrange(len(members))
    if random_.randrange(2):
        del members[index]
    else:
        better = list(members[index])
        better[random_.randrange(len(better))] += 1
        members[index] = tuple(better)
    return LemmaTarget(claim.objectives, tuple(members), claim.tolerance_ppm, claim.prices)


def changed_tree(random_: random.Random, original: ProofTree, changes: int) -> ProofTree | None:
    """Changes of nodes, sometimes also one of the file's bytes, whose hash is made anew; None where
    they cannot be read."""
    parts = [part.tolist() for part in original.parts]
    for _ in range(changes):
        change_tree(random_, parts)
    tree = ProofTree(tuple(np.array(part, dtype=np.uint8) for part in parts))
    if changes == 0 or random_.randrange(4):
        return tree
    try:
        return tree_from_bytes(change_bytes(random_, tree_bytes(tree)))
    except ResultError:
        return None


def test_parts_that_lead_to_themselves_are_refused() -> None:
    problem = problems(100)[0]
    result = find_front(problem, jobs=1)
    claim = claim_of(problem, result, 0)
    parts = result.tree.parts
    for more in ([[PART]], [[PART], [MEMBERS]], [[SPLIT, PART]]):
        tree = ProofTree((*parts, *(np.array(part, dtype=np.uint8) for part in more)))
        wrong = f"part {len(parts)}: no node leads to it"
        assert faults(problem, tree, claim) == (wrong, wrong)


def claim_of(problem: Problem, result: ExactResult, ppm: int) -> LemmaTarget:
    members = tuple(map(tuple, result.objectives.tolist()))
    return LemmaTarget(tuple(range(len(problem.objectives))), members, ppm, result.prices)


def test_what_both_checkers_accept_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    # Small parts, so that trees have several.
    monkeypatch.setattr(exact_search, "SLICE_NODES", 5)
    monkeypatch.setattr(exact_search, "SHARED_NODES", 10)
    random_, seen, chunk = random.Random(7), Counter[str](), 100
    while seen["edits"] < EDITS:
        chunk += 1
        for problem in problems(chunk):
            if size_of(problem) > MAX_DESIGNS or seen["edits"] >= EDITS:
                continue
            ppm = random_.choice([0, 0, 30_000])
            result = find_front(problem, tolerance_ppm=ppm, jobs=1)
            space = space_of(problem)
            vectors = vectors_of(problem, space)
            true_claim = claim_of(problem, result, ppm)
            assert faults(problem, result.tree, true_claim) == (None, None)
            for _ in range(PER_PROBLEM):
                claim = true_claim
                if claim.members and random_.randrange(3) == 0:
                    claim = false_claim(random_, claim)
                changes = random_.randrange(3) if claim is not true_claim else 1
                tree = changed_tree(random_, result.tree, changes)
                seen["edits"] += 1
                if tree is None:
                    seen["unreadable"] += 1
                    continue
                plain, fast = faults(problem, tree, claim)
                assert (plain is None) == (fast is None), (plain, fast)
                seen["several parts"] += len(tree.parts) > 1
                seen["refused" if plain else "accepted"] += 1
                members = np.array(claim.members, dtype=np.int64)
                members = members.reshape(-1, len(problem.objectives))
                is_true = within(vectors, members, ppm)
                seen["false claims"] += not is_true
                if plain is None:
                    assert is_true
                    covered = np.zeros_like(space.obeys_mapping_rules)
                    lemmas = leaves_of(problem, tree)
                    for index in range(len(lemmas)):
                        covered[space.cells(lemmas, index)] = True
                    assert not tree.is_complete or covered[space.obeys_mapping_rules].all()
    assert seen["several parts"] > 0.3 * EDITS, seen
    assert seen["refused"] + seen["unreadable"] > 0.6 * EDITS, seen
    assert seen["unreadable"] > 0.05 * EDITS, seen
    assert seen["accepted"] > 0.02 * EDITS, seen
    assert seen["false claims"] > 0.1 * EDITS, seen

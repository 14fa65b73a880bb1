"""A checker written from docs/concepts alone says of trees and bounds what the program's say."""

from __future__ import annotations

import ast
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.problems.enumerated.space import Enumerated, front_of
from benchmarks.problems.number_formats import with_twin
from paretosoc.dse.certificate import branch_and_bound as exact_search
from paretosoc.dse.certificate.boxes.prove import BoundedFront, bound_front
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.dse.certificate.verify.solvers import wrong_bounds
from paretosoc.fitness.branch_and_bound.prices import load_prices
from paretosoc.fitness.check.boxes.check import CheckedBounds
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import write_results
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.certificate import bounds_bytes
from paretosoc.results.front.front import Front
from paretosoc.results.front.proof_tree import ProofTree, tree_bytes
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_bytes
from tests.dse.certificate.boxes.test_prove import DRAWS, changed
from tests.dse.certificate.test_exact_front import problems
from tests.dse.certificate.test_pools import drawn
from tests.dse.certificate.test_tree_edits import claim_of, false_claim
from tests.dse.certificate.verify.test_bounds_of_models import better_region
from tests.fitness.check.test_bound import drawn_prices
from tests.support import stranger
from tests.support.problems.random_spaces import size_of
from tests.support.proofs.changed_trees import change_tree
from tests.support.proofs.lemmas import faults
from tests.support.proofs.tampered_folder import Files, small_exact_front
from tests.support.sample import SAMPLE
from tests.support.stranger.board import Refused
from tests.support.stranger.bounds import check_bounds, check_epsilon
from tests.support.stranger.folder import check_folder
from tests.support.stranger.lemma import Claim
from tests.support.stranger.tree import check_tree

COUNT = 6 * SAMPLE
EDITS = 12
MAX_DESIGNS = 3000
BOXES = 4


def document_of(problem: Problem) -> Any:
    return json.loads(problem_bytes(problem))


def refusal(check: Callable[[], object]) -> str | None:
    """What a check of the stranger's refuses; None: nothing."""
    try:
        check()
    except Refused as error:
        return str(error)
    return None


def tree_refusal(problem: Problem, tree: ProofTree, claim: LemmaTarget) -> str | None:
    document = document_of(problem)
    asked = tuple(document["objectives"][column] for column in claim.objectives)
    stated = Claim(asked, claim.members, claim.tolerance_ppm, claim.prices)
    return refusal(lambda: check_tree(document, stated, tree_bytes(tree)))


def with_memory_and_formats() -> Iterator[Problem]:
    for seed in count():
        rng = np.random.default_rng([32, seed])
        problem, _ = drawn(rng)
        yield with_twin(rng, problem) if seed % 3 == 0 else problem


def with_limits() -> Iterator[Problem]:
    for chunk in count(100):
        yield from (problem for problem in problems(chunk) if size_of(problem) <= MAX_DESIGNS)


def test_it_imports_nothing_of_the_program() -> None:
    assert stranger.__file__ is not None
    for path in Path(stranger.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                own = name.startswith("tests.support.stranger.")
                assert own or name.split(".")[0] in sys.stdlib_module_names, (path.name, name)


@pytest.mark.parametrize("draw", [with_limits, with_memory_and_formats])
def test_trees_hold_and_changed_ones_get_the_same_verdict(
    draw: Callable[[], Iterator[Problem]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small parts, so that trees have several.
    monkeypatch.setattr(exact_search, "SLICE_NODES", 5)
    monkeypatch.setattr(exact_search, "SHARED_NODES", 10)
    random_, seen = random.Random(3), Counter[str]()
    for number, problem in enumerate(islice(draw(), 2 * COUNT)):
        ppm = random_.choice([0, 30_000])
        if number % 2:
            # Others than those that the search would take, which are few.
            rows = drawn_prices(number, problem)
            monkeypatch.setattr(exact_search, "load_prices", lambda *_, rows=rows: rows)
        else:
            monkeypatch.setattr(exact_search, "load_prices", load_prices)
        result = find_front(problem, tolerance_ppm=ppm, jobs=1)
        true_claim = claim_of(problem, result, ppm)
        assert tree_refusal(problem, result.tree, true_claim) is None
        for _ in range(EDITS):
            claim = true_claim
            if claim.members and random_.randrange(3) == 0:
                claim = false_claim(random_, claim)
            parts = [part.tolist() for part in result.tree.parts]
            for _ in range(random_.randrange(3) if claim is not true_claim else 1):
                change_tree(random_, parts)
            tree = ProofTree(tuple(np.array(part, dtype=np.uint8) for part in parts))
            theirs, _ = faults(problem, tree, claim)
            ours = tree_refusal(problem, tree, claim)
            # Its paths count the least transitions of open groups, too, and close a little more.
            same = (theirs is None) == (ours is None)
            assert same or (theirs is not None and re.search("is not closed|is open", theirs)), (
                theirs,
                ours,
            )
            seen["same" if same else "more"] += 1
            seen["refused" if ours else "accepted"] += 1
    assert seen["refused"] > seen["accepted"] > 0, seen
    assert seen["more"] <= 0.05 * seen["same"], seen


def bounded_fronts(
    draw: Callable[[int], Enumerated | None],
) -> Iterator[tuple[Problem, Front, BoundedFront]]:
    for seed in count():
        found = draw(seed)
        front = None if found is None else front_of(found, np.random.default_rng(seed))
        if found is None or front is None:
            continue
        bounded = bound_front(front, range(len(found.problem.objectives)), max_boxes=BOXES)
        if bounded is not None:
            yield found.problem, front, bounded


def bounds_refusal(problem: Problem, proof: BoundProof) -> str | None:
    document = document_of(problem)
    return refusal(lambda: check_bounds(document, json.loads(bounds_bytes(proof))))


def refused_by_the_program(problem: Problem, proof: BoundProof) -> bool:
    try:
        checked = CheckedBounds(problem, proof)
    except ResultError:
        return True
    return not all(checked.is_empty(corner) for corner in proof.region)


@pytest.mark.parametrize("draw", DRAWS)
def test_bounds_hold_and_changed_ones_get_the_same_verdict(
    draw: Callable[[int], Enumerated | None],
) -> None:
    random_, seen = random.Random(draw.__name__), Counter[str]()
    for problem, front, bounded in islice(bounded_fronts(draw), COUNT):
        assert wrong_bounds(front, bounded.claim, bounded.proof) is None
        assert bounds_refusal(problem, bounded.proof) is None
        members = [front.members[k].objectives for k in bounded.claim.members]
        region = json.loads(bounds_bytes(bounded.proof))["region"]
        ppm = bounded.claim.epsilon_ppm
        assert refusal(lambda m=members, r=region, e=ppm: check_epsilon(m, r, e)) is None
        if ppm > 0:
            assert refusal(lambda m=members, r=region, e=ppm - 1: check_epsilon(m, r, e))
        for _ in range(EDITS):
            proof = bounded.proof
            if proof.region and random_.randrange(2):
                proof = better_region(random_, front, proof)
            elif proof.multipliers:
                proof = changed(np.random.default_rng(random_.randrange(2**32)), proof)
            theirs = refused_by_the_program(problem, proof)
            ours = bounds_refusal(problem, proof)
            # Contention is counted exactly here: a little more is proved than by the program.
            assert theirs or ours is None, ours
            seen["closes more" if theirs and not ours else "both refuse" if ours else "hold"] += 1
    assert seen["both refuse"] > 0, seen
    assert seen["closes more"] <= 0.15 * seen.total(), seen


def test_proofs_of_real_networks_hold(certified: Path, tmp_path: Path) -> None:
    assert check_folder(certified) == ["certificate"]
    front, _ = small_exact_front()
    bounded = bound_front(front, (0, 1), max_boxes=BOXES)
    assert bounded is not None
    front = replace(front, bounds=bounded.claim)
    write_results(tmp_path / "bounds", front, bounds=bounded.proof, pictures=False)
    assert check_folder(tmp_path / "bounds") == ["bounds"]


def test_a_changed_tree_of_real_networks_is_refused_as_by_verify(files: Files) -> None:
    random_, seen = random.Random(8), Counter[str]()
    for _ in range(EDITS):
        edited = files.copy()
        change_tree(random_, edited.tree)
        failing = edited.failing()
        ours = refusal(lambda folder=edited.folder: check_folder(folder))
        assert (failing is None) == (ours is None), (failing, ours)
        seen["refused" if ours else "accepted"] += 1
    assert seen["refused"] > 0, seen

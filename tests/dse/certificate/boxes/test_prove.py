"""Bounds of fronts against enumeration, and proofs that were changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest

from benchmarks.problems.enumerated.formats import enumerated_formats, enumerated_losses
from benchmarks.problems.enumerated.frames import enumerated
from benchmarks.problems.enumerated.models import enumerated_model
from benchmarks.problems.enumerated.rates import enumerated_rates
from benchmarks.problems.enumerated.space import (
    Enumerated,
    all_designs,
    front_of,
    holds_a_point,
    is_within,
)
from paretosoc.dse.certificate.boxes import search
from paretosoc.dse.certificate.boxes.prove import BoundedFront, bound_front
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.certificate.verify.solvers import wrong_bounds
from paretosoc.fitness.check.boxes.check import CheckedBounds
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import BoundProof, Leaf, Multipliers
from paretosoc.results.front.certificate import bounds_bytes, bounds_from_bytes
from paretosoc.results.front.front import Front
from paretosoc.results.problem.problem_file import problem_from_document
from tests.support.sample import SAMPLE

CHUNKS, PER_CHUNK = SAMPLE, 6
DRAWS = [enumerated, enumerated_model, enumerated_rates, enumerated_formats]


def judged(found: Enumerated | None, seed: int) -> str:
    """What is said of a front of some design points, which is true by enumeration."""
    front = None if found is None else front_of(found, np.random.default_rng(seed))
    if found is None or front is None:
        return "no front"
    bounded = bounds_of(front)
    if bounded is None:
        return "nothing known"
    assert bounded.refused == 0, seed
    assert wrong_bounds(front, bounded.claim, bounded.proof) is None, seed
    for corner in bounded.proof.region:
        assert not holds_a_point(found.feasible, corner), (seed, corner)
    members = np.array([member.objectives for member in front.members])
    assert is_within(members, found.feasible, bounded.claim.epsilon_ppm), seed
    return "proved"


SAMPLES = Path(__file__).parents[3] / "data" / "bounds"
"""Problems with contention of any slopes, and design points of a front of each."""


def sample(path: Path) -> tuple[Front, np.ndarray]:
    """A front, and the objectives [n, objectives] of all feasible design points."""
    document = json.loads(path.read_text())
    problem = problem_from_document(document["problem"])
    front = seed_front(problem, np.array(document["rows"]), engine="search")
    outcomes = make_outcomes(problem)(all_designs(problem))
    return front, outcomes.objectives[outcomes.feasible]


def bounds_of(front: Front) -> BoundedFront | None:
    return bound_front(front, range(len(front.problem.objectives)), max_boxes=12)


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.stem)
def test_search_and_check_agree(path: Path) -> None:
    front, feasible = sample(path)
    bounded = bounds_of(front)
    assert bounded is not None
    assert bounded.refused == 0
    assert wrong_bounds(front, bounded.claim, bounded.proof) is None
    assert not any(holds_a_point(feasible, corner) for corner in bounded.proof.region)


def test_what_the_check_refuses_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    front, feasible = sample(SAMPLES / "latency_of_formats.json")
    honest, found = bounds_of(front), search.BoxSearch.result
    assert honest is not None
    # A search that finds all members optimal.
    monkeypatch.setattr(search.BoxSearch, "result", lambda self: replace(found(self), epsilon=0.0))
    bounded = bounds_of(front)
    assert bounded is not None
    assert bounded.refused == 1
    assert bounded.claim.epsilon_ppm >= honest.claim.epsilon_ppm
    assert wrong_bounds(front, bounded.claim, bounded.proof) is None
    assert not any(holds_a_point(feasible, corner) for corner in bounded.proof.region)
    monkeypatch.setattr(CheckedBounds, "is_empty", lambda self, corner: False)
    assert bounds_of(front) is None


def test_claims_from_fewer_corners_are_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of fronts with thousands, in small."""
    monkeypatch.setattr(search, "MAX_CORNERS", 9)
    seen: Counter[str] = Counter()
    for seed in range(60):
        found = enumerated_formats(seed)
        if found is not None and len(found.problem.objectives) > 2:
            seen[judged(found, seed)] += 1
    assert seen["proved"] > 5, seen


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_claim_is_true_by_enumeration(
    chunk: int, draw: Callable[[int], Enumerated | None]
) -> None:
    said = (judged(draw(seed), seed) for seed in count(chunk, CHUNKS))
    seen = Counter(islice((one for one in said if one != "no front"), PER_CHUNK))
    assert seen["proved"] > 2 * seen["nothing known"], seen


def test_losses_alone_are_proved_by_lines_that_close_them() -> None:
    """Where the least sum of a line is 0, it says nothing of corners that it does not close."""
    seen = Counter(judged(enumerated_losses(seed), seed) for seed in range(16))
    assert seen["proved"] > 8, seen


def grown(weights: Multipliers, factor: int) -> Multipliers:
    """All of them times a factor: the same inequality."""

    def times(row: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(value * factor for value in row)

    return Multipliers(
        units=tuple(map(times, weights.units)),
        chains=times(weights.chains),
        energy=weights.energy * factor,
        segments=times(weights.segments),
        figures=times(weights.figures),
    )


@pytest.mark.parametrize("draw", DRAWS)
def test_large_multipliers_say_the_same(draw: Callable[[int], Enumerated | None]) -> None:
    """Nothing leaves the integers that the check computes with."""
    empty = full = proofs = 0
    seeds = count(3000)
    while proofs < 4:
        seed = next(seeds)
        found = draw(seed)
        front = None if found is None else front_of(found, np.random.default_rng(seed))
        if found is None or front is None:
            continue
        bounded = bound_front(front, range(len(found.problem.objectives)), max_boxes=3)
        if bounded is None:
            continue
        proof, proofs = bounded.proof, proofs + 1
        corners = [*proof.region[:4]]
        corners += [
            tuple(v if v is None else v + abs(v) // 20 for v in corner) for corner in corners
        ]
        answers = [CheckedBounds(found.problem, proof).is_empty(corner) for corner in corners]
        empty, full = empty + answers.count(True), full + answers.count(False)
        for bits in (20, 32, 45, 60):
            large = tuple(grown(weights, 1 << bits) for weights in proof.multipliers)
            checked = CheckedBounds(found.problem, replace(proof, multipliers=large))
            assert [checked.is_empty(corner) for corner in corners] == answers, (seed, bits)
    assert empty > 3
    assert full > 3


def changed(rng: np.random.Generator, proof: BoundProof) -> BoundProof:
    """One number of the proof is another one."""
    index = int(rng.integers(len(proof.multipliers)))
    weights = proof.multipliers[index]

    def other(row: tuple[int, ...]) -> tuple[int, ...]:
        at = int(rng.integers(len(row)))
        value = int(rng.choice([0, row[at] // 2, row[at] + 1, 2 * row[at], 10**9]))
        return (*row[:at], min(value, 2**63 - 1), *row[at + 1 :])

    match int(rng.integers(7)):
        case 6 if proof.classes:
            networks = len(proof.paths)
            apart = rng.permutation(networks)[: len(proof.apart)].tolist()
            shift = int(rng.integers(1, 10**8))
            u = int(rng.integers(len(proof.classes)))
            row = tuple(k + shift if k else 0 for k in proof.classes[u])
            classes = (*proof.classes[:u], row, *proof.classes[u + 1 :])
            return replace(proof, apart=tuple(apart), classes=classes)
        case 0:
            weights = replace(weights, energy=other((weights.energy,))[0])
        case 1:
            # Of a unit with several number formats the first has them.
            u = int(rng.choice([u for u, row in enumerate(weights.units) if row]))
            units = (*weights.units[:u], other(weights.units[u]), *weights.units[u + 1 :])
            weights = replace(weights, units=units)
        case 2:
            weights = replace(weights, chains=other(weights.chains))
        case 3 if weights.figures and rng.integers(2):
            weights = replace(weights, figures=other(weights.figures))
        case 3:
            weights = replace(weights, segments=other(weights.segments))
        case 4:
            at = int(rng.integers(len(proof.tree)))
            node = proof.tree[at]
            moved = (
                Leaf(node.multipliers[1:])
                if isinstance(node, Leaf)
                else replace(node, points=int(rng.integers(1, 8)))
            )
            return replace(proof, tree=(*proof.tree[:at], moved, *proof.tree[at + 1 :]))
        case _:
            at = int(rng.integers(len(proof.region)))
            corner = tuple(None if v is None else v + abs(v) // 50 for v in proof.region[at])
            region = (*proof.region[:at], corner, *proof.region[at + 1 :])
            return replace(proof, region=region)
    table = (*proof.multipliers[:index], weights, *proof.multipliers[index + 1 :])
    return replace(proof, multipliers=table)


@pytest.mark.parametrize("draw", DRAWS)
def test_a_changed_proof_is_refused_or_still_true(draw: Callable[[int], Enumerated | None]) -> None:
    seen: Counter[str] = Counter()
    for seed in range(9):
        found = draw(seed)
        rng = np.random.default_rng(seed)
        front = None if found is None else front_of(found, rng)
        bounded = None
        if found is not None and front is not None:
            bounded = bound_front(front, range(len(found.problem.objectives)), max_boxes=6)
        if found is None or front is None or bounded is None or not bounded.proof.multipliers:
            continue
        for _ in range(6):
            proof = changed(rng, bounded.proof)
            proof = bounds_from_bytes(bounds_bytes(proof), found.problem)
            claim = replace(bounded.claim, region=proof.region)
            if wrong_bounds(front, claim, proof) is not None:
                seen["refused"] += 1
                continue
            seen["holds"] += 1
            for corner in proof.region:
                assert not holds_a_point(found.feasible, corner), (seed, corner)
    assert min(seen["refused"], seen["holds"]) > 4, seen


def test_proofs_that_do_not_fit_are_refused_with_the_path() -> None:
    found = enumerated(3)
    assert found is not None
    front = front_of(found, np.random.default_rng(0))
    assert front is not None
    bounded = bound_front(front, range(len(found.problem.objectives)), max_boxes=4)
    assert bounded is not None
    proof = bounded.proof
    negative = replace(proof.multipliers[0], energy=-1)
    short = Multipliers(0, (), (), ())
    for broken, path in (
        (replace(proof, tree=proof.tree[:-1]), r"\$\.tree"),
        (replace(proof, tree=(*proof.tree, Leaf(()))), r"\$\.tree"),
        (replace(proof, tree=(Leaf((10**6,)),)), r"\$\.tree\[0\]"),
        (replace(proof, chains=((99,),)), r"\$\.chains\[0\]"),
        (replace(proof, paths=proof.paths[:-1]), r"\$\.paths"),
        (replace(proof, classes=((1,),)), r"\$\.classes"),
        (replace(proof, apart=(0, 0)), r"\$\.apart"),
        (replace(proof, apart=(99,)), r"\$\.apart"),
        (replace(proof, multipliers=(negative,)), r"\$\.multipliers\[0\]"),
        (replace(proof, multipliers=(short,)), r"\$\.multipliers\[0\]"),
        (replace(proof, objectives=("power",)), r"\$\.objectives"),
    ):
        with pytest.raises(ResultError, match=path):
            CheckedBounds(found.problem, broken)

"""The trade-off of makespan and energy: random problems against enumeration, and trees that need
its rows of energy and sets of domains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import paretosoc as dse
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.fitness.branch_and_bound import choices
from paretosoc.fitness.check import make_facts
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.dse.certificate.test_exact_front import (
    as_set,
    front_of,
    problems,
    require_lemmas,
    vectors_of,
    within,
)
from tests.support.problems.random_spaces import space_of
from tests.support.proofs.lemmas import faults
from tests.support.sample import SAMPLE

CHUNKS, PROBLEMS = 2 * SAMPLE, 8
PAIR = (Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY))


def _own_domains(problem: Problem) -> set[int]:
    """Domains that are at most the first clock of units, so that they may be off."""
    later = {d for unit in problem.units for d in unit.clocks[1:]}
    return set(range(len(problem.domains))) - later - {problem.memory_domain}


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_problems_against_enumeration(chunk: int) -> None:
    rng = np.random.default_rng([41, chunk])
    for drawn in problems(700 + chunk)[:PROBLEMS]:
        problem = replace(
            drawn,
            objectives=PAIR[:: int(rng.choice([1, -1]))],
            domains=tuple(
                replace(domain, may_be_off=domain.may_be_off or (d in own and rng.random() < 0.8))
                for own in [_own_domains(drawn)]
                for d, domain in enumerate(drawn.domains)
            ),
        )
        space = space_of(problem)
        vectors = vectors_of(problem, space)
        ppm = int(rng.choice([0, 30_000]))
        result = find_front(problem, tolerance_ppm=ppm)
        assert result.complete
        if ppm == 0:
            assert as_set(result.objectives) == as_set(front_of(vectors))
        assert within(vectors, result.objectives, ppm)
        require_lemmas(problem, space, vectors, result, ppm)


@pytest.fixture(scope="module")
def pair() -> Problem:
    """Two networks on a GPU and two DLAs, which may be off, at all clocks but the memory's."""
    networks = ["resnet50", "mobilenet_v2"]
    return dse.Problem(networks, "jetson-agx-xavier", groups=5, fixed={"emc": "max"}).numeric


def test_a_tree_does_not_hold_without_its_rows_of_energy_or_sets_of_domains(
    pair: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find_front(pair)
    members = tuple(map(tuple, found.objectives.tolist()))
    claim = LemmaTarget((0, 1), members, 0, found.prices)
    assert faults(pair, found.tree, claim) == (None, None)
    of_makespan = tuple(row for row in found.prices if row[0] == 0)
    assert None not in faults(pair, found.tree, replace(claim, prices=of_makespan))
    monkeypatch.setattr(make_facts, "MOST_OPTIONAL", 0)
    assert None not in faults(pair, found.tree, claim)


def test_a_search_without_sets_of_domains_finds_the_same_with_more_nodes(
    pair: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find_front(pair)
    monkeypatch.setattr(choices, "MOST_OPTIONAL", 0)
    plain = find_front(pair)
    assert as_set(found.objectives) == as_set(plain.objectives)
    assert found.nodes < plain.nodes

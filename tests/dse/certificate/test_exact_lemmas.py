"""Trees of the exact search against the checker, compiled and interpreted; they share no code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretosoc.dse.certificate.improve import find_fastest
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.support.problems.random_spaces import random_power_problem, size_of
from tests.support.proofs.lemmas import failing_lemmas, faults, leaves_of
from tests.support.sample import SAMPLE

CHUNKS, CHUNK = 2 * SAMPLE, 30
MAX_DESIGNS = 3000


def problems(chunk: int, objective: ObjectiveKind) -> list[Problem]:
    rng = np.random.default_rng([9, chunk])
    drawn: list[Problem] = []
    while len(drawn) < CHUNK:
        problem = random_power_problem(rng, objective)
        if size_of(problem) <= MAX_DESIGNS:
            drawn.append(problem)
    return drawn


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_tree_holds_by_both_checkers(chunk: int) -> None:
    sums_rates = chunk % 2 == 1
    objective = ObjectiveKind.INVERSE_LATENCY if sums_rates else ObjectiveKind.LATENCY
    without_limits = 0
    for number, problem in enumerate(problems(chunk, objective)):
        result = find_fastest(problem, sums_rates=sums_rates)
        assert result.complete
        members = () if result.best_value is None else ((result.best_value,),)
        claim = LemmaTarget((0,), members, prices=result.prices)
        assert faults(problem, result.tree, claim) == (None, None), f"problem {number}"
        lemmas = leaves_of(problem, result.tree, (0,))
        assert failing_lemmas(problem, lemmas, claim) == []
        free = replace(problem, power_cap_mw=None, energy_budget_fj=None)
        without_limits += len(failing_lemmas(free, lemmas, claim))
    assert without_limits > 30, "too few lemmas need the power cap or the energy budget"

"""The interpreted timeline of many executions: no more steps than executions ask for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_design, random_problem
from paretosoc.fitness.check.members.frames import simulate
from tests.support.growth import LINEAR, growth


@pytest.mark.parametrize("seed", range(3))
def test_repeats_take_linear_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, RandomShape(networks=(2, 2), groups=(4, 4), graphs=True))
    design = random_design(rng, problem)

    def repeated(count: int):
        networks = tuple(replace(network, repeats=count) for network in problem.networks)
        return replace(problem, networks=networks)

    assert growth(lambda made: simulate(made, design), repeated, 10) < LINEAR

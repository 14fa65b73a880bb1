"""Where classes of demand begin, against enumeration."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.problems.enumerated.frames import SHAPE
from benchmarks.problems.random_problem import random_problem
from paretosoc.fitness.multipliers.structure import MAX_CLASSES_EACH, classes_of
from paretosoc.results.front.bounds import MAX_CONFIGURATIONS
from paretosoc.results.problem.problem import Problem


def with_costs(problem: Problem, time: np.ndarray, demand: np.ndarray) -> Problem:
    """All units with these times and demands [groups], at all clocks."""

    def everywhere(row: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return np.broadcast_to(row.reshape(-1, *[1] * (len(shape) - 1)), shape).copy()

    units = tuple(
        replace(
            unit,
            time_ps=everywhere(time, unit.time_ps.shape),
            demand_kbps=everywhere(demand, unit.time_ps.shape),
            step_ps=None,
        )
        for unit in problem.units
    )
    return replace(problem, units=units, allowed=np.ones_like(problem.allowed))


def rounded_away(begins: tuple[int, ...], time: np.ndarray, demand: np.ndarray) -> int:
    """Of the demands, weighted by times, what the least of a class leaves out."""
    least: dict[int, int] = {}
    for kbps in demand.tolist():
        k = bisect_right(begins, kbps)
        least[k] = min(kbps, least.get(k, kbps))
    pairs = zip(time.tolist(), demand.tolist(), strict=True)
    return sum(ps * (kbps - least[bisect_right(begins, kbps)]) for ps, kbps in pairs)


@given(st.integers(0, 10**6), st.integers(1, 14))
def test_classes_round_away_as_little_as_any_others(seed: int, kinds: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, replace(SHAPE, networks=(4, 4), groups=(3, 3), units=(2, 2)))
    if all(unit.contention is None for unit in problem.units):
        assert classes_of(problem) == ()
        return
    repeats = problem.repeats
    time = rng.integers(1, 50, problem.group_count)
    demand = rng.integers(1, 40, kinds)[rng.integers(0, kinds, problem.group_count)]
    begins = classes_of(with_costs(problem, time, demand))[0]
    assert begins[0] == 0
    assert list(begins) == sorted(set(begins))
    levels = sorted(set(demand.tolist()))
    count = min(MAX_CLASSES_EACH, len(levels))
    least = min(
        rounded_away((0, *inner), repeats * time, demand)
        for inner in combinations(levels[1:], count - 1)
    )
    assert rounded_away(begins, repeats * time, demand) == least


@pytest.mark.parametrize("units", [2, 4, 6, 8])
def test_the_check_takes_as_many_configurations_as_the_search_makes(units: int) -> None:
    rng = np.random.default_rng(units)
    shape = replace(SHAPE, networks=(3, 3), groups=(6, 6), units=(units, units), unsupported=0.0)
    problem = random_problem(rng, shape)
    while all(unit.contention is None for unit in problem.units):
        problem = random_problem(rng, shape)
    for apart in range(3):
        groups = [list(problem.networks[n].groups) for n in range(apart)]
        classes = classes_of(problem, groups)
        assert prod(len(row) + 1 for row in classes) <= MAX_CONFIGURATIONS
        assert bool(classes) == (units < 8 or apart < 2)

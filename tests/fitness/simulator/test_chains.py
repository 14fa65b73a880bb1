"""The timeline for many chains against the general and the plain one, to the last picosecond."""

from __future__ import annotations

import numpy as np
import pytest

import fitness.simulator.chains.chains
import fitness.simulator.general
from benchmarks.problems.random_problem import RandomShape, random_problem
from fitness.simulate import Kernel, fastest_kernel, make_evaluator
from fitness.simulator.chains.chain_lanes import LANES, MAX_UNITS
from tests.support.features import compare_all
from tests.support.problems.chain_cases import assert_same, chains_of, compare, rows_of

PROBLEMS = 10_000
CHUNKS = 20
PER_CHUNK = PROBLEMS // CHUNKS
MIN_OF_CHUNK = {
    **{f"{count} networks": 30 for count in (1, 2, 3, 4, 5, 6)},
    **{f"{count} units": 60 for count in (1, 2, 3, 4)},
    "repeats": 100,
    "arrives late": 100,
    "copy": 100,
    "impossible rows": 100,
    "no contention": 60,
    "slowed": 100,
    "no transitions": 60,
    "ties": 150,
    "one overtakes another": 30,
    "a tie between networks": 60,
    "times near the limit": 40,
}
"""How many problems of a chunk must show the feature, so that agreement means something."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_many_chains_equal_general_and_plain(chunk: int) -> None:
    compare_all(
        lambda seed: compare(seed, (1, 6), Kernel.MANY_CHAINS),
        range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK),
        MIN_OF_CHUNK,
    )


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 5 * LANES])
def test_any_number_of_rows(count: int) -> None:
    problem = chains_of(4, (3, 6))
    rows = np.concatenate([rows_of(problem, seed) for seed in range(3)])[:count]
    evaluate = make_evaluator(problem, kernel=Kernel.MANY_CHAINS)
    result = evaluate(rows)
    assert len(result.makespan_ps) == count
    assert_same(result, make_evaluator(problem, kernel=Kernel.GENERAL)(rows), f"{count} rows")
    assert_same(evaluate(rows), result, "the same buffers again")


@pytest.mark.parametrize("units", [MAX_UNITS, MAX_UNITS + 1])
def test_more_units_than_it_has_room_for_take_the_general_kernel(
    units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = RandomShape(
        networks=(3, 3), groups=(4, 4), units=(units, units), graphs=False, waiting=False
    )
    problem = random_problem(np.random.default_rng(units), shape)
    rows = rows_of(problem, units)
    assert fastest_kernel(problem) is (Kernel.MANY_CHAINS if units == MAX_UNITS else Kernel.GENERAL)
    general = make_evaluator(problem, kernel=Kernel.GENERAL)(rows)
    refused = fitness.simulator.general if units == MAX_UNITS else fitness.simulator.chains.chains
    name = "evaluate_rows" if units == MAX_UNITS else "simulate_chains"
    monkeypatch.setattr(refused, name, None)
    assert_same(make_evaluator(problem)(rows), general, f"{units} units")

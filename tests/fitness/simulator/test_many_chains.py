"""The timeline for many chains against the general and the plain one, to the last picosecond."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import paretosoc.fitness.simulator.chains.many_chains
import paretosoc.fitness.simulator.general
from paretosoc.fitness.simulate import MANY_ROWS, Kernel, fastest_kernel, make_evaluator
from paretosoc.fitness.simulator.chains.chain_tables import LANES, MOST_CHAINS, are_separate
from paretosoc.results.problem.execution import SHARED
from tests.support.features import compare_all
from tests.support.problems.chain_cases import assert_same, chains_of, compare, rows_of
from tests.support.sample import SAMPLE

CHUNKS, PER_CHUNK = SAMPLE, 500
MIN_OF_CHUNK = {
    **{f"{count} networks": 30 for count in (1, 2, 3, 4, 5, 6)},
    **{f"{count} units": 60 for count in (1, 2, 3, 4)},
    "repeats": 80,
    "arrives late": 80,
    "copy": 50,
    "impossible rows": 80,
    "no contention": 50,
    "slowed": 80,
    "engine": 10,
    "no transitions": 50,
    "ties": 150,
    "one overtakes another": 20,
    "a tie between networks": 40,
    "times near the limit": 30,
}
"""How many problems of a chunk must show the feature, so that agreement means something."""


def compared(seed: int) -> set[str]:
    """The features of a problem that the kernel takes, none of one that it does not."""
    separate = are_separate(chains_of(seed, (1, 6)))
    return compare(seed, (1, 6), Kernel.MANY_CHAINS) if separate else set()


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_chains_equal_general_and_plain(chunk: int) -> None:
    compare_all(compared, range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK), MIN_OF_CHUNK)


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 5 * LANES])
def test_any_number_of_rows(count: int) -> None:
    problem = chains_of(12, (3, 6))
    assert fastest_kernel(problem) is Kernel.MANY_CHAINS
    rows = np.concatenate([rows_of(problem, 12)] * 3)[:count]
    evaluate = make_evaluator(problem)
    result = evaluate(rows)
    assert len(result.makespan_ps) == count
    assert_same(result, make_evaluator(problem, kernel=Kernel.GENERAL)(rows), f"{count} rows")
    assert_same(evaluate(rows), result, "the same buffers again")


def test_few_rows_are_left_to_the_general_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = chains_of(12, (3, 6))
    rows, evaluate = rows_of(problem, 12), make_evaluator(problem)
    whole = evaluate(rows)
    monkeypatch.setattr(paretosoc.fitness.simulator.chains.many_chains, "evaluate_many", None)
    few = make_evaluator(problem)(rows[: MANY_ROWS - 1])
    assert np.array_equal(few.makespan_ps, whole.makespan_ps[: MANY_ROWS - 1])
    with pytest.raises(TypeError):
        make_evaluator(problem)(rows[:MANY_ROWS])


def test_nothing_but_impossible_rows() -> None:
    problem = chains_of(12, (3, 6))
    units = tuple(replace(unit, time_ps=np.full_like(unit.time_ps, -1)) for unit in problem.units)
    result = make_evaluator(replace(problem, units=units))(rows_of(problem, 12))
    assert not result.possible.any()
    assert not result.latency_ps.any()


def test_chains_do_not_take_the_general_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = chains_of(12, (3, 6))
    monkeypatch.setattr(paretosoc.fitness.simulator.general, "evaluate_rows", None)
    assert make_evaluator(problem)(rows_of(problem, 12)).possible.any()


def test_what_shares_a_unit_takes_the_general_kernel() -> None:
    problem = chains_of(12, (3, 6))
    shared = replace(problem.units[0], dispatch=SHARED)
    other = replace(problem, units=(shared, *problem.units[1:]))
    assert fastest_kernel(other) is Kernel.GENERAL


def test_more_networks_than_a_word_has_bits_take_the_general_kernel() -> None:
    problem = chains_of(12, (3, 6))
    names = range(MOST_CHAINS + 1 - len(problem.networks))
    more = tuple(replace(problem.networks[0], name=f"n{n}") for n in names)
    assert not are_separate(replace(problem, networks=(*problem.networks, *more)))

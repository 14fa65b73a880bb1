"""The timeline for two chains against the general one and the plain one, to the last picosecond."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import paretosoc.fitness.simulator.chains.two_chains
import paretosoc.fitness.simulator.general
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate import Kernel, make_evaluator
from paretosoc.fitness.simulator.chains.chain_tables import LANES
from tests.support.features import compare_all
from tests.support.problems.chain_cases import assert_same, chains_of, compare, rows_of
from tests.support.sample import SAMPLE

CHUNKS, PER_CHUNK = SAMPLE, 500
MIN_OF_CHUNK = {
    "1 networks": 100,
    "2 networks": 100,
    **{f"{count} units": 80 for count in (1, 2, 3, 4)},
    "repeats": 80,
    "arrives late": 80,
    "copy": 50,
    "impossible rows": 80,
    "no contention": 80,
    "slowed": 80,
    "engine": 20,
    "sharing": 20,
    "no transitions": 80,
    "ties": 200,
    "one overtakes another": 15,
    "a tie between networks": 40,
    "times near the limit": 50,
}
"""How many problems of a chunk must show the feature, so that agreement means something."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_chains_equal_general_and_plain(chunk: int) -> None:
    compare_all(
        lambda seed: compare(seed, (1, 2), Kernel.TWO_CHAINS),
        range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK),
        MIN_OF_CHUNK,
    )


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 5 * LANES])
def test_any_number_of_rows(count: int) -> None:
    problem = reference_problem()
    rows = np.random.default_rng(count).integers(0, 2, (count, 22))
    evaluate = make_evaluator(problem)
    result = evaluate(rows)
    assert len(result.makespan_ps) == count
    assert_same(result, make_evaluator(problem, kernel=Kernel.GENERAL)(rows), f"{count} rows")
    assert_same(evaluate(rows), result, "the same buffers again")


def test_nothing_but_impossible_rows() -> None:
    problem = chains_of(0, (1, 2))
    units = tuple(replace(unit, time_ps=np.full_like(unit.time_ps, -1)) for unit in problem.units)
    rows = rows_of(problem, 0)
    result = make_evaluator(replace(problem, units=units))(rows)
    assert not result.possible.any()
    assert not result.latency_ps.any()


class OtherKernelError(Exception):
    """A kernel was called that should not be."""


def refuse(*arguments: object) -> None:
    raise OtherKernelError(len(arguments))


def test_the_reference_problem_takes_the_chain_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluator, and what an exploration asks for."""
    problem = reference_problem()
    rows = np.zeros((3, 22), dtype=np.int64)
    monkeypatch.setattr(paretosoc.fitness.simulator.general, "evaluate_rows", refuse)
    assert make_evaluator(problem)(rows).possible.all()
    assert make_outcomes(problem, jobs=2)(rows).feasible.all()
    with pytest.raises(OtherKernelError):
        make_evaluator(problem, kernel=Kernel.GENERAL)(rows)


def test_all_else_takes_the_general_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = reference_problem()
    first, second = problem.networks
    edges, transition = problem.edges, problem.transition_ps
    memory = replace(problem.domains[0], name="memory")
    others = {
        "a skip connection": replace(
            problem, edges=(*edges, (0, 2)), transition_ps=np.concatenate([transition[:1]] * 19)
        ),
        "two beginnings": replace(problem, edges=edges[1:], transition_ps=transition[1:]),
        "one waits for the other": replace(
            problem, networks=(first, replace(second, waits_for=(0,)))
        ),
        "contention by a clock that is not the unit's": replace(
            problem,
            domains=(*problem.domains, memory),
            memory_domain=2,
            units=tuple(
                replace(
                    unit,
                    contention=None
                    if unit.contention is None
                    else type(unit.contention)(
                        *(np.repeat(column, 14) for column in unit.contention.columns.values())
                    ),
                )
                for unit in problem.units
            ),
        ),
    }
    monkeypatch.setattr(paretosoc.fitness.simulator.chains.two_chains, "evaluate_chains", refuse)
    for name, other in others.items():
        rows = np.zeros((3, other.group_count + len(other.domains)), dtype=np.int64)
        assert make_evaluator(other)(rows).possible.all(), name
    with pytest.raises(OtherKernelError):
        make_evaluator(problem)(np.zeros((3, 22), dtype=np.int64))

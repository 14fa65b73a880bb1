"""Memory as an objective and a limit: the compiled evaluators against the plain ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.memory import with_memory
from benchmarks.problems.number_formats import with_formats
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem
from paretosoc.results.problem.problem_file import problem_bytes, problem_from_bytes
from tests.support.problems.random_spaces import random_limited_problem, space_of
from tests.support.sample import SAMPLE

PROBLEMS = 40 * SAMPLE
KINDS = (ObjectiveKind.LATENCY, ObjectiveKind.ENERGY, ObjectiveKind.MEMORY)


def drawn(seed: int) -> tuple[np.random.Generator, Problem]:
    rng = np.random.default_rng([26, seed])
    problem = random_limited_problem(rng)
    if seed % 2:
        problem = with_formats(rng, problem)
    problem = replace(with_memory(rng, problem), objectives=tuple(map(Objective, KINDS)))
    check_problem(problem)
    return rng, problem


def held_in(problem: Problem, row: np.ndarray, pool: int) -> int:
    """Bytes in a pool, unit by unit."""
    total = 0
    for network in problem.networks:
        here = [g for g in network.groups if problem.units[row[g]].memory_pool == pool]
        total += max([network.held_bytes[g - network.first_group] for g in here], default=0)
        for u in {int(row[g]) for g in here}:
            unit = problem.units[u]
            own = [g for g in here if row[g] == u]
            chosen = list(network.groups) if unit.loads_whole_networks else own
            total += int(unit.weight_bytes[chosen].sum())
    return total


def test_compiled_equals_plain_and_adds_up() -> None:
    broken = pools_broken = 0
    for seed in range(PROBLEMS):
        rng, problem = drawn(seed)
        rows = np.stack([rng.choice(axis, 6) for axis in space_of(problem).choices], axis=1)
        outcomes = make_outcomes(problem)(rows)
        limits = constraints_of(problem)
        for i, row in enumerate(rows):
            plain = plain_outcome(problem, problem.design_of(row))
            assert tuple(outcomes.objectives[i].tolist()) == plain.objectives
            taken = sum(held_in(problem, row, pool) for pool in range(3))
            assert outcomes.objectives[i, 2] == taken
            names = [
                limit.name
                for limit, value in zip(limits, outcomes.constraint_values[i], strict=True)
                if value > limit.limit
            ]
            assert names == [entry.constraint for entry in plain.broken]
            cap = problem.memory_cap_bytes
            assert ("memory" in names) == (cap is not None and taken > cap)
            broken += "memory" in names
            for p, pool in enumerate(problem.memory_pools):
                over = pool.cap_bytes is not None and held_in(problem, row, p) > pool.cap_bytes
                assert (f"memory of {pool.name}" in names) == over
                pools_broken += over
    assert broken > PROBLEMS // 4
    assert pools_broken > PROBLEMS // 4


def test_the_problem_survives_its_file() -> None:
    for seed in range(20):
        data = problem_bytes(drawn(seed)[1])
        assert problem_bytes(problem_from_bytes(data)) == data


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"weight_bytes": None}, "weight_bytes: must be given where memory is"),
        ({"weight_bytes": np.array([-1])}, "weight_bytes: "),
        ({"weight_bytes": np.array([10**13])}, "weight_bytes: "),
    ],
)
def test_tables_that_contradict_the_problem_are_refused(fields, named) -> None:
    _, problem = drawn(0)
    table = fields["weight_bytes"]
    if table is not None:
        table = np.resize(table, problem.group_count)
    units = (replace(problem.units[0], weight_bytes=table), *problem.units[1:])
    with pytest.raises(ResultError, match=named):
        check_problem(replace(problem, units=units))


def test_caps_and_activations_are_not_negative() -> None:
    _, problem = drawn(0)
    with pytest.raises(ResultError, match="memory_cap_bytes: must be null or >= 0"):
        check_problem(replace(problem, memory_cap_bytes=-1))
    first = replace(problem.networks[0], activation_bytes=-1)
    with pytest.raises(ResultError, match="activation_bytes: must be >= 1, got -1"):
        check_problem(replace(problem, networks=(first, *problem.networks[1:])))

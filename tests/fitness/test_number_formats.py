"""Groups that choose among number formats: the compiled evaluators against the plain ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.number_formats import with_formats
from benchmarks.problems.random_problem import random_design
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate import simulate
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.execution import SHARED, FreeRunning, Pipeline
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem
from paretosoc.results.problem.problem_file import problem_bytes, problem_from_bytes
from tests.support.problems.random_spaces import random_limited_problem, space_of
from tests.support.sample import SAMPLE

CHUNKS, CHUNK = SAMPLE, 50
KINDS = (
    ObjectiveKind.LATENCY,
    ObjectiveKind.ENERGY,
    ObjectiveKind.ACCURACY_LOSS,
    ObjectiveKind.STRETCH,
)


def formatted(*seed: int) -> tuple[np.random.Generator, Problem]:
    rng = np.random.default_rng([24, *seed])
    return rng, with_formats(rng, random_limited_problem(rng))


def compare(problem: Problem, rows: np.ndarray) -> tuple[int, int]:
    """Asserts that both evaluators agree; how many rows break a limit on accuracy, and how many
    have two formats on a unit."""
    outcomes = make_outcomes(problem)(rows)
    limits = constraints_of(problem)
    broken = mixed = 0
    for i, row in enumerate(rows):
        plain = plain_outcome(problem, problem.design_of(row))
        assert tuple(outcomes.objectives[i].tolist()) == plain.objectives
        names = [
            limit.name
            for limit, value in zip(limits, outcomes.constraint_values[i], strict=True)
            if value > limit.limit
        ]
        assert names == [entry.constraint for entry in plain.broken]
        assert outcomes.feasible[i] == (not names)
        broken += any(name.startswith("accuracy") for name in names)
        used = {*row[: problem.group_count].tolist()}
        mixed += len({problem.unit_of[u] for u in used}) < len(used)
    return broken, mixed


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_compiled_equals_plain(chunk: int) -> None:
    broken = mixed = 0
    for number in range(CHUNK):
        rng, problem = formatted(chunk, number)
        problem = replace(problem, objectives=tuple(map(Objective, KINDS)))
        check_problem(problem)
        rows = np.stack([rng.choice(axis, 6) for axis in space_of(problem).choices], axis=1)
        found = compare(problem, rows)
        broken, mixed = broken + found[0], mixed + found[1]
    assert broken > CHUNK // 10
    assert mixed > CHUNK


@pytest.mark.parametrize("free_running", [False, True])
def test_long_runs_compiled_equal_plain(free_running: bool) -> None:
    kinds = (ObjectiveKind.THROUGHPUT, ObjectiveKind.ENERGY, ObjectiveKind.ACCURACY_LOSS)
    for seed in range(10):
        rng, problem = formatted(99, seed)
        if free_running:
            networks = tuple(
                replace(n, waits_for=(), arrival_ps=0, priority=0, deadline_ps=None)
                for n in problem.networks
            )
            problem = replace(problem, networks=networks, handovers=(), handover_ps=None)
        execution = FreeRunning(2) if free_running else Pipeline(2)
        problem = replace(problem, execution=execution, objectives=tuple(map(Objective, kinds)))
        check_problem(problem)
        compare(problem, np.stack([random_design(rng, problem).row for _ in range(2)]))


def test_a_unit_runs_one_group_at_a_time_in_whichever_format() -> None:
    overlapping = 0
    for seed in range(40):
        rng, problem = formatted(7, seed)
        design = random_design(rng, problem)
        rows = simulate(problem, design).schedule.groups
        assert rows == plain_timeline.simulate(problem, design).schedule.groups
        for one in rows:
            for other in rows:
                unit = problem.unit_of[one.unit]
                if problem.units[unit].dispatch == SHARED:
                    continue
                if one is not other and unit == problem.unit_of[other.unit]:
                    assert one.end_ps <= other.start_ps or other.end_ps <= one.start_ps
                    overlapping += one.unit != other.unit
    assert overlapping > 40


def test_the_problem_survives_its_file() -> None:
    for seed in range(20):
        _, problem = formatted(3, seed)
        data = problem_bytes(problem)
        assert problem_bytes(problem_from_bytes(data)) == data


def changed(problem: Problem, u: int, **fields: object) -> Problem:
    units = list(problem.units)
    units[u] = replace(units[u], **fields)
    return replace(problem, units=tuple(units))


def test_entries_of_one_unit_that_contradict_each_other_are_refused() -> None:
    for seed in range(50):
        _, problem = formatted(4, seed)
        further = [u for u, first in enumerate(problem.unit_of) if u != first]
        if further:
            break
    u = further[0]
    unit, first = problem.units[u], problem.units[problem.unit_of[u]]
    check_problem(problem)
    for fields, named in (
        ({"idle_mw": unit.idle_mw + 1}, r"idle_mw: must be 0"),
        ({"max_segments": 3}, r"max_segments: must be null"),
        ({"number_format": None}, r"number_format: must be given"),
        ({"number_format": first.number_format}, r"number_format: stands twice"),
        ({"loss_ppm": None}, r"loss_ppm: must be given where accuracy"),
        (
            {"loss_ppm": -np.ones(problem.group_count, dtype=np.int64)},
            r"loss_ppm: must be null or >= 0",
        ),
        ({"unit": first.name}, r"is the name of an entry"),
    ):
        asked = replace(problem, objectives=(Objective(ObjectiveKind.ACCURACY_LOSS),))
        with pytest.raises(ResultError, match=named):
            check_problem(changed(asked, u, **fields))

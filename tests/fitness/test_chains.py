"""The timeline for two chains against the general one and the plain one, to the last picosecond."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.typing import NDArray

import fitness.chain_kernel
import fitness.timeline_kernel
from benchmarks.random_problem import RandomShape, random_problem
from benchmarks.reference_problem import reference_problem
from fitness import plain_timeline
from fitness.chain_state import LANES, are_two_chains
from fitness.outcomes import make_outcomes
from fitness.timeline import Evaluation, design_of, make_evaluator
from results.problem import TIME_LIMIT_PS, Problem

PROBLEMS = 10_000
CHUNKS = 20
PER_CHUNK = PROBLEMS // CHUNKS
ROWS = 2 * LANES + 3
LEAST_OF_CHUNK = {
    "1 networks": 100,
    "2 networks": 100,
    **{f"{count} units": 80 for count in (1, 2, 3, 4)},
    "repeats": 80,
    "arrives late": 80,
    "copy": 50,
    "impossible rows": 80,
    "no contention": 80,
    "slowed": 80,
    "no transitions": 80,
    "ties": 200,
    "a tie between networks": 40,
    "times near the limit": 50,
}
"""How many problems of a chunk must show the feature, so that agreement means something."""


def problem_of(seed: int) -> Problem:
    """One or two chains, half of them with times that are few small multiples."""
    rng = np.random.default_rng(seed)
    shape = RandomShape(
        networks=(1, 2),
        groups=(1, 6),
        graphs=False,
        ties=seed % 2 == 0,
        contention=seed % 8 not in (0, 1),
        copies=True,
        unsupported=0.1 if seed % 3 == 0 else 0.02,
    )
    problem = random_problem(rng, shape)
    networks = tuple(replace(network, waits_for=()) for network in problem.networks)
    transition = problem.transition_ps * (seed % 5 > 0)
    units = problem.units
    if seed % 7 == 3:
        largest = max(int(unit.time_ps.max()) for unit in units)
        factor = (TIME_LIMIT_PS - 1) // largest
        units = tuple(
            replace(unit, time_ps=np.where(unit.time_ps < 0, -1, unit.time_ps * factor))
            for unit in units
        )
    return replace(problem, networks=networks, transition_ps=transition, units=units)


def rows_of(problem: Problem, seed: int) -> NDArray[np.int64]:
    """Random rows, some of which put a group where it cannot run."""
    rng = np.random.default_rng(seed + 50_000)
    units = rng.integers(0, len(problem.units), (ROWS, problem.group_count))
    keep = np.stack([rng.choice(np.flatnonzero(row), ROWS) for row in problem.allowed], axis=1)
    units = np.where(rng.random((ROWS, 1)) < 0.8, keep, units)
    points = [rng.integers(0, len(d.frequencies_khz), ROWS) for d in problem.domains]
    return np.concatenate([units, np.stack(points, axis=1)], axis=1)


def assert_same(one: Evaluation, other: Evaluation, what: str) -> None:
    for field in fields(Evaluation):
        left, right = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(left, right), f"{what}: {field.name}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_chains_equal_general_and_plain(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        seen.update(compare(seed))
    missing = {name: seen[name] for name, least in LEAST_OF_CHUNK.items() if seen[name] < least}
    assert not missing, f"features that too few problems of chunk {chunk} show: {missing}"


def compare(seed: int) -> set[str]:
    """Asserts that all three agree on problem ``seed``; returns the features that it shows."""
    problem = problem_of(seed)
    assert are_two_chains(problem)
    rows = rows_of(problem, seed)
    fast = make_evaluator(problem)(rows)
    assert_same(fast, make_evaluator(problem, chains=False)(rows), f"seed {seed}")
    index = int(np.argmax(fast.possible))
    slowed = tie = False
    if fast.possible[index]:
        design = design_of(problem, rows[index])
        played = plain_timeline.play(problem, design)
        groups = played.schedule.groups
        assert fast.makespan_ps[index] == played.schedule.makespan_ps, f"seed {seed}"
        assert fast.latency_ps[index].tolist() == list(played.latency_ps[0]), f"seed {seed}"
        energy = plain_timeline.frame_energy_fj(problem, design, played)
        # Modulo 2**64: times near the limit are minutes, and their energy is beyond int64.
        assert (int(fast.energy_fj[index]) - energy) % (1 << 64) == 0, f"seed {seed}"
        busy = sum(group.end_ps - group.start_ps for group in groups)
        assert fast.busy_ps[index] == busy, f"seed {seed}"
        slowed = any(group.end_ps - group.start_ps > group.alone_ps for group in groups)
        tie = max(Counter((group.unit, group.ready_ps) for group in groups).values()) > 1
    networks, units = problem.networks, problem.units
    return {
        f"{len(networks)} networks",
        f"{len(units)} units",
        *(
            name
            for name, holds in {
                "repeats": any(network.repeats > 1 for network in networks),
                "arrives late": any(network.arrival_ps for network in networks),
                "copy": len({len(network.group_names) for network in networks}) < len(networks),
                "impossible rows": not fast.possible.all(),
                "no contention": not any(unit.contention for unit in units),
                "slowed": slowed,
                "no transitions": not problem.transition_ps.any(),
                "ties": seed % 2 == 0,
                "a tie between networks": tie,
                "times near the limit": any(
                    unit.time_ps.max() > TIME_LIMIT_PS * 0.99 for unit in units
                ),
            }.items()
            if holds
        ),
    }


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 5 * LANES])
def test_any_number_of_rows(count: int) -> None:
    problem = reference_problem()
    rows = np.random.default_rng(count).integers(0, 2, (count, 22))
    evaluate = make_evaluator(problem)
    result = evaluate(rows)
    assert len(result.makespan_ps) == count
    assert_same(result, make_evaluator(problem, chains=False)(rows), f"{count} rows")
    assert_same(evaluate(rows), result, "the same buffers again")


def test_nothing_but_impossible_rows() -> None:
    problem = problem_of(0)
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
    monkeypatch.setattr(fitness.timeline_kernel, "evaluate_rows", refuse)
    assert make_evaluator(problem)(rows).possible.all()
    assert make_outcomes(problem, jobs=2)(rows).feasible.all()
    with pytest.raises(OtherKernelError):
        make_evaluator(problem, chains=False)(rows)


def test_all_else_takes_the_general_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = reference_problem()
    first, second = problem.networks
    edges, transition = problem.edges, problem.transition_ps
    memory = replace(problem.domains[0], name="memory")
    third = replace(second, name="third", first_group=15, group_names=second.group_names[5:])
    second_half = replace(second, group_names=second.group_names[:5])
    others = {
        "a skip connection": replace(
            problem, edges=(*edges, (0, 2)), transition_ps=np.concatenate([transition[:1]] * 19)
        ),
        "two beginnings": replace(problem, edges=edges[1:], transition_ps=transition[1:]),
        "one waits for the other": replace(
            problem, networks=(first, replace(second, waits_for=(0,)))
        ),
        "three networks": replace(
            problem,
            networks=(first, second_half, third),
            edges=tuple(edge for edge in edges if edge != (14, 15)),
            transition_ps=transition[1:],
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
                        *(
                            np.repeat(getattr(unit.contention, field.name), 14)
                            for field in fields(unit.contention)
                        )
                    ),
                )
                for unit in problem.units
            ),
        ),
    }
    monkeypatch.setattr(fitness.chain_kernel, "evaluate_chains", refuse)
    for name, other in others.items():
        rows = np.zeros((3, other.group_count + len(other.domains)), dtype=np.int64)
        assert make_evaluator(other)(rows).possible.all(), name
    with pytest.raises(OtherKernelError):
        make_evaluator(problem)(np.zeros((3, 22), dtype=np.int64))

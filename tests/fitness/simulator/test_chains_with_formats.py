"""The kernel for two chains with groups that choose among number formats, against the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from benchmarks.problems.number_formats import with_formats
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.simulate import Kernel, fastest_kernel, make_evaluator
from paretosoc.results.problem.arithmetic import TIME_LIMIT_PS
from paretosoc.results.problem.problem import Problem
from tests.support.problems.chain_cases import assert_same, chains_of, rows_of


def formatted(seed: int, networks: tuple[int, int]) -> Problem:
    problem = with_formats(np.random.default_rng([35, seed]), chains_of(seed, networks))
    units = tuple(
        replace(unit, time_ps=np.minimum(unit.time_ps, TIME_LIMIT_PS - 1)) for unit in problem.units
    )
    return replace(problem, units=units)


def test_chains_equal_general_and_plain() -> None:
    seen: Counter[str] = Counter()
    for seed in range(120):
        problem = formatted(seed, (1, 2))
        rows = rows_of(problem, seed)
        fast = make_evaluator(problem, kernel=Kernel.TWO_CHAINS)(rows)
        assert_same(fast, make_evaluator(problem, kernel=Kernel.GENERAL)(rows), f"seed {seed}")
        index = int(np.argmax(fast.possible))
        if not fast.possible[index]:
            continue
        design = problem.design_of(rows[index])
        played = plain_timeline.simulate(problem, design)
        assert fast.latency_ps[index].tolist() == list(played.latency_ps[0]), f"seed {seed}"
        units = rows[index, : problem.group_count]
        of_unit = np.array(problem.unit_of)[units]
        edges = np.array(problem.edges, dtype=np.int64).reshape(-1, 2)
        left, right = units[edges[:, 0]], units[edges[:, 1]]
        converted = (left != right) & (of_unit[edges[:, 0]] == of_unit[edges[:, 1]])
        seen["converted"] += bool(converted.any())
        seen["mixed"] += len({*units.tolist()}) > len({*of_unit.tolist()})
        seen["fastest"] += fastest_kernel(problem) is Kernel.TWO_CHAINS
    assert min(seen.values()) > 24, seen

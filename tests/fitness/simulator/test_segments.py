"""Transitions and segments, counted by hand and by several threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import numpy as np

from benchmarks.problems.number_formats import with_formats
from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.fitness.objectives import make_segment_counter
from paretosoc.results.problem.problem import Problem


def drawn(seed: int) -> tuple[Problem, np.ndarray]:
    rng = np.random.default_rng((71, seed))
    problem = random_problem(rng, RandomShape(networks=(2, 3), groups=(3, 5), units=(2, 3)))
    problem = with_formats(rng, problem) if seed % 2 else problem
    rows = rng.integers(0, len(problem.units), (200, problem.group_count))
    return problem, rows


def test_counts_are_those_of_the_rule() -> None:
    for seed in range(20):
        problem, rows = drawn(seed)
        transitions, segments = make_segment_counter(problem)(rows)
        for row, changes, begun in zip(rows.tolist(), transitions, segments, strict=True):
            units = [problem.unit_of[entry] for entry in row]
            moves = [a for a, b in problem.edges if units[a] != units[b]]
            runs = []
            for n, network in enumerate(problem.networks):
                assert changes[n] == sum(g in network.groups for g in moves)
                entries = row[network.groups.start : network.groups.stop]
                runs += [problem.unit_of[entry] for entry, _ in groupby(entries)]
            assert begun.tolist() == [runs.count(u) for u in range(len(problem.units))]


def test_threads_that_share_a_counter_count_alike() -> None:
    problem, rows = drawn(1)
    count, many = make_segment_counter(problem), np.tile(rows, (500, 1))
    _, expected = count(many)
    with ThreadPoolExecutor(4) as pool:
        for _, segments in pool.map(lambda _: count(many), range(8)):
            assert (segments == expected).all()

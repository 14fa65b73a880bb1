"""Guaranteed latencies of random problems of all dispatches, against runs in planned order.

Of each problem one design point is run with times drawn in the tolerance and at its ends, then with
single times changed as long as that makes it later. The looseness is the bound over the worst run.

Usage: ``python -m benchmarks.guarantee [--count N] [--runs N] [--seed S]``. The exit status is 1 if
a run is above its bound.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from benchmarks.oracles.planned_play import Run, play, stand_alone_ps
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_dispatch,
)
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.fitness.check.members.guarantee import plain_guarantee
from paretosoc.results.problem.execution import GROUP

SHAPE = RandomShape(networks=(2, 4), groups=(2, 6), units=(2, 4), any_slopes=True, phases=True)
TOLERANCES = ((700, 1000), (700, 1100), (900, 1050))


def judge(rng: np.random.Generator, number: int, runs: int) -> tuple[bool, int, float]:
    """Return whether units take engines or are shared, the number of runs above a bound, and the
    bound on the makespan over the latest one, in percent."""
    problem = with_dispatch(rng, random_problem(rng, SHAPE))
    design, tolerance = random_design(rng, problem), TOLERANCES[number % len(TOLERANCES)]
    alone = stand_alone_ps(problem, design)
    ends = {
        run: (t * tolerance[0] // 1000, -(-t * tolerance[1] // 1000)) for run, t in alone.items()
    }
    order = play(problem, design, alone).order
    schedule = simulate(problem, design).schedule
    bound = plain_guarantee(problem, design, schedule, tolerance)
    latest, worst, above = 0, alone, 0
    for k in range(runs):
        times = _drawn(rng, ends) if k < runs // 2 else _changed(rng, ends, worst)
        played = play(problem, design, times, order)
        above += any(end > bound.end_ps[run] for run, end in played.end.items())
        if max(played.end.values()) >= latest:
            latest, worst = max(played.end.values()), times
    is_mixed = any(unit.dispatch != GROUP for unit in problem.units)
    return is_mixed, above, 100 * (bound.makespan_ps / latest - 1)


def _drawn(rng: np.random.Generator, ends: dict[Run, tuple[int, int]]) -> dict[Run, int]:
    if rng.integers(2):
        return {run: pair[int(rng.integers(2))] for run, pair in ends.items()}
    return {run: int(rng.integers(*pair, endpoint=True)) for run, pair in ends.items()}


def _changed(
    rng: np.random.Generator, ends: dict[Run, tuple[int, int]], times: dict[Run, int]
) -> dict[Run, int]:
    run = list(ends)[int(rng.integers(len(ends)))]
    return {**times, run: ends[run][int(rng.integers(2))]}


def main(arguments: list[str]) -> int:
    """Judge random problems and print the looseness."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    judged = [
        judge(np.random.default_rng([given.seed, number]), number, given.runs)
        for number in range(given.count)
    ]
    above = sum(count for _, count, _ in judged)
    print(f"{given.count} problems x {given.runs} runs, {above} above the bound")
    for words, mixed in (("units take groups", False), ("engines or shared units", True)):
        loose = [percent for is_mixed, _, percent in judged if is_mixed is mixed]
        if loose:
            shares = ", ".join(f"{value:.2f}" for value in np.percentile(loose, (50, 75, 90, 100)))
            print(f"{words}: looseness in % (50, 75, 90, 100 % of {len(loose)}): {shares}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

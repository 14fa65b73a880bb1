"""The width of the estimator's classes beside the timeline's response to small changes.

Run as a module. Every time of every group is changed by a random share, and the timeline judges the
same mappings again. An estimator that knows the times no better cannot tell the classes of mappings
that change class then.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paretosoc.dse.papers.estimator.estimator_file import shipped_estimator
from paretosoc.dse.papers.estimator.predictor import TimelinePredictor
from paretosoc.dse.papers.estimator.training.workloads import (
    MAX_NETWORKS,
    build,
    random_rows,
    random_workload,
)
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.catalogue.catalogue import catalogue

JITTER = (0.001, 0.01, 0.03)
WORKLOADS, ROWS, SEED = 40, 4, 5


def jittered(problem: Problem, share: float, rng: np.random.Generator) -> Problem:
    """Return the problem with each group's time on each unit longer or shorter by up to ``share``.

    All clocks have the same factor.
    """
    units = []
    for unit in problem.units:
        factor = 1.0 + share * (2.0 * rng.random(len(unit.time_ps)) - 1.0)
        shape = (-1, *(1,) * (unit.time_ps.ndim - 1))
        time = np.maximum(np.rint(unit.time_ps * factor.reshape(shape)), 1).astype(np.int64)
        units.append(replace(unit, time_ps=np.where(unit.time_ps < 0, unit.time_ps, time)))
    return replace(problem, units=tuple(units))


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints, for each size of change, how much the results move and how many change class."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy.estimator_limits",
        description="How many classes of the estimator change where times change by a little.",
    )
    options.add_argument(
        "workloads", nargs="?", type=int, default=WORKLOADS, help=f"[default: {WORKLOADS}]"
    )
    workloads = options.parse_args(arguments).workloads
    if workloads < 1:
        options.error(f"workloads: at least 1 is required, got {workloads}")
    settings = shipped_estimator().settings
    pool = [entry.name for entry in catalogue() if entry.takes_images]
    moved: dict[float, list[tuple[float, float, bool, bool]]] = {share: [] for share in JITTER}
    for workload in range(workloads):
        rng = np.random.default_rng([SEED, workload])
        problem = build(random_workload(rng, pool, most=min(MAX_NETWORKS, len(pool))))
        rows = random_rows(rng, problem, ROWS)
        before = TimelinePredictor(settings.throughput, settings.power).predict(problem, rows)
        for share in JITTER:
            other = jittered(problem, share, rng)
            after = TimelinePredictor(settings.throughput, settings.power).predict(other, rows)
            for i in range(len(rows)):
                moved[share].append(
                    (
                        abs(np.log(after.throughput_hz[i] / before.throughput_hz[i])),
                        abs(np.log(after.power_w[i] / before.power_w[i])),
                        bool(after.throughput_class[i] == before.throughput_class[i]),
                        bool(after.power_class[i] == before.power_class[i]),
                    )
                )
    print(f"{workloads} workloads of 1 to 10 networks, {ROWS} mappings each, seed {SEED}")
    print("times changed by   throughput moves (median, mean)   same class   power   same class")
    for share, entries in moved.items():
        throughput, power, same, same_power = np.array(entries, dtype=np.float64).T
        print(
            f"up to {share:6.1%}       {np.median(throughput):7.2%} {throughput.mean():7.2%}"
            f"                 {same.mean():7.1%}   {power.mean():7.2%}   {same_power.mean():7.1%}"
        )


if __name__ == "__main__":
    main()

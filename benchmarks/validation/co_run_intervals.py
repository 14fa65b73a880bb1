"""How often published times of given schedules lie within the intervals of costs drawn from errors.

The co-runs are those of :mod:`benchmarks.validation.known_plans`: HaX-CoNN's artifact and its
starter guide, twenty-four of five pairs. The times of the networks alone are measured, so that what
is left is what they do to each other. A row of the table is a pair of scales of its two errors.

Usage: ``python -m benchmarks.validation.co_run_intervals [--json | --markdown]``; two minutes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.harness.report import Column, Value, tabulate
from benchmarks.validation.known_plans import CoRun, built_pair, co_runs_of, plan_row
from paretosoc.common.arrays import BoolArray, FloatArray
from paretosoc.dse.problem.build import cost_origins
from paretosoc.dse.tools.analysis.cost_draws import stated_errors, with_factors
from paretosoc.fitness.simulate import make_evaluator

SCALES = ("0, 0", "0, 0.5", "0.35, 0.5", "0.7, 0.5", "1, 0.5", "1, 1", "1.4, 1")
DRAWS = 100
COLUMNS = (
    Column("scales", "errors of demands, of sharing"),
    Column("within_50_percent", "within 50 %", ".0f"),
    Column("within_90_percent", "within 90 %", ".0f"),
    Column("width", "95 % over 5 %, median", ".2f"),
)


def drawn_ms(run: CoRun, demand: float, sharing: float, draws: int) -> FloatArray:
    """Return [draws]: times of a plan with drawn costs, in ms."""
    built = built_pair(run.networks)
    errors = replace(
        stated_errors(built.problem, cost_origins(built)), demand=demand, sharing=sharing
    )
    row = plan_row(built, run.starts, run.weighted)[None]
    found = []
    for factors in errors.draws(draws, 0):
        latency_ps = make_evaluator(with_factors(built.problem, factors))(row).latency_ps[0]
        found.append((latency_ps.sum() if run.is_sum else latency_ps.max()) / 1e9)
    return np.array(found)


def measure(scales: str, draws: int) -> dict[str, Value]:
    """Return a row of the table."""
    demand, sharing = map(float, scales.split(","))
    runs = co_runs_of("artifact") + co_runs_of("starter guide")
    times = np.stack([drawn_ms(run, demand, sharing, draws) for run in runs])
    low, high = np.percentile(times, [5, 95], axis=1)
    return {
        "scales": scales,
        "within_50_percent": 100 * float(_within(runs, times, 50).mean()),
        "within_90_percent": 100 * float(_within(runs, times, 90).mean()),
        "width": float(np.median(high / low)),
    }


def _within(runs: list[CoRun], times: FloatArray, percent: int) -> BoolArray:
    """Return whether the measured time is in the middle part of the draws, [runs]."""
    measured = np.array([run.measured_ms for run in runs])
    low, high = np.percentile(times, [50 - percent / 2, 50 + percent / 2], axis=1)
    inside: BoolArray = (low <= measured) & (measured <= high)
    return inside


if __name__ == "__main__":
    tabulate(
        "benchmarks.validation.co_run_intervals",
        "Published co-runs within drawn intervals",
        COLUMNS,
        SCALES,
        measure,
        ("draws", DRAWS),
    )

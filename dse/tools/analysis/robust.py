"""Search by a measure over draws of the costs in place of nominal figures.

All design points are simulated with the same draws, as in :mod:`dse.tools.analysis.confidence`.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.engines.explore import Robustness
from paretosoc.dse.tools.analysis.confidence import played
from paretosoc.dse.tools.analysis.cost_draws import CostErrors, check_draws, with_factors
from paretosoc.fitness.objectives import OutcomeFunction, Outcomes, make_outcomes
from paretosoc.results.front.front import Robust
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.limits import constraints_of

DRAWS = 40
"""Draws of a search: a tenth and a twentieth of them are whole numbers."""


def robustness(
    errors: CostErrors, measure: str, *, seed: int = 0, jobs: int | None = None
) -> Robustness:
    """Return a measure with the evaluation of design points by it.

    Raises:
        ResultError: if figures would leave int64.
    """
    robust = Robust(measure, DRAWS, seed)
    return Robustness(robust, robust_outcomes(errors, robust, jobs=jobs or os.cpu_count() or 1))


def robust_outcomes(errors: CostErrors, robust: Robust, *, jobs: int = 1) -> OutcomeFunction:
    """Return a function from rows to the measures of their objectives and limited figures.

    Of a limited figure the larger of its measure and its nominal value counts, so that both are
    within the limit.

    Raises:
        ResultError: if figures would leave int64.
    """
    # What was measured after a search says nothing of its draws.
    errors = replace(errors, measured=())
    check_draws(errors.problem, errors.draws(robust.draws, robust.seed))
    limits = np.array([entry.limit for entry in constraints_of(errors.problem)], dtype=np.int64)
    nominal = make_outcomes(errors.problem, jobs=jobs)
    drawn = [
        played(with_factors(errors.problem, factors), jobs=jobs)
        for factors in errors.draws(robust.draws, robust.seed)
    ]

    def evaluate(rows: IntArray) -> Outcomes:
        known, found = nominal(rows), [simulate(rows) for simulate in drawn]
        for outcomes in found:
            # Figures of a draw in which nothing recurs mean nothing.
            overloaded = (outcomes.objectives == INT64_MAX).all(axis=1)
            outcomes.constraint_values[overloaded] = INT64_MAX
        values = aggregated(np.stack([o.constraint_values for o in found]), robust.measure)
        possible = np.logical_and.reduce([known.possible, *(o.possible for o in found)])
        return Outcomes(
            possible=possible,
            objectives=aggregated(np.stack([o.objectives for o in found]), robust.measure),
            constraint_values=np.maximum(known.constraint_values, values),
            feasible=known.feasible & possible & (values <= limits).all(axis=1),
        )

    return evaluate


def aggregated(values: IntArray, measure: str) -> IntArray:
    """Return a measure over the first axis, as :class:`results.front.front.Robust` defines it."""
    ordered, draws = np.sort(values, axis=0), len(values)
    percent = int(re.sub(r"\D", "", measure) or 0)
    if measure.startswith("p"):
        ranked: IntArray = ordered[-(-percent * draws // 100) - 1]
        return ranked
    ordered = ordered[percent * draws // 100 :]
    # Quotient and remainder apart, for the sum may not fit in 64 bits.
    whole, rest = np.divmod(ordered, len(ordered))
    mean = whole.sum(axis=0) + rest.sum(axis=0) // len(ordered)
    return np.where(ordered[-1] == INT64_MAX, INT64_MAX, mean)

"""Price of each limit of a front: the gain of its best values without that limit.

Each limit is lifted alone, the others stay. A short search that begins with the members looks for
design points beyond it that are better in an objective than all members. The limited figure is one
more objective, so that small relaxations are found too. Every result is simulated. Completeness is
not proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.engines.diagnose_infeasible import MORE_COUNTS, can_be_relaxed, relaxed_rows
from paretosoc.fitness.objectives import Outcomes, make_outcomes
from paretosoc.results.problem.limits import RESPONSES, Constraint, constraints_of
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True)
class LimitPrice:
    """Price of one limit in one objective. Figures are as in files, smaller is better."""

    constraint: Constraint
    column: int
    """Position of the objective."""
    now: int
    """The best value of the members."""
    relaxed_to: int
    """The smallest figure of the limit found with which the objective is better."""
    then: int
    """The best value found with that figure."""
    without: int
    """The best value found without the limit."""


@dataclass(frozen=True)
class LimitPrices:
    """The prices of all limits that were asked for."""

    prices: tuple[LimitPrice, ...]
    """Prices of limits beyond which something better was found, in the order of the limits."""
    free: tuple[Constraint, ...]
    """Limits beyond which nothing better was found."""
    not_tried: tuple[Constraint, ...] = ()
    """Deadlines of networks with rates, which also define the late responses."""


def limit_prices(problem: Problem, rows: IntArray, *, seed: int = 0, jobs: int = 1) -> LimitPrices:
    """Compute the price of each limit of a front. The same seed gives the same result.

    Args:
        rows: [members, groups + domains]: the front.
    """
    evaluate = make_outcomes(problem, jobs=jobs)
    best = evaluate(rows).objectives.min(axis=0)
    prices: list[LimitPrice] = []
    free, not_tried = [], []
    for column, constraint in enumerate(constraints_of(problem)):
        if not can_be_relaxed(constraint):
            if constraint.kind in RESPONSES:
                not_tried.append(constraint)
            continue
        limits: list[int | None] = [None]
        if constraint.kind.figure is None and not constraint.is_least:
            # Without an objective for it a search does not look for the smallest that helps.
            limits = [*(constraint.limit + more for more in MORE_COUNTS), None]
        searched = relaxed_rows(
            problem, constraint, limits, seed, jobs, beside=problem.objectives, start=rows
        )
        found = _prices(constraint, column, best, [evaluate(each) for each in searched])
        prices += found
        if not found:
            free.append(constraint)
    return LimitPrices(tuple(prices), tuple(free), tuple(not_tried))


def _prices(
    constraint: Constraint, column: int, best: IntArray, found: Sequence[Outcomes]
) -> list[LimitPrice]:
    """Return the prices of one limit, whose figure is in ``column`` of the constraints."""
    if not found:
        return []
    objectives = np.concatenate([outcomes.objectives for outcomes in found])
    figure_of = np.concatenate([outcomes.constraint_values[:, column] for outcomes in found])
    prices = []
    for j, now in enumerate(best.tolist()):
        better = (figure_of > constraint.limit) & (objectives[:, j] < now)
        if better.any():
            least = figure_of[better].min()
            prices.append(
                LimitPrice(
                    constraint=constraint,
                    column=j,
                    now=now,
                    relaxed_to=int(least),
                    then=int(objectives[better & (figure_of == least), j].min()),
                    without=int(objectives[better, j].min()),
                )
            )
    return prices

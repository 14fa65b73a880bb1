"""The price of each limit of a front."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from paretosoc.dse.api.front import Front, front_of
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.arguments import check_arguments
from paretosoc.dse.problem.constraint_status import limit_in_units
from paretosoc.dse.space.members import rows_of
from paretosoc.dse.tools.analysis.limits import LimitPrice as NumericPrice
from paretosoc.dse.tools.analysis.limits import LimitPrices as NumericPrices
from paretosoc.dse.tools.analysis.limits import limit_prices
from paretosoc.results.problem.limits import Constraint


@dataclass(frozen=True)
class LimitPrice:
    """Price of one limit in one objective."""

    limit: str
    """Name and unit: ``latency of vgg19 [ms]``."""
    at: float
    """The limit, as it was asked for."""
    relaxed_to: float
    """The tightest limit found with which the objective is better."""
    objective: str
    """Name and unit: ``energy [mJ]``."""
    now: float
    """The best value of the front."""
    then: float
    """The best value found with ``relaxed_to``."""
    without: float
    """The best value found without the limit."""


@dataclass(frozen=True)
class LimitPrices:
    """Prices of all limits that were asked for."""

    prices: tuple[LimitPrice, ...]
    """Prices of limits beyond which something better was found, in the order of the limits."""
    free: tuple[str, ...]
    """Limits beyond which nothing better was found."""
    not_tried: tuple[str, ...]
    """Deadlines of networks with rates, which also define the late responses."""
    numeric: NumericPrices
    """The same in integers."""

    def __repr__(self) -> str:
        free = "; ".join(self.free) or "none"
        return f"<LimitPrices: {len(self.prices)} prices; nothing better beyond: {free}>"


def limits(front: Front | str | Path, *, seed: int = 0, jobs: int | None = None) -> LimitPrices:
    """Estimate how much better a front would be if one of its limits were relaxed, as ``dse analyze
    limits``. Runs one short search per limit, so the results are lower bounds on the benefit.

    Args:
        front: a front found under deadlines, caps, numbers of transitions and the like, or its
            folder.
        seed: seed of the searches.
        jobs: number of threads. Default: one per core.

    Returns:
        A price per limit and objective that improves beyond it, the limits beyond which nothing
        better was found, and those not tried. Names have the units: ms, mJ, W, MB, %.

    Raises:
        DseError: on input that cannot be used.

    Examples:
        >>> for price in dse.limits("runs/tight").prices:
        ...     print(price.limit, price.relaxed_to, price.objective, price.now, price.then)
    """
    check_arguments(seed=seed, jobs=jobs)
    front = front_of(front)
    if front.numeric.robust is not None:
        measure = front.numeric.robust.measure
        raise WorkloadError(f"limits: fronts of nominal costs are required, got one by {measure}")
    front.numeric.require_members("better")
    rows = rows_of(front.numeric.members)
    found = limit_prices(front.problem, rows, seed=seed, jobs=jobs or os.cpu_count() or 1)
    return LimitPrices(
        tuple(_price(front, price) for price in found.prices),
        tuple(map(_name, found.free)),
        tuple(map(_name, found.not_tried)),
        found,
    )


def _price(front: Front, price: NumericPrice) -> LimitPrice:
    objective = front.problem.objectives[price.column]
    return LimitPrice(
        limit=_name(price.constraint),
        at=limit_in_units(price.constraint, price.constraint.limit)[0],
        relaxed_to=limit_in_units(price.constraint, price.relaxed_to)[0],
        objective=front.objectives[price.column],
        now=objective.shown(price.now),
        then=objective.shown(price.then),
        without=objective.shown(price.without),
    )


def _name(constraint: Constraint) -> str:
    unit = limit_in_units(constraint, constraint.limit)[1]
    return f"{constraint.name} [{unit}]" if unit else constraint.name

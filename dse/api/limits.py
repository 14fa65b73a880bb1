"""What the limits of a front cost."""

from __future__ import annotations

import os

import numpy as np

from dse.api.front import Front
from dse.tools.analysis.limits import LimitPrices, limit_prices
from fitness.simulate import row_of


def limits(front: Front, *, seed: int = 0, jobs: int | None = None) -> LimitPrices:
    """How much better a front would be if one of its limits were relaxed, as ``dse analyze
    limits``: by a short search per limit, so what it finds is there, the rest is not proved.

    Args:
        front: found under deadlines, caps, numbers of transitions and the like.
        seed: of the searches.
        jobs: threads; one per core by default.

    Returns:
        A price per limit and objective that is better beyond it, smaller is better, in the units of
        ``front.json`` (ps, fJ, mW, bytes, ppm); the limits beyond which nothing better was found;
        and those not tried: with rates a deadline also says what is late.

    Example:
        >>> for price in dse.limits(dse.load("runs/tight")).prices:
        ...     print(price.constraint.name, price.now, price.relaxed_to, price.then)
    """
    rows = np.stack([row_of(member.numeric.design) for member in front])
    return limit_prices(front.problem, rows, seed=seed, jobs=jobs or os.cpu_count() or 1)

"""Traffic of units together: what is counted, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.conservation import intervals
from tests.support.problems.small_problems import design, network, problem


def test_traffic_that_adds_up_to_more_than_the_bandwidth_is_seen() -> None:
    """Nothing slows these units: 60 + 70 of 100 for 10 ps, then one runs alone."""
    stated = problem([network("a", 0, 1), network("b", 1, 1)], [[10, 10], [30, 30]])
    demands = (60, 70)
    units = tuple(
        replace(unit, demand_kbps=np.full_like(unit.demand_kbps, demand))
        for unit, demand in zip(stated.units, demands, strict=True)
    )
    ((length, limited, unlimited),) = intervals(
        replace(stated, units=units), design([0, 1]), 0, 100
    )
    assert length == 10
    assert limited == unlimited == pytest.approx(1.3)

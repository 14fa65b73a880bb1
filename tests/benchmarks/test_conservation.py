"""Traffic of units together: what is counted, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import paretosoc as dse
from benchmarks.conservation import intervals, unlimited
from benchmarks.problems.contended_problems import random_rows
from paretosoc.dse.space.members import rows_of
from paretosoc.fitness.simulate import make_evaluator
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


def test_what_googlenet_requests_costs_nothing_at_fast_memory_clocks_and_in_fronts() -> None:
    """It requests more than it moves, and the rule reads what is requested."""
    chosen = dse.Problem(["googlenet", "resnet101"], "jetson-agx-xavier", groups=12)
    front = dse.explore(chosen, "nsga2", max_evaluations=2000).numeric
    members, drawn = rows_of(front.members), random_rows(front.problem, 1000)
    limited, free = (make_evaluator(one) for one in (front.problem, unlimited(front.problem)))
    assert (limited(members).makespan_ps == free(members).makespan_ps).all()
    slower = limited(drawn).makespan_ps != free(drawn).makespan_ps
    assert front.problem.memory_domain is not None
    points = drawn[:, front.problem.group_count + front.problem.memory_domain]
    khz = np.array(front.problem.domains[front.problem.memory_domain].frequencies_khz)[points]
    assert not slower[khz >= 1_866_000].any()
    assert slower[khz < 1_600_000].any()

"""Secants of Eq. 10's rates: never below the rate, and the rate itself where they were refined."""

import z3
from hypothesis import given
from hypothesis import strategies as st

from tests.support.formulation.rate_sum import RateBound, rate_uhz

LATENCIES = st.integers(min_value=1, max_value=10**12)


def allows(constraints, latency, rate, latency_ps, rate_value):
    solver = z3.SimpleSolver()
    solver.add(*constraints, latency == latency_ps, rate == rate_value)
    return solver.check() == z3.sat


@given(LATENCIES, st.lists(LATENCIES, max_size=5), LATENCIES)
def test_no_rate_is_cut_off_and_refined_ones_are_exact(least, more, asked):
    latency, rate = z3.Int("T"), z3.Int("rate")
    bound = RateBound(latency, rate, least)
    constraints = bound.constraints()
    refined = [least + extra for extra in more]
    for value in refined:
        constraints += bound.refine(value)
    assert bound.refine(least) == []
    for value in (least + asked, *refined):
        assert allows(constraints, latency, rate, value, rate_uhz(value))
    for value in refined:
        assert not allows(constraints, latency, rate, value, rate_uhz(value) + 1)
    assert not allows(constraints, latency, rate, least - 1, 0)

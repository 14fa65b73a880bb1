"""Disjoint times out of overlapping measurements."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from paretosoc.fitness.profiles.measured_layers import LayerTime, combined, joined

TIMES = st.lists(st.integers(1, 1000), min_size=8, max_size=8)


def span(times: list[int], start: int, end: int) -> LayerTime:
    names = frozenset(str(place) for place in range(start, end))
    return LayerTime(names, Fraction(sum(times[start:end])))


@given(TIMES, st.sets(st.integers(0, 7), min_size=1))
def test_runs_of_ever_fewer_layers_give_each_stretch_exactly(
    times: list[int], starts: set[int]
) -> None:
    found, flagged = combined([[span(times, start, 8)] for start in starts], subtract=True)
    assert flagged == []
    ends = [*sorted(starts), 8]
    expected = {span(times, a, b).layers: Fraction(sum(times[a:b])) for a, b in pairwise(ends)}
    assert {item.layers: item.time_ps for item in found} == expected


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 8), st.integers(1, 99)), max_size=9))
def test_the_result_is_disjoint_and_positive_whatever_comes(
    spans: list[tuple[int, int, int]],
) -> None:
    items = [
        [LayerTime(frozenset(map(str, range(min(a, b - 1), b))), Fraction(time))]
        for a, b, time in spans
    ]
    for subtract in (False, True):
        found, _ = combined(items, subtract=subtract)
        names = [name for item in found for name in item.layers]
        assert len(names) == len(set(names))
        assert all(item.time_ps > 0 for item in found)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 8), st.integers(1, 99)), max_size=9))
def test_rows_of_one_profile_keep_their_sum(spans: list[tuple[int, int, int]]) -> None:
    items = [
        LayerTime(frozenset(map(str, range(min(a, b - 1), b))), Fraction(time))
        for a, b, time in spans
    ]
    found = joined(items)
    assert sum(item.time_ps for item in found) == sum(item.time_ps for item in items)
    names = [name for item in found for name in item.layers]
    assert len(names) == len(set(names))

"""The law of clocks in integers: against exact inequalities, bounds, and additions."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.fitness.cost_model.clock_law import LaunchTime, Ratios, TimeParts, ladder_costs
from paretosoc.platforms.errors import PlatformError

PARTS = st.fractions(min_value=0, max_value=10**12, max_denominator=10**9) | st.integers(
    0, 2 * 10**6
).map(lambda value: Fraction(value, 2))
CLOCKS = st.lists(st.integers(1000, 3_000_000), min_size=1, max_size=4, unique=True).map(sorted)
OVERLAPS = st.sampled_from([Fraction(1), Fraction(2), Fraction(63, 20), Fraction(3), Fraction(64)])


def half_up(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    st.lists(st.tuples(PARTS, PARTS, st.integers(1, 3)), max_size=3),
    OVERLAPS,
    PARTS,
    st.integers(0, 10**18),
    CLOCKS,
    CLOCKS,
    CLOCKS,
)
def test_floats_round_to_what_decimals_say(
    launches: list[tuple[Fraction, Fraction, int]],
    overlap: Fraction,
    fixed: Fraction,
    traffic: int,
    own: list[int],
    host: list[int],
    emc: list[int],
) -> None:
    parts = TimeParts(
        tuple(LaunchTime(*entry) for entry in launches), overlap, Fraction(1), fixed, traffic
    )
    ladders = own, host, emc

    def time_at(*points: int) -> Fraction:
        ratios = (Fraction(khz[-1], khz[k]) for khz, k in zip(ladders, points, strict=True))
        return parts.at(Ratios(*ratios))

    if half_up(time_at(0, 0, 0)) >= 1 << 47:
        with pytest.raises(PlatformError, match="below 140 s"):
            ladder_costs(parts, ladders, 64, "here")
        return
    times, demands = ladder_costs(parts, ladders, 64, "here")
    for place in np.ndindex(times.shape):
        time = time_at(*place)
        assert times[place] == max(1, half_up(time))
        peak = 64 * emc[place[-1]]
        wanted = min(half_up(traffic / time), peak) if time else peak
        assert demands[place] == (wanted if traffic else 0)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(PARTS, PARTS, st.integers(1, 12), CLOCKS, CLOCKS)
def test_a_rounded_norm_lies_within_a_half(
    compute: Fraction, memory: Fraction, overlap: int, own: list[int], emc: list[int]
) -> None:
    """For a whole p the inequality of powers is one of rationals."""
    parts = TimeParts(
        (LaunchTime(compute, memory, 1),), Fraction(overlap), Fraction(1), Fraction(0), 0
    )
    try:
        times, _ = ladder_costs(parts, (own, [1], emc), 64, "here")
    except PlatformError:
        return
    for row, khz in enumerate(own):
        for column, memory_khz in enumerate(emc):
            power = (compute * Fraction(own[-1], khz)) ** overlap
            power += (memory * Fraction(emc[-1], memory_khz)) ** overlap
            time = int(times[row, 0, column])
            assert power < (time + Fraction(1, 2)) ** overlap
            assert time == 1 or (time - Fraction(1, 2)) ** overlap <= power


def test_launches_are_added_and_fixed_times_follow_the_host() -> None:
    parts = TimeParts(
        (LaunchTime(Fraction(300), Fraction(400), 2), LaunchTime(Fraction(60), Fraction(0), 1)),
        Fraction(2),
        Fraction(1),
        Fraction(7),
        0,
    )
    times, _ = ladder_costs(parts, ([500, 1000], [250, 1000], [500, 1000]), 64, "here")
    # 2 x 500 + 60 + 7 at the fastest clocks; 2 x |600, 800| + 120 + 4 x 7 at the slowest.
    assert (times[1, 1, 1], times[1, 0, 1], times[0, 0, 0]) == (1067, 1088, 2148)
    one = Ratios(Fraction(1), Fraction(1), Fraction(1))
    assert parts.scaled(Fraction(2), Fraction(2), Fraction(0)).at(one) == 2120


def test_long_denominators_round_as_exact_sums_do() -> None:
    compute, memory = Fraction(10**3000 + 1, 3**6280), Fraction(1, 7**900) + 12
    parts = TimeParts(
        (LaunchTime(compute, memory, 1),), Fraction(1), Fraction(1), Fraction(1, 2), 10
    )
    times, _ = ladder_costs(parts, ([500, 1000], [1], [333, 999]), 64, "here")
    for row, ratio in enumerate((2, 1)):
        for column, memory_ratio in enumerate((3, 1)):
            exact = compute * ratio + memory * memory_ratio + Fraction(1, 2)
            assert times[row, 0, column] == max(1, half_up(exact))


def test_a_share_of_the_launches_follows_the_units_own_clock() -> None:
    parts = TimeParts(
        (LaunchTime(Fraction(3000), Fraction(4000), 2),),
        Fraction(2),
        Fraction(1),
        Fraction(1000),
        0,
        own_share=Fraction(3, 4),
    )
    ratios = Ratios(Fraction(4, 3), Fraction(5), Fraction(3, 4))
    # Two launches of |4000, 3000|, and a quarter of the fixed time with the host.
    assert parts.at(ratios) == 2 * 5000 + 1000 + 1250
    ladders = ((750, 1000), (200, 1000), (1000,))
    times, _ = ladder_costs(parts, ladders, 1, "net")
    for i, own in enumerate(ladders[0]):
        for j, host in enumerate(ladders[1]):
            at = parts.at(Ratios(Fraction(1000, own), Fraction(1000, host), Fraction(1)))
            assert times[i, j, 0] == half_up(at)

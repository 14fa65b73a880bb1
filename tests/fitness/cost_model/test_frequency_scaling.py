"""The fast enclosure against plain fractions, exact halves and equal times included."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fitness.cost_model.frequency_scaling import ladder_costs
from fitness.cost_model.roofline import TimeParts
from platforms.errors import PlatformError

PARTS = st.fractions(min_value=0, max_value=10**12, max_denominator=10**9) | st.integers(
    0, 2 * 10**6
).map(lambda value: Fraction(value, 2))
CLOCKS = st.lists(st.integers(1000, 3_000_000), min_size=1, max_size=4, unique=True).map(sorted)


def half_up(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


@settings(deadline=None, derandomize=True, max_examples=300)
@given(PARTS, PARTS, PARTS, st.integers(0, 10**18), CLOCKS, CLOCKS)
def test_enclosure_is_exact(
    compute: Fraction,
    memory: Fraction,
    fixed: Fraction,
    traffic: int,
    own: list[int],
    emc: list[int],
) -> None:
    parts = TimeParts(compute, memory, fixed, traffic)
    longest = parts.at(Fraction(own[-1], own[0]), Fraction(emc[-1], emc[0]))
    if half_up(longest) >= 1 << 47:
        with pytest.raises(PlatformError, match="below 140 s"):
            ladder_costs(parts, own, emc, 64, "here")
        return
    times, demands = ladder_costs(parts, own, emc, 64, "here")
    for row, khz in enumerate(own):
        for column, memory_khz in enumerate(emc):
            time = parts.at(Fraction(own[-1], khz), Fraction(emc[-1], memory_khz))
            assert times[row, column] == max(1, half_up(time))
            peak = 64 * memory_khz
            wanted = min(half_up(traffic / time), peak) if time else peak
            assert demands[row, column] == (wanted if traffic else 0)


def test_long_denominators_stay_exact() -> None:
    parts = TimeParts(Fraction(10**3000 + 1, 3**6280), Fraction(1, 7**900) + 12, Fraction(1, 2), 10)
    times, _ = ladder_costs(parts, [500, 1000], [333, 999], 64, "here")
    for row, ratio in enumerate((2, 1)):
        for column, memory_ratio in enumerate((3, 1)):
            exact = parts.at(Fraction(ratio), Fraction(memory_ratio))
            assert times[row, column] == max(1, half_up(exact))

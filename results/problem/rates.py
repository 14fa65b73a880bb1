"""Periods of frames and their rates, in whole numbers that never claim too much."""

from __future__ import annotations

from collections.abc import Sequence

from results.io.canonical_json import INT64_MAX

UHZ_PS = 10**18
"""1 / (1 ps) in uHz."""


def rate_uhz(period_ps: int) -> int:
    """Frames in 10^6 s, rounded down."""
    return UHZ_PS // period_ps


def frame_period_ps(periods_ps: Sequence[int]) -> int:
    """The period that belongs to the mean rate of several streams, rounded up: their harmonic mean,
    n / (sum of 1 / period); of a single stream its own; at most 2**63 - 1."""
    above, below = 0, 1
    for period in periods_ps:
        above, below = above * period + below, below * period
    return min(-(-len(periods_ps) * below // above), INT64_MAX)

"""What ``benchmarks.speed.campaign`` says about memory."""

import pytest

from benchmarks.speed.campaign import late_growth


def test_growth_is_that_between_fifths_and_not_between_moments():
    swinging = [(count, 400 + 40 * (count % 3)) for count in range(1, 101)]
    assert late_growth(swinging, 100) == 0
    growing = [(count, mb + count) for count, mb in swinging]
    assert late_growth(growing, 100) == pytest.approx(100 * 60 / 470, rel=0.02)
    # What the first fifth fills does not count, nor what comes between.
    stepped = [(count, 300 if count <= 20 else 400) for count in range(1, 101)]
    assert late_growth(stepped, 100) == 0


def test_too_few_runs_say_nothing():
    assert late_growth([], 10) is None
    assert late_growth([(1, 400.0)], 1) is None

"""What mapping is worth: at equal energy and latency, over one unit per network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretosoc.results.front.front import BaselinePoint
from paretosoc.results.front.mapping_gain import (
    ONE_UNIT,
    describe_mapping_gain,
    mapping_gain,
)


def values_of(front, rows):
    return tuple(replace(front.members[0], objectives=row) for row in rows)


def compared(front, ours, theirs, fastest=(), breaks=()):
    """Return a front of these values beside those of one unit per network, and a method."""
    points = [
        BaselinePoint(ONE_UNIT, "one unit", breaks, member=member)
        for member in values_of(front, theirs)
    ]
    clocks = np.array([np.flatnonzero(d.allowed)[-1] for d in front.problem.domains])
    design = replace(front.members[0].design, operating_points=clocks)
    points += [
        BaselinePoint("gpu-only", "GPU only", member=replace(member, design=design))
        for member in values_of(front, fastest)
    ]
    return replace(front, members=values_of(front, ours), baselines=tuple(points))


def test_gains_are_those_of_the_best_member_that_is_worse_in_nothing_else(front):
    ours = [(80, 1000), (100, 500), (180, 400)]
    theirs = [(100, 1000), (200, 500), (400, 400)]
    gain = mapping_gain(compared(front, ours, theirs, fastest=[(100, 1600)]))
    # At equal energy 80 of 100, 100 of 200, 180 of 400; at equal latency 500 of 1000, 400 of 500
    # and 400 of 400.
    latency, energy = gain.mapping
    assert (latency.median, latency.most, latency.best) == pytest.approx((0.5, 0.55, 0.2))
    assert (energy.median, energy.most, energy.best) == pytest.approx((0.2, 0.5, 0.0))
    assert gain.clocks == ((1, pytest.approx(0.75)),)
    assert gain.is_worth_it
    said = describe_mapping_gain(compared(front, ours, theirs, fastest=[(100, 1600)]))
    assert not said.comes_first
    assert said.text == (
        "Mapping gains 50.0 % in latency at equal energy and 20.0 % in energy at equal latency "
        "over one unit per network at free clocks (medians of 3 points; at most 55.0 % and "
        "50.0 %). The best members are ahead of its best by 20.0 % in latency. Clocks alone gain "
        "75.0 % in energy over all methods at the fastest clocks."
    )


def test_a_better_number_format_is_no_gain_of_mapping(front):
    both = compared(front, [(100, 1000)], [(100, 1000), (300, 3000)])
    narrow, wide = both.baselines
    named = (replace(narrow, name="one-unit:int8"), replace(wide, name="one-unit:fp16"))
    said = describe_mapping_gain(replace(both, baselines=named))
    assert said.comes_first
    assert said.text == (
        "Mapping gains less than 1 %: 0.0 % in latency at equal energy and 0.0 % in energy at "
        "equal latency over one unit per network at free clocks in one number format."
    )


def test_a_gain_below_one_percent_comes_first(front):
    theirs = [(1000, 2000), (2000, 1000)]
    said = describe_mapping_gain(compared(front, [(995, 2000), (2000, 999)], theirs))
    assert said.comes_first
    assert said.text.startswith("Mapping gains less than 1 %: 0.2 % in latency at equal energy and")


def test_what_gains_at_some_points_or_at_an_end_is_not_said_to_gain_nothing(front):
    theirs = [(1000, 2000), (2000, 1000), (3000, 900)]
    some = describe_mapping_gain(compared(front, [(1000, 2000), (1900, 1000), (3000, 900)], theirs))
    assert some.comes_first
    assert some.text.startswith("Mapping gains less than 1 % at half of the points or more: 0.0 %")
    # Twice as fast for a little more energy: nothing is gained at equal energy.
    ahead = describe_mapping_gain(compared(front, [(500, 2001), *theirs], theirs))
    assert not ahead.comes_first
    assert ahead.text.startswith("Mapping gains 0.0 % in latency at equal energy")
    assert "The best members are ahead of its best by 50.0 % in latency." in ahead.text


def test_what_cannot_be_compared(front):
    none = replace(front, baselines=())
    assert describe_mapping_gain(none) is None
    broken = compared(front, [(1, 2)], [(1, 2)], breaks=("deadline",))
    assert mapping_gain(broken) is None
    assert "keeps all limits" in describe_mapping_gain(broken).text
    others = compared(front, [(1, 2)], [], fastest=[(2, 3)])
    assert "too many design points" in describe_mapping_gain(others).text
    decided = replace(broken.provenance, single_decision=True)
    assert describe_mapping_gain(replace(others, provenance=decided)) is None

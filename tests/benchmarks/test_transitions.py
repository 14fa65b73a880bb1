"""Fronts searched with transitions as delays: what they lose is measured."""

from __future__ import annotations

from benchmarks.accuracy.transitions import CASES, measure


def test_transitions_that_are_work_take_time() -> None:
    row = measure(CASES[6], 2000)
    assert row["share"] > 0
    assert row["most"] >= row["longer"] > 0
    assert row["dominated"] > 0
    # The search with the rule is no proof, but it knows what the other does not.
    assert row["kept"] < 100

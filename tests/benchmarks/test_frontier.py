"""What a command proves within CPU seconds, on a small workload."""

from __future__ import annotations

from benchmarks.frontier import COLUMNS, Case, measure


def test_a_small_front_is_complete_and_holds() -> None:
    row = measure(Case("jetson-agx-xavier", ("alexnet",), 4), 20)
    assert set(row) == {column.key for column in COLUMNS}
    assert (row["front"], row["fastest"]) == ("complete", "certified")

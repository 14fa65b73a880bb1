"""What the right dispatch is worth, on a small workload."""

from __future__ import annotations

from benchmarks.dispatch import COLUMNS, Case, measure


def test_a_front_of_groups_is_played_as_the_runtime_does() -> None:
    row = measure(Case(("vgg19", "resnet50"), "jetson-agx-xavier", "any"), 2000)
    assert set(row) == {column.key for column in COLUMNS}
    assert row["longer_percent"] > 0
    assert row["worst_percent"] > 5
    assert 0 <= row["dominated_percent"] < 100
    assert 50 < row["kept_percent"] < 105

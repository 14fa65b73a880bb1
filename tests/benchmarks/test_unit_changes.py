"""What the limit on unit changes costs, on a small workload."""

from __future__ import annotations

from benchmarks.unit_changes import COLUMNS, Case, measure


def test_a_limit_never_gains() -> None:
    row = measure(Case("jetson-agx-xavier", ("googlenet", "resnet50")), 1500)
    assert set(row) == {column.key for column in COLUMNS}
    losses = [value for key, value in row.items() if key not in ("workload", "most")]
    assert min(losses) >= 0
    assert row["volume_default"] < 20
    assert row["most"] > 1

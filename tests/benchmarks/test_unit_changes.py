"""What the limit on unit changes costs, and what a searched order is worth, on small workloads."""

from __future__ import annotations

from benchmarks import searched_order
from benchmarks.unit_changes import COLUMNS, Case, measure


def test_a_limit_never_gains() -> None:
    row = measure(Case("jetson-agx-xavier", ("googlenet", "resnet50")), 1500)
    assert set(row) == {column.key for column in COLUMNS}
    losses = [value for key, value in row.items() if key not in ("workload", "most")]
    assert min(losses) >= 0
    assert row["volume_default"] < 20
    assert row["most"] > 1


def test_no_order_is_better_than_the_best_of_all() -> None:
    case = searched_order.Case("jetson-agx-xavier", ("googlenet", "resnet50"), "none")
    row = searched_order.measure(case, 1500)
    assert set(row) == {column.key for column in searched_order.COLUMNS}
    losses = [value for key, value in row.items() if key != "workload"]
    assert min(losses) >= 0
    assert 0 < max(losses) < 20

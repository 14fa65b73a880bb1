"""The benchmark of bounds, at its smallest."""

from __future__ import annotations

from pathlib import Path

from benchmarks.ten_networks import COLUMNS, Case, draw, measure


def test_two_networks_at_the_fastest_clocks_are_bounded_checked_and_drawn(tmp_path: Path) -> None:
    row = measure(Case("fastest clocks", 2), 300)
    assert set(row) == {column.key for column in COLUMNS}
    assert float(row["bound_ms"] or 0) < float(row["latency_ms"] or 0)
    assert 0 < float(row["gap"] or 0) <= float(row["epsilon"] or 0) + 1e-5 < 1
    larger = {**row, "groups": 2 * int(row["groups"] or 0)}
    path = tmp_path / "cost.svg"
    draw([{**each, "setting": "all clocks"} for each in (row, larger)], path)
    assert path.stat().st_size > 5000

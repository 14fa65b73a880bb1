"""Two engines by the number of networks, at its smallest."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from benchmarks.search import LOOP, OURS
from benchmarks.speed.many_networks import COLUMNS, draw, measure


def test_both_engines_are_measured_against_the_union_and_drawn(tmp_path: Path) -> None:
    rows = measure(1, 2, 0.05)
    assert [row["engine"] for row in rows] == [OURS, LOOP]
    assert all(set(row) == {column.key for column in COLUMNS} for row in rows)
    for row in rows:
        least, middle, most = (
            float(row[f"{key}_percent"] or 0.0) for key in ("least", "median", "most")
        )
        assert 0.0 <= least <= middle <= most <= 100.0 + 1e-9
    assert max(float(row["most_percent"] or 0.0) for row in rows) > 50.0
    path = tmp_path / "shares.svg"
    draw([*rows, *({**row, "networks": 2} for row in rows)], path)
    texts = {each.text for each in ElementTree.parse(path).iter() if each.tag.endswith("text")}
    assert {OURS, LOOP, "1", "2"} <= texts

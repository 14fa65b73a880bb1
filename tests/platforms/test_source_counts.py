"""How many entries of a platform file are measured, derived and assumed, and what the page says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paretosoc.platforms.io.platform_file import (
    load_platform,
    new_platform_source,
    platform_names,
    platform_source,
)
from paretosoc.platforms.platform_summary import (
    ENERGY,
    count_sources,
    platform_data,
    platform_lines,
)
from paretosoc.platforms.source import Status

ROOT = Path(__file__).parents[2]


def statuses(part: Any) -> Iterator[str]:
    """Every ``status`` that stands beside a ``source``, anywhere in a document."""
    if isinstance(part, dict):
        if "source" in part and "status" in part:
            yield part["status"]
        part = list(part.values())
    if isinstance(part, list):
        for entry in part:
            yield from statuses(entry)


def written(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(platform_source(name))
    return document


def counted(counts: Counter[Status]) -> Counter[str]:
    return Counter({status.value: number for status, number in counts.items()})


@pytest.mark.parametrize("name", platform_names())
def test_every_entry_of_a_file_is_counted_once(name: str) -> None:
    counts = count_sources(load_platform(name))
    assert counted(sum(counts.values(), Counter())) == Counter(statuses(written(name)))


def test_energy_rests_on_voltages_and_powers() -> None:
    document = written("jetson-tx2")
    parts: list[Any] = [domain["voltage"] for domain in document["domains"]]
    parts += [unit["power"] for unit in document["units"]]
    parts += [document["memory"]["power"], document["board"]]
    counts = count_sources(load_platform("jetson-tx2"))
    energy = sum((counts[topic] for topic in ENERGY), Counter())
    assert counted(energy) == Counter(statuses(parts)) == {"assumed": 11, "derived": 2}


def test_a_figure_of_ones_own_changes_the_count(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    board = {"mw": 1500, "source": "Own meter.", "status": "measured"}
    file.write_text(json.dumps({"extends": "jetson-tx2", "name": "own", "board": board}))
    mine, theirs = (count_sources(load_platform(p))["power"] for p in (file, "jetson-tx2"))
    assert mine[Status.MEASURED] == theirs[Status.MEASURED] + 1
    assert mine[Status.DERIVED] == theirs[Status.DERIVED] - 1
    assert mine.total() == theirs.total()


@pytest.mark.parametrize("name", platform_names())
def test_the_page_and_the_command_say_what_the_file_says(name: str) -> None:
    counts = count_sources(load_platform(name))
    every = sum(counts.values(), Counter())
    energy = sum((counts[topic] for topic in ENERGY), Counter())
    cells = [*(every[status] for status in Status), *(energy[status] for status in Status)]
    (row,) = [
        line
        for line in (ROOT / "docs/reference/platforms.md").read_text("utf-8").splitlines()
        if line.startswith(f"| `{name}` |")
    ]
    assert [cell.strip() for cell in row.split("|")[4:-1]] == [
        "/".join(map(str, part)) for part in (cells[:3], cells[3:])
    ]
    data = platform_data(load_platform(name))
    assert sum((Counter(topic) for topic in data["entries"].values()), Counter()) == counted(every)
    line = (
        f"Entries  {cells[0]} measured, {cells[1]} derived, {cells[2]} assumed; of voltage and "
        f"power: {cells[3]} measured, {cells[4]} derived, {cells[5]} assumed"
    )
    assert line in platform_lines(load_platform(name))


def test_one_of_a_kind_is_said_as_one() -> None:
    lines = platform_lines(load_platform("snapdragon-865"))
    assert "  emc       1 point, 2750 MHz (assumed)" in lines
    assert lines.count("          1 restriction on layers, any number of segments") == 1
    assert any(line.endswith("idle 0.25 W, at full bandwidth 1.65 W") for line in lines)


def test_modes_are_listed_and_errors_explained_where_there_are_any(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    path.write_text(new_platform_source(), "utf-8")
    board, new = (platform_lines(load_platform(name)) for name in ("jetson-agx-orin", path))
    assert board[-1].startswith("Power modes  MAXN, MODE_15W")
    assert any("Student's t" in line for line in board)
    assert not any("Student's t" in line or "Power modes" in line for line in new)

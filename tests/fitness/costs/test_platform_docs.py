"""What the documentation shows is what the program reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paretosoc.fitness.profiles.profile_file import read_profile
from paretosoc.platforms.io.platform_file import load_platform, platform_names

DOCS = Path(__file__).parents[3] / "docs"


def json_block(page: str, index: int = 0) -> str:
    return re.findall(r"```json\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)[index]


def test_the_example_of_an_own_platform_loads(tmp_path: Path) -> None:
    path = tmp_path / "my-xavier.json"
    path.write_text(json_block("guides/own_board.md"), "utf-8")
    mine = load_platform(path)
    assert list(mine.unit_by_name) == ["cpu", "gpu", "dla0"]
    assert mine.unit_by_name["gpu"].fixed_ns_per_layer == 12000


def test_the_example_of_a_second_cluster_loads(tmp_path: Path) -> None:
    path = tmp_path / "two-clusters.json"
    path.write_text(json_block("guides/own_board.md", 1), "utf-8")
    units = load_platform(path).unit_by_name
    first, second = ([table.domain for table in units[name].power] for name in ("cpu", "little"))
    assert (first, second) == (["cpu"], ["little"])
    assert units["little"].clocks == ("little", "emc")


def test_the_example_of_a_profile_loads() -> None:
    platform = load_platform("jetson-agx-xavier")
    profile = read_profile(json_block("concepts/costs.md").encode(), platform, "docs")
    (network,) = profile.networks
    assert network.groups[0].units[0].time_ps == 410_000_000
    assert network.transitions[0].time_ps == 70_000_000


@pytest.mark.parametrize("name", platform_names())
def test_the_table_of_platforms(name: str) -> None:
    (row,) = [
        line
        for line in (DOCS / "reference/platforms.md").read_text("utf-8").splitlines()
        if line.startswith(f"| `{name}` |")
    ]
    units, precision = (cell.strip() for cell in row.split("|")[2:4])
    platform = load_platform(name)
    assert units == ", ".join(platform.unit_by_name)
    assert precision == platform.default_precision

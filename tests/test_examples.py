"""The examples run as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dse.neighbours import MOST_NEIGHBOURS
from dse.nsga2 import NEIGHBOURHOODS, POPULATION
from results.front_file import read_results

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_explore_two_networks(tmp_path: Path) -> None:
    folder = tmp_path / "two"
    done = subprocess.run(
        [sys.executable, EXAMPLES / "explore_two_networks.py", folder, "500"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    front = read_results(folder)
    fastest = front.members[0]
    assert [network.name for network in front.problem.networks] == ["vgg19", "resnet50"]
    first, *rest = done.stdout.splitlines()
    assert first.startswith(f"{len(front.members)} members; ")
    assert f"{fastest.makespan_ps / 1e9:.3f} ms" in first
    assert len(rest) == 3
    assert 500 <= front.provenance.evaluations < 500 + POPULATION + NEIGHBOURHOODS * MOST_NEIGHBOURS

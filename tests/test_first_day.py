"""docs/guides/first_day.md: its commands run in order, and give what the page says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from paretosoc.dse.cli.main import run

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/guides/first_day.md"


def test_the_commands_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "examples" / "first_day", tmp_path / "examples" / "first_day")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    commands = [shlex.split(line) for block in blocks for line in block.splitlines()]
    assert [command[1] for command in commands] == ["import", "calibrate", "explore", "analyze"]
    for command in commands:
        assert command[0] == "dse"
        assert run(command[1:]) == 0, (command, capsys.readouterr().err)
    profile = json.loads((tmp_path / "mine.json").read_text("utf-8"))
    (model,) = profile["models"]
    assert model["time"]["form"] == "overlap"
    parameters = model["time"]["parameters"]
    assert all(parameters[name]["error"] > 0 for name in ("compute_ms", "memory_ms"))
    costs = json.loads((tmp_path / "first" / "costs.json").read_text("utf-8"))
    assert "calibrated" in json.dumps(costs)
    # The log's power is the first row's.
    assert re.search(r"board +3 +13500", capsys.readouterr().out)

"""A benchmark at another commit and now: the smallest of each figure, and nothing unasked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.harness import against
from benchmarks.harness.report import Column

SECONDS = (Column("seconds", "s"),)


def test_nothing_is_run_without_the_option() -> None:
    assert not against.shown_against("benchmarks.search", ["name"], SECONDS, ["--json"])


def test_the_smallest_of_both_turns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    printed = {tmp_path: [8.0, 4.0], against.ROOT: [2.0, 3.0]}
    passed: list[Sequence[str]] = []

    @contextmanager
    def tree(commit: str) -> Iterator[Path]:
        assert commit == "abc"
        yield tmp_path

    def rows(
        place: Path, module: str, names: Sequence[str], arguments: Sequence[str]
    ) -> dict[str, dict[str, float | None]]:
        passed.append(arguments)
        return {"a": {"seconds": printed[place].pop(0)}, "b": {"seconds": None}}

    monkeypatch.setattr(against, "_tree_of", tree)
    monkeypatch.setattr(against, "_rows", rows)
    options = ["--json", "--against", "abc", "--seeds", "1"]
    assert against.shown_against("benchmarks.search", ["name"], SECONDS, options)
    found = json.loads(capsys.readouterr().out)["rows"]
    assert found == [
        {"row": "a", "figure": "s", "then": 4.0, "now": 2.0, "ratio": 0.5},
        {"row": "b", "figure": "s", "then": None, "now": None, "ratio": None},
    ]
    assert passed == [["--seeds", "1"]] * 4
    assert printed == {tmp_path: [], against.ROOT: []}

"""Tables of benchmarks."""

from __future__ import annotations

import json

import pytest

from benchmarks.harness.report import Column, Value, tabulate


def test_rows_are_told_as_soon_as_they_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    told = []

    def measure(case: str, budget: int) -> dict[str, Value]:
        told.append(capsys.readouterr().err)
        return {"name": case, "budget": budget}

    columns = (Column("name", "name"), Column("budget", "budget"))
    options = ["--json", "--quick", "--most", "5"]
    tabulate("x", "X", columns, ("a", "b", "c"), measure, ("most", 1), options, quick=2)
    assert told == ["", "1/2: name a, budget 5\n"]
    assert [row["name"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["a", "b"]

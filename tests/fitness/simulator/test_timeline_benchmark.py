"""The speed benchmark: its problems, its comparison with the plain evaluator, what it prints."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest

from benchmarks import timeline as benchmark
from benchmarks.harness.report import Column, parser, show
from benchmarks.problems.contended_problems import random_rows
from paretosoc.fitness.check.members import frames as plain_timeline


def test_problems_are_as_large_as_announced() -> None:
    small = benchmark.small()
    chains, graphs = (benchmark.large(graphs=graphs) for graphs in (False, True))
    assert (len(small.networks), small.group_count, len(small.units)) == (2, 20, 2)
    for large, sources in ((chains, 10), (graphs, 105)):
        assert (len(large.networks), large.group_count, len(large.units)) == (10, 1000, 4)
        assert large.group_count - len({target for _, target in large.edges}) == sources
    for problem in (small, chains, graphs):
        assert all(unit.contention is not None for unit in problem.units)
        rows = random_rows(problem, 50)
        assert problem.allowed[np.arange(problem.group_count), rows[:, : problem.group_count]].all()
    points = random_rows(small, 500)[:, 20:]
    assert points.min(axis=0).tolist() == [0, 0]
    assert points.max(axis=0).tolist() == [13, 3]


def test_a_measurement() -> None:
    speed = benchmark.measure(
        "small", benchmark.small(), required=1, rows=20, plain_rows=3, repetitions=2
    )
    assert speed.fulfilled
    assert speed.ratio == speed.compiled_per_second / speed.plain_per_second > 0
    shown = asdict(speed)
    assert {column.key for column in benchmark.COLUMNS} == set(shown)


def test_disagreement_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = plain_timeline.simulate

    def late(*arguments: object) -> plain_timeline.PlainTimeline:
        played = honest(*arguments)  # type: ignore[arg-type]
        return replace(played, frame_end_ps=tuple(end + 1 for end in played.frame_end_ps))

    monkeypatch.setattr(plain_timeline, "simulate", late)
    with pytest.raises(AssertionError, match="the evaluators disagree on design point 0"):
        benchmark.measure(
            "small", benchmark.small(), required=1, rows=2, plain_rows=1, repetitions=1
        )


def test_the_report_prints_a_table_or_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    columns = (
        Column("name", "Name"),
        Column("rate", "Rate", ",.1f"),
        Column("extra", "Extra", in_table=False),
    )
    rows = [{"name": "[red]", "rate": 1234.56, "extra": 7}, {"name": "b", "rate": None, "extra": 8}]
    show("A title", columns, rows, as_json=False, notes=["A note [1]."])
    table = capsys.readouterr().out
    assert "A title" in table
    assert "1,234.6" in table
    assert "A note [1]." in table
    assert "Extra" not in table
    assert "[red]" in table
    show("A title", columns, rows, as_json=True, notes=["A note [1]."])
    document = json.loads(capsys.readouterr().out)
    assert document["benchmark"] == "A title"
    assert document["rows"] == rows
    assert document["notes"] == ["A note [1]."]
    assert set(document["machine"]) >= {"processor", "python", "numba"}


def test_a_table_that_goes_into_a_file_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    columns = [Column(f"key{i}", f"a title of {i} with words", ",.3f") for i in range(12)]
    row = {column.key: 123_456.789 + i for i, column in enumerate(columns)}
    show("Twelve columns", columns, [row], as_json=False, notes=["A note. " * 30])
    lines = capsys.readouterr().out.splitlines()
    headings = next(line for line in lines if columns[0].title in line)
    figures = next(line for line in lines if "123,456.789" in line)
    for i, column in enumerate(columns):
        assert column.title in headings
        assert f"{123_456.789 + i:,.3f}" in figures
    assert max(map(len, lines)) < 500, "as wide as it needs, no wider"


def test_a_terminal_is_not_passed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = [Column(f"key{i}", f"a title of {i} with words") for i in range(12)]
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    show("Twelve columns", columns, [{column.key: 1 for column in columns}], as_json=False)
    without_colours = re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(map(len, without_colours.splitlines())) <= 70


def test_the_option() -> None:
    options = parser("benchmarks.timeline", "Something.")
    assert options.parse_args(["--json"]).json
    assert not options.parse_args([]).json

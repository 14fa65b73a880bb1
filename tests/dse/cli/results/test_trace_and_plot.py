"""``dse analyze trace`` and ``dse plot``: what they write and what they refuse."""

import json

import pytest

from paretosoc.results.export.result_folder import read_results


def test_trace_of_two_members(dse, pair_folder, tmp_path):
    file = tmp_path / "trace.json"
    outcome = dse(
        "analyze",
        "trace",
        pair_folder,
        "-o",
        file,
        "--member",
        "fastest",
        "--member",
        "lowest-energy",
    )
    assert outcome.status == 0
    events = json.loads(file.read_text("utf-8"))["traceEvents"]
    front = read_results(pair_folder)
    assert sum(event["ph"] == "X" for event in events) == 2 * front.problem.group_count
    assert "(fastest)" in outcome.out
    assert dse("analyze", "trace", pair_folder, "-o", file).status == 2


@pytest.mark.parametrize(
    ("what", "suffix"),
    [("front", ".pdf"), ("gantt", ".png"), ("convergence", ".svg"), ("energy", ".svg")],
)
def test_every_plot_of_one_and_of_two_results(dse, pair_folder, tmp_path, what, suffix):
    for folders in ([pair_folder], [pair_folder, pair_folder]):
        file = tmp_path / f"{len(folders)}{suffix}"
        labels = [part for n in range(len(folders)) for part in ("--label", f"run {n}")]
        outcome = dse("plot", what, *folders, "-o", file, *labels)
        assert outcome.status == 0, outcome.err
        assert file.stat().st_size > 3000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["front", "-o", "a.gif"], ".svg, .pdf or .png is required"),
        (["front", "-o", "a.svg", "--member", "knee"], "is for gantt and energy"),
        (["gantt", "-o", "a.svg", "--label", "a", "--label", "b"], "1 are required, got 2"),
        (["gantt", "-o", "a.svg", "--member", "best"], "a number from 0"),
        (["pie", "-o", "a.svg"], "pie"),
    ],
)
def test_refused_in_a_line(dse, pair_folder, tmp_path, monkeypatch, arguments, told):
    monkeypatch.chdir(tmp_path)
    what, *options = arguments
    outcome = dse("plot", what, pair_folder, *options)
    assert outcome.status == 2
    assert told in outcome.err
    assert len(outcome.lines) == 1
    assert list(tmp_path.iterdir()) == []

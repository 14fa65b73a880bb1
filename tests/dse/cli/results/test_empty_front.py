"""A front without members, as an optimizer of the user's own may leave it."""

from dataclasses import replace

import pytest

from paretosoc.dse.tools.analysis.verify_measures import verify_measures
from paretosoc.results.export.result_folder import read_costs, read_results, write_results
from paretosoc.results.front.front import Robust


@pytest.fixture
def empty(pair_folder, tmp_path):
    front = read_results(pair_folder)
    write_results(
        tmp_path / "empty",
        replace(front, members=(), certificate=None, epsilon=None, bounds=None, baselines=()),
        costs=read_costs(pair_folder, front.problem),
    )
    return tmp_path / "empty"


@pytest.mark.parametrize(
    ("command", "to_do"),
    [
        (("analyze", "export", "--to", "optuna", "-o", "study.db"), "write"),
        (("analyze", "limits"), "better"),
        (("analyze", "confidence"), "be sure of"),
        (("certify",), "prove"),
        (("deploy", "--to", "json", "-o", "out"), "deploy"),
        (("measure", "next"), "measure"),
        (("plot", "gantt", "-o", "a.svg"), "choose"),
    ],
)
def test_is_refused_in_a_line(dse, empty, tmp_path, monkeypatch, command, to_do):
    monkeypatch.chdir(tmp_path)
    words = 2 if command[0] in ("analyze", "measure", "plot") else 1
    ran = dse(*command[:words], empty, *command[words:])
    assert (ran.status, ran.out) == (2, "")
    assert f"the front is empty: it has no member to {to_do}\n" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_has_no_measure_that_is_wrong(empty):
    front = replace(read_results(empty), robust=Robust("p90", 10, 0))
    assert list(verify_measures(empty, front, front.robust, ignore_hashes=False)) == []

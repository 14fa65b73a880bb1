"""Peers side by side: what they answer on the known problems, and what is said of those that cannot
be had."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

import benchmarks.peers.__main__ as command
from benchmarks.peers.environment import NotAvailable, Peer, ask, installed
from benchmarks.peers.programs.answer import Answer, answer_from
from benchmarks.peers.programs.exact import exact_answer
from benchmarks.peers.programs.search import search_answer


def test_the_exact_search_has_the_front_and_the_optimum() -> None:
    answer = exact_answer()
    assert answer.share_percent == 100.0
    assert answer.optimum_s is not None
    assert "complete front (73 members" in answer.proved
    assert answer.proved.endswith("none faster than 3.327 ms")


@pytest.mark.parametrize("engine", ["nsga2", "pymoo-nsga2"])
def test_a_search_is_measured_by_the_share_of_the_known_front(engine: str) -> None:
    answer = search_answer(engine, seconds=0.2, seeds=1)
    assert 50.0 < (answer.share_percent or 0.0) <= 100.0
    assert (answer.design_points_per_second or 0.0) > 0.0
    assert answer.proved == "nothing"


def test_an_answer_is_the_last_line_of_an_output() -> None:
    answer = Answer(version="1.2", optimum_s=0.5)
    assert answer_from(f"Welcome\n{json.dumps(asdict(answer))}\n") == answer
    with pytest.raises(ValueError, match="no answer"):
        answer_from("")


def test_what_cannot_be_had_is_named_with_the_reason(tmp_path, monkeypatch, capsys) -> None:
    missing = Peer("missing", (f"{tmp_path}/nothing.whl",), "benchmarks.search")
    failing = Peer("failing", (), "benchmarks.peers.programs.cp_sat", ("soon",))
    slow = Peer("slow", (), "benchmarks.peers.programs.exact")
    with pytest.raises(NotAvailable, match="no answer within"):
        ask(slow, tmp_path, time_limit_s=0.01)
    monkeypatch.setattr(command, "peers", lambda seconds, seeds: (missing, failing))
    assert command.main(["--json", "--environments", str(tmp_path)]) == 0
    first, second = json.loads(capsys.readouterr().out)["rows"]
    assert "not installed: " in first["proved"]
    assert "nothing.whl" in first["proved"]
    assert "could not convert string to float: 'soon'" in second["proved"]


def test_an_environment_is_made_once(tmp_path) -> None:
    """A folder with the note of the same requirements is taken as it is."""
    folder = tmp_path / "own-name"
    (folder / "bin").mkdir(parents=True)
    (folder / "installed.txt").write_text("something==1")
    assert installed(("something==1",), folder) == str(folder / "bin/python")
    assert (folder / "bin").is_dir()

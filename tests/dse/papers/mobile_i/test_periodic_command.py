"""``dse papers periodic``, ``show`` and ``verify`` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paretosoc.dse.cli.main import run
from paretosoc.dse.papers.mobile_i.result import read_periodic
from paretosoc.results.io.canonical_json import content_sha256

PERIODIC = ("papers", "periodic")
EXPLORE = [*PERIODIC, "agenet", "-p", "neurocube", "--pes", "16,32"]


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("periodic") / "pim"
    assert run([*EXPLORE, "-o", str(folder), "-q"]) == 0
    return folder


@pytest.fixture
def copied(explored: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    folder.mkdir()
    (folder / "periodic.json").write_bytes((explored / "periodic.json").read_bytes())
    return folder


def test_the_folder_shows_and_verifies(explored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert {path.name for path in explored.iterdir()} == {
        *("periodic.json", "front.svg", "front.png", "schedule.svg", "schedule.png"),
    }
    assert run(["verify", str(explored)]) == 0
    assert "FAILS" not in capsys.readouterr().out
    assert run(["show", str(explored)]) == 0
    assert "memolution" in capsys.readouterr().out
    assert run(["show", str(explored), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["engines"] for row in rows[:2]] == [32, 16]
    for row in rows[:2]:
        assert row["period_ps"] >= row["least_period_ps"]
        assert row["prologue_periods"] >= row["least_prologue_periods"]
        for other in rows[2:]:
            if other["engines"] == row["engines"]:
                assert row["latency_ps"] <= other["latency_ps"]


def test_the_same_bytes_again(explored: Path, tmp_path: Path) -> None:
    assert run([*EXPLORE, "-o", str(tmp_path / "again"), "-q"]) == 0
    first, second = (
        json.loads((folder / "periodic.json").read_bytes())
        for folder in (explored, tmp_path / "again")
    )
    for document in (first, second):
        del document["command"], document["content_sha256"]
    assert first == second


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["members"][0]["ahead"].__setitem__(0, 0), "FAILS"),
        (lambda d: d["members"][0].__setitem__("latency_ps", 1), "$.members[0].latency_ps"),
        (lambda d: d["members"][0]["engine"].__setitem__(0, 99), "on engine 99"),
        (
            lambda d: d["members"][0].update(start_ps=[0] * len(d["members"][0]["ahead"])),
            "FAILS        schedules",
        ),
        (lambda d: d["members"][0]["engine"].pop(), "entries, got"),
        (lambda d: d["members"].append(d["members"][0]), "dominates another"),
        (lambda d: d.pop("inferences"), "must have inferences"),
        (lambda d: d["arrays"][0]["tasks"][0].__setitem__("time_ps", 0), "must be at least 1"),
        (lambda d: d["members"][0].__setitem__("array", 9), "must be below 2"),
    ],
)
def test_tampered_files(copied: Path, change, words, capsys: pytest.CaptureFixture[str]) -> None:
    path = copied / "periodic.json"
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document), "utf-8")
    assert run(["verify", str(copied)]) == 1
    capsys.readouterr()
    # Also where the hash is made to fit.
    document.pop("content_sha256")
    document["content_sha256"] = content_sha256(document)
    path.write_text(json.dumps(document), "utf-8")
    assert run(["verify", str(copied)]) == 1
    assert words in capsys.readouterr().out


def test_results_are_replaced_only_with_force(
    copied: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = [*PERIODIC, "agenet", "-p", "neurocube", "--pes", "16", "-o", str(copied), "-q"]
    assert run(again) == 2
    assert "--force" in capsys.readouterr().err
    assert run([*again, "--force"]) == 0
    assert len(read_periodic(copied).members) == 1
    (copied / "diary.txt").write_text("mine", "utf-8")
    assert run([*again, "--force"]) == 2
    assert (copied / "diary.txt").read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["agenet", "-p", "neurocube", "--pes", "8"],
            "platform 'neurocube' can have is required (16, 32, 64), got 8",
        ),
        (["agenet", "-p", "neurocube", "--pes", "many"], "--pes: numbers"),
        (["agenet", "-p", "neurocube", "--pes", "16", "--fps", "3"], "No such option '--fps'"),
        (["agenet", "vgg16", "-p", "neurocube", "--pes", "16"], "unexpected extra argument"),
        (["agenet", "-p", "jetson-tx2", "--pes", "16"], "must have an array"),
        (["agenet", "-p", "neurocube", "--split", "0"], "0 is not in the range 1<=x"),
    ],
)
def test_what_cannot_be_asked_for(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*PERIODIC, *arguments, "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1

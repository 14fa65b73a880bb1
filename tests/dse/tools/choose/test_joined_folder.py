"""``dse explore`` of a workload with variants: the folder of the joined front, what the other
commands do with it, and that ``dse verify`` refuses what was changed."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paretosoc
from paretosoc.dse.api import pipeline
from paretosoc.dse.api.result import open_result
from paretosoc.dse.cli.main import run
from paretosoc.dse.tools.choose.joined_folder import folder_names
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256

BOARD = "jetson-orin-nano-8gb"
WORKLOAD = """\
networks:
  - name: look
    rate_hz: 60
    deadline_ms: {deadline}
    variants:
      - {{network: resnet18, accuracy_percent: 69.8}}
      - {{network: resnet50, accuracy_percent: 76.1}}
  - {{name: find, network: squeezenet, rate_hz: 60}}
"""
SMALL = ("-p", BOARD, "--groups", "1", "--max-evaluations", "200", "--jobs", "1")
BATCHES = ("--batch", "find=1,2")


@pytest.fixture(scope="module")
def workload(tmp_path_factory) -> Path:
    path: Path = tmp_path_factory.mktemp("joined") / "w.yaml"
    path.write_text(WORKLOAD.format(deadline=16))
    return path


@pytest.fixture(scope="module")
def explored(workload: Path) -> Path:
    """Two sizes of one network and two batches of the other: four combinations."""
    folder = workload.parent / "o"
    assert run(["explore", str(workload), *SMALL, *BATCHES, "-q", "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def copied(explored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(explored, tmp_path / "o"))


def test_the_folder_has_a_front_for_each_combination(dse, explored: Path) -> None:
    folders = sorted(path.name for path in explored.iterdir() if path.is_dir())
    assert folders == [
        f"look={size}-find=batch{batch}" for size in ("resnet18", "resnet50") for batch in (1, 2)
    ]
    table = list(csv.DictReader((explored / "front.csv").read_text().splitlines()))
    for row in table:
        assert row["run"] == f"look={row['look']}-find={row['find']}"
        member = paretosoc.load(explored / row["run"]).numeric.members[int(row["member"])]
        power = round(1e6 * float(row["power [W]"]))
        assert member.objectives[1] == power
    rows = json.loads(dse("show", explored, "--json", "--all").out)
    assert [{key: str(value) for key, value in row.items()} for row in rows] == table
    assert dse("show", explored, "--csv", "--all").out == (explored / "front.csv").read_text()
    few = json.loads(dse("show", explored, "--json", "--resolution", "30").out)
    assert 0 < len(few) < len(rows)
    assert all(row in rows for row in few)
    shown = dse("show", explored).out
    assert re.search(r"look=resnet50, find=batch1 +\d+ +\d+ +(complete|within)", shown)
    page = (explored / "report.html").read_text()
    assert "look=resnet50, find=batch2" in page
    assert ".list th { text-align: left !important; overflow-wrap: break-word; }" in page
    assert page.count("<tr>") == 1 + 4 + 1 + len(table)
    assert dse("report", explored).status == 0
    assert (explored / "report.html").read_text() == page


def test_tables_have_the_units_of_times(dse, workload: Path, tmp_path: Path) -> None:
    goals = ("--objective", "response:look", "--objective", "power")
    assert dse("explore", workload, *SMALL, *goals, "-q", "-o", tmp_path / "o").status == 0
    table = dse("show", tmp_path / "o").out
    assert "[ms]" in table
    assert "[W]" in table


def test_every_front_and_the_joined_one_are_verified(dse, explored: Path) -> None:
    done = dse("verify", explored)
    assert done.status == 0, done.out
    lines = done.out.splitlines()
    for folder in explored.glob("look=*"):
        assert any(line.startswith(f"holds        {folder.name}: members: ") for line in lines)
    assert lines[-2].startswith("holds        joined front: ")
    assert paretosoc.verify(explored, checker="plain").holds


def _resign(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(path.read_text())
    del document["content_sha256"]
    change(document)
    document["content_sha256"] = content_sha256(document)
    path.write_bytes(canonical_bytes(document))


def _spoil_member(folder: Path) -> None:
    def change(front: dict[str, Any]) -> None:
        front["members"][0]["objectives"]["power_uw"] -= 1

    _resign(folder / "look=resnet18-find=batch1" / "front.json", change)


def _without_line(folder: Path) -> None:
    path = folder / "front.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def _without_combination(folder: Path) -> None:
    shutil.rmtree(folder / "look=resnet50-find=batch2")


def _swapped(folder: Path) -> None:
    one, other = folder / "look=resnet18-find=batch1", folder / "look=resnet50-find=batch1"
    one.rename(folder / "aside")
    other.rename(one)
    (folder / "aside").rename(other)


def _signed(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return lambda folder: _resign(folder / "joined.json", change)


def _outside(document: dict[str, Any]) -> None:
    document["combinations"][0]["folder"] = "../o/look=resnet18-find=batch1"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_spoil_member, "look=resnet18-find=batch1: members: member 0: "),
        (_without_line, "joined front: front.csv: is not what remains"),
        (_without_combination, "files: .*look=resnet50-find=batch2: there is no such folder"),
        (_swapped, r"files: .*problem\.json: is not the problem of joined\.json"),
        (
            _signed(lambda document: document["combinations"].pop()),
            r"files: look=resnet50-find=batch2: joined\.json does not have this folder",
        ),
        (
            # The larger one seems less accurate, so that all of its points are dominated.
            _signed(lambda document: document["combinations"][2]["accuracies"].update(look=1.5)),
            "joined front: front.csv: is not what remains",
        ),
        (_signed(_outside), r"files: .*joined\.json: \$\.combinations\[0\]\.folder"),
        (
            _signed(lambda document: document["combinations"][0]["accuracies"].clear()),
            "files: .*accuracies: all must be of the same networks",
        ),
        (lambda folder: (folder / "joined.json").write_text("{"), r"files: .*joined\.json: "),
        (lambda folder: (folder / "front.csv").unlink(), r"files: .*front\.csv"),
    ],
)
def test_what_was_changed_is_refused(
    dse, copied: Path, spoil: Callable[[Path], None], words: str
) -> None:
    spoil(copied)
    done = dse("verify", copied)
    assert done.status == 1
    assert re.search(f"^FAILS +{words}", done.out, re.MULTILINE), done.out


def test_a_changed_hash_alone_is_refused_and_can_be_ignored(dse, copied: Path) -> None:
    path = copied / "joined.json"
    path.write_text(path.read_text().replace('"content_sha256": "', '"content_sha256": "0', 1))
    text = re.sub('("content_sha256": ")0(.*).("\n)', r"\1\2f\3", path.read_text())
    path.write_text(text.replace(BOARD, "another-board", 1))
    assert "the content was changed" in dse("verify", copied).out
    with pytest.raises(ResultError, match=r"joined\.json: .*content was changed"):
        open_result(copied)


@pytest.mark.parametrize(
    "call",
    [
        ("show", "--member", "0"),
        ("show", "--chain", "look,find"),
        ("certify",),
        ("analyze", "export", "--to", "perfetto", "-o", "x.json"),
        ("analyze", "export", "--to", "optuna", "-o", "x.db"),
        ("plot", "front", "-o", "x.svg"),
        ("deploy", "--to", "json", "-o", "x"),
        ("analyze", "confidence"),
    ],
)
def test_commands_for_one_front_name_a_folder(dse, explored: Path, call: tuple[str, ...]) -> None:
    words = 2 if call[0] in ("analyze", "plot") else 1
    done = dse(*call[:words], explored, *call[words:])
    assert done.status == 2
    assert done.err.count("\n") == 1
    wanted = "--chain: the folder of one front" if "--chain" in call else "look=resnet18-find=batch"
    assert wanted in done.err


def test_comparisons_name_a_folder_and_take_it(dse, explored: Path) -> None:
    done = dse("compare", explored, explored)
    assert (done.status, done.err.count("\n")) == (2, 1)
    one = explored / "look=resnet18-find=batch1"
    assert str(one) in done.err
    assert dse("compare", one, explored / "look=resnet50-find=batch1").status == 0


def test_options_of_one_combination_are_refused(dse, workload: Path, tmp_path: Path) -> None:
    call = ("explore", workload, *SMALL, *BATCHES, "-o", tmp_path / "x")
    for more in (("--live",), ("--checkpoint", tmp_path / "c"), ("--robust", "mean")):
        done = dse(*call, *more)
        assert (done.status, done.err.count("\n")) == (2, 1)
        assert f"{more[0]}: is for one combination of variants, got 4; --variant" in done.err
    assert not (tmp_path / "x").exists()


def test_a_combination_that_keeps_no_limit_has_no_front(dse, tmp_path: Path) -> None:
    path, out = tmp_path / "w.yaml", tmp_path / "o"
    path.write_text(WORKLOAD.format(deadline=3))
    done = dse("explore", path, *SMALL, "--max-nodes", "0", "-o", out)
    assert done.status == 0, done.err
    assert "no feasible design point" in done.out
    assert "not proved" in done.out
    assert [each.name for each in out.iterdir() if each.is_dir()] == ["look=resnet18"]
    done = dse("verify", out)
    assert done.status == 0
    assert "look=resnet50: nothing is claimed: no feasible design point" in done.out
    assert "joined front: not proved: " in done.out
    # An older result is replaced by one that has less.
    again = ("explore", path, *SMALL, "-o", out)
    assert "exists already; --force replaces it" in dse(*again).err
    path.write_text(WORKLOAD.format(deadline=1))
    table = (out / "front.csv").read_text()
    assert dse(*again, "--force").status == 3
    assert (out / "front.csv").read_text() == table
    path.write_text(WORKLOAD.format(deadline=16))
    assert dse(*again, "--force", *BATCHES, "--variant", "look=resnet50").status == 0
    assert sorted(each.name for each in out.iterdir() if each.is_dir()) == [
        "look=resnet50-find=batch1",
        "look=resnet50-find=batch2",
    ]
    assert dse("verify", out).status == 0
    (out / "notes.txt").write_text("mine")
    refused = dse(*again, "--force")
    assert "it holds 'notes.txt', which this command does not write" in refused.err


CLOSED = """\
networks:
  - name: look
    deadline_ms: {deadline}
    variants:
      - {{network: resnet18, accuracy_percent: 69.8}}
      - {{network: resnet50, accuracy_percent: 76.1}}
      - {{network: alexnet, accuracy_percent: 56.5}}
  - {{name: find, network: squeezenet}}
"""
IN_TIME = 16


@pytest.fixture(scope="module", params=[False, True], ids=["tree", "bounds"])
def closed(request: pytest.FixtureRequest, tmp_path_factory) -> tuple[Path, Path]:
    """The largest variant is too slow, the smallest is worse than the first in everything. In the
    second folder none is too slow."""
    path: Path = tmp_path_factory.mktemp("closed") / "w.yaml"
    rates = "    rate_hz: 60\n    deadline_ms" if request.param else "    deadline_ms"
    folders = path.parent / "tight", path.parent / "loose"
    for folder, deadline in zip(folders, (3.5, IN_TIME), strict=True):
        text = CLOSED.format(deadline=deadline).replace("    deadline_ms", rates)
        if request.param:
            text = text.replace("squeezenet}", "squeezenet, rate_hz: 60}")
        path.write_text(text)
        assert run(["explore", str(path), *SMALL, "-q", "-o", str(folder)]) == 0
    return folders


def test_combinations_that_add_nothing_are_a_proved_part(dse, closed: tuple[Path, Path]) -> None:
    tight, _ = closed
    for name in ("look=resnet50", "look=alexnet"):
        assert not (tight / name / "front.json").exists()
    shown = " ".join(dse("show", tight).out.split())
    assert re.search(r"look=resnet50 +0 +0 +no feasible design point .*", shown)
    assert re.search(r"look=alexnet +0 +0 +others are at least as good", shown)
    for checker in ("fast", "plain"):
        done = dse("verify", tight, "--checker", checker)
        assert done.status == 0, done.out
        assert "look=resnet50: no design point keeps all limits" in done.out
        assert "look=alexnet: others are at least as good" in done.out
        assert "joined front: complete: " in done.out
    refused = dse("show", tight / "look=alexnet")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "look=alexnet: has no front, but a proof that those beside it need none" in refused.err


def _proof_of(folder: Path) -> Path:
    return next(path for path in folder.glob("*.json") if path.name != "problem.json")


@pytest.mark.parametrize("name", ["look=resnet50", "look=alexnet"])
def test_a_proof_of_another_problem_is_refused(
    dse, closed: tuple[Path, Path], tmp_path: Path, name: str
) -> None:
    """The tight one's proof with the loose one's problem, and with this one's front for alexnet."""
    tight, loose = closed
    copy = Path(shutil.copytree(tight, tmp_path / "o"))
    other = (loose if name == "look=resnet50" else tight) / "look=resnet50" / "problem.json"
    if name == "look=alexnet":
        other = loose / "look=resnet18" / "problem.json"
    shutil.copy(other, copy / name / "problem.json")
    digest = hashlib.sha256(other.read_bytes()).hexdigest()
    assert "problem_sha256: is not that of problem.json" in dse("verify", copy).out
    _resign(_proof_of(copy / name), lambda proof: proof.update(problem_sha256=digest))
    place = ["look=resnet18", "look=resnet50", "look=alexnet"].index(name)
    _resign(
        copy / "joined.json",
        lambda joined: joined["combinations"][place].update(problem_sha256=digest),
    )
    done = dse("verify", copy)
    assert done.status == 1
    assert re.search(rf"^FAILS +{name}: (tree|bounds): ", done.out, re.MULTILINE), done.out


def test_a_claim_beyond_the_proof_is_refused(
    dse, closed: tuple[Path, Path], tmp_path: Path
) -> None:
    tight, _ = closed
    copies = [Path(shutil.copytree(tight, tmp_path / f"o{k}")) for k in range(3)]
    _resign(
        copies[0] / "joined.json",
        lambda joined: joined["combinations"][2]["accuracies"].update(look=70.5),
    )
    done = dse("verify", copies[0])
    assert "look=alexnet: some design point may be in the joined front" in done.out
    # Nothing is claimed to be feasible, by the proof of less.
    path = _proof_of(copies[1] / "look=alexnet")
    if path.name == "certificate.json":
        _resign(path, lambda proof: proof.update(members=[]))
    else:
        _resign(path, lambda proof: proof.update(region=[[2**63 - 1] * 2]))
    assert re.search(r"^FAILS +look=alexnet: (tree|bounds): ", dse("verify", copies[1]).out, re.M)
    _proof_of(copies[2] / "look=alexnet").unlink()
    assert "a front or a proof that there is none is required" in dse("verify", copies[2]).out


def test_ctrl_c_keeps_what_was_explored(
    dse, workload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, begun = pipeline.explore_to_folder, []

    def interrupted(problem: paretosoc.Problem, *arguments: Any, **more: Any) -> Any:
        begun.append(problem)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return plain(problem, *arguments, **more)

    monkeypatch.setattr(pipeline, "explore_to_folder", interrupted)
    call = ("explore", workload, *SMALL, *BATCHES, "-o", tmp_path / "o")
    assert dse(*call).status == 130
    assert len(begun) == 2
    assert [each.name for each in (tmp_path / "o").glob("look*")] == ["look=resnet18-find=batch1"]
    done = dse("verify", tmp_path / "o")
    assert done.status == 0
    assert done.out.count("nothing is claimed: not explored: interrupted") == 3
    del begun[1:]
    assert dse(*call[:-1], tmp_path / "none").status == 130
    assert not (tmp_path / "none").exists()


def test_one_combination_left_is_an_ordinary_front(dse, workload: Path, tmp_path: Path) -> None:
    done = dse("explore", workload, *SMALL, "--limit", "min-accuracy:look=70", "-o", tmp_path / "o")
    assert done.status == 0, done.err
    assert (tmp_path / "o" / "front.json").exists()


def test_folders_have_names_of_their_own() -> None:
    assert folder_names(["a=x, b=y", "a=nets/own v2"]) == ["a=x-b=y", "a=nets-own-v2"]
    assert folder_names(["a=x/y", "a=x y", "a=z"]) == ["0-a=x-y", "1-a=x-y", "a=z"]


@pytest.mark.parametrize("name", ["board", "run", "member"])
def test_a_network_may_be_called_as_a_column_is(dse, tmp_path: Path, name: str) -> None:
    variants = "{network: resnet18}, {network: squeezenet}"
    path = tmp_path / "w.yaml"
    path.write_text(f"networks:\n  - {{name: {name}, variants: [{variants}]}}\n")
    few = ("--groups", "1", "--max-evaluations", "20", "--max-nodes", "0", "-q")
    assert dse("explore", path, "-p", BOARD, *few, "-o", tmp_path / "o").status == 0
    rows = json.loads(dse("show", tmp_path / "o", "--json", "--all").out)
    for row in rows:
        assert row["board"] == BOARD
        assert row["run"] == f"{name}={row[f'variant of {name}']}"
        assert isinstance(row["member"], int)

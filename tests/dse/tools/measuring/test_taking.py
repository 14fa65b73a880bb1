"""Results of a board are taken once, whole, and only if they can be of the front."""

from __future__ import annotations

import copy
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import paretosoc as dse_library
from paretosoc.dse.api.deployment import decisions
from paretosoc.dse.cli.measure.next_measurements import decision_lines
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.analysis.cost_draws import stated_errors
from paretosoc.results.costs.costs_file import MEASUREMENTS, BoardResults
from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import choose
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256
from paretosoc.results.problem.problem_file import problem_sha256
from tests.support.measured_fronts import measurement_of, stretch_of

SLOWER = 1.3


def results_of(front, *, slower=SLOWER):
    """Both networks on the GPU, slower than stated."""
    errors = stated_errors(front.problem, front.costs)
    rows = []
    for network in range(2):
        blank = measurement_of(front.problem, network, 0)
        stretch = stretch_of(errors, blank)
        idle = round(stretch.idle_mw)
        figures = {
            "time_ps": round(slower * stretch.time_ps),
            "power_mw": idle + round(stretch.dynamic_mw),
            "idle_mw": idle,
        }
        rows.append(measurement_of(front.problem, network, 0, **figures))
    content = BoardResults(problem_sha256(front.problem), "0" * 64, tuple(rows))
    return MEASUREMENTS.write(content)


def signed(document):
    kept = {key: value for key, value in document.items() if key != "content_sha256"}
    return kept | {"content_sha256": content_sha256(kept)}


@pytest.fixture
def folder(tmp_path, pair_folder):
    return shutil.copytree(pair_folder, tmp_path / "front")


def test_the_front_learns(folder, dse, tmp_path):
    front = dse_library.load(folder)
    document = results_of(front)
    before = front.confidence("fastest", draws=300)
    after = front.update(document).confidence("fastest", draws=300)
    for old, new in zip(before.choices, after.choices, strict=True):
        on_gpu = set(front[old.member].numeric.design.units.tolist()) == {0}
        for name, (low, high) in new.intervals.items():
            if on_gpu and name.startswith("latency"):
                least, most = old.intervals[name]
                assert high - low < (most - least) / 2
                assert low < SLOWER * front[old.member].latency_ms < high
    path = tmp_path / "results.json"
    path.write_bytes(canonical_bytes(document))
    (tmp_path / "front-plan-2").mkdir()
    problem, proof = (folder / "problem.json").read_bytes(), (folder / "front.json").read_bytes()
    assert dse("report", folder).status == 0
    estimated = (folder / "report.html").read_bytes()
    got = dse("measure", "take", folder, path, "--draws", "50")
    assert (got.status, got.err) == (0, "")
    assert (folder / "report.html").read_bytes() != estimated
    assert "+30.0 %" in got.out
    # A plan that was run has its results beside it, and is not replaced.
    hint = f"measure next {folder} -o {tmp_path / 'front-plan-3'}"
    assert hint.replace(" ", "") in "".join(got.out.split())
    assert "costs before the measurements" in got.out.replace("\n", " ").replace("  ", " ")
    assert (folder / "problem.json").read_bytes() == problem
    assert (folder / "front.json").read_bytes() == proof
    assert len(dse_library.load(folder).costs.measured) == 2
    assert dse("verify", folder).status == 0
    again = dse("measure", "take", folder, path)
    assert (again.status, len(again.lines)) == (2, 1)
    assert "$.measured[0]: was taken before" in again.err
    plan = dse("measure", "next", folder, "--minutes", "3", "--draws", "50", "--json")
    assert plan.status == 0, plan.err
    keys = {"folder", "minutes", "now", "experiments", "loss_after_co_runs"}
    assert set(json.loads(plan.out)) == keys
    shown = dse("show", folder).out
    assert "2 measurements of the board since" in shown


@pytest.mark.parametrize(("minutes", "is_written"), [("0.1", False), ("30", True)])
def test_json_says_whether_a_plan_is_written(folder, dse, tmp_path, minutes, is_written):
    target = tmp_path / "plan"
    command = ("measure", "next", folder, "-o", target, "--draws", "50", "--minutes", minutes)
    got = dse(*command, "--json")
    assert got.status == 0, got.err
    assert json.loads(got.out)["folder"] == (str(target) if is_written else None)
    assert target.exists() == is_written


def test_the_folder_of_a_result_may_be_the_present_one(folder, dse, tmp_path, monkeypatch):
    here = Path(shutil.copytree(folder, tmp_path / "here"))
    monkeypatch.chdir(here)
    few = ("--draws", "50", "--json")
    got = dse("measure", "next", ".", *few)
    assert (got.status, got.err) == (0, "")
    assert json.loads(got.out)["folder"] == str(tmp_path / "here-plan")
    assert (tmp_path / "here-plan" / "plan.json").is_file()


def test_a_plan_is_printed_also_if_its_folder_exists(folder, dse, tmp_path):
    target = tmp_path / "plan"
    command = ("measure", "next", folder, "-o", target, "--draws", "50")
    first = dse(*command)
    assert first.status == 0, first.err
    (titles,) = [line for line in first.out.splitlines() if line.startswith("experiment ")]
    assert titles.split()[-3:] == ["fastest", "lowest-energy", "knee"]
    written = (target / "plan.json").read_bytes()
    again = dse(*command)
    assert (again.status, len(again.lines)) == (2, 1)
    assert "exists already; --force replaces it" in again.err
    assert titles in again.out
    assert "measure.py" not in again.out
    assert (target / "plan.json").read_bytes() == written
    document = dse(*command, "--json")
    assert (document.status, json.loads(document.out)["folder"]) == (2, None)


def test_the_choice_that_stands_for_a_member_is_named(folder):
    front = dse_library.load(folder)
    choices = choose(front.numeric)
    (entry,) = decisions(front, goal="fastest", draws=2).values()
    behind = next(choice for choice in choices.entries if len(choice.stands_for) > 1)
    for member in behind.stands_for:
        (line,) = decision_lines(front, {"fastest": replace(entry, member=member)})
        stands = f", for which {behind.member} stands in tables"
        assert (stands in line) == (member != behind.member)


def test_what_could_not_be_measured_is_told(folder, dse, tmp_path):
    """Else a plan of which a part was run looks as if it had been run whole."""
    document = signed(results_of(dse_library.load(folder)) | {"failed": ["a on gpu: no trtexec"]})
    path = tmp_path / "results.json"
    path.write_bytes(canonical_bytes(document))
    shutil.copytree(folder, tmp_path / "other")
    got = dse("measure", "take", folder, path, "--draws", "50")
    assert "Not measured: a on gpu: no trtexec\n" in got.out
    got = dse("measure", "take", tmp_path / "other", path, "--draws", "50", "--json")
    assert json.loads(got.out)["failed"] == ["a on gpu: no trtexec"]


def test_json_says_whether_to_stop(folder, dse, tmp_path):
    path = tmp_path / "results.json"
    path.write_bytes(canonical_bytes(results_of(dse_library.load(folder))))
    got = dse("measure", "take", folder, path, "--draws", "100", "--goal", "fastest", "--json")
    document = json.loads(got.out)
    assert document["stop"] == document["decisions"]["fastest"]["is_sure"]
    assert document["measured"][0]["time_ms"] > document["measured"][0]["stated_ms"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda row: row.update(network="vgg"), r"measured\[0\].network"),
        (lambda row: row.update(last_group=99), r"measured\[0\].last_group"),
        (lambda row: row.update(first_group=-1), r"measured\[0\].first_group"),
        (lambda row: row.update(first_group=3, last_group=2), r"measured\[0\].last_group"),
        (lambda row: row.update(unit="npu"), r"measured\[0\].unit"),
        (lambda row: row.update(time_ps=0), r"measured\[0\].time_ps"),
        (
            lambda row: row.update(time_ps=1000),
            r"measured\[0\].time_ps: must be from .* for \w+ groups? [0-9].* on gpu, got",
        ),
        (lambda row: row.update(time_ps=1.5), r"measured\[0\].time_ps"),
        (lambda row: row.update(time_ps=None), r"measured\[0\].time_ps"),
        (lambda row: row.update(power_mw=5), r"measured\[0\].power_mw: must be above idle_mw"),
        (lambda row: row.update(power_mw=10**6), r"measured\[0\].power_mw - idle_mw"),
        (lambda row: row.update(idle_mw=1), r"measured\[0\]"),
        (lambda row: row.pop("idle_mw"), r"measured\[0\].idle_mw: must be given"),
        (lambda row: row["clocks_khz"].update(gpu=1), r"measured\[0\].clocks_khz.gpu"),
        (lambda row: row["clocks_khz"].update(gpu=None), r"measured\[0\].clocks_khz.gpu"),
        (lambda row: row["clocks_khz"].pop("gpu"), r"measured\[0\].clocks_khz"),
        (lambda row: row.update(more=1), r"measured\[0\]"),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(folder, change, field):
    front = dse_library.load(folder)
    document = copy.deepcopy(results_of(front))
    change(document["measured"][0])
    with pytest.raises(ResultError, match=field):
        front.update(signed(document))


def test_pairs_are_shown_and_are_of_two_units(folder, dse, tmp_path):
    front = dse_library.load(folder)
    document = results_of(front)
    other, row = document["measured"]
    keys = ("network", "first_group", "last_group", "unit")
    time_ps = round(1.5 * row["time_ps"])
    row["beside"] = {**{key: other[key] for key in keys}, "time_ps": time_ps}
    with pytest.raises(ResultError, match=r"measured\[1\].beside.unit: must be another unit"):
        front.update(signed(document))
    row["beside"]["unit"] = "dla0"
    (dla,) = (domain for domain in front.problem.domains if domain.name == "dla")
    row["clocks_khz"]["dla"] = dla.frequencies_khz[-1]
    for times in (9, 0.5):
        row["beside"]["time_ps"] = round(times * row["time_ps"])
        words = rf"measured\[1\].beside.time_ps: must be from 0.8 to 8 times time_ps, got {times}"
        with pytest.raises(ResultError, match=words):
            front.update(signed(document))
    row["beside"]["time_ps"] = time_ps
    path = tmp_path / "results.json"
    path.write_bytes(canonical_bytes(signed(document)))
    got = dse("measure", "take", folder, path, "--draws", "100")
    assert got.status == 0, got.err
    assert f"beside {other['network']} group" in got.out
    assert f" to {row['last_group']} on " in got.out
    assert "1.500" in got.out


def test_what_was_changed_or_is_of_another_front_is_refused(folder, tmp_path, dse):
    front = dse_library.load(folder)
    document = results_of(front)
    changed = copy.deepcopy(document)
    changed["measured"][0]["time_ps"] += 1
    with pytest.raises(ResultError, match="content_sha256: the content was changed"):
        front.update(changed)
    with pytest.raises(ResultError, match=r"problem_sha256: is not that of problem\.json"):
        front.update(signed(document | {"problem_sha256": "1" * 64}))
    with pytest.raises(ResultError, match="measured"):
        front.update(signed(document | {"measured": []}))
    with pytest.raises(ResultError, match=r"measured\[2\]: was taken before"):
        front.update(signed(document | {"measured": [*document["measured"]] * 2}))
    for wrong in (5, None, b"x"):
        with pytest.raises(WorkloadError, match="measurements"):
            front.update(wrong)
    for text in ("", "{", "[]", "{}", '{"format": "paretosoc-costs/1"}'):
        path = tmp_path / "results.json"
        path.write_text(text)
        got = dse("measure", "take", folder, path)
        assert (got.status, got.out, len(got.lines)) == (2, "", 1)
        assert "results.json" in got.err
    assert dse_library.load(folder).costs.measured == ()


def test_measurements_of_costs_json_are_checked(folder):
    front = dse_library.load(folder)
    front.update(results_of(front)).save(folder, overwrite=True)
    path = folder / "costs.json"
    document = json.loads(path.read_text())
    document["measured"][1]["unit"] = "npu"
    path.write_bytes(canonical_bytes(signed(document)))
    with pytest.raises(ResultError, match=r"costs.json: \$.measured\[1\].unit: must be one of"):
        dse_library.load(folder)

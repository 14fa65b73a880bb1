"""The validation suite: files of figures, laws whose parameters are known, and the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.validation import __main__ as command
from benchmarks.validation import clock_sets, host_sets, protocols, sets
from benchmarks.validation.laws import (
    NAIVE,
    NORM,
    NORM_CONSTANT,
    STALL,
    SUM,
    Subject,
    few_points,
    one_run,
    slowdowns,
)
from benchmarks.validation.pictures import picture_name, write_pictures
from benchmarks.validation.published import FOLDER, read_set
from benchmarks.validation.scores import Comparison, joined, score
from paretosoc.common.errors import DseError
from paretosoc.fitness.calibration.dvfs import calibrate_rows, predicted
from paretosoc.fitness.calibration.dvfs_table import ClockMeasurement
from paretosoc.fitness.cost_model.dvfs_forms import TimeForm, time_ms
from paretosoc.platforms.io.platform_file import load_platform

PAGE = Path(__file__).parents[2] / "docs/concepts/validation.md"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
GPU, MEMORY = (100.0, 200.0, 400.0, 800.0, 1200.0), (500.0, 1000.0, 2000.0)
PAIRS = [(gpu, memory) for gpu in GPU for memory in MEMORY]
USED = tuple(
    PAIRS.index(pair)
    for pair in ((1200.0, 2000.0), (1200.0, 500.0), (100.0, 2000.0), (400.0, 500.0))
)


def subject(values: dict[str, float], name: str = "a", scale: float = 1.0) -> Subject:
    """A network that follows a law exactly."""
    clocks = slowdowns([gpu for gpu, _ in PAIRS], [memory for _, memory in PAIRS])
    return Subject(name, name, clocks, scale * time_ms(values, clocks), USED, len(PAIRS) - 1)


TRUE = {
    SUM: {"compute_ms": 30.0, "memory_ms": 20.0, "fixed_ms": 5.0},
    NORM: {"compute_ms": 30.0, "memory_ms": 20.0, "overlap": 2.5},
    NORM_CONSTANT: {"compute_ms": 30.0, "memory_ms": 20.0, "host_ms": 15.0, "overlap": 2.5},
}


# Data.


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_read_and_its_source_is_on_the_page(name):
    data = read_set(name)
    page = PAGE.read_text("utf-8")
    assert f"`{name}`" in page
    assert data.repository in page
    assert data.rows


def test_what_the_files_hold():
    grid = read_set("tx2_gpu_memory")
    assert (len(grid.rows), grid.columns["latency"]) == (104, "ms")
    assert len(set(grid.numbers("gpu"))) * len(set(grid.numbers("memory"))) == 52
    modes = read_set("orin_dla_modes")
    platform = load_platform("jetson-agx-orin")
    for column, domain in (("dla", "dla"), ("memory", "emc")):
        ladder = platform.domain_by_name[domain].operating_points
        assert set(modes.numbers(column)) <= {point.frequency_khz / 1000 for point in ladder}
    with pytest.raises(DseError, match="mode is a column of texts"):
        modes.numbers("mode")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"licence": ""}, "licence must be a text, got ''"),
        ({"commit": 7}, "commit must be a text or null, got 7"),
        ({"more": 1}, "keys must be title, repository"),
        ({"columns": {"name": 3}}, "columns must map names to units"),
        ({"rows": []}, "rows must be a list of rows"),
        ({"rows": [["a"]]}, r"rows\[0\] must have 2 cells"),
        ({"rows": [["a", 1], ["", 2]]}, r"rows\[1\]: network must be a text, got ''"),
        ({"rows": [["a", 0]]}, r"rows\[0\]: time must be a number above 0, got 0"),
        ({"rows": [["a", True]]}, "time must be a number above 0, got True"),
        ({"rows": [["a", 1], ["a", 1]]}, "rows must differ"),
    ],
)
def test_a_broken_file_is_refused(tmp_path, change, message):
    keys = ("title", "repository", "commit", "path", "licence", "note")
    document: dict[str, Any] = dict.fromkeys(keys, "x")
    document |= {"columns": {"network": "name", "time": "ms"}, "rows": [["a", 1.5]]}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    assert read_set("x", tmp_path).rows == ({"network": "a", "time": 1.5},)
    path.write_text(json.dumps(document | change))
    with pytest.raises(DseError, match=rf"^x\.json: .*{message}"):
        read_set("x", tmp_path)


# Laws and protocols, where the truth is known.


@pytest.mark.parametrize("law", TRUE, ids=lambda law: law.name)
def test_four_points_find_the_law_that_made_them(law):
    known = subject(TRUE[law])
    assert few_points(law, known) == pytest.approx(known.measured_ms, rel=1e-3)


def test_another_law_does_not_fit():
    known = subject(TRUE[NORM])
    assert np.abs(few_points(SUM, known) / known.measured_ms - 1).max() > 0.03
    naive = few_points(NAIVE, known)
    assert naive == pytest.approx(known.measured_ms[-1] * known.clocks.own)


@pytest.mark.parametrize("law", TRUE, ids=lambda law: law.name)
def test_one_run_and_the_shape_of_the_others(law):
    first, second = subject(TRUE[law]), subject(TRUE[law], "b", scale=7.0)
    assert one_run(law, second, [first]) == pytest.approx(second.measured_ms, rel=1e-3)


def test_a_constant_is_left_out_where_no_clock_tells_it_from_the_memory():
    clocks = slowdowns(GPU)
    values = {"compute_ms": 30.0, "memory_ms": 20.0}
    times = time_ms(values, clocks)
    known = Subject("a", "a", clocks, times, (0, 2, 4), 4)
    for law in (SUM, NORM):
        assert few_points(law, known) == pytest.approx(times, rel=1e-3)


def test_a_stall_needs_a_host_whose_clock_changes():
    gpu, cpu = np.meshgrid([1.0, 2.0, 8.0], [1.0, 2.0, 5.0])
    clocks = replace(slowdowns((1 / gpu.ravel()).tolist()), host=cpu.ravel())
    values = {"compute_ms": 30.0, "memory_ms": 20.0, "host_ms": 9.0, "stall": 0.1, "overlap": 3.0}
    times = time_ms(values, clocks)
    known = Subject("a", "a", clocks, times, (0, 2, 4, 6, 8), 0)
    assert few_points(STALL, known) == pytest.approx(times, rel=1e-3)


def test_what_is_held_out_is_not_seen():
    known, other = subject(TRUE[NORM]), subject(TRUE[SUM], "b")
    held_out = np.ones(len(PAIRS), dtype=bool)
    held_out[list(USED)] = False
    changed = replace(known, measured_ms=np.where(held_out, 2.0, 1.0) * known.measured_ms)
    for law in (NAIVE, SUM, NORM):
        assert (few_points(law, known) == few_points(law, changed)).all()
        assert (one_run(law, known, [other]) == one_run(law, changed, [other])).all()
    seen = replace(known, measured_ms=known.measured_ms * np.where(held_out, 1.0, 1.2))
    assert few_points(NORM, seen) != pytest.approx(few_points(NORM, known))


def test_shapes_come_from_other_groups_only(monkeypatch):
    asked = []

    def spy(law, known, others):
        asked.append((known.group, [other.group for other in others]))
        return known.measured_ms

    monkeypatch.setattr(protocols, "one_run", spy)
    boards = [replace(subject(TRUE[SUM], name), group=name[0]) for name in ("a1", "a2", "b1")]
    (found,) = protocols.by_one_run("x", "y", (SUM,), boards)
    assert asked == [("a", ["b"]), ("a", ["b"]), ("b", ["a", "a"])]
    assert len(found.measured) == 3 * (len(PAIRS) - 1)


def test_points_in_the_fit_are_not_scored():
    (found,) = protocols.by_few_points("x", "y", (NORM,), [subject(TRUE[NORM])])
    assert len(found.measured) == len(PAIRS) - len(USED)


def test_scores_by_hand():
    measured = np.array([1.0, 2.0, 4.0, 10.0, 20.0])
    one = Comparison("x", "y", "z", "ms", measured * [1.1, 1.0, 0.475, 1.2, 1.0], measured)
    figures = score(one)
    assert figures.points == 5
    assert figures.rank == pytest.approx(0.9)
    assert figures.median == pytest.approx(0.1)
    assert figures.worst == pytest.approx(0.525)
    assert figures.p90 == pytest.approx(0.2 + 0.6 * 0.325)
    assert score(replace(one, predicted=np.full(5, 3.0))).rank is None
    assert score(joined([one, one])).points == 10
    empty = np.array([])
    with pytest.raises(ValueError, match="nothing is held out"):
        score(replace(one, predicted=empty, measured=empty))


# The published sets.


@pytest.fixture(scope="module")
def found():
    return sets.comparisons()


def test_the_table_on_the_page_is_what_the_command_prints(found, monkeypatch, capsys):
    monkeypatch.setattr(command, "comparisons", lambda only: found)
    command.main(["--markdown"])
    assert capsys.readouterr().out.strip() in PAGE.read_text("utf-8")
    command.main(["--json"])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["points"] for row in rows] == [len(one.measured) for one in found]


def test_the_page_has_every_law_in_the_row_of_its_protocol(found):
    scores = [score(one) for one in found]
    rows = command.by_protocol(scores)
    assert [row["data"] for row in rows if row["data"]] == list(
        dict.fromkeys(one.data for one in found)
    )
    data, entries = "", []
    for row in rows:
        data = row["data"] or data
        entries += [(data, row["fitted"], entry) for entry in row["errors"].split("; ")]
    assert sorted(entries) == sorted(
        (one.data, one.fitted, f"{one.law} {100 * one.median:.1f}, {100 * one.worst:.1f}")
        for one in scores
    )


def test_every_set_has_a_picture_on_the_page(found, tmp_path):
    page = PAGE.read_text("utf-8")
    sets_ = list(dict.fromkeys(one.data for one in found))
    assert all(f"images/validation/{picture_name(data)}" in page for data in sets_)
    some = sets_[::6]
    names = [path.name for path in write_pictures([f for f in found if f.data in some], tmp_path)]
    assert names == [picture_name(data) for data in some]
    for name in names:
        assert (tmp_path / name).read_bytes().startswith(b"<svg")


def test_default_options_of_calibrate_on_the_tx2_grid(found):
    """Four points of each network, all others held out: the limits, and the suite's own figures."""
    platform = load_platform("jetson-tx2")
    ladders = [
        [point.frequency_khz for point in platform.domain_by_name[name].operating_points]
        for name in ("gpu", "emc")
    ]
    cpu = len(platform.domain_by_name["a57"].operating_points) - 1
    errors = []
    data = read_set("tx2_gpu_memory")
    for known in clock_sets.tx2_subjects():
        rows = [
            ClockMeasurement(
                known.name,
                "",
                "gpu",
                (
                    ladders[0].index(round(1000 * row["gpu"])),
                    cpu,
                    ladders[1].index(round(1000 * row["memory"])),
                ),
                row["latency"],
                None,
                None,
            )
            for row in data.rows
            if row["network"] == known.name
        ]
        model = calibrate_rows([rows[place] for place in known.used], platform, resamples=0)
        assert model.time_form is TimeForm.OVERLAP_FITTED
        held_out = [row for place, row in enumerate(rows) if place not in known.used]
        times, _ = predicted(model, held_out, platform)
        errors.append(times / np.array([row.ms for row in held_out]) - 1)
    every = np.abs(np.concatenate(errors))
    assert (np.median(every) <= 0.005, every.max() <= 0.03) == (True, True)
    (same,) = (
        one
        for one in found
        if (one.data, one.law) == (clock_sets.TX2, NORM_CONSTANT.name)
        and one.fitted.startswith("4 of")
    )
    assert score(same).worst == pytest.approx(every.max(), rel=1e-3)


def test_the_host_of_tx2_slows_networks_down_that_the_file_has_not_been_calibrated_on(found):
    """From 2.0 to 0.35 GHz of the CPU; a time per launch from the other networks beats none."""
    of_the_clock = {
        (entry.fitted, entry.law): entry for entry in found if entry.data == host_sets.TANG_SLOWDOWN
    }
    shipped = of_the_clock["other networks by TensorRT", "the program's estimate"]
    slowest = (
        shipped.measured.reshape(3, 2, 3)[:, 1, 0],
        shipped.predicted.reshape(3, 2, 3)[:, 1, 0],
    )
    assert np.round(slowest[0], 1).tolist() == [2.2, 2.1, 3.9]
    assert np.round(slowest[1], 1).tolist() == [1.0, 1.1, 1.4]
    none, launches = (
        score(of_the_clock["the other two networks", law])
        for law in ("no host", "a time per launch")
    )
    assert launches.median < none.median
    assert launches.worst < none.worst

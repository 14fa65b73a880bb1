"""``dse explore`` over power modes: the joined front against all design points of every mode."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import paretosoc
from paretosoc.dse.cli.shared.build import problems_from_texts
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.problem.objectives import displayed
from tests.dse.tools.choose.test_variants import all_outcomes

BOARD = "jetson-agx-xavier"
MODES = ("MAXN", "MODE_10W", "MODE_30W_6CORE", "MODE_15W_DESKTOP")
OPTIONS = {"groups": 3, "units": ["gpu", "cpu"], "runtime": "none", "fixed": {"emc": "max"}}
CALL = ("--groups", "3", "--units", "gpu,cpu", "--runtime", "none", "--fix", "emc=max")
WORKLOAD = "networks:\n  - {name: look, network: resnet18}\n  - {name: find, network: squeezenet}\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("modes") / "w.yaml"
    path.write_text(WORKLOAD)
    return path


def test_the_joined_front_is_that_of_all_modes(dse, file: Path) -> None:
    out = file.parent / "o"
    named = f"{BOARD}@{','.join(MODES)}"
    done = dse("explore", file, "-p", named, *CALL, "--jobs", "1", "-o", out)
    assert done.status == 0, done.err
    assert "members, complete." in done.out
    problems = [paretosoc.Problem(file, f"{BOARD}@{mode}", **OPTIONS).numeric for mode in MODES]
    every = np.unique(np.concatenate([all_outcomes(problem) for problem in problems]), axis=0)
    best = every[non_dominated(every)].tolist()
    expected = {tuple(displayed(problems[0], row).values()) for row in best}
    table = list(csv.DictReader((out / "front.csv").read_text().splitlines()))
    found = {(float(row["latency [ms]"]), float(row["energy [mJ]"])) for row in table}
    assert found == expected
    assert {row["power mode"] for row in table} > {"MAXN"}
    assert json.loads((out / "joined.json").read_text())["platform"] == BOARD
    assert dse("verify", out).status == 0
    row = next(row for row in table if row["power mode"] == "MODE_30W_6CORE")
    deployed = file.parent / "d"
    done = dse(
        "deploy", out / row["run"], "--to", "nvpmodel", "--member", row["member"], "-o", deployed
    )
    assert done.status == 0, done.err
    text = next(deployed.glob("*nvpmodel*")).read_text()
    assert "CPU_ONLINE CORE_5 1\nCPU_ONLINE CORE_6 0" in text


def test_a_mode_is_a_platform_of_its_own(tmp_path: Path, file: Path) -> None:
    """A file with the peaks and powers of fewer cores has the same costs."""
    own = tmp_path / "own.json"
    whole = paretosoc.platform(BOARD)
    cpu = whole.unit_by_name["cpu"]
    section = {
        "extends": BOARD,
        "name": "own",
        "measurements": [],
        "profiles": [],
        "units": [
            {
                "name": "cpu",
                "peaks": [
                    {"precision": peak.precision, "macs_per_cycle": float(peak.macs_per_cycle) / 4}
                    for peak in cpu.peaks
                ],
            }
        ],
    }
    own.write_text(json.dumps(section))
    mode, mine = (
        paretosoc.Problem(file, platform, **OPTIONS).numeric
        for platform in (f"{BOARD}@MODE_30W_2CORE", own)
    )
    for here, there in zip(mode.units, mine.units, strict=True):
        if here.name == "cpu":
            assert np.array_equal(here.time_ps, there.time_ps)
    fastest = {d.name: d.frequencies_khz[np.flatnonzero(d.allowed)[-1]] for d in mode.domains}
    assert fastest == {"cpu": 2_035_200, "gpu": 828_750, "emc": 1_600_000}


def test_a_clock_above_the_mode_is_refused(dse, file: Path) -> None:
    call = ("explore", file, "-p", f"{BOARD}@MODE_15W_DESKTOP", *CALL, "--max-evaluations", "20")
    done = dse(*call, "--fix", "gpu=1377", "-o", file.parent / "x")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "gpu=1377: at most 624.75 MHz is required in this power mode" in done.err
    problem = paretosoc.Problem(
        file, f"{BOARD}@MODE_15W_DESKTOP", **OPTIONS | {"fixed": {"gpu": "max", "cpu": "min"}}
    ).numeric
    clocks = {d.name: d.frequencies_khz[np.flatnonzero(d.allowed)[0]] for d in problem.domains}
    assert (clocks["gpu"], clocks["cpu"]) == (624_750, 1_190_400)


def test_a_warning_about_every_mode_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    named = "jetson-agx-orin@MAXN,MODE_30W"
    given = {"groups": 8, "precision": "fp32"}
    assert len(problems_from_texts(["squeezenet"], named, given)) == 2
    assert capsys.readouterr().err.count("dla0") == 1

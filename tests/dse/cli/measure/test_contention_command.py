"""``dse measure contention``: a sweep becomes a platform file."""

import json

import numpy as np
import pytest

from paretosoc.fitness.calibration.pccs_fit import loss_percent
from paretosoc.platforms.io.platform_file import load_platform

VALUES = np.array([45.0, 60.0, 80.0, 90.0, 3.0, 0.8])


def sweep_text(largest_own):
    lines = ["own_gbps,external_gbps,slowdown"]
    for own in range(10, largest_own + 1, 10):
        for external in range(10, 136, 15):
            lost = loss_percent(np.array([float(own)]), np.array([float(external)]), VALUES)[0]
            lines.append(f"{own},{external},{100 / (100 - lost):.5f}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def sweep(tmp_path):
    path = tmp_path / "sweep.csv"
    path.write_text(sweep_text(120), "utf-8")
    return path


def test_the_fit_is_printed_as_an_entry(dse, sweep):
    done = dse("measure", "contention", sweep, "--source", "my board")
    assert done.status == 0, done.err
    assert "co-runs; slowdown off by" in done.out
    entry = json.loads(done.out[done.out.index("{") :])["contention"]
    assert entry["total_gbps"] == pytest.approx(60, abs=0.05)
    assert entry["rate_percent_per_gbps"] == pytest.approx(0.8, abs=0.001)
    assert entry["source"].startswith("my board: sweep.csv: fitted to 108 co-runs (")


def test_the_platform_made_differs_in_the_contention_alone(dse, sweep, tmp_path):
    made = tmp_path / "mine.json"
    arguments = (
        "measure",
        "contention",
        sweep,
        "-p",
        "jetson-agx-xavier",
        "--unit",
        "dla0,dla1",
        "-o",
        made,
    )
    done = dse(*arguments)
    assert done.status == 0, done.err
    old, new = load_platform("jetson-agx-xavier"), load_platform(str(made))
    assert new.name == "my-jetson-agx-xavier"
    for unit in ("dla0", "dla1"):
        contention = new.unit_by_name[unit].contention
        assert contention.total_bandwidth_kbps == pytest.approx(60_000_000, abs=50_000)
    assert new.unit_by_name["gpu"] == old.unit_by_name["gpu"]
    run = dse(
        "explore", "squeezenet", "-p", made, "-o", tmp_path / "run", "--max-evaluations", 50,
        "--max-nodes", "0", "-q",
    )  # fmt: skip
    assert run.status == 0, run.err
    assert "exists" in dse(*arguments).err
    assert dse(*arguments, "--force").status == 0


def test_what_is_wrong_is_one_line(dse, sweep, tmp_path):
    small = tmp_path / "small.csv"
    small.write_text(sweep_text(40), "utf-8")
    cases = [
        ((small,), "the sweep does not determine"),
        ((sweep, "-p", "jetson-agx-xavier"), "--platform and --output are required together"),
        ((sweep, "--known", "speed"), "--known: NAME=VALUE is required"),
        ((sweep, "--known", "speed=3"), "--known NAME: one of normal_gbps, "),
        (
            (sweep, "--known", "peak_gbps=3", "--known", "peak_gbps=4"),
            "--known: one NAME=VALUE for each NAME is required, got peak_gbps=3 and peak_gbps=4",
        ),
        ((sweep, "--known", "peak_gbps=-3"), "--known peak_gbps: a number from"),
        ((sweep, "-p", "nope", "-o", tmp_path / "x.json"), "nope"),
        ((tmp_path / "none.csv",), "cannot be read"),
    ]
    for arguments, expected in cases:
        done = dse("measure", "contention", *arguments)
        assert (done.status, len(done.lines)) == (2, 1), arguments
        assert expected in done.err
    assert not (tmp_path / "x.json").exists()

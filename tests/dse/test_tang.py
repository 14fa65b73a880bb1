"""Tang et al. from end to end: the command, its result folder, and its check without our code."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from paretosoc.dse.certificate.verify.verify import FAILED, exit_status, verify
from paretosoc.dse.cli.main import run
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.plots.front import draw_front
from paretosoc.results.problem.execution import ChannelUse, ClosedForm, IdleTime
from paretosoc.results.text.compare_fronts import problem_differences

RECOMPUTE = Path(__file__).parents[1] / "support" / "recompute_front.py"
COMMAND = (
    *("papers", "explore", "bvlc_alexnet", "-p", "jetson-tx2", "--objective", "throughput"),
    *("--objective", "energy", "--fix", "emc=max", "--max-evaluations", "2000", "--quiet"),
)


def explored(folder, *options):
    assert run([*COMMAND, "-o", str(folder), *options]) == 0
    return read_results(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("tang") / "run"
    explored(where, "--throughput-model", "analytic")
    return where


def test_the_folder_holds_by_the_plain_evaluator_and_by_a_script(folder):
    assert exit_status(list(verify(folder))) == 0
    done = subprocess.run(
        [sys.executable, RECOMPUTE, folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_other_variants_hold_too(tmp_path):
    front = explored(
        tmp_path / "run",
        *("--throughput-model", "analytic-all-channels", "--pipeline-time", "sum-of-loads"),
    )
    assert front.problem.execution == ClosedForm(ChannelUse.ALL, IdleTime.SUM_OF_LOADS)
    assert exit_status(list(verify(tmp_path / "run"))) == 0
    done = subprocess.run(
        [sys.executable, RECOMPUTE, tmp_path / "run"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_a_wrong_load_is_found(folder, tmp_path):
    front = json.loads((folder / "front.json").read_text())
    front["members"][0]["objectives"]["time_per_image_ps"] -= 1
    changed = tmp_path / "changed"
    changed.mkdir()
    for name in ("problem.json", "costs.json"):
        (changed / name).write_bytes((folder / name).read_bytes())
    (changed / "front.json").write_text(json.dumps(front))
    assert exit_status(list(verify(changed, ignore_hashes=True))) == FAILED


def test_the_tensorrt_front_is_in_the_file_the_picture_and_the_table(dse, folder):
    front = read_results(folder)
    points = [point for point in front.baselines if point.name == "tensorrt-style"]
    assert len(points) > 1
    gpu = [unit.name for unit in front.problem.units].index("gpu")
    assert all((point.member.design.units == gpu).all() for point in points)
    chart = draw_front(front)
    assert "TensorRT-style" in chart.legend
    shown = dse("show", folder).out
    assert f"and {len(points) - 1} more" in " ".join(shown.split())
    assert "mJ, T = period" in shown
    assert chart.y.title == "Energy (mJ, T = period)"


def test_fronts_of_another_t_or_model_are_not_of_the_same_problem(folder):
    front = read_results(folder)
    for other, words in (
        (
            ClosedForm(ChannelUse.BETWEEN_UNITS, IdleTime.SUM_OF_LOADS),
            "channels between units, T = sum of loads",
        ),
        (ClosedForm(ChannelUse.ALL, IdleTime.PERIOD), "all channels, T = period"),
    ):
        changed = replace(front, problem=replace(front.problem, execution=other))
        assert problem_differences(front, changed) == [
            "execution: a pipeline in closed form, channels between units, T = period and "
            f"a pipeline in closed form, {words}"
        ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("latency", "--throughput-model", "analytic"),
            "--throughput-model analytic needs the objective throughput, got energy, latency",
        ),
        (
            ("throughput", "--pipeline-time", "sum-of-loads"),
            "--pipeline-time sum-of-loads needs an analytic --throughput-model, got timeline",
        ),
    ],
)
def test_options_that_do_not_go_together(dse, tmp_path, options, message):
    command = ("papers", "explore", "bvlc_alexnet", "-p", "jetson-tx2", "--objective", "energy")
    outcome = dse(*command, "--objective", *options, "-o", tmp_path / "no")
    assert outcome.status == 2
    assert message in outcome.err

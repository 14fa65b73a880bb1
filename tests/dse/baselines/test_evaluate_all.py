"""Baselines beside a front: in the first population, the table, the folder, the picture."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from paretosoc import Problem
from paretosoc.dse.baselines.evaluate_all import BASELINES, baseline_points, baseline_rows
from paretosoc.dse.baselines.whole_networks import GpuAndDsa, GpuOnly
from paretosoc.dse.certificate.verify.checks import Verdict
from paretosoc.dse.certificate.verify.verify import verify
from paretosoc.dse.search.optimizers.initial_population import initial_population
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.export.result_folder import read_results, write_results
from paretosoc.results.front.mapping_gain import ONE_UNIT, ONE_UNIT_LABEL
from paretosoc.results.plots.bars import baseline_marks
from paretosoc.results.plots.front import draw_front
from paretosoc.results.problem.execution import Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from tests.support.problems.baseline_problems import CHAINS, problems
from tests.support.problems.random_spaces import random_limited_problem


def test_all_baselines_are_in_the_first_population():
    rng = np.random.default_rng(12)
    for problem in [random_limited_problem(rng) for _ in range(10)]:
        space = DesignSpace(problem)
        rows = {row.tobytes() for row in initial_population(space, rng, 200)}
        assert {row.tobytes() for row in baseline_rows(space)} <= rows


def test_a_pipeline_is_judged_as_a_pipeline():
    for problem in problems(replace(CHAINS, networks=(2, 3)), 8, 13):
        piped = replace(
            problem,
            objectives=(Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.ENERGY)),
            execution=Pipeline(2),
        )
        space = DesignSpace(piped)
        rows = GpuAndDsa(space).ask()
        points = {point.name: point.member for point in baseline_points(space)}
        assert points[GpuAndDsa.name].objectives[0] == (
            make_outcomes(piped)(rows).objectives[:, 0].min()
        )


@pytest.mark.parametrize(
    ("pins", "label"),
    [
        ({}, "GPU only"),
        ({"squeezenet": "gpu"}, "GPU only"),
        ({"squeezenet": {(0, 0): "dla0"}}, "GPU where allowed"),
    ],
    ids=str,
)
def test_the_gpu_is_called_the_only_unit_if_it_is(pins, label):
    problem = Problem("squeezenet", "jetson-agx-xavier", groups=3, units=["gpu", "dla0"], pins=pins)
    labels = {point.name: point.label for point in baseline_points(DesignSpace(problem.numeric))}
    assert labels[GpuOnly.name] == label


def test_the_table_says_of_which_space_and_what_its_columns_are(dse):
    command = ("baselines", "squeezenet", "inception_v1", "-p", "jetson-agx-xavier")
    told = " ".join(dse(*command, "--groups", "3", "--max-nodes", "2000").out.split())
    assert (
        "Space of this table: squeezenet (3 groups), inception_v1 (3 groups) on gpu, dla0" in told
    )
    assert "gain: by how much the latency is better than that of " in told
    assert "Eq. 10 (HaX-CoNN): the sum of 1 / latency" in told
    assert "Cut into" not in told
    coarse = " ".join(dse(*command[:2], *command[3:], "--max-nodes", "2000").out.split())
    assert "Cut into about 10 groups per network" in coarse


def test_baselines_are_kept_in_the_folder_shown_and_verified(dse, pair_folder):
    front = read_results(pair_folder)
    names = [method.name for method in BASELINES if not method.has_front]
    assert [*dict.fromkeys(point.name for point in front.baselines)] == [*names, ONE_UNIT]
    for point in front.baselines:
        assert point.breaks or any(
            all(a <= b for a, b in zip(m.objectives, point.member.objectives, strict=True))
            for m in front.members
        )
    shown = dse("show", pair_folder)
    assert "Other methods, at the fastest clocks: GPU only" in shown.out
    assert f"Other methods: {ONE_UNIT_LABEL}" in " ".join(shown.out.split())
    assert f"baselines: {len(front.baselines)} replayed" in dse("verify", pair_folder).out


def test_a_baseline_with_another_figure_is_refused(pair_folder, tmp_path):
    shutil.copytree(pair_folder, tmp_path / "changed")
    path = tmp_path / "changed" / "front.json"
    document = json.loads(path.read_text())
    point = document["baselines"][0]["point"]
    point["energy_fj"] += 10**9
    point["objectives"]["energy_fj"] += 10**9
    path.write_text(json.dumps(document))
    (*_, last) = verify(tmp_path / "changed", ignore_hashes=True)
    assert (last.name, last.verdict) == ("baselines", Verdict.FAILS)
    assert "energy_fj is" in last.detail
    point["energy_fj"] -= 10**9
    point["objectives"]["energy_fj"] -= 10**9
    document["baselines"][0]["breaks"] = ["a limit that there is not"]
    path.write_text(json.dumps(document))
    (*_, last) = verify(tmp_path / "changed", ignore_hashes=True)
    assert last.verdict is Verdict.FAILS
    assert "breaks nothing, not a limit that there is not" in last.detail


@pytest.mark.parametrize(("engine", "holds"), [("nsga2", False), ("la-mcts", True)])
def test_a_front_behind_a_baseline_is_refused_unless_a_manager_decided(
    pair_folder, tmp_path, engine, holds
):
    front = read_results(pair_folder)
    behind = replace(
        front,
        members=front.members[-1:],
        certificate=None,
        provenance=replace(front.provenance, engine=engine, single_decision=holds),
    )
    write_results(tmp_path / "behind", behind)
    baselines = next(c for c in verify(tmp_path / "behind") if c.name == "baselines")
    assert (baselines.verdict is Verdict.HOLDS) == holds
    assert ("la-mcts may be behind them" in baselines.detail) == holds
    assert ("keeps all constraints, but no member is as good" in baselines.detail) != holds


def test_the_picture_has_the_baselines_in_sight_only(pair_folder):
    front = read_results(pair_folder)
    (point, *_) = front.baselines
    point = replace(point, member=front.members[0])
    latency, energy = point.member.objectives
    near = replace(point, label="near")
    far = replace(
        point, label="far", member=replace(point.member, objectives=(900 * latency, energy))
    )
    broken = replace(point, label="broken", breaks=("deadline",))
    marks = baseline_marks(
        replace(front, baselines=(near, far, broken)),
        [latency / 1e9, 2 * latency / 1e9],
        [energy / 1e12] * 2,
    )
    assert [mark.label for mark in marks] == ["near, broken*"]
    drawn = draw_front(replace(front, baselines=(near, broken)))
    assert "other methods, fastest clocks (* breaks a limit)" in drawn.legend


@pytest.mark.parametrize(
    ("networks", "tried"),
    [
        (("resnet18",), "not on hailo"),
        (("resnet18", "alexnet"), "whole networks on two or more units"),
    ],
)
def test_without_a_gpu_nothing_is_called_one(networks, tried, dse, tmp_path):
    command = ("explore", *networks, "-p", "raspberry-pi-5-hailo-8", "--groups", "3", "--quiet")
    effort = ("--max-nodes", "0", "--max-evaluations", "100")
    done = dse(*command, *effort, "-o", tmp_path / "pi")
    assert done.status == 0, done.err
    out = " ".join(dse("show", tmp_path / "pi").out.split())
    assert "hailo only" in out
    assert "GPU" not in out
    # The best of one unit per network has a line of its own.
    assert tried in out
    assert out.count("one unit per network") == out.count("one unit per network at free clocks") > 0


def test_units_that_run_nothing_are_no_other_method(dse, tmp_path):
    command = ("explore", "resnet18", "-p", "raspberry-pi-5-hailo-8", "--precision", "fp16")
    effort = ("--groups", "2", "--max-nodes", "0", "--max-evaluations", "100", "--quiet")
    assert dse(*command, *effort, "-o", tmp_path / "pi").status == 0
    out = dse("show", tmp_path / "pi").out
    assert "cpu only" in out
    assert "not on cpu" not in out

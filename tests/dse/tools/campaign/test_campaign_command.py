"""A campaign from its file to its tables, with real explorations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paretosoc.dse.api.problem import Problem
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.runtime_limits import CHOSEN
from paretosoc.dse.space.design_space import DesignSpace, starting_rows
from paretosoc.dse.tools.campaign.execute import exploration
from paretosoc.dse.tools.campaign.execute.exploration import explore_run
from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan
from paretosoc.dse.tools.campaign.plan.run_inputs import inputs_of, program_identity
from paretosoc.dse.tools.campaign.store.pack import decompress
from paretosoc.dse.tools.campaign.store.run import RunStatus, RunTask
from paretosoc.dse.workload.options import Options
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.problem.execution import FreeRunning
from paretosoc.results.problem.problem_file import problem_bytes, problem_from_bytes
from paretosoc.results.problem.runtimes import Runtime
from tests.support.explored import explore

ROOT = Path(__file__).parents[4]
SUPPORT = ROOT / "tests" / "support" / "campaigns"

DEFAULTS: dict[str, Any] = {"runtime": Runtime.TRTEXEC, "max_transitions": ((None, CHOSEN),)}
"""Of Jetsons."""


def test_runs_are_what_explore_finds(campaign, records):
    run = records[0]
    front = explore(
        ["alexnet", "squeezenet"],
        "jetson-agx-xavier",
        options=Options(units=("gpu", "dla0"), groups=4, **DEFAULTS),
        max_evaluations=400,
        jobs=1,
    )
    assert run.figures.objectives == tuple(member.objectives for member in front.members)
    assert run.figures.rows == tuple(tuple(m.design.row.tolist()) for m in front.members)
    statuses = {(r.workload, r.settings.power_cap_w): r.status for r in records}
    assert [statuses["alexnet+squeezenet", cap] for cap in (None, "20", "0.1")] == [
        RunStatus.FINISHED,
        RunStatus.FINISHED,
        RunStatus.INFEASIBLE,
    ]


def test_free_running_is_an_input(tmp_path):
    """A run finds what an exploration with the option does."""
    file = {
        "networks": ["alexnet", "squeezenet"],
        "together": 2,
        "platforms": ["jetson-agx-xavier"],
        "units": ["gpu, dla0"],
        "group_counts": [2],
        "objectives": ["throughput, power"],
        "free_running": [True],
        "frames_in_flight": [3],
        "evaluations": [30],
    }
    (tmp_path / "c.json").write_text(json.dumps(file))
    (entry,) = inputs_of(load_plan(tmp_path / "c.json"), program_identity())
    outcome = explore_run(RunTask(entry.hash, entry))
    front = explore(
        ["alexnet", "squeezenet"],
        "jetson-agx-xavier",
        options=Options(
            objectives=("throughput", "power"),
            units=("gpu", "dla0"),
            groups=2,
            free_running=True,
            frames_in_flight=3,
            **DEFAULTS,
        ),
        max_evaluations=30,
        jobs=1,
    )
    assert front.problem.execution == FreeRunning(3)
    assert outcome.figures.objectives == tuple(member.objectives for member in front.members)


def test_sizes_of_dimensions_are_those_of_explore(tmp_path):
    file = {
        "workloads": ["minilm-l6"],
        "platforms": ["rk3588"],
        "dimensions": ["sequence=16", "minilm-l6:sequence=32"],
        "units": ["a76"],
        "group_counts": [3],
        "evaluations": [100],
    }
    (tmp_path / "c.json").write_text(json.dumps(file))
    plan = load_plan(tmp_path / "c.json")
    assert len(plan.runs) == 2
    for run, size in zip(inputs_of(plan, program_identity()), (16, 32), strict=True):
        problem = problem_from_bytes(decompress(explore_run(RunTask(run.hash, run)).problem))
        sizes = {"sequence": size}
        asked = Problem("minilm-l6", "rk3588", units="a76", groups=3, dimensions=sizes)
        assert (problem.units[0].time_ps == asked.numeric.units[0].time_ps).all()


def test_a_run_knows_the_file_of_its_platform(dse, tmp_path):
    (tmp_path / "mine.json").write_text('{"extends": "jetson-tx2", "name": "mine"}')
    file = {"networks": ["alexnet"], "platforms": ["mine.json"], "evaluations": [100]}
    (tmp_path / "c.json").write_text(json.dumps(file))
    runs, out = tmp_path / "runs", tmp_path / "out"
    assert dse("campaign", "run", tmp_path / "c.json", "-o", runs, "--jobs", "1").status == 0
    assert dse("campaign", "extract", runs, "alexnet", "-o", tmp_path / "one").status == 0
    done = dse("deploy", tmp_path / "one", "--to", "sysfs", "--member", "0", "-o", out)
    assert (done.status, done.err) == (0, "")


def test_batches_losses_and_limits_are_those_of_explore(tmp_path):
    (tmp_path / "losses.csv").write_text(
        "network,layer,format,loss_ppm\nsqueezenet,*,int8,1000\nsqueezenet,*,fp16,1\n"
    )
    file = {
        "workloads": ["squeezenet"],
        "platforms": ["jetson-agx-orin"],
        "units": ["gpu, dla0"],
        "group_counts": [3],
        "precisions": ["int8,fp16"],
        "losses": ["losses.csv"],
        "batches": [2, "squeezenet=5"],
        "accuracy_loss_limits": [0.5],
        "memory_caps_mb": [90],
        "objectives": ["latency, accuracy-loss"],
        "evaluations": [100],
    }
    (tmp_path / "c.json").write_text(json.dumps(file))
    plan = load_plan(tmp_path / "c.json")
    assert [run.settings.batch for run in plan.runs] == ["2", "squeezenet=5"]
    for run, inputs in zip(plan.runs, inputs_of(plan, program_identity()), strict=True):
        problem = problem_from_bytes(decompress(explore_run(RunTask(inputs.hash, inputs)).problem))
        (network,) = problem.networks
        assert network.batch == int(run.settings.batch.removeprefix("squeezenet="))
        assert network.max_loss_ppm == 5000
        assert problem.memory_cap_bytes == 90 * 10**6
        asked = Problem(
            "squeezenet",
            "jetson-agx-orin",
            units=["gpu", "dla0"],
            groups=3,
            precision="int8,fp16",
            losses=tmp_path / "losses.csv",
            batch=network.batch,
            max_accuracy_loss_percent=0.5,
            memory_cap_mb=90,
            objectives=["latency", "accuracy-loss"],
        )
        assert problem_bytes(asked.numeric) == problem_bytes(problem)


def test_a_run_has_the_same_bytes_whatever_ran_before_it(campaign, records):
    """In a fresh process, from another folder, alone: nothing that is remembered shows."""
    script = (
        "import hashlib, sys\n"
        "from pathlib import Path\n"
        "from paretosoc.dse.tools.campaign.execute.exploration import explore_run\n"
        "from paretosoc.dse.tools.campaign.store.store import Store\n"
        "from paretosoc.dse.tools.campaign.store.run import RunTask\n"
        "with Store(Path(sys.argv[1])) as store:\n"
        "    run = store.find(sys.argv[2])\n"
        "    before = store.find(run.inputs.starts_from)\n"
        "task = RunTask(run.hash, run.inputs, before.figures.rows)\n"
        "outcome = explore_run(task)\n"
        "print(hashlib.sha256(outcome.pack).hexdigest(), outcome.problem_sha256)\n"
    )
    run = next(r for r in records if r.settings.power_cap_w == "20" and r.workload[0] == "s")
    ended = subprocess.run(
        [sys.executable, "-c", script, str(campaign / "runs"), run.hash],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=campaign,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.stdout.split() == [run.pack_sha256, run.problem_sha256], ended.stderr


def test_a_warm_start_is_behind_nothing_that_it_began_with(records):
    """Members without a cap that keep it are reached or beaten under the cap."""
    for workload in {run.workload for run in records}:
        free, capped, _ = (run for run in records if run.workload == workload)
        assert capped.inputs.starts_from == free.hash
        kept = np.array(
            [
                (ps, fj)
                for ps, fj in free.figures.objectives
                # mW = fJ / (ps * 1e-3) * 1e-3: below 20 W.
                if fj / ps < 20_000
            ]
        )
        found = np.array(capped.figures.objectives)
        assert len(kept)
        assert all((found <= row).all(axis=1).any() for row in kept)


def test_rows_to_start_from_are_made_to_fit(records):
    from paretosoc.dse.problem.build import build_problem
    from paretosoc.dse.workload.workload_file import workload_from
    from paretosoc.platforms.io.platform_file import load_platform

    options = Options(units=("gpu", "dla0"), groups=4, fixed=(("gpu", "max"),))
    workload = workload_from(["alexnet", "squeezenet"])
    built = build_problem(workload, load_platform("jetson-agx-xavier"), options)
    space = DesignSpace(built.problem)
    rows = starting_rows(space, np.array(records[0].figures.rows))
    gpu = [domain.name for domain in built.problem.domains].index("gpu")
    points = rows[:, space.groups + gpu]
    assert set(points.tolist()) <= {0, len(built.problem.domains[gpu].allowed) - 1}
    for bad in (rows[:, 1:], rows - rows.max() - 1, rows + 99, rows[0]):
        with pytest.raises(WorkloadError, match="rows to start from"):
            starting_rows(space, bad)


def test_another_program_or_file_is_refused(records):
    run = records[0]
    task = RunTask(run.hash, replace(run.inputs, program="1.0+else"))
    with pytest.raises(WorkloadError, match=r"another program .*1\.0\+else"):
        explore_run(task)
    exploration._problems.clear()
    contents = (("network net.onnx", "0" * 64), *run.inputs.contents)
    with pytest.raises(WorkloadError, match=r"network net\.onnx: is not the file"):
        explore_run(RunTask(run.hash, replace(run.inputs, contents=contents)))


def test_a_result_without_times_says_none(campaign, records, dse, tmp_path):
    """Equal keys give equal bytes, so seconds stay in the store."""
    run = next(run for run in records if run.status is RunStatus.FINISHED)
    out = tmp_path / "o"
    assert dse("campaign", "extract", campaign / "runs", run.hash[:12], "-o", out).status == 0
    searched = f"{run.evaluations} design points by nsga2, seed 0, stopped by budget"
    assert searched in dse("show", out).out


def test_the_command_goes_on_where_it_is(campaign, dse):
    outcome = dse("campaign", "run", campaign / "c.json", "-o", campaign / "runs", "--jobs", 2)
    assert outcome.status == 0
    assert "6 finished, 3 infeasible, 0 failed; 0 of them now" in outcome.out


def test_extracted_results_are_result_folders(campaign, records, dse, tmp_path):
    folder = campaign / "runs"
    run = records[1]
    assert dse("campaign", "extract", folder, run.name, "-o", tmp_path / "one").status == 0
    front = read_results(tmp_path / "one")
    assert tuple(member.objectives for member in front.members) == run.figures.objectives
    assert front.problem.power_cap_mw == 20_000
    assert dse("verify", tmp_path / "one").status == 0
    refused = dse("campaign", "extract", folder, records[2].hash, "-o", tmp_path / "two")
    assert refused.status == 2
    assert "infeasible" in refused.err


def test_commands_of_results_name_what_a_campaign_is_for(campaign, dse):
    folder = campaign / "runs"
    assert dse("campaign", "report", folder).status == 0
    for command in ("show", "verify", "certify", "report"):
        told = dse(command, folder)
        assert told.status == 2
        assert "got a campaign's; 'dse campaign extract' writes that of a run" in told.err


def test_status(campaign, dse):
    told = json.loads(dse("campaign", "status", campaign / "runs", "--json").out)
    assert {key: told[key] for key in ("runs", "finished", "infeasible", "waiting", "failed")} == {
        "runs": 9,
        "finished": 6,
        "infeasible": 3,
        "waiting": 0,
        "failed": 0,
    }
    assert "9 runs" in dse("campaign", "status", campaign / "runs").out


def test_check_counts_and_tries(campaign, dse):
    outcome = dse("campaign", "check", campaign / "c.json", "--json", "--names")
    assert outcome.status == 0
    told = json.loads(outcome.out)
    assert (told["runs"], told["workloads"], told["problems"]) == (9, 3, 9)
    assert told["evaluations"] == 3600
    assert told["core_seconds"] > 0
    assert len(told["names"]) == 9


def test_check_tells_lists_of_objectives_apart(tmp_path, dse):
    document = {"networks": ["alexnet"], "platforms": ["jetson-nano"]}
    document["objectives"] = ["latency, energy", "power"]
    (tmp_path / "c.json").write_text(json.dumps(document))
    shown = dse("campaign", "check", tmp_path / "c.json").out
    assert "  objectives: 2 (latency, energy; power)\n" in shown


def test_check_fails_if_a_short_run_does(campaign, tmp_path, dse):
    """It names the key of the file, and no option of a command."""
    document = json.loads((campaign / "c.json").read_text()) | {"fixed": ["nothing=9"]}
    (tmp_path / "c.json").write_text(json.dumps(document))
    for options in ((), ("--json",)):
        outcome = dse("campaign", "check", tmp_path / "c.json", *options)
        assert outcome.status == 1
        assert "fixed: jetson-agx-xavier has no domain 'nothing'" in outcome.out + outcome.err
        assert "Error" not in outcome.out + outcome.err


def test_an_option_that_does_not_fit_is_named_with_its_run(tmp_path, dse):
    document = {"networks": ["alexnet"], "platforms": ["jetson-tx2"], "batches": ["foo=2"]}
    (tmp_path / "c.json").write_text(json.dumps({**document, "together": [1]}))
    outcome = dse("campaign", "check", tmp_path / "c.json")
    assert outcome.status == 2
    assert "run 'alexnet': batch: there is no network 'foo' in the workload" in outcome.err


def test_a_dask_cluster_gives_the_same(campaign, tmp_path):
    """The same runs on workers of a cluster, one of which is killed in the middle."""
    pytest.importorskip("distributed")
    ended = subprocess.run(
        [sys.executable, str(SUPPORT / "campaign_on_dask.py"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(SUPPORT)))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert ended.stdout.split() == ["40", "finished"]

"""Proofs inside a campaign: certificates are kept, survive a kill, and verify."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from paretosoc.dse.tools.campaign.execute import exploration
from paretosoc.dse.tools.campaign.execute.exploration import explore_run
from paretosoc.dse.tools.campaign.execute.planning import probe
from paretosoc.dse.tools.campaign.execute.runner import do_missing
from paretosoc.dse.tools.campaign.execute.workers import SameProcess
from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan, load_size
from paretosoc.dse.tools.campaign.plan.run_inputs import inputs_of, program_identity
from paretosoc.dse.tools.campaign.store.run import RunOutcome, RunStatus
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.front.certificate import CertificateStatus

ROOT = Path(__file__).parents[4]
FILE = {
    "title": "Proved",
    "networks": ["alexnet", "squeezenet"],
    "together": 2,
    "platforms": ["jetson-agx-xavier"],
    "units": ["gpu, dla0"],
    "group_counts": [3],
    "fixed": ["emc=max"],
    "evaluations": [200],
    "engines": ["auto", "exact"],
    "prove": True,
}


def filled(folder: Path, file: Path) -> Store:
    plan = load_plan(file)
    store = Store(folder, create=True)
    store.set_plan(plan.runs, inputs_of(plan, program_identity()), plan.title)
    return store


def finished(folder: Path) -> int:
    if not (folder / "owners").exists():
        return 0
    with Store(folder) as store:
        return store.counts()[RunStatus.FINISHED][0]


def killed_after_the_first_run(file: Path, folder: Path) -> None:
    """Starts the command, and ends it by SIGKILL once a run is finished."""
    code = "import sys; from paretosoc.dse.cli.main import run; sys.exit(run(sys.argv[1:]))"
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", code, "campaign", "run", str(file), "-o", str(folder)),
            *("--jobs", "1", "-q"),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        while process.poll() is None and finished(folder) == 0:
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_certificates_are_those_of_a_campaign_that_nobody_killed(tmp_path, dse):
    file = tmp_path / "c.json"
    file.write_text(json.dumps(FILE))
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    killed_after_the_first_run(file, killed)
    assert 1 <= finished(killed) <= 2
    with filled(killed, file) as store:
        progress = do_missing(store, SameProcess(explore_run), max_attempts=1)
        assert (progress.finished, progress.failed) == (2, 0)
    with filled(whole, file) as store:
        do_missing(store, SameProcess(explore_run), max_attempts=1)
        expected = {run.hash: store.files(run) for run in store.records()}
    with Store(killed) as store:
        records = list(store.records())
        assert {run.hash: store.files(run) for run in records} == expected
    for number, run in enumerate(records):
        folder = tmp_path / f"result{number}"
        assert dse("campaign", "extract", killed, run.hash, "-o", folder).status == 0
        claim = read_results(folder).certificate
        assert claim is not None
        assert claim.status is CertificateStatus.CERTIFIED
        assert claim.epsilon_ppm == 0
        assert len(claim.objectives) == 2
        assert (folder / "certificate.smt2").exists()
        assert dse("verify", folder).status == 0
    # What a proof lacks is noticed: the last two nodes.
    path = tmp_path / "result0" / "certificate.tree"
    path.write_bytes(path.read_bytes()[:-1])
    assert dse("verify", tmp_path / "result0", "--ignore-hashes").status == 1


def test_fronts_of_any_engine_are_proved_whole_also_with_rates(tmp_path):
    """By the default engine, ``nsga2``, whose ``dse explore`` certifies the fastest member only."""
    rates = {
        "networks": [
            {"network": "alexnet", "rate_hz": 30},
            {"network": "squeezenet", "rate_hz": 15},
        ]
    }
    (tmp_path / "rates.json").write_text(json.dumps(rates))
    file = tmp_path / "c.json"
    fields = {**FILE, "evaluations": [300], "workloads": ["rates.json"]}
    del fields["engines"]
    file.write_text(json.dumps(fields))
    with filled(tmp_path / "runs", file) as store:
        do_missing(store, SameProcess(explore_run), max_attempts=1)
        pair, rated = [
            (run.error, json.loads(store.files(run)["front.json"])) for run in store.records()
        ]
    assert pair[0] is rated[0] is None
    assert len(pair[1]["certificate"]["objectives"]) == 2
    assert rated[1]["bounds"]["epsilon_ppm"] > 0


def test_the_time_estimate_counts_proofs(tmp_path, monkeypatch):
    def explored(task):
        settings = task.inputs.settings
        seconds = 1 + settings.max_evaluations / 1000 + 100 * settings.prove
        return RunOutcome(RunStatus.FINISHED, evaluations=settings.max_evaluations, seconds=seconds)

    monkeypatch.setattr(exploration, "explore_run", explored)
    (tmp_path / "c.json").write_text(json.dumps(FILE | {"evaluations": [5000], "seeds": [1, 2]}))
    size = load_size(tmp_path / "c.json")
    tried = probe(size, inputs_of(size.plan, program_identity()))
    assert tried.errors == ()
    assert tried.core_seconds == size.runs * (1 + 5 + 100)

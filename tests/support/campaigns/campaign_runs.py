"""Runs that take no time, for tests of what is around them."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from paretosoc.dse.tools.campaign.plan.plan import NamedWorkload, Plan, Rules, make_plan
from paretosoc.dse.tools.campaign.plan.settings import DEFAULTS
from paretosoc.dse.tools.campaign.store.pack import compress, pack
from paretosoc.dse.tools.campaign.store.run import FrontFigures, RunOutcome, RunStatus, RunTask
from paretosoc.dse.workload.options import AXES
from paretosoc.results.io.canonical_json import sha256_of


def rules(**values):
    """One network on a board; lists by the names of fields."""
    lists = {name: (DEFAULTS[name],) for name in AXES}
    lists["platform"] = ("jetson-tx2",)
    others = {name: values.pop(name) for name in list(values) if name not in lists}
    return Rules(
        **{
            "title": "test",
            "workloads": (NamedWorkload("alexnet", ("alexnet",), ("alexnet",)),),
            "values": lists | values,
            **others,
        }
    )


def small_plan(runs: int) -> Plan:
    """So many seeds."""
    return make_plan(rules(seed=tuple(range(runs))))


def fake_run(task: RunTask) -> RunOutcome:
    """A result that follows from the hash."""
    problem = f"problem {task.inputs.settings.seed % 7}".encode()
    return RunOutcome(
        RunStatus.FINISHED,
        figures=FrontFigures(
            names=("latency_ps", "energy_fj"),
            objectives=((1000 + task.inputs.settings.seed, 10**12),),
            rows=((0, task.inputs.settings.seed),),
        ),
        evaluations=1,
        problem_sha256=sha256_of(problem),
        problem=compress(problem),
        pack=pack({"front.json": f"front of {task.hash}".encode()}),
    )


def bad_run(task: RunTask) -> RunOutcome:
    """Fails for odd seeds."""
    if task.inputs.settings.seed % 2:
        raise ValueError(f"seed {task.inputs.settings.seed} is odd")
    return fake_run(task)


@dataclass(frozen=True)
class DeadlyRun:
    """Kills its process the first time that it is tried, for each third seed."""

    marks: Path

    def __call__(self, task: RunTask) -> RunOutcome:
        mark = self.marks / str(task.inputs.settings.seed)
        if task.inputs.settings.seed % 3 == 0 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return fake_run(task)


def slow_run(task: RunTask) -> RunOutcome:
    """Says which process it is in, and takes its time."""
    (Path(os.environ["CAMPAIGN_MARKS"]) / f"{os.getpid()}").touch()
    time.sleep(60)
    return fake_run(task)


def sleepy_run(task: RunTask) -> RunOutcome:
    """A moment for each run, so that something can happen in between."""
    time.sleep(0.1)
    return fake_run(task)

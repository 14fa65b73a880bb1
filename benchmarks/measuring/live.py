"""From estimates to a choice on this machine: networks on two sets of its cores, by ONNX Runtime.

All mappings of whole networks are candidates. The script of the plans, ``measure.py``, times a
network on a set of cores, the one whose time is worth most, until the choice is sure enough. Then
all mappings are run for frames, and the true regret of the choice is printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.harness.report import Column, Value, show
from benchmarks.measuring.cases import Case
from benchmarks.measuring.replay import DRAWS, State, by_value, grid_of
from paretosoc.common.arrays import IntArray
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.certificate.seed_front import seed_front
from paretosoc.dse.problem.cost_provenance import cost_origins
from paretosoc.dse.space.members import make_members
from paretosoc.dse.tools.analysis.cost_draws import stated_errors
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch
from paretosoc.dse.tools.host.machine.host_units import HostUnit, describe_host, free_cores
from paretosoc.dse.tools.host.machine.sub_models import write_sub_models
from paretosoc.dse.tools.host.measure.profiling import draft_problem
from paretosoc.dse.tools.host.measure.running import DesignRuns, host_machine
from paretosoc.dse.tools.measuring.experiments import Experiment
from paretosoc.dse.tools.measuring.planning import Decisions
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.deploy.scripts import script_text
from paretosoc.results.front.front import Front
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

NETWORKS = ("squeezenet", "resnet18", "mobilenet_v2", "googlenet")
FRAMES = 15
SECONDS = 1.0
GOAL = "fastest"
COLUMNS = (
    Column("mapping", "second set of cores runs"),
    Column("stated", "by the estimate, ms", ".1f"),
    Column("low", "after measuring, 5 %", ".1f"),
    Column("high", "95 %", ".1f"),
    Column("measured", "measured, ms", ".1f"),
    Column("taken", ""),
)


def decide_here() -> None:
    """Measure, decide, run, and print.

    Raises:
        DseError: if there are not two cores, or ONNX Runtime is not installed.
    """
    cores = free_cores()
    half = max(1, len(cores) // 2)
    units = (HostUnit(cores[:half]), HostUnit(cores[half : 2 * half]))
    built = draft_problem(workload_from(NETWORKS), units, describe_host(), Options(groups=1))
    problem = replace(built.problem, objectives=(Objective(ObjectiveKind.LATENCY),))
    origins = cost_origins(built)
    front = _all_mappings(problem)
    case = Case("here", front, stated_errors(problem, origins), problem)
    left = grid_of(case)
    with temporary_folder() as folder:
        models = write_sub_models(problem, origins, folder, seed=0).groups
        script = folder / "measure.py"
        script.write_text(script_text("measure.py"), "utf-8")
        errors = case.errors
        while True:
            decisions = Decisions.of(front, errors, GOAL, DRAWS, 0)
            taken = decisions.taken()[GOAL]
            odds = taken.goals[GOAL]
            print(
                f"{len(errors.measured)} measured: take {_words(front, taken.member)}, within 1 % "
                f"of the best with {odds.near_best:.0%}, expected loss {odds.loss:.1%}"
            )
            if odds.is_sure or not left:
                break
            state = State(case, GOAL, errors, decisions, left, np.random.default_rng(0))
            one = left.pop(by_value(state))
            milliseconds = _timed(script, models[one.at.groups.start].path, one)
            stated = one.stretch.time_ps / 1e9
            print(f"    {one.words}: {milliseconds:.2f} ms, stated {stated:.2f}")
            errors = replace(
                errors,
                measured=(*errors.measured, one.measurement(max(1, round(1e9 * milliseconds)))),
            )
    with host_machine(problem, origins, seed=0) as machine:
        ran = []
        for member in front.members:
            runs = DesignRuns(problem, member.design, dispatch=Dispatch.PLANNED)
            runs.run(machine, FRAMES)
            ran.append(runs.result().makespan.median_ns / 1e6)
    choices = decisions.choices
    rows: list[dict[str, Value]] = []
    for place, member in enumerate(front.members):
        ((low, high),) = decisions.drawn.choice(problem, choices, place).intervals.values()
        rows.append(
            {
                "mapping": _words(front, place),
                "stated": member.objectives[0] / 1e9,
                "low": low,
                "high": high,
                "measured": ran[place],
                "taken": "taken" if place == taken.member else "",
            }
        )
    regret = ran[taken.member] / min(ran) - 1
    show(
        f"{', '.join(NETWORKS)} on two sets of cores",
        COLUMNS,
        rows,
        as_json=False,
        notes=[
            f"{len(errors.measured)} of {len(grid_of(case))} measured; true regret {regret:.1%}."
        ],
    )


def _all_mappings(problem: Problem) -> Front:
    """Return all mappings as members, also dominated ones, with the first network on the first
    set."""
    rest = product((0, 1), repeat=len(problem.networks) - 1)
    points = [0] * len(problem.domains)
    rows: IntArray = np.array([[0, *units, *points] for units in rest], dtype=np.int64)
    objectives = make_outcomes(problem)(rows).objectives
    members = make_members(problem, rows, objectives)
    return replace(seed_front(problem, rows, engine="all"), members=members)


def _words(front: Front, place: int) -> str:
    units = front.members[place].design.units.tolist()
    names = [n.name for n, unit in zip(front.problem.networks, units, strict=True) if unit == 1]
    return ", ".join(names) or "nothing"


def _timed(script: Path, model: Path, one: Experiment) -> float:
    """Return milliseconds of an inference by the script of the plans."""
    cores = one.problem.units[one.at.unit].name.removeprefix("cpu").split(".")
    device = {
        "provider": "CPUExecutionProvider",
        "options": {},
        "session": {},
        "cores": [int(core) for core in cores],
    }
    engine = json.dumps({"file": str(model), "device": device})
    command = [sys.executable, str(script), "--child", engine, "--seconds", str(SECONDS)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(ran.stdout.split()[-1])

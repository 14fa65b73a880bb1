"""From estimates to a choice on this machine: networks on two sets of its cores in two formats, by
ONNX Runtime.

All mappings of whole networks are candidates. The script of the plans, ``measure.py``, times a
network on a set of cores in a format, the one whose time is worth most, until the choice is sure
enough. Then all mappings are run for frames, and the true regret of the choice is printed. Models
in INT8 are quantised by ONNX Runtime; what they lose in accuracy is no matter here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.report import Column, Value, show
from benchmarks.measuring.cases import Case
from benchmarks.measuring.replay import DRAWS, State, by_value, grid_of
from paretosoc.common.arrays import IntArray
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.problem.build import BuiltProblem, build_problem, cost_origins
from paretosoc.dse.space.members import make_members
from paretosoc.dse.tools.analysis.cost_draws import stated_errors
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch, make_execution_plan
from paretosoc.dse.tools.host.machine.host_units import HostUnit, describe_host, free_cores
from paretosoc.dse.tools.host.machine.machine import HostMachine
from paretosoc.dse.tools.host.machine.sub_models import SubModels, write_sub_models
from paretosoc.dse.tools.host.measure.execution_times import WARM_UP, frame_times
from paretosoc.dse.tools.host.measure.host_documents import UNKNOWN, platform_document
from paretosoc.dse.tools.host.measure.profiling import draft_problem
from paretosoc.dse.tools.measuring.experiments import Experiment
from paretosoc.dse.tools.measuring.planning import Decisions
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.deploy.scripts import script_text
from paretosoc.results.front.front import Front
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.onnx.parts import PartTensor

NETWORKS = ("resnet18", "mobilenet_v2", "googlenet")
FORMATS = ("fp32", "int8")
_FASTER = 2
"""Arithmetic of INT8 over that of FP32, assumed: without instructions for it, it is not faster."""
FRAMES = 15
SECONDS = 1.0
GOAL = "fastest"
COLUMNS = (
    Column("mapping", "mapping"),
    Column("stated", "by the estimate, ms", ".1f"),
    Column("low", "after measuring, 5 %", ".1f"),
    Column("high", "95 %", ".1f"),
    Column("measured", "measured, ms", ".1f"),
    Column("taken", ""),
)
Models = Mapping[str, SubModels]
"""Models of all networks by format."""


def decide_here() -> None:
    """Measure, decide, run, and print.

    Raises:
        DseError: if there are not two cores, or ONNX Runtime is not installed.
    """
    cores = free_cores()
    half = max(1, len(cores) // 2)
    units = (HostUnit(cores[:half]), HostUnit(cores[half : 2 * half]))
    with temporary_folder() as folder:
        built = _problem(units, folder)
        problem = replace(built.problem, objectives=(Objective(ObjectiveKind.LATENCY),))
        front = _all_mappings(problem)
        errors = stated_errors(problem, cost_origins(built))
        case = Case("here", front, errors, problem)
        models = _models(built, folder)
        script = folder / "measure.py"
        script.write_text(script_text("measure.py"), "utf-8")
        case, decisions = _decided(case, models, script)
        ran = _ran(case, units, models)
    taken = decisions.taken()[GOAL].member
    rows: list[dict[str, Value]] = []
    for place, member in enumerate(front.members):
        ((low, high),) = decisions.drawn.choice(
            problem, decisions.choices, place
        ).intervals.values()
        rows.append(
            {
                "mapping": _words(front, place),
                "stated": member.objectives[0] / 1e9,
                "low": low,
                "high": high,
                "measured": ran[place],
                "taken": "taken" if place == taken else "",
            }
        )
    within = sum(low <= ms <= high for ms, low, high in _intervals(rows))
    show(
        f"{', '.join(NETWORKS)} on two sets of cores in {' and '.join(FORMATS)}",
        COLUMNS,
        rows,
        as_json=False,
        notes=[
            f"{len(case.errors.measured)} of {len(grid_of(case))} measured; true regret "
            f"{ran[taken] / min(ran) - 1:.1%}; {within} of {len(rows)} times within 5 to 95 %; "
            f"load average {os.getloadavg()[0]:.1f}."
        ],
    )


def _intervals(rows: Sequence[dict[str, Value]]) -> list[tuple[float, float, float]]:
    found = [[float(str(row[key])) for key in ("measured", "low", "high")] for row in rows]
    return [(ms, low, high) for ms, low, high in found]


def _problem(units: Sequence[HostUnit], folder: Path) -> BuiltProblem:
    """Return the networks on this machine, by estimates."""
    document = platform_document(describe_host(), units, UNKNOWN)
    for unit in document["units"]:
        (peak,) = unit["peaks"]
        more = {"precision": FORMATS[1], "bytes_per_element": 1}
        faster = {"macs_per_cycle": _FASTER * peak["macs_per_cycle"]}
        unit["peaks"].append(peak | more | faster)
    path = folder / "platform.json"
    path.write_text(json.dumps(document), "utf-8")
    options = Options(groups=1, precision=FORMATS)
    return build_problem(workload_from(NETWORKS), load_platform(path), options)


def _models(built: BuiltProblem, folder: Path) -> Models:
    """Write all networks, and quantised ones beside them."""
    import onnxruntime
    from onnxruntime.quantization import CalibrationDataReader, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    onnxruntime.set_default_logger_severity(3)

    class Once(CalibrationDataReader):  # type: ignore[misc]
        """Random images, for times only."""

        def __init__(self, inputs: Sequence[PartTensor]) -> None:
            rng = np.random.default_rng(0)
            self.left = [{t.name: rng.standard_normal(t.shape, dtype=np.float32) for t in inputs}]

        def get_next(self) -> dict[str, Any] | None:
            return self.left.pop() if self.left else None

    plain = write_sub_models(built.problem, cost_origins(built), folder, seed=0)
    groups = []
    for k, model in enumerate(plain.groups):
        path = folder / f"int8_{k}.onnx"
        quant_pre_process(model.path, folder / "fused.onnx", skip_symbolic_shape=True)
        quantize_static(folder / "fused.onnx", path, Once(model.inputs))
        groups.append(replace(model, path=path))
    return dict(zip(FORMATS, (plain, replace(plain, groups=tuple(groups))), strict=True))


def _decided(case: Case, models: Models, script: Path) -> tuple[Case, Decisions]:
    """Measure until the choice is sure enough. Return the case with the measurements."""
    left = grid_of(case)
    while True:
        decisions = Decisions.of(case.front, case.errors, GOAL, DRAWS, 0)
        taken = decisions.taken()[GOAL]
        odds = taken.goals[GOAL]
        print(
            f"{len(case.errors.measured)} measured: take {_words(case.front, taken.member)}, "
            f"within 1 % of the best with {odds.near_best:.0%}, expected loss {odds.loss:.1%}"
        )
        if odds.is_sure or not left:
            return case, decisions
        state = State(case, GOAL, case.errors, decisions, left, np.random.default_rng(0))
        one = left.pop(by_value(state))
        unit = one.problem.units[one.at.unit]
        path = models[str(unit.number_format)].groups[one.at.groups.start].path
        milliseconds = _timed(script, path, one)
        print(f"    {one.words}: {milliseconds:.2f} ms, stated {one.stretch.time_ps / 1e9:.2f}")
        measured = (*case.errors.measured, one.measurement(max(1, round(1e9 * milliseconds))))
        case = replace(case, errors=replace(case.errors, measured=measured))


def _ran(case: Case, units: Sequence[HostUnit], models: Models) -> list[float]:
    """Run all mappings. Return the median time of a frame, in ms."""
    front, problem = case.front, case.front.problem
    workload, options = workload_from(NETWORKS), Options(groups=1)
    plain = draft_problem(workload, units, describe_host(), options).problem
    found = [0.0] * len(front.members)
    together: dict[tuple[str, ...], list[int]] = {}
    for place, member in enumerate(front.members):
        formats = (str(problem.units[u].number_format) for u in member.design.units.tolist())
        together.setdefault(tuple(formats), []).append(place)
    for chosen, places in together.items():
        groups = tuple(models[of].groups[n] for n, of in enumerate(chosen))
        parts = replace(models[FORMATS[0]], groups=groups)
        with HostMachine(units, parts, slots=1) as machine:
            for place in places:
                on = front.members[place].design.units // len(FORMATS)
                row = np.concatenate([on, np.zeros(len(plain.domains), dtype=np.int64)])
                plan = make_execution_plan(
                    plain, plain.design_of(row), frames=FRAMES + WARM_UP, in_flight=1
                )
                execution = machine.execute(plan, dispatch=Dispatch.PLANNED)
                times = frame_times(plan, execution, len(plain.networks))
                found[place] = float(np.median(times.makespan[WARM_UP:])) / 1e6
    return found


def _all_mappings(problem: Problem) -> Front:
    """Return all mappings as members, also dominated ones, with the first network on the first
    set."""
    count, some = len(problem.units), len(FORMATS)
    mappings = product(range(some), *[range(count)] * (len(problem.networks) - 1))
    points = [0] * len(problem.domains)
    rows: IntArray = np.array([[*units, *points] for units in mappings], dtype=np.int64)
    objectives = make_outcomes(problem)(rows).objectives
    members = make_members(problem, rows, objectives)
    return replace(seed_front(problem, rows, engine="all"), members=members)


def _words(front: Front, place: int) -> str:
    names = [front.problem.units[u].name for u in front.members[place].design.units.tolist()]
    pairs = zip(front.problem.networks, names, strict=True)
    return ", ".join(f"{network.name} on {unit}" for network, unit in pairs)


def _timed(script: Path, model: Path, one: Experiment) -> float:
    """Return milliseconds of an inference by the script of the plans."""
    cores = one.problem.units[one.at.unit].unit_name.removeprefix("cpu").split(".")
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

"""A plan of measurements as a folder for the board: ``plan.json``, ``measure.py``, models and
scripts that set clocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from paretosoc.dse.tools.deploy.formats import CONVERT_FILE, write_converter
from paretosoc.dse.tools.deploy.job import Job, Options
from paretosoc.dse.tools.deploy.write_models import write_stretches
from paretosoc.dse.tools.measuring.experiments import Bench, Experiment
from paretosoc.dse.tools.measuring.planning import Plan
from paretosoc.dse.workload.options import as_written
from paretosoc.fitness.profiles.profilers.tegrastats_log import BOARD_RAILS, INSIDE_ANOTHER
from paretosoc.platforms.deployment import ExecutionProvider
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.deploy.deployment import Deployment, Segment
from paretosoc.results.deploy.deployment_document import tensor_to_document
from paretosoc.results.deploy.runtime_placement import provider_document
from paretosoc.results.deploy.scripts import script_text
from paretosoc.results.deploy.sysfs_script import controls_of, sysfs_script, uncontrolled
from paretosoc.results.deploy.trtexec_script import (
    STRONGLY_TYPED,
    engine_file,
    tensorrt_version,
    timing_commands,
)
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Front
from paretosoc.results.io.atomic_folder import ListedFolder
from paretosoc.results.io.canonical_json import Json, signed
from paretosoc.results.problem.problem_file import problem_sha256
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime
from paretosoc.sdf.onnx.parts import ModelPart

PLAN_FILE, SCRIPT_FILE = "plan.json", "measure.py"
PLAN_FORMAT = "paretosoc-measurement-plan/1"
PLAN_FOLDER = ListedFolder(PLAN_FILE, PLAN_FORMAT)
RUNNERS = (Runtime.TRTEXEC, Runtime.ONNXRUNTIME, Runtime.RKNN)
"""Runtimes that run a stretch alone."""
_OTHERWISE = {Runtime.TRITON: Runtime.TRTEXEC, Runtime.DEEPSTREAM: Runtime.TRTEXEC}
"""Runtimes that run the engines of another."""


def bench_of(front: Front, platform: Platform, origins: CostOrigins) -> Bench:
    """Return the abilities of a board, with the runtime of the problem or the first that serves all
    its units. Jetsons measure their power.

    Raises:
        ResultError: if there is no such runtime, or no network.
    """
    problem = front.problem
    networks = frozenset(n.name for n in origins.networks if not n.source.is_task)
    if not networks:
        raise ResultError(
            f"{', '.join(n.name for n in origins.networks)}: tasks and dataflow graphs have no "
            "models to measure; their times are in their files, and 'dse analyze confidence' says "
            "how sure a choice is"
        )
    wanted = None if problem.runtime is None else Runtime(problem.runtime)
    wanted = None if wanted is None else _OTHERWISE.get(wanted, wanted)
    units = {unit.unit_name for unit in problem.units}
    able = [
        runtime
        for runtime in RUNNERS
        if runtime is wanted
        or (wanted not in RUNNERS and units <= set(RUNTIMES[runtime].places(platform)))
    ]
    if not able:
        names = ", ".join(RUNTIMES[runtime].title for runtime in RUNNERS)
        raise ResultError(
            f"none of {names} serves all of {', '.join(sorted(units))} of {platform.name}: explore "
            f"with {as_written('units')} that one serves"
        )
    return Bench(
        runtime=able[0].value,
        units=frozenset(RUNTIMES[able[0]].places(platform)),
        networks=networks,
        has_power=bool(platform.deployment and platform.deployment.tensorrt),
        as_is=uncontrolled(platform) & {domain.name for domain in problem.domains},
    )


def write_plan(
    plan: Plan,
    platform: Platform,
    origins: CostOrigins,
    folder: Path,
    options: Options,
    *,
    overwrite: bool = False,
) -> list[str]:
    """Write the folder of a plan, whole or not at all. Return notes for the user.

    Args:
        plan: the plan, with at least one experiment.
        options: where models are that are no longer where they were.

    Raises:
        ResultError, GraphError: if there is nothing to measure, the folder cannot be written, or a
            model is not found.
    """
    if not plan.planned:
        raise ResultError("no measurement is worth its time: there is no plan to write")
    PLAN_FOLDER.check(folder, overwrite=overwrite)
    notes: list[str] = []

    def fill(part: Path) -> Callable[[dict[str, str]], dict[str, Json]]:
        member = plan.planned[0].experiment.member
        deployment = Deployment(plan.front, member, platform, origins)
        job = Job(deployment, part, options, None, notes)
        document = _fill(plan, job, Runtime(plan.bench.runtime))
        job.write_text(SCRIPT_FILE, script_text(SCRIPT_FILE), executable=True)

        def describe(files: dict[str, str]) -> dict[str, Json]:
            document["files"] = [{"name": n, "sha256": digest} for n, digest in files.items()]
            return signed(document)

        return describe

    PLAN_FOLDER.write(folder, fill, overwrite=overwrite)
    return notes


def _fill(plan: Plan, job: Job, runtime: Runtime) -> dict[str, Json]:
    """Write models and clocks. Return the content of ``plan.json``."""
    front, platform = plan.front, job.deployment.platform
    experiments = [entry.experiment for entry in plan.planned]
    # Units with the same times have experiments on one of them only.
    parts_of_all = [part for one in experiments for part in one.parts]
    engines = {part.engine: part for part in reversed(parts_of_all)}
    files = {engine: f"engine_{k}.onnx" for k, engine in enumerate(engines)}
    version = None
    if runtime is Runtime.TRTEXEC:
        version = tensorrt_version(job.deployment, job.options.tensorrt)
    types = job.deployment.precision if version and version[0] >= STRONGLY_TYPED else "fp32"
    parts = write_stretches(
        job,
        {files[e]: (x.network, x.segment.first, x.segment.last) for e, x in engines.items()},
        types=types,
        filled=runtime is not Runtime.TRTEXEC,
    )
    if runtime is Runtime.RKNN:
        write_converter(job, PLAN_FILE)
        job.notes.append(f"{CONVERT_FILE} makes the engines, on a host with rknn-toolkit2.")
    networks: list[Json] = []
    for engine, one in engines.items():
        deployment = Deployment(front, one.member, platform, job.deployment.origins)
        segment = one.segment
        entry = _engine(deployment, segment, files[engine], parts[files[engine]])
        if version is not None:
            build, run = timing_commands(deployment, version, files[engine], segment)
            entry |= {"engine": engine_file(files[engine]), "build": build, "run": run}
        else:
            entry["device"] = _device(deployment, segment, runtime)
        networks.append({"name": front.problem.networks[one.network].name, "segments": [entry]})
    if version is None:
        measured = {job.deployment.unit_name(one.segment) for one in engines.values()}
        job.notes.extend(cores_notes(platform, measured))
    scripts = _clocks(front, job, experiments, plan.bench.as_is)
    if plan.bench.as_is:
        names = ", ".join(sorted(plan.bench.as_is))
        job.notes.append(
            f"No file sets the clocks of {names}: {SCRIPT_FILE} leaves them alone, and they count "
            "as their fastest."
        )
    places = list(engines)
    return {
        "format": PLAN_FORMAT,
        "problem_sha256": problem_sha256(front.problem),
        "platform": platform.name,
        "runtime": runtime.value,
        "precision": job.deployment.precision,
        "minutes": plan.minutes,
        "has_power": plan.bench.has_power,
        "board_rails": [*BOARD_RAILS],
        "rails_inside": [*sorted(INSIDE_ANOTHER)],
        "devices": {
            name: place if isinstance(place, str) else "CPU"
            for name, place in RUNTIMES[runtime].places(platform).items()
        },
        "networks": networks,
        "experiments": [
            {
                "words": one.words,
                "of": {
                    **_place(one),
                    "clocks_khz": dict(one.clocks_khz),
                    **({} if one.beside is None else {"beside": _place(one.beside)}),
                },
                "engine": places.index(one.engine),
                "beside": None if one.beside is None else places.index(one.beside.engine),
                "clocks": script,
                "minutes": entry.minutes,
            }
            for entry, one, script in zip(plan.planned, experiments, scripts, strict=True)
        ],
    }


def _place(one: Experiment) -> dict[str, Json]:
    return {
        "network": one.problem.networks[one.network].name,
        "first_group": one.segment.first,
        "last_group": one.segment.last,
        "unit": one.problem.units[one.at.unit].name,
    }


def _engine(
    deployment: Deployment, segment: Segment, file: str, part: ModelPart
) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "unit": deployment.unit_name(segment),
        "number_format": deployment.format_of(segment),
        "first_group": segment.first,
        "last_group": segment.last,
        "file": file,
    }
    for key in ("inputs", "outputs"):
        entry[key] = [tensor_to_document(tensor) for tensor in getattr(part, key)]
    return entry


def _device(deployment: Deployment, segment: Segment, runtime: Runtime) -> Json:
    """Return the core mask of RKNN, or the provider of ONNX Runtime, which also serves CPUs."""
    place: Any = RUNTIMES[runtime].places(deployment.platform)[deployment.unit_name(segment)]
    if runtime is Runtime.RKNN and place != "CPU":
        return str(place)
    provider = ExecutionProvider("CPUExecutionProvider") if runtime is Runtime.RKNN else place
    chip = deployment.platform
    clusters = clusters_of(chip, chip.unit_by_name[deployment.unit_name(segment)])
    return provider_document(provider) | ({} if clusters is None else {"clusters": clusters})


def cores_notes(platform: Platform, units: Collection[str]) -> list[str]:
    """Return a note on units that are CPUs beside others, but whose cores no file tells."""
    cpus = [unit for unit in platform.units if unit.kind == "cpu"]
    untold = [u.name for u in cpus if u.name in units and clusters_of(platform, u) is None]
    if len(cpus) < 2 or not untold:
        return []
    return [f"No file tells the cores of {', '.join(untold)}: each is measured on all cores."]


def clusters_of(platform: Platform, unit: Unit) -> dict[str, Json] | None:
    """Return the folders in sysfs that tell the cores of a unit, and its share of them among the
    units with its clock; None if it is no CPU beside others, or no file sets its clock."""
    cpus = [each for each in platform.units if each.kind == "cpu"]
    controls = () if platform.deployment is None else platform.deployment.controls
    own = [each for each in controls if each.domain == unit.clocks[0]]
    if unit not in cpus or len(cpus) == 1 or not own:
        return None
    alike = [each.name for each in cpus if each.clocks[0] == unit.clocks[0]]
    folders: list[Json] = [list(paths) for paths in own[0].nodes]
    return {"folders": folders, "share": [alike.index(unit.name), len(alike)]}


def _clocks(
    front: Front, job: Job, experiments: Sequence[Experiment], as_is: Collection[str]
) -> list[str | None]:
    """Write a script for each set of clocks. Return its name for each experiment, None if there is
    no clock to set."""
    names: dict[tuple[int | None, ...], str | None] = {}
    found = []
    for one in experiments:
        if one.at.points not in names:
            deployment = Deployment(front, one.member, job.deployment.platform, None)
            name = None
            if controls_of(deployment, as_is):
                name = f"clocks_{len(names)}.sh"
                job.write_text(name, sysfs_script(deployment, as_is), executable=True)
            names[one.at.points] = name
        found.append(names[one.at.points])
    return found

"""Every format of a deployment: its boards, its files, and its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from paretosoc.common.files import read_file
from paretosoc.common.plugins import Registry
from paretosoc.dse.tools.analysis.power_modes import mode_costs
from paretosoc.dse.tools.deploy.job import Format, Job
from paretosoc.dse.tools.deploy.plan_engines import plan_notes
from paretosoc.dse.tools.deploy.write_models import write_entire, write_segments
from paretosoc.results.deploy.deepstream_config import check_deepstream, deepstream_configs
from paretosoc.results.deploy.deployment import Deployment, Segment
from paretosoc.results.deploy.deployment_document import DeployedModel
from paretosoc.results.deploy.iree_script import check_iree, iree_script
from paretosoc.results.deploy.llama_script import language_models, llama_scripts
from paretosoc.results.deploy.nvpmodel_conf import parse_nvpmodel_conf, power_modes_of
from paretosoc.results.deploy.nvpmodel_section import (
    mode_cost_words,
    nearest_among,
    nearest_mode,
    nvpmodel_section,
    power_modes,
)
from paretosoc.results.deploy.runtime_placement import place_notes, provider_document, unit_places
from paretosoc.results.deploy.scripts import script_text
from paretosoc.results.deploy.sysfs_script import sysfs_script
from paretosoc.results.deploy.triton_config import (
    VERSION,
    has_engine,
    repository_files,
    triton_configs,
)
from paretosoc.results.deploy.triton_order import triton_order, triton_readme
from paretosoc.results.deploy.trtexec_script import (
    STRONGLY_TYPED,
    Version,
    segment_engines,
    tensorrt_version,
    trtexec_script,
    version_notes,
    whole_engines,
)
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.runtimes import Runtime
from paretosoc.sdf.onnx.file import normal_domain
from paretosoc.sdf.onnx.operators.op_kinds import operation_name

TRTEXEC_FILE, RUN_FILE, CONVERT_FILE = "engines.sh", "run.py", "convert.py"
PLAN_FILE, VALUES_FILE = "frame_plan.py", "values.py"
MAX_CONF_BYTES = 1 << 20
"""A board's own nvpmodel file has some ten kilobytes."""
Facts = Mapping[str, Any]
"""Facts about the files written, for ``deployment.json``."""


def _write_nvpmodel(job: Job) -> Facts:
    deployment, conf, modes = job.deployment, job.options.conf, power_modes(job.deployment)
    if conf is not None:
        try:
            text = read_file(conf, ResultError, MAX_CONF_BYTES).decode("utf-8")
        except UnicodeDecodeError:
            raise ResultError(f"{conf}: must be UTF-8 text") from None
        modes = power_modes_of(parse_nvpmodel_conf(text, str(conf)), modes, str(conf))
    (costs,) = mode_costs([deployment], modes)
    text = nvpmodel_section(deployment, modes, costs, from_file=conf is not None)
    job.write_text("nvpmodel.conf", text)
    nearest = nearest_mode(costs)
    if nearest is None:
        job.notes.append("The mapping runs in none of the board's own modes.")
    else:
        words = mode_cost_words(deployment, nearest)
        job.notes.append(f"Nearest of the board's own modes{nearest_among(costs)}: {words}.")
    return {"modes": costs}


def _nvpmodel_texts(deployments: Sequence[Deployment]) -> list[str]:
    modes = power_modes(deployments[0])
    return [
        nvpmodel_section(deployment, modes, costs, from_file=False)
        for deployment, costs in zip(deployments, mode_costs(deployments, modes), strict=True)
    ]


def _write_sysfs(job: Job) -> Facts:
    job.write_text("set_clocks.sh", sysfs_script(job.deployment), executable=True)
    return {}


def _served_by(runtime: Runtime) -> Callable[[Deployment], object]:
    """Return the check of a runtime: it can run the member, and the layers are known."""
    return lambda deployment: (unit_places(deployment, runtime), deployment.known_origins)


def _write_runner(job: Job, script: str, *imported: str) -> None:
    """Write the program that runs the written parts in planned order, and what it imports."""
    if job.deployment.tasks:
        tasks = job.deployment.tasks
        yours = "is a program of yours" if len(tasks) == 1 else "are programs of yours"
        job.notes.append(
            f"{RUN_FILE} is left out: {', '.join(tasks)} {yours}. "
            "'plan' of deployment.json says in which order all runs start, and what each waits for."
        )
        return
    job.write_text(RUN_FILE, script_text(script))
    for name in (PLAN_FILE, *imported):
        job.write_text(name, script_text(name))
    job.notes.extend(plan_notes(job.deployment))


def _write_engines(job: Job) -> Facts:
    """Write the models, and the script that builds their engines."""
    version = tensorrt_version(job.deployment, job.options.tensorrt)
    job.write_text(TRTEXEC_FILE, trtexec_script(job.deployment, version), executable=True)
    types, notes = _types(job, version)
    models = write_segments(job, entire=whole_engines(job.deployment), types=types)
    job.notes.extend([*notes, *_foreign_operators(models)])
    cores = {unit: job.deployment.cores[unit] for unit in job.deployment.units_used}
    devices = {unit: "GPU" if core is None else f"DLA{core}" for unit, core in cores.items()}
    return {"models": models, "devices": devices}


def _write_trtexec(job: Job) -> Facts:
    facts = _write_engines(job)
    # Of several GPU instances a process sees one.
    if job.plan is not None and list(job.deployment.cores.values()).count(None) < 2:
        _write_runner(job, "run_tensorrt.py")
    return facts


def _trtexec_texts(deployments: Sequence[Deployment]) -> list[str]:
    for each in deployments:
        unit_places(each, Runtime.TRTEXEC)
    return [trtexec_script(each) for each in deployments]


def _types(job: Job, version: Version) -> tuple[str, list[str]]:
    """Return the number format of the models' types for TensorRT, and notes for the user."""
    types = job.deployment.precision if version[0] >= STRONGLY_TYPED else "fp32"
    notes = version_notes(job.deployment, version)
    if types == "int8":
        notes.append(
            "INT8: a model with Q/DQ nodes of its own keeps them; others were calibrated on random "
            "input, and serve timing only."
        )
    return types, notes


def _foreign_operators(models: Sequence[DeployedModel]) -> list[str]:
    """Return a note on operators that TensorRT's parser may not have."""
    nodes = (node for model in models for part in model.parts for node in part.model.graph.node)
    foreign = sorted(
        {operation_name(n.domain, n.op_type) for n in nodes if normal_domain(n.domain)}
    )
    if not foreign:
        return []
    return [f"TensorRT may need plugins for what is no operator of ONNX: {', '.join(foreign)}."]


def _note_types(job: Job, served: Callable[[Segment], bool] = lambda _: True) -> None:
    """Note the number formats of the costs of segments whose models are not converted to them."""
    every, deployment = job.deployment.all_segments, job.deployment
    kept = [s for s in every if served(s) and deployment.format_of(s) != "fp32"]
    if kept:
        formats = dict.fromkeys(deployment.format_of(segment).upper() for segment in kept)
        units = dict.fromkeys(deployment.unit_name(segment) for segment in kept)
        place, there = f" on {', '.join(units)}", " there"
        if all(map(served, every)):
            place = there = ""
        job.notes.append(
            f"Costs{place} are of {' and '.join(formats)}, but the models{there} keep their own "
            "number formats: convert them, or expect other times."
        )


def _write_deepstream(job: Job) -> Facts:
    facts = _write_engines(job)
    for name, text in deepstream_configs(job.deployment, facts["models"]).items():
        job.write_text(name, text)
    job.notes.append(
        "nvinfer's files lack what no model says: net-scale-factor, colour format, and for a "
        "detector a parser; each file lists the keys."
    )
    return facts


def _write_triton(job: Job) -> Facts:
    deployment, files = job.deployment, repository_files(job.deployment)
    types, notes = "fp32", list[str]()
    if any(has_engine(deployment, segment) for segment in deployment.all_segments):
        version = tensorrt_version(deployment, job.options.tensorrt)
        script = segment_engines(deployment, version, files)
        job.write_text(TRTEXEC_FILE, script, executable=True)
        types, notes = _types(job, version)
    models = write_segments(job, types=types, filled=True, files=files)
    if types == "fp32":
        _note_types(job, lambda segment: not has_engine(deployment, segment))
    order = triton_order(deployment, job.plan, files)
    job.write_text("README.md", triton_readme(deployment, order))
    for name, text in triton_configs(deployment, models, order).items():
        job.write_text(name, text)
        (job.folder / name).parent.joinpath(VERSION).mkdir(exist_ok=True)
    job.notes.extend([*notes, *plan_notes(deployment)])
    if order.not_kept:
        job.notes.append("Triton may run models in another order than planned: see README.md.")
    return {"models": models}


def _write_onnxruntime(job: Job) -> Facts:
    _write_runner(job, "run_placement.py", VALUES_FILE)
    facts = _write_plain(job)
    places = unit_places(job.deployment, Runtime.ONNXRUNTIME)
    job.notes.extend(place_notes(job.deployment, Runtime.ONNXRUNTIME, places))
    documents = {unit: provider_document(provider) for unit, provider in places.items()}
    return {**facts, "providers": documents}


def _write_openvino(job: Job) -> Facts:
    job.write_text(RUN_FILE, script_text("run_affinities.py"))
    job.write_text(VALUES_FILE, script_text(VALUES_FILE))
    devices = unit_places(job.deployment, Runtime.OPENVINO)
    models = write_entire(job)
    _note_types(job)
    job.notes.extend(place_notes(job.deployment, Runtime.OPENVINO, devices))
    return {"models": models, "devices": devices}


def _write_ros2(job: Job) -> Facts:
    """Write the launch file, the clocks if they can be set, and the models, with the script that
    builds engines of them if TensorRT serves the board."""
    job.write_text("networks.launch.py", script_text("launch_networks.py"))
    try:
        _write_sysfs(job)
    except ResultError as error:
        job.notes.append(f"Clocks are not set: {error}.")
    try:
        unit_places(job.deployment, Runtime.TRTEXEC)
    except ResultError:
        return _write_plain(job)
    return _write_engines(job)


def _write_plain(job: Job) -> Facts:
    """Write the models as they are."""
    models = write_segments(job, filled=True)
    _note_types(job)
    return {"models": models}


def _write_iree(job: Job) -> Facts:
    job.write_text("iree.sh", iree_script(job.deployment), executable=True)
    return _write_plain(job)


def _write_llama(job: Job) -> Facts:
    scripts, notes = llama_scripts(job.deployment)
    for name, text in scripts.items():
        job.write_text(name, text, executable=True)
    job.notes.extend(notes)
    return {}


def write_converter(job: Job, document: str = "deployment.json") -> None:
    """Write the program that converts the pieces in a document for an NPU of Rockchip's."""
    chip = f'TARGET = "{job.deployment.board.rknn_target}"'
    text = script_text("convert_rknn.py").replace('TARGET = "chip"', chip)
    job.write_text(CONVERT_FILE, text.replace("deployment.json", document))
    job.write_text(VALUES_FILE, script_text(VALUES_FILE))


def _write_rknn(job: Job) -> Facts:
    devices = unit_places(job.deployment, Runtime.RKNN)
    write_converter(job)
    _write_runner(job, "run_rknn.py")
    models = write_segments(job, filled=True)
    _note_types(job, lambda segment: devices[job.deployment.unit_name(segment)] == "CPU")
    job.notes.extend(place_notes(job.deployment, Runtime.RKNN, devices))
    return {"models": models, "devices": devices}


_MODELS = frozenset({"--model", "--no-check"})
_layers = attrgetter("known_origins")

FORMATS: Registry[Format] = Registry(
    "paretosoc.deployments",
    "a deployment format",
    lambda found: isinstance(found, Format),
    "a Format (paretosoc.dse.tools.deploy.job)",
    {
        "nvpmodel": Format(power_modes, _write_nvpmodel, frozenset({"--conf"}), _nvpmodel_texts),
        "sysfs": Format(
            sysfs_script,
            _write_sysfs,
            frozenset({"--check"}),
            texts=lambda members: [sysfs_script(each) for each in members],
        ),
        "trtexec": Format(
            lambda deployment: unit_places(deployment, Runtime.TRTEXEC),
            _write_trtexec,
            _MODELS | {"--tensorrt"},
            texts=_trtexec_texts,
        ),
        "deepstream": Format(check_deepstream, _write_deepstream, _MODELS | {"--tensorrt"}),
        "triton": Format(_served_by(Runtime.TRITON), _write_triton, _MODELS | {"--tensorrt"}),
        "onnx": Format(_layers, lambda job: {"models": write_segments(job)}, _MODELS),
        "onnxruntime": Format(_served_by(Runtime.ONNXRUNTIME), _write_onnxruntime, _MODELS),
        "rknn": Format(_served_by(Runtime.RKNN), _write_rknn, _MODELS),
        "openvino": Format(_served_by(Runtime.OPENVINO), _write_openvino, _MODELS),
        "ros2": Format(_layers, _write_ros2, _MODELS | {"--tensorrt"}),
        "iree": Format(check_iree, _write_iree, _MODELS),
        "llama-cpp": Format(
            llama_scripts,
            _write_llama,
            concerns=lambda member: member.origins is not None and bool(language_models(member)),
        ),
        "json": Format(lambda deployment: None, lambda job: {}),
    },
    ResultError,
)

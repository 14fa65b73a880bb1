"""Every format of a deployment: its boards, its files, and its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paretosoc.dse.tools.deploy.job import Job, Written
from paretosoc.dse.tools.deploy.random_weights import give_random_weights
from paretosoc.dse.tools.deploy.targets import Target
from paretosoc.dse.tools.deploy.write_clocks import nvpmodel_texts, write_nvpmodel, write_sysfs
from paretosoc.dse.tools.deploy.write_models import SEED, write_entire, write_segments
from paretosoc.results.deploy.deepstream_config import check_deepstream, deepstream_configs
from paretosoc.results.deploy.deployment import Deployment, check_platform
from paretosoc.results.deploy.nvpmodel_section import power_modes
from paretosoc.results.deploy.onnxruntime_placement import (
    annotate,
    placement_script,
    providers_document,
    unit_providers,
)
from paretosoc.results.deploy.openvino_affinities import (
    affinity_script,
    check_openvino,
    unit_devices,
)
from paretosoc.results.deploy.sysfs_script import sysfs_script
from paretosoc.results.deploy.tensorrt_version import (
    STRONGLY_TYPED,
    Version,
    tensorrt_version,
    version_notes,
)
from paretosoc.results.deploy.triton_config import (
    VERSION,
    check_triton,
    has_engine,
    repository_files,
    triton_configs,
)
from paretosoc.results.deploy.trtexec_script import (
    check_trtexec,
    precision_of,
    segment_engines,
    trtexec_script,
)
from paretosoc.sdf.onnx.parts import ModelPart

TRTEXEC_FILE = "engines.sh"
RUN_FILE = "run.py"


@dataclass(frozen=True)
class Format:
    """A format of ``dse deploy --to``."""

    check: Callable[[Deployment], object]
    """Raises ResultError where the format cannot serve the platform or a unit."""
    write: Callable[[Job], Written]
    """Writes the files of a deployment that was checked."""
    takes: frozenset[str] = frozenset()
    """Options of the command that it has a use for."""
    texts: Callable[[Sequence[Deployment]], list[str]] | None = None
    """The text for each member of one front, where the format is one text; raises as ``check``."""
    elsewhere: bool = False
    """Whether it is written, with a note, for a platform that ``check`` refuses, too: the files run
    on other machines."""


def _layers_known(deployment: Deployment) -> object:
    return deployment.layers(deployment.segments(0)[0])


def _check_onnxruntime(deployment: Deployment) -> object:
    return unit_providers(deployment), _layers_known(deployment)


def _check_openvino(deployment: Deployment) -> object:
    check_openvino(deployment)
    return _layers_known(deployment)


def _write_onnx(job: Job) -> Written:
    models, notes = write_segments(job)
    return Written(tuple(notes), tuple(models))


def _write_trtexec(job: Job) -> Written:
    version = tensorrt_version(job.deployment, job.options.tensorrt)
    script = trtexec_script(job.deployment, version)
    job.write_text(TRTEXEC_FILE, script, executable=True)
    types, notes = _types(job, version)
    models, more = write_segments(job, entire=True, types=types)
    return Written((*more, *notes), tuple(models))


def _types(job: Job, version: Version) -> tuple[str, list[str]]:
    """Return the number format of the models' types for TensorRT, and notes for the user."""
    types = precision_of(job.deployment) if version[0] >= STRONGLY_TYPED else "fp32"
    notes = version_notes(job.deployment, version)
    if types == "int8":
        notes.append(
            "INT8: a model with Q/DQ nodes of its own keeps them; others were calibrated on random "
            "input, and serve timing only."
        )
    return types, notes


def _write_deepstream(job: Job) -> Written:
    written = _write_trtexec(job)
    assert written.models is not None, "trtexec has models"
    for name, text in deepstream_configs(job.deployment, written.models).items():
        job.write_text(name, text)
    return written


def _write_triton(job: Job) -> Written:
    deployment, files = job.deployment, repository_files(job.deployment)
    has_engines = any(
        has_engine(deployment, segment)
        for n in range(len(files))
        for segment in deployment.segments(n)
    )
    types, notes = "fp32", list[str]()
    if has_engines:
        version = tensorrt_version(deployment, job.options.tensorrt)
        script = segment_engines(deployment, version, files)
        job.write_text(TRTEXEC_FILE, script, executable=True)
        types, notes = _types(job, version)
    models, more = write_segments(job, types=types, filled=True, files=files)
    for name, text in triton_configs(deployment, models).items():
        job.write_text(name, text)
        (job.folder / name).parent.joinpath(VERSION).mkdir(exist_ok=True)
    return Written((*more, *notes), tuple(models))


def _write_onnxruntime(job: Job) -> Written:
    def change(part: ModelPart, units: dict[str, str]) -> int:
        annotate(part.model, units)
        return give_random_weights(part.model, part.weights, SEED, "onnxruntime")

    job.write_text(RUN_FILE, placement_script())
    models, notes = write_entire(job, change)
    used = unit_providers(job.deployment)
    for name in dict.fromkeys(provider.name for provider in used.values()):
        units = [unit for unit, provider in used.items() if provider.name == name]
        if len(units) > 1:
            notes.append(
                f"{', '.join(units)} are all {name}: ONNX Runtime does not tell them apart."
            )
    return Written(tuple(notes), tuple(models), providers=providers_document(job.deployment))


def _write_openvino(job: Job) -> Written:
    def change(part: ModelPart, units: dict[str, str]) -> int:
        return give_random_weights(part.model, part.weights, SEED, "openvino")

    job.write_text(RUN_FILE, affinity_script())
    devices, note = unit_devices(job.deployment)
    models, notes = write_entire(job, change)
    return Written((*notes, *note), tuple(models), devices=devices)


def _write_json(job: Job) -> Written:
    return Written()


_MODELS = frozenset({"--model", "--no-check"})

FORMATS = {
    Target.NVPMODEL: Format(power_modes, write_nvpmodel, frozenset({"--conf"}), nvpmodel_texts),
    Target.SYSFS: Format(
        sysfs_script,
        write_sysfs,
        frozenset({"--check"}),
        texts=lambda members: [sysfs_script(each) for each in members],
    ),
    Target.TRTEXEC: Format(
        check_trtexec,
        _write_trtexec,
        _MODELS | {"--tensorrt"},
        lambda members: [trtexec_script(each) for each in members],
    ),
    Target.DEEPSTREAM: Format(check_deepstream, _write_deepstream, _MODELS | {"--tensorrt"}),
    Target.TRITON: Format(check_triton, _write_triton, _MODELS | {"--tensorrt"}),
    Target.ONNX: Format(_layers_known, _write_onnx, _MODELS),
    Target.ONNXRUNTIME: Format(_check_onnxruntime, _write_onnxruntime, _MODELS),
    Target.OPENVINO: Format(_check_openvino, _write_openvino, _MODELS, elsewhere=True),
    Target.JSON: Format(check_platform, _write_json),
}
"""By name on the command line."""

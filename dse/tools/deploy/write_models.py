"""The models of a deployment: cut if they change unit, or in one piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from paretosoc.dse.tools.deploy.check_onnx import (
    Equality,
    Values,
    WrittenPart,
    check_equality,
    check_formats,
)
from paretosoc.dse.tools.deploy.find_models import check_models, searched_model
from paretosoc.dse.tools.deploy.job import Job
from paretosoc.dse.tools.deploy.random_weights import give_random_weights
from paretosoc.dse.tools.deploy.strong_types import (
    ROUNDING,
    has_scales,
    kept_types,
    to_half,
    to_int8,
)
from paretosoc.results.deploy.deployment import Deployment, Segment
from paretosoc.results.deploy.deployment_document import DeployedModel
from paretosoc.results.deploy.network_files import NetworkFiles, network_files
from paretosoc.sdf.catalogue.catalogue import ModelFile
from paretosoc.sdf.onnx.parts import ModelPart, cut_model, save_part

Notes = list[str]
SEED = 0
"""Of weights that a model lacks."""


def write_segments(
    job: Job,
    *,
    entire: bool = False,
    types: str = "fp32",
    filled: bool = False,
    files: Sequence[NetworkFiles] | None = None,
) -> tuple[list[DeployedModel], Notes]:
    """Write a model for each segment.

    Args:
        job: the deployment.
        entire: the networks in one piece, too.
        types: number format that the tensors' types say: ``fp32`` leaves them.
        filled: give models random values for the weights that they lack.
        files: their names, below the folder.

    Raises:
        ResultError, GraphError: if a model cannot be found, is another one, or differs when cut.
    """
    deployed: list[DeployedModel] = []
    notes: Notes = []
    for n, model, segments in _models(job.deployment, job):
        names = network_files(job.deployment)[n] if files is None else files[n]
        layers = [job.deployment.layers(segment) for segment in segments]
        if entire and len(layers) > 1:
            everything = [[name for part in layers for name in part]]
            _cast(job, n, _save(job, n, model, everything, [names.whole], types, filled=filled))
        saved = _save(job, n, model, layers, names.segments, types, filled=filled)
        what = f"{len(layers)} {'part' if len(layers) == 1 else 'parts'}"
        if saved.types != "fp32":
            what += ", before they were cast"
        compared = _compared(job, n, model, saved.parts, what, notes)
        cast = _cast(job, n, saved)
        equality = None
        if compared is not None:
            equality, values = compared
            if saved.types != "fp32":
                sized = list(zip(cast, map(len, layers), strict=True))
                equality = _formats_compared(job, n, sized, saved.types, equality, values, notes)
            if equality.random_weights:
                notes.append(
                    f"{_name(job, n)}: the model holds no trained values for "
                    f"{equality.random_weights} weights; the files serve timing only. For results, "
                    "explore an .onnx file with its weights."
                )
        document = None if equality is None else asdict(equality)
        parts = tuple(written.part for written in cast)
        deployed.append(DeployedModel(names.segments, parts, document))
    return deployed, notes


def write_entire(
    job: Job, change: Callable[[ModelPart, dict[str, str]], int]
) -> tuple[list[DeployedModel], Notes]:
    """Write every network in one piece.

    Args:
        job: the deployment.
        change: changes a model, given the unit of each of its layers. Returns the number of weights
            that it made up.

    Raises:
        ResultError, GraphError: if a model cannot be found, is another one, or differs.
    """
    deployed: list[DeployedModel] = []
    notes: Notes = []
    for n, model, segments in _models(job.deployment, job):
        file = network_files(job.deployment)[n].whole
        units = {
            name: job.deployment.problem.units[segment.unit].unit_name
            for segment in segments
            for name in job.deployment.layers(segment)
        }
        (part,) = _cut(job.deployment, n, model, [list(units)])
        made_up = change(part, units)
        save_part(part, job.folder / file, model.folder)
        written = [WrittenPart(part, job.folder / file)]
        compared = _compared(job, n, model, written, "the model", notes)
        equality = None if compared is None else asdict(compared[0])
        if made_up:
            notes.append(
                f"{_name(job, n)}: {made_up} weights have no trained values and got random ones."
            )
        deployed.append(DeployedModel((), (), equality, file))
    return deployed, notes


def _models(deployment: Deployment, job: Job) -> list[tuple[int, ModelFile, tuple[Segment, ...]]]:
    networks = deployment.problem.networks
    check_models(job.options.models, [network.name for network in networks])
    found = []
    for n in range(len(networks)):
        segments = deployment.segments(n)
        deployment.layers(segments[0])
        assert deployment.origins is not None, "the layers are known"
        origins = deployment.origins.networks[n]
        found.append((n, searched_model(origins, job.options.models), segments))
    return found


def _cut(
    deployment: Deployment, n: int, model: ModelFile, layers: Sequence[Sequence[str]]
) -> Sequence[ModelPart]:
    assert deployment.origins is not None, "the layers are known"
    dimensions = dict(deployment.origins.networks[n].source.dimensions)
    return cut_model(model.data, model.folder, layers, dimensions=dimensions, label=model.label)


@dataclass(frozen=True)
class _Saved:
    """Parts of a network as they were cut, with their remaining work."""

    parts: Sequence[WrittenPart]
    folder: Path | None
    """Where the model keeps data in other files."""
    types: str
    """Number format to cast to; ``fp32``: none."""
    data_files: Sequence[Path]
    """Beside the parts' own; a cast part holds its data itself."""


def _save(
    job: Job,
    n: int,
    model: ModelFile,
    layers: Sequence[Sequence[str]],
    files: Sequence[str],
    types: str,
    *,
    filled: bool,
) -> _Saved:
    """Cuts a network and writes its parts, with the types that they had."""
    cut = _cut(job.deployment, n, model, layers)
    if types == "int8" and any(has_scales(part) for part in cut):
        types = "fp32"
    if filled or types == "int8":
        for part in cut:
            give_random_weights(part.model, part.weights, SEED, _name(job, n))
    data_files: list[Path] = []
    for part, file in zip(cut, files, strict=True):
        data_files += save_part(part, job.path_of(file), model.folder)[1:]
    parts = [WrittenPart(p, job.folder / f) for p, f in zip(cut, files, strict=True)]
    return _Saved(parts, model.folder, types, data_files)


def _cast(job: Job, n: int, saved: _Saved) -> Sequence[WrittenPart]:
    """Cast parts that were written, in place."""
    name, parts = _name(job, n), saved.parts
    if saved.types == "fp32":
        return parts
    if saved.types == "int8":
        to_int8(parts, name)
    else:
        kept = kept_types([written.part for written in parts])
        parts = [
            replace(written, part=to_half(written.part, saved.folder, kept, name))
            for written in parts
        ]
        for written in parts:
            save_part(written.part, written.path, saved.folder)
    for path in saved.data_files:
        path.unlink()
    return parts


def _compared(
    job: Job,
    n: int,
    model: ModelFile,
    parts: Sequence[WrittenPart],
    what: str,
    notes: Notes,
) -> tuple[Equality, Values] | None:
    count = f"{_name(job, n)}: {what}"
    if not job.options.check:
        notes.append(f"{count}, not compared with the uncut model.")
        return None
    found, values = check_equality(model.data, model.folder, parts, label=_name(job, n))
    notes.append(
        f"{count}, {found.tensors} of their tensors compared with the uncut model on "
        f"random input by {found.runtime}: "
        + (
            "equal to the last bit."
            if found.largest_difference == 0
            else f"largest difference {found.largest_difference:g}."
        )
    )
    return found, values


def _formats_compared(
    job: Job,
    n: int,
    parts: Sequence[tuple[WrittenPart, int]],
    types: str,
    equality: Equality,
    values: Values,
    notes: Notes,
) -> Equality:
    """Compare cast parts with those in FP32, unless weights are random: a network that was not
    trained may amplify the rounding of a number format."""
    name, rounding = _name(job, n), None if equality.random_weights else ROUNDING[types]
    share = check_formats(parts, values, rounding, name)
    notes.append(
        f"{name}: random weights: formats are not compared; every part in {types.upper()} runs."
        if share is None
        else f"{name}: every part in {types.upper()} compared with the same part in FP32 on the "
        f"same inputs: largest difference {100 * share:.2g} % of a tensor's largest value."
    )
    return replace(equality, format_difference=share)


def _name(job: Job, n: int) -> str:
    return job.deployment.problem.networks[n].name

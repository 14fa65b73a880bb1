"""The models of a deployment: cut where they change unit, or in one piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from dse.tools.deploy.check_onnx import RELATIVE_TOLERANCE, WrittenPart, check_equality
from dse.tools.deploy.find_models import check_models, searched_model
from dse.tools.deploy.job import Job
from dse.tools.deploy.random_weights import give_random_weights
from dse.tools.deploy.strong_types import (
    HALF_TOLERANCE,
    INT8_TOLERANCE,
    has_scales,
    kept_types,
    to_half,
    to_int8,
)
from results.deploy.deployment import Deployment, Segment
from results.deploy.deployment_document import DeployedModel
from results.deploy.network_files import NetworkFiles, network_files
from sdf.catalogue.catalogue import ModelFile
from sdf.onnx.parts import ModelPart, cut_model, save_part

Notes = list[str]
SEED = 0
"""Of weights that a model lacks."""
_TOLERANCES = {"fp32": RELATIVE_TOLERANCE, "fp16": HALF_TOLERANCE, "int8": INT8_TOLERANCE}


def write_segments(
    job: Job,
    *,
    entire: bool = False,
    types: str = "fp32",
    filled: bool = False,
    files: Sequence[NetworkFiles] | None = None,
) -> tuple[list[DeployedModel], Notes]:
    """Writes a model for each segment.

    Args:
        job: what is written.
        entire: the networks in one piece, too.
        types: number format that the tensors' types say: ``fp32`` leaves them.
        filled: give models random values for the weights that they lack.
        files: their names, below the folder.

    Raises:
        ResultError, GraphError: where a model cannot be found, is another one, or differs when cut.
    """
    deployed: list[DeployedModel] = []
    notes: Notes = []
    for n, model, segments in _models(job.deployment, job):
        names = network_files(job.deployment)[n] if files is None else files[n]
        layers = [job.deployment.layers(segment) for segment in segments]
        if entire and len(layers) > 1:
            everything = [[name for part in layers for name in part]]
            _save(job, n, model, everything, [names.whole], types, filled=filled)
        cut, parts = _save(job, n, model, layers, names.segments, types, filled=filled)
        what = f"{len(parts)} {'part' if len(parts) == 1 else 'parts'}"
        equality = _compared(job, n, model, cut, names.segments, what, notes, types)
        if equality is not None and equality["random_weights"]:
            notes.append(
                f"{_name(job, n)}: the model holds no trained values for "
                f"{equality['random_weights']} weights; the files serve timing only. For results, "
                "explore an .onnx file with its weights."
            )
        deployed.append(DeployedModel(names.segments, tuple(parts), equality))
    return deployed, notes


def write_entire(
    job: Job, change: Callable[[ModelPart, dict[str, str]], int]
) -> tuple[list[DeployedModel], Notes]:
    """Writes every network in one piece.

    Args:
        job: what is written.
        change: changes a model, given the unit of each of its layers; returns how many weights it
            made up.

    Raises:
        ResultError, GraphError: where a model cannot be found, is another one, or differs.
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
        equality = _compared(job, n, model, [part], [file], "the model", notes)
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


def _save(
    job: Job,
    n: int,
    model: ModelFile,
    layers: Sequence[Sequence[str]],
    files: Sequence[str],
    types: str,
    *,
    filled: bool,
) -> tuple[Sequence[ModelPart], Sequence[ModelPart]]:
    """Cuts a network and writes its parts: with the types that they had, and as they are now."""
    cut, name = _cut(job.deployment, n, model, layers), _name(job, n)
    quantise = types == "int8" and not any(has_scales(part) for part in cut)
    if filled or quantise:
        for part in cut:
            give_random_weights(part.model, part.weights, SEED, name)
    parts = cut
    if types == "fp16":
        kept = kept_types(cut)
        parts = [to_half(part, model.folder, kept, name) for part in cut]
    for part, file in zip(parts, files, strict=True):
        save_part(part, job.path_of(file), model.folder)
    if quantise:
        to_int8([WrittenPart(p, job.folder / f) for p, f in zip(parts, files, strict=True)], name)
    return cut, parts


def _compared(
    job: Job,
    n: int,
    model: ModelFile,
    parts: Sequence[ModelPart],
    files: Sequence[str],
    what: str,
    notes: Notes,
    types: str = "fp32",
) -> dict[str, Any] | None:
    count = f"{_name(job, n)}: {what}"
    if not job.options.check:
        notes.append(f"{count}, not compared with the uncut model.")
        return None
    written = [
        WrittenPart(part, job.folder / file) for part, file in zip(parts, files, strict=True)
    ]
    found = check_equality(
        model.data, model.folder, written, label=_name(job, n), tolerance=_TOLERANCES[types]
    )
    notes.append(
        f"{count}, {found.tensors} of their tensors compared with the uncut model on "
        f"random input by {found.runtime}: "
        + (
            "equal to the last bit."
            if found.largest_difference == 0
            else f"largest difference {found.largest_difference:g}."
        )
    )
    return asdict(found)


def _name(job: Job, n: int) -> str:
    return job.deployment.problem.networks[n].name

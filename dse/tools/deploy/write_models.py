"""The models of a deployment: cut if they change unit, or in one piece."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from paretosoc.common.text import pluralize
from paretosoc.dse.tools.deploy.check_onnx import (
    Equality,
    Values,
    WrittenPart,
    check_equality,
    check_formats,
)
from paretosoc.dse.tools.deploy.job import Job
from paretosoc.dse.tools.deploy.random_weights import give_random_weights
from paretosoc.dse.tools.deploy.searched_inputs import check_models, searched_model
from paretosoc.dse.tools.deploy.strong_types import has_scales, kept_types, to_half, to_int8
from paretosoc.results.deploy.deployment import NetworkFiles, network_files
from paretosoc.results.deploy.deployment_document import DeployedModel
from paretosoc.sdf.catalogue.catalogue import ModelFile
from paretosoc.sdf.onnx.parts import ModelPart, cut_model, save_part

SEED = 0
"""Seed of weights that a model lacks."""


def write_segments(
    job: Job,
    *,
    entire: Container[int] = (),
    types: str = "fp32",
    filled: bool = False,
    files: Sequence[NetworkFiles] | None = None,
) -> list[DeployedModel]:
    """Write a model for each segment.

    Args:
        entire: networks that are written in one piece, too.
        types: number format that the tensors' types say: ``fp32`` leaves them.
        filled: give models random values for the weights that they lack.
        files: their names, below the folder.

    Raises:
        ResultError, GraphError: if a model cannot be found, is another one, or differs when cut.
    """
    deployed = [NO_MODEL for _ in job.deployment.problem.networks]
    files = files or network_files(job.deployment)
    for network in _networks(job):
        names = files[network.number]
        layers = [job.deployment.layers(s) for s in job.deployment.segments(network.number)]
        if network.number in entire and len(layers) > 1:
            everything = network.cut([[name for part in layers for name in part]])
            _cast(network, _save(network, everything, [names.whole], types, filled=filled))
        saved = _save(network, network.cut(layers), names.segments, types, filled=filled)
        what = pluralize(len(layers), "part")
        if saved.types != "fp32":
            what += ", before the cast"
        compared = _compared(network, saved.parts, what)
        cast = _cast(network, saved)
        equality = None
        if compared is not None:
            equality, values = compared
            if saved.types != "fp32":
                sized = list(zip(cast, map(len, layers), strict=True))
                equality = _formats_compared(network, sized, saved.types, equality, values)
            if equality.random_weights:
                network.note(
                    f": the model holds no trained values for {equality.random_weights} weights; "
                    "the files serve timing only. For results, explore an .onnx file with its "
                    "weights."
                )
        document = None if equality is None else asdict(equality)
        parts = tuple(written.part for written in cast)
        deployed[network.number] = DeployedModel(names.segments, parts, document)
    return deployed


def write_stretches(
    job: Job, stretches: Mapping[str, tuple[int, int, int]], *, types: str, filled: bool
) -> dict[str, ModelPart]:
    """Write a model for each stretch of groups.

    Args:
        stretches: by file the network, its first and its last group.
        types: see :func:`write_segments`.
        filled: see there.

    Raises:
        ResultError, GraphError: if a model cannot be found, or is another one.
    """
    written = {}
    origins = job.deployment.known_origins
    networks = {network.number: network for network in _networks(job)}
    for file, (n, first, last) in stretches.items():
        groups = origins.networks[n].groups
        parts = [
            [name for group in part for name in group.layers]
            for part in (groups[:first], groups[first : last + 1], groups[last + 1 :])
        ]
        network = networks[n]
        inside = network.cut([part for part in parts if part])[1 if parts[0] else 0]
        (cast,) = _cast(network, _save(network, [inside], [file], types, filled=filled))
        written[file] = cast.part
    return written


def write_entire(job: Job) -> list[DeployedModel]:
    """Write every network in one piece, with random values for the weights that it lacks.

    Raises:
        ResultError, GraphError: if a model cannot be found, is another one, or differs.
    """
    deployed = [NO_MODEL for _ in job.deployment.problem.networks]
    files = network_files(job.deployment)
    for network in _networks(job):
        name = files[network.number].whole
        segments = job.deployment.segments(network.number)
        whole = network.cut([[name for s in segments for name in job.deployment.layers(s)]])
        saved = _save(network, whole, [name], "fp32", filled=True)
        compared = _compared(network, saved.parts, "the model")
        if saved.made_up:
            network.note(f": {saved.made_up} weights have no trained values and got random ones.")
        equality = None if compared is None else asdict(compared[0])
        deployed[network.number] = DeployedModel((), (), equality, name)
    return deployed


@dataclass(frozen=True)
class _Network:
    """A network whose models are written."""

    job: Job
    number: int
    name: str
    model: ModelFile
    dimensions: dict[str, int]

    def cut(self, layers: Sequence[Sequence[str]]) -> Sequence[ModelPart]:
        model = self.model
        return cut_model(
            model.data, model.folder, layers, dimensions=self.dimensions, label=model.label
        )

    def note(self, text: str) -> None:
        self.job.notes.append(self.name + text)


NO_MODEL = DeployedModel((), (), None)
"""Of a task."""


def _networks(job: Job) -> list[_Network]:
    """Return the networks of a job that have models, which tasks have not."""
    given = job.options.models
    check_models(given, [network.name for network in job.deployment.problem.networks])
    return [
        _Network(job, n, known.name, searched_model(known, given), dict(known.source.dimensions))
        for n, known in enumerate(job.deployment.known_origins.networks)
        if not known.source.is_task
    ]


@dataclass(frozen=True)
class _Saved:
    """Parts of a network as they were cut, with their remaining work."""

    parts: Sequence[WrittenPart]
    types: str
    """Number format to cast to; ``fp32``: none."""
    data_files: Sequence[Path]
    """Data files beside the parts' own. A cast part holds its data itself."""
    made_up: int
    """Weights that got random values."""


def _save(
    network: _Network, cut: Sequence[ModelPart], files: Sequence[str], types: str, *, filled: bool
) -> _Saved:
    """Write parts of a network, with the types that they had."""
    if types == "int8" and any(has_scales(part) for part in cut):
        types = "fp32"
    made_up = 0
    if filled or types == "int8":
        for part in cut:
            made_up += give_random_weights(part.model, part.weights, SEED, network.name)
    parts = [WrittenPart(p, network.job.path_of(f)) for p, f in zip(cut, files, strict=True)]
    data_files: list[Path] = []
    for written in parts:
        data_files += save_part(written.part, written.path, network.model.folder)[1:]
    return _Saved(parts, types, data_files, made_up)


def _cast(network: _Network, saved: _Saved) -> Sequence[WrittenPart]:
    """Cast parts that were written, in place."""
    parts, folder = saved.parts, network.model.folder
    if saved.types == "fp32":
        return parts
    if saved.types == "int8":
        to_int8(parts, network.name)
    else:
        kept = kept_types([written.part for written in parts])
        parts = [
            replace(written, part=to_half(written.part, folder, kept, network.name))
            for written in parts
        ]
        for written in parts:
            save_part(written.part, written.path, folder)
    for path in saved.data_files:
        path.unlink()
    return parts


def _compared(
    network: _Network, parts: Sequence[WrittenPart], what: str
) -> tuple[Equality, Values] | None:
    if not network.job.options.check:
        network.note(f": {what}, not compared with the uncut model.")
        return None
    model = network.model
    found, values = check_equality(
        *(model.data, model.folder, parts), label=network.name, dimensions=network.dimensions
    )
    difference = found.largest_difference
    network.note(
        f": {what}; {pluralize(found.tensors, 'tensor')} compared with the uncut model on random "
        f"input by {found.runtime}: "
        + (f"largest difference {difference:g}." if difference else "equal to the last bit.")
    )
    return found, values


def _formats_compared(
    network: _Network,
    parts: Sequence[tuple[WrittenPart, int]],
    types: str,
    equality: Equality,
    values: Values,
) -> Equality:
    """Compare cast parts with those in FP32, unless weights are random: a network that was not
    trained may amplify the rounding of a number format."""
    judged = None if equality.random_weights else types
    share = check_formats(parts, values, judged, network.name)
    network.note(
        f": random weights: formats are not compared; every part in {types.upper()} runs."
        if share is None
        else f": every part in {types.upper()} compared with the same part in FP32 on the "
        f"same inputs: largest difference {100 * share:.2g} % of a tensor's largest value."
    )
    return replace(equality, format_difference=share)

"""Sub-models of the groups of a problem, as ONNX files that can be run one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from paretosoc.dse.tools.deploy.find_models import check_models, searched_model
from paretosoc.dse.tools.deploy.random_weights import give_random_weights, numpy_type
from paretosoc.results.costs.cost_origins import CostOrigins, NetworkOrigins
from paretosoc.results.deploy.deployment import require_origins
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.catalogue.catalogue import ModelFile
from paretosoc.sdf.onnx.parts import PartTensor, cut_model, save_part


@dataclass(frozen=True)
class SubModel:
    """A group as a model of its own, all of its tensors with a shape and a type of numpy."""

    network: int
    path: Path
    inputs: tuple[PartTensor, ...]
    outputs: tuple[PartTensor, ...]


@dataclass(frozen=True)
class SubModels:
    """One for each group of a problem, in its order."""

    groups: tuple[SubModel, ...]
    random_weights: tuple[int, ...]
    """Per network: weights that the model lacks."""
    seed: int
    """Of weights and inputs."""


def write_sub_models(
    problem: Problem,
    origins: CostOrigins | None,
    folder: Path,
    *,
    models: Mapping[str, str] | None = None,
    seed: int = 0,
) -> SubModels:
    """Cut the networks of a problem into its groups, with random weights if there are none.

    Args:
        problem: networks and groups.
        origins: knows the models and the content of each group.
        folder: destination of the files.
        models: network to the file of its model, if it is no longer where it was.
        seed: of random weights.

    Raises:
        ResultError: if the models cannot be found, are others than those explored, or hand over
            a tensor whose size depends on the data.
    """
    known, files = require_origins(origins), dict(models or {})
    check_models(files, [network.name for network in problem.networks])
    groups: list[SubModel] = []
    random: list[int] = []
    made: dict[tuple[object, ...], tuple[list[SubModel], int]] = {}
    for n, network in enumerate(known.networks):
        layers = tuple(group.layers for group in network.groups)
        key = (network.source, files.get(network.name), layers)
        if key not in made:
            made[key] = _written(network, searched_model(network, files), folder / str(n), seed)
        parts, count = made[key]
        groups += [replace(part, network=n) for part in parts]
        random.append(count)
    return SubModels(tuple(groups), tuple(random), seed)


def _written(
    network: NetworkOrigins, model: ModelFile, folder: Path, seed: int
) -> tuple[list[SubModel], int]:
    from onnx import checker

    layers = [group.layers for group in network.groups]
    dimensions = dict(network.source.dimensions)
    parts = cut_model(model.data, model.folder, layers, dimensions=dimensions, label=model.label)
    folder.mkdir(parents=True)
    models, count = [], 0
    for k, part in enumerate(parts):
        label = f"network {network.name!r}, group {network.groups[k].name!r}"
        for tensor in (*part.inputs, *part.outputs):
            if tensor.shape is None:
                raise ResultError(
                    f"{label}: the size of tensor {tensor.name!r} depends on the data; it cannot "
                    "be handed over in a buffer made before"
                )
            numpy_type(tensor, label)
        count += give_random_weights(part.model, part.weights, seed, label)
        path = folder / f"{k}.onnx"
        if part.model.ByteSize() >= checker.MAXIMUM_PROTOBUF:
            raise ResultError(f"{path.name}: a group of more than 2 GB of weights cannot be run")
        save_part(part, path, model.folder)
        models.append(SubModel(0, path, part.inputs, part.outputs))
    return models, count

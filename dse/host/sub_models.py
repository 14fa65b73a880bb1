"""Sub-models of the groups of a problem, as ONNX files that can be run one after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.random_tensors import give_random_weights, numpy_type
from results.cost_origins import CostOrigins, NetworkOrigins
from results.errors import ResultError
from results.problem import Problem
from sdf.catalogue import ModelFile, model_file
from sdf.errors import GraphError
from sdf.onnx_parts import ModelPart, PartTensor, cut_model, save_part


@dataclass(frozen=True)
class TensorPlace:
    """A tensor that enters or leaves a group; names are unique within a network."""

    name: str
    shape: tuple[int, ...]
    data_type: int
    """Of ONNX (TensorProto.DataType)."""


@dataclass(frozen=True)
class SubModel:
    """A group as a model of its own."""

    network: int
    path: Path
    inputs: tuple[TensorPlace, ...]
    outputs: tuple[TensorPlace, ...]


@dataclass(frozen=True)
class SubModels:
    """One for each group of a problem, in its order."""

    groups: tuple[SubModel, ...]
    random_weights: tuple[int, ...]
    """Per network: weights that the model lacks."""
    seed: int
    """Of weights and inputs."""


def write_sub_models(
    problem: Problem, origins: CostOrigins | None, folder: Path, *, seed: int = 0
) -> SubModels:
    """Cuts the networks of a problem into its groups, with random weights where there are none.

    Args:
        problem: networks and groups.
        origins: knows the models and what is in a group.
        folder: where the files go.
        seed: of random weights.

    Raises:
        ResultError: where the models cannot be found, are others than those explored, or hand over
            a tensor whose size depends on the data.
    """
    if origins is None:
        raise ResultError(
            "costs.json: is missing, and only it says which layers are in a group; "
            "'dse explore' writes it"
        )
    groups: list[SubModel] = []
    random: list[int] = []
    made: dict[tuple[object, ...], tuple[list[SubModel], int]] = {}
    for n, network in enumerate(origins.networks):
        layers = tuple(group.layers for group in network.groups)
        key = (network.source, layers)
        if key not in made:
            made[key] = _written(network, layers, folder / str(n), seed)
        models, count = made[key]
        groups += [SubModel(n, model.path, model.inputs, model.outputs) for model in models]
        random.append(count)
    return SubModels(tuple(groups), tuple(random), seed)


def searched_model(network: NetworkOrigins) -> ModelFile:
    """The model of a network, if it is still the one that was explored.

    Raises:
        ResultError: where it is not there, or is another one.
    """
    try:
        model = model_file(network.source.reference)
    except GraphError as error:
        raise ResultError(f"network {network.name!r}: {error}") from None
    if hashlib.sha256(model.data).hexdigest() != network.source.sha256:
        raise ResultError(
            f"network {network.name!r}: {model.label} is not the model that was explored (another "
            "SHA-256); explore it again"
        )
    return model


def _written(
    network: NetworkOrigins, layers: Sequence[tuple[str, ...]], folder: Path, seed: int
) -> tuple[list[SubModel], int]:
    model = searched_model(network)
    dimensions = dict(network.source.dimensions)
    parts = cut_model(model.data, model.folder, layers, dimensions=dimensions, label=model.label)
    folder.mkdir(parents=True)
    models, count = [], 0
    for k, part in enumerate(parts):
        label = f"network {network.name!r}, group {network.groups[k].name!r}"
        inputs, outputs = (
            tuple(_place(tensor, label) for tensor in tensors)
            for tensors in (part.inputs, part.outputs)
        )
        count += give_random_weights(part.model, part.weights, seed, label)
        _save(part, folder / f"{k}.onnx", model.folder)
        models.append(SubModel(0, folder / f"{k}.onnx", inputs, outputs))
    return models, count


def _save(part: ModelPart, path: Path, folder: Path | None) -> None:
    import onnx

    if part.model.ByteSize() < onnx.checker.MAXIMUM_PROTOBUF:
        save_part(part, path, folder)
        return
    raise ResultError(f"{path.name}: a group of more than 2 GB of weights cannot be run")


def _place(tensor: PartTensor, label: str) -> TensorPlace:
    if tensor.shape is None:
        raise ResultError(
            f"{label}: the size of tensor {tensor.name!r} depends on the data; it cannot be handed "
            "over in a buffer made before"
        )
    numpy_type(tensor, label)
    return TensorPlace(tensor.name, tuple(tensor.shape), tensor.data_type)

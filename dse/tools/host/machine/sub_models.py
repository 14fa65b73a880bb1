"""Sub-models of the groups of a problem, as ONNX files that can be run one after the other, the
programs of tasks, and the memory that units share: a place for every tensor that passes between
groups."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.text import reason_of
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import texts_by_name, wrong_argument
from paretosoc.dse.tools.deploy.random_weights import give_random_weights, numpy_type, random_input
from paretosoc.dse.tools.deploy.searched_inputs import check_models, searched_model
from paretosoc.results.costs.cost_origins import CostOrigins, NetworkOrigins
from paretosoc.results.deploy.deployment import require_origins
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.catalogue.catalogue import ModelFile
from paretosoc.sdf.onnx.parts import PartTensor, cut_model, save_part


@dataclass(frozen=True)
class Program:
    """A function of a Python file, which is called without arguments."""

    file: Path
    function: str

    def load(self) -> Callable[[], object]:
        """Return the function.

        Raises:
            ResultError: if the file fails, or has no such function.
        """
        try:
            found = runpy.run_path(str(self.file)).get(self.function)
        except Exception as error:
            # It is the user's file, which may raise anything.
            raise ResultError(f"{self.file}: {reason_of(error)}") from None
        if not callable(found):
            raise ResultError(f"{self.file}: a function {self.function!r} is required, got none")

        def program() -> object:
            try:
                return found()
            except Exception as error:
                said = f"{type(error).__name__}: {reason_of(error)}"
                raise ResultError(f"{self.file}: {self.function}: {said}") from None

        return program


def parse_programs(texts: Sequence[str] | None) -> dict[str, Program]:
    """Parse ``TASK=FILE.py:FUNCTION`` texts into programs by task.

    Raises:
        WorkloadError: on a text of another form, two programs of a task, or a file that is not
            there.
    """
    programs, form = {}, "TASK=FILE.py:FUNCTION"
    for name, place in texts_by_name(texts or (), "--task", form).items():
        file, _, function = place.rpartition(":")
        if not (file and function):
            raise wrong_argument("--task", form, f"{name}={place}")
        if not Path(file).is_file():
            raise WorkloadError(f"--task: there is no file {file!r}")
        programs[name] = Program(Path(file), function)
    return programs


@dataclass(frozen=True)
class SubModel:
    """A group as a model of its own, all of its tensors with a shape and a type of numpy, or a
    task, whose program has data of its own."""

    network: int
    path: Path
    inputs: tuple[PartTensor, ...] = ()
    outputs: tuple[PartTensor, ...] = ()
    program: Program | None = None


@dataclass(frozen=True)
class SubModels:
    """One for each group of a problem, in its order."""

    groups: tuple[SubModel, ...]
    random_weights: tuple[int, ...]
    """Per network: weights that the model lacks."""
    seed: int
    """Seed of weights and inputs."""


def write_sub_models(
    problem: Problem,
    origins: CostOrigins | None,
    folder: Path,
    *,
    models: Mapping[str, str] | None = None,
    programs: Mapping[str, Program] | None = None,
    seed: int = 0,
) -> SubModels:
    """Cut the networks of a problem into its groups, with random weights if there are none.

    Args:
        models: network to the file of its model, if it is no longer where it was.
        programs: of the tasks; copies of a task have that of the first.

    Raises:
        ResultError: if the models cannot be found, are others than those explored, or hand over
            a tensor whose size depends on the data, or if a task has no program.
    """
    known, files = require_origins(origins), dict(models or {})
    check_models(files, [network.name for network in problem.networks])
    _check_programs(known.networks, programs or {})
    groups: list[SubModel] = []
    random: list[int] = []
    made: dict[tuple[object, ...], tuple[list[SubModel], int]] = {}
    for n, network in enumerate(known.networks):
        if network.source.is_task:
            program = (programs or {})[network.name.partition("#")[0]]
            groups.append(SubModel(n, program.file, program=program))
            random.append(0)
            continue
        layers = tuple(group.layers for group in network.groups)
        key = (network.source, files.get(network.name), layers)
        if key not in made:
            made[key] = _written(network, searched_model(network, files), folder / str(n), seed)
        parts, count = made[key]
        groups += [replace(part, network=n) for part in parts]
        random.append(count)
    return SubModels(tuple(groups), tuple(random), seed)


def _check_programs(networks: Sequence[NetworkOrigins], programs: Mapping[str, Program]) -> None:
    """Check that every task, and nothing else, has a program."""
    tasks = dict.fromkeys(n.name.partition("#")[0] for n in networks if n.source.is_task)
    for network in networks:
        if network.source.is_task and network.source.reference:
            raise ResultError(
                f"{network.name!r} is a dataflow graph, which has no programs to run; 'dse analyze "
                "csdf' has the rate of a member"
            )
    for name in tasks:
        if name not in programs:
            raise ResultError(
                f"task {name!r}: --task {name}=FILE.py:FUNCTION is required to run it"
            )
    for name in programs:
        if name not in tasks:
            names = ", ".join(tasks) or "none"
            raise ResultError(f"--task: there is no task {name!r} (there are {names})")


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


_ALIGNMENT = 4096
INPUT_SLOT = -1
"""A network's inputs are the same for every frame."""

Key = tuple[int, int, str]
"""(network, slot, tensor)."""


@dataclass(frozen=True)
class TensorMemory:
    """Place of each tensor, bytes from the start."""

    offsets: Mapping[Key, int]
    places: Mapping[Key, PartTensor]
    size: int
    slots: int

    def view(self, buffer: Any, key: Key) -> NDArray[Any]:
        """Return the tensor in the memory ``buffer``."""
        shape, dtype = self.places[key].shape or (), _type(self.places[key])
        count = int(np.prod(shape, dtype=np.int64))
        flat = np.frombuffer(buffer, dtype=dtype, count=count, offset=self.offsets[key])
        return flat.reshape(shape)

    def input_key(self, model: SubModel, slot: int, tensor: str) -> Key:
        """Return the key of one of a group's inputs."""
        outer = (model.network, INPUT_SLOT, tensor)
        return outer if outer in self.offsets else (model.network, slot, tensor)


def lay_out(groups: Sequence[SubModel], slots: int) -> TensorMemory:
    """Return a place for every tensor, for each of ``slots`` frames in flight."""
    places: dict[Key, PartTensor] = {}
    for model in groups:
        for slot in range(slots):
            places |= {(model.network, slot, place.name): place for place in model.outputs}
    for model in groups:
        for place in model.inputs:
            if (model.network, 0, place.name) not in places:
                places[model.network, INPUT_SLOT, place.name] = place
    offsets, size = {}, 0
    for key, place in places.items():
        offsets[key] = size
        count = int(np.prod(place.shape or (), dtype=np.int64))
        size += -(-max(count * np.dtype(_type(place)).itemsize, 1) // _ALIGNMENT) * _ALIGNMENT
    return TensorMemory(offsets, places, max(size, _ALIGNMENT), slots)


def fill_inputs(memory: TensorMemory, buffer: Any, models: SubModels) -> None:
    """Fill the inputs of the networks with random values."""
    for key, place in memory.places.items():
        if key[1] == INPUT_SLOT:
            memory.view(buffer, key)[...] = random_input(models.seed, place, _type(place))


def _type(tensor: PartTensor) -> Any:
    return numpy_type(tensor, "memory")

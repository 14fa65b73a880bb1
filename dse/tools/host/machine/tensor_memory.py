"""The memory that units share: a place for every tensor that passes between groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.dse.tools.deploy.random_weights import numpy_type, random_input
from paretosoc.dse.tools.host.machine.sub_models import SubModel, SubModels
from paretosoc.sdf.onnx.parts import PartTensor

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

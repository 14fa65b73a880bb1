"""A network in the form that grouping uses: numbered layers, the tensors between them, and the
units that can run them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from paretosoc.sdf.grouping.cuts import TensorUse
from paretosoc.sdf.layer import Layer

MACS_PER_ELEMENT = 32
"""The weight of moving one element relative to a multiply-accumulate when work is balanced: about
the ratio of peak rate to memory bandwidth of embedded GPUs in 16 bits, as a power of two."""


@dataclass(frozen=True, eq=False)
class NetworkView:
    """Layers are known by their index in the order of execution. A part is a list of indices."""

    layers: tuple[Layer, ...]
    tensors: tuple[TensorUse, ...]
    support: NDArray[np.bool_]
    """[layers, units]"""

    def units_of(self, part: Sequence[int]) -> NDArray[np.bool_]:
        """Return which units can run every layer of the part, [units]."""
        return np.asarray(self.support[list(part)].all(axis=0), dtype=np.bool_)

    def work_of(self, part: Sequence[int]) -> int:
        """Return a machine-independent measure of a part's time."""
        layers = [self.layers[index] for index in part]
        # Elements of 16 bits; constants that are stored in fewer bits move less.
        moved = sum(layer.parameter_bytes(2) for layer in layers) // 2 + sum(self.traffic_of(part))
        return sum(layer.macs for layer in layers) + MACS_PER_ELEMENT * moved

    def traffic_of(self, part: Sequence[int]) -> tuple[int, int]:
        """Return the elements that enter a part and the elements that leave it, each tensor once.

        An input of the network counts for every layer that reads it: a graph does not say which
        layers read the same one.
        """
        read = dict.fromkeys(part, 0)
        passed_on = dict.fromkeys(part, 0)
        leaving = dict.fromkeys(part, 0)
        users: dict[int, list[int]] = {}
        for index in part:
            for number in self.tensors_at[index]:
                users.setdefault(number, []).append(index)
        entering = 0
        for number, inside in users.items():
            tensor = self.tensors[number]
            readers = [index for index in inside if index != tensor.source]
            for reader in readers:
                read[reader] += tensor.elements
            if len(readers) == len(inside):
                entering += tensor.elements
                continue
            passed_on[tensor.source] += tensor.elements
            if len(readers) < len(tensor.readers):
                leaving[tensor.source] += tensor.elements
        results = 0
        for index in part:
            layer = self.layers[index]
            entering += max(0, layer.input_elements - read[index])
            kept = max(0, layer.output_elements - passed_on[index]) + layer.result_elements
            # A result that other groups read too leaves once.
            results += min(max(layer.output_elements, leaving[index]), leaving[index] + kept)
        return entering, results

    def tensors_of(self, part: Sequence[int]) -> list[TensorUse]:
        """Return the tensors that the part's layers make."""
        return [
            self.tensors[number]
            for index in part
            for number in self.tensors_at[index]
            if self.tensors[number].source == index
        ]

    @cached_property
    def tensors_at(self) -> list[list[int]]:
        """Return, by layer, the numbers of the tensors that it makes or reads."""
        numbers: list[list[int]] = [[] for _ in self.layers]
        for number, tensor in enumerate(self.tensors):
            for index in (tensor.source, *tensor.readers):
                numbers[index].append(number)
        return numbers

"""A network in the form that grouping uses: numbered layers, the tensors between them, the units
that can run them, its legal cuts, and those that keep layers that run as one together (HaX-CoNN
3.1).

A cut is a position in the order of execution: cut ``i`` lies before layer ``i``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.layer import Layer, LayerKind
from paretosoc.sdf.rates import single_rate

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


_POINTWISE_AFTER = frozenset(
    {
        LayerKind.CONVOLUTION,
        LayerKind.DECONVOLUTION,
        LayerKind.MATRIX_PRODUCT,
        LayerKind.NORMALISATION,
        LayerKind.ACTIVATION,
        LayerKind.ELEMENTWISE,
    }
)


@dataclass(frozen=True)
class TensorUse:
    """A tensor between layers (indices in the order of execution)."""

    source: int
    readers: tuple[int, ...]
    """Each once, ascending."""
    elements: int


def layers_of(graph: SdfGraph) -> tuple[Layer, ...]:
    """Return the layers of a network.

    Raises:
        GraphError: if an actor is no layer.
    """
    layers = []
    for actor in graph.actors:
        if actor.layer is None:
            raise GraphError(f"graph {graph.name!r}: actor {actor.name!r} is not a network layer")
        layers.append(actor.layer)
    if not layers:
        raise GraphError(f"graph {graph.name!r} has no layer")
    return tuple(layers)


def tensors_of(graph: SdfGraph) -> tuple[TensorUse, ...]:
    """Return the tensors that pass between layers. Channels of one source and name are one tensor.

    Raises:
        GraphError: if the actors are not in an order of execution, rates differ along a channel,
            or a channel holds initial tokens.
    """
    index = {actor.name: i for i, actor in enumerate(graph.actors)}
    readers: dict[tuple[int, str], set[int]] = {}
    elements: dict[tuple[int, str], int] = {}
    for number, channel in enumerate(graph.channels):
        label = f"graph {graph.name!r}: channel {channel.source!r} -> {channel.target!r}"
        source, target = index[channel.source], index[channel.target]
        if source >= target:
            raise GraphError(f"{label} does not follow the order of the actors")
        if channel.initial_tokens or channel.production != channel.consumption:
            raise GraphError(f"{label} is not a tensor of a network: it has a delay or two rates")
        # A channel without a name is a tensor of its own.
        key = (source, channel.name or f"#{number}")
        readers.setdefault(key, set()).add(target)
        elements[key] = single_rate(channel.production, label)
    return tuple(
        TensorUse(source, tuple(sorted(readers[source, name])), elements[source, name])
        for source, name in readers
    )


def legal_cuts(graph: SdfGraph) -> tuple[int, ...]:
    """Return the positions that exactly one tensor crosses, ascending.

    Inputs of the network do not cross: they stay in memory until they are read.

    Raises:
        GraphError: if the graph is not a network in an order of execution.
    """
    count = len(layers_of(graph))
    changes = [0] * (count + 1)
    for tensor in tensors_of(graph):
        changes[tensor.source + 1] += 1
        changes[tensor.readers[-1] + 1] -= 1
    cuts, crossing = [], 0
    for position in range(count):
        crossing += changes[position]
        if crossing == 1:
            cuts.append(position)
    return tuple(cuts)


def transition_points(graph: SdfGraph) -> tuple[int, ...]:
    """Return the legal cuts that leave fusible layers together.

    An activation, softmax or zero-cost layer stays with the layer that it reads. Batch
    normalisation and element-wise work with a convolution, product or each other.

    Raises:
        GraphError: as :func:`legal_cuts`.
    """
    layers = layers_of(graph)
    producers: list[set[int]] = [set() for _ in layers]
    for tensor in tensors_of(graph):
        for reader in tensor.readers:
            producers[reader].add(tensor.source)
    costs = [layer.kind is not LayerKind.RESHAPE for layer in layers]
    first_cost = costs.index(True) if True in costs else len(layers)
    return tuple(
        cut
        for cut in legal_cuts(graph)
        if cut > first_cost and not any(fuses(layers[cut], layers[p]) for p in producers[cut])
    )


def fuses(layer: Layer, producer: Layer) -> bool:
    """Return whether runtimes fuse a layer with the one that it reads."""
    if layer.kind in (LayerKind.ACTIVATION, LayerKind.SOFTMAX, LayerKind.RESHAPE):
        return True
    pointwise = layer.kind is LayerKind.ELEMENTWISE or layer.operation == "BatchNormalization"
    if producer.kind is LayerKind.NORMALISATION and producer.operation != "BatchNormalization":
        return False
    return pointwise and producer.kind in _POINTWISE_AFTER

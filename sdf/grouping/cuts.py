"""Legal cuts of a network, and those that keep layers that run as one together (HaX-CoNN 3.1).

A cut is a position in the order of execution: cut ``i`` lies before layer ``i``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.layer import Layer, LayerKind
from paretosoc.sdf.rates import single_rate

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

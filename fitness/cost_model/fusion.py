"""Layers of a group that run as one launch, and the data that each launch moves.

The rule, the same for every unit:

* An activation, a batch normalisation or an element-wise layer is fused with the layer that feeds
  it, if that one is in the group, feeds nothing else, is no result of the network, and makes as
  many elements. An addition takes the latest such layer and reads the other operand. The feeding
  layer may feed the product of itself and the activation, too (SiLU: x times sigmoid of x).
* A reshape costs nothing.
* The inputs of a concatenation are written in place, by layers of other groups and by transitions,
  too. It copies only inputs of the network.
* Every other layer is a separate launch.

A launch reads its constants and every activation from outside itself, and writes every result that
is read outside itself or leaves the network. Nothing stays in a cache from one launch to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.grouping.groups import Group, GroupedNetwork
from paretosoc.sdf.layer import Layer, LayerKind
from paretosoc.sdf.rates import single_rate

FUSED_KINDS = frozenset({LayerKind.ACTIVATION, LayerKind.ELEMENTWISE})
FUSED_OPERATIONS = frozenset({"BatchNormalization"})
NOT_A_BASE = frozenset({LayerKind.CONCATENATION, LayerKind.RESHAPE})
"""A concatenation in place is no launch that something could join."""


@dataclass(frozen=True)
class Launch:
    """Layers that run as one.

    It moves ``elements`` constants and activations in the number format of the computation, and
    ``narrow_bits`` of constants that are read as they are stored.
    """

    layers: tuple[Layer, ...]
    elements: int
    is_free: bool
    """Nothing is launched at all: a reshape, or a concatenation in place."""
    narrow_bits: int = 0

    def moved_bytes(self, bytes_per_element: int) -> int:
        """Return the bytes that it moves if a number of the computation has
        ``bytes_per_element``, and 0 if that is 0.
        """
        narrow = -(-self.narrow_bits // 8) if bytes_per_element else 0
        return self.elements * bytes_per_element + narrow


@dataclass(frozen=True)
class Wiring:
    """The connections: layer name to (other layer's name, elements) pairs, each channel once."""

    feeds_in: Mapping[str, tuple[tuple[str, int], ...]]
    readers: Mapping[str, frozenset[str]]


def wiring_of(graph: SdfGraph) -> Wiring:
    """Return the connections between the layers of a network's graph."""
    feeds_in: dict[str, list[tuple[str, int]]] = {}
    readers: dict[str, set[str]] = {}
    seen: set[tuple[str, str, str]] = set()
    layer_names = {
        actor.name: actor.name if actor.layer is None else actor.layer.name
        for actor in graph.actors
    }
    for channel in graph.channels:
        source, target = layer_names[channel.source], layer_names[channel.target]
        if (source, target, channel.name) in seen and channel.name:
            continue
        seen.add((source, target, channel.name))
        elements = single_rate(channel.consumption, f"channel {channel.name!r}")
        feeds_in.setdefault(target, []).append((source, elements))
        readers.setdefault(source, set()).add(target)
    return Wiring(
        {name: tuple(items) for name, items in feeds_in.items()},
        {name: frozenset(items) for name, items in readers.items()},
    )


def launches_of(group: Group, wiring: Wiring) -> tuple[Launch, ...]:
    """Return the launches of a group, in order of execution."""
    inside = {layer.name: layer for layer in group.layers}
    places = {name: place for place, name in enumerate(inside)}
    home: dict[str, list[Layer]] = {}
    opened: list[list[Layer]] = []
    for layer in group.layers:
        base = _base(layer, inside, places, home, wiring)
        if base is None:
            base = []
            opened.append(base)
        base.append(layer)
        home[layer.name] = base
    return tuple(_closed(launch, wiring) for launch in opened)


def _base(
    layer: Layer,
    inside: Mapping[str, Layer],
    places: Mapping[str, int],
    home: Mapping[str, list[Layer]],
    wiring: Wiring,
) -> list[Layer] | None:
    """Return the launch that ``layer`` joins, or None."""
    is_reshape = layer.kind is LayerKind.RESHAPE
    if not (is_reshape or layer.kind in FUSED_KINDS or layer.operation in FUSED_OPERATIONS):
        return None
    feeders = sorted(
        (name for name, _ in wiring.feeds_in.get(layer.name, ()) if name in home),
        key=places.__getitem__,
        reverse=True,
    )
    for name in feeders:
        feeder, launch = inside[name], home[name]
        if (
            (wiring.readers[name] == {layer.name} or _is_gate(name, layer, inside, wiring))
            and feeder.result_elements == 0
            and feeder.output_elements == layer.output_elements
            and launch[-1] is feeder
            and launch[0].kind not in NOT_A_BASE
        ):
            return launch
    return None


def _is_gate(name: str, layer: Layer, inside: Mapping[str, Layer], wiring: Wiring) -> bool:
    """Return whether ``layer`` is an activation of ``name`` that only multiplies it, perhaps after
    layers that cost nothing."""
    others = wiring.readers[name] - {layer.name}
    if layer.kind is not LayerKind.ACTIVATION or len(others) != 1:
        return False
    last = layer.name
    while wiring.readers.get(last) != others:
        following = wiring.readers.get(last, frozenset())
        if len(following) != 1:
            return False
        (last,) = following
        if last not in inside or inside[last].kind is not LayerKind.RESHAPE:
            return False
    (product,) = others
    return {source for source, _ in wiring.feeds_in[product]} == {name, last}


def _closed(layers: list[Layer], wiring: Wiring) -> Launch:
    head = layers[0]
    if head.kind is LayerKind.RESHAPE:
        return Launch(tuple(layers), 0, is_free=True)
    if head.kind is LayerKind.CONCATENATION:
        placed = sum(elements for _, elements in wiring.feeds_in.get(head.name, ()))
        copied = max(0, head.input_elements - placed)
        return Launch(tuple(layers), 2 * copied, is_free=copied == 0)
    own = {layer.name for layer in layers}
    moved = 0
    for layer in layers:
        passed_on = sum(
            elements for name, elements in wiring.feeds_in.get(layer.name, ()) if name in own
        )
        wide = layer.parameters - layer.narrow_parameters
        moved += wide + max(0, layer.input_elements - passed_on)
        readers = wiring.readers.get(layer.name, frozenset())
        if not readers or not readers <= own:
            moved += layer.output_elements
        else:
            moved += layer.result_elements
    narrow = sum(layer.narrow_bits for layer in layers)
    return Launch(tuple(layers), moved, is_free=False, narrow_bits=narrow)


def network_launches(network: GroupedNetwork) -> tuple[tuple[Launch, ...], ...]:
    """Return the launches of every group of a network."""
    wiring = wiring_of(network.graph)
    return tuple(launches_of(group, wiring) for group in network.groups)

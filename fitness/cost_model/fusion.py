"""Layers of a group that run as one launch, and the data that each launch moves.

The rule, the same for every unit but for the operations that it runs as launches of their own:

* An activation, a batch normalisation or an element-wise layer is fused with the layer that feeds
  it, if that one is in the group, feeds nothing else, is no result of the network, and makes as
  many elements. An addition takes the latest such layer and reads the other operand.
* An operator that the exporter wrote out is one layer: the element-wise layers from a tensor to the
  first that all of them lead to, which has as many elements. SiLU, GELU and their like are fused
  with the layer that feeds them, if that feeds nothing else. With a reduction among them they are a
  normalisation, a launch of their own, and others may read the tensor, too.
* A reshape costs nothing.
* The inputs of a concatenation are written in place, by layers of other groups and by transitions,
  too. It copies only inputs of the network.
* Every other layer is a separate launch.

A launch reads its constants and every activation from outside itself, and writes every result that
is read outside itself or leaves the network. Nothing stays in a cache from one launch to the next.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.grouping.groups import Group, GroupedNetwork
from paretosoc.sdf.layer import Layer, LayerKind
from paretosoc.sdf.rates import single_rate

FUSED_KINDS = frozenset({LayerKind.ACTIVATION, LayerKind.ELEMENTWISE})
FUSED_OPERATIONS = frozenset({"BatchNormalization"})
STEPS = FUSED_KINDS | {LayerKind.RESHAPE, LayerKind.REDUCTION}
"""Kinds of the layers as which an exporter writes out an operator."""
SEPARATE = frozenset({"Mish"})
"""Operations that no runtime fuses with another layer."""
NOT_A_STEP = frozenset({"Clip"})
"""Hard swish that was written out with a Clip stays apart, since Rockchip's compiler does not put
it together."""
NOT_A_BASE = frozenset({LayerKind.CONCATENATION, LayerKind.RESHAPE})
"""A concatenation in place is no launch that something could join."""
QUANTISATION = frozenset({"QuantizeLinear", "DequantizeLinear"})
MISH_STEPS = 3
"""Softplus, hyperbolic tangent and product, which no runtime fuses with a convolution."""


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
    operators: tuple[tuple[Layer, ...], ...] = ()
    """Operators that were written out, each as its steps."""

    @property
    def kind(self) -> LayerKind:
        """Return the kind of its first layer, or of the operator that this is a step of."""
        first = self.layers[0]
        is_step = any(steps[0] is first and _reduce(steps) for steps in self.operators)
        return LayerKind.NORMALISATION if is_step else first.kind

    @cached_property
    def scales(self) -> tuple[Layer, ...]:
        """Products and sums by channel behind a batch normalisation, its scale and shift, which
        Caffe has as layers of their own."""
        found, before = list[Layer](), ""
        for layer in self.layers:
            by_channel = [layer.parameters] == [*layer.output_shapes[0][1:2]]
            if by_channel and before in FUSED_OPERATIONS:
                found.append(layer)
            else:
                before = layer.operation
        return tuple(found)

    @property
    def computed_elements(self) -> int:
        """Return the results of its layers. Of an operator that was written out those of the last
        step count, unless it has several activations (Mish). Constants of a normalisation are its
        scale and shift. Nodes that quantise compute nothing."""
        is_normalisation = any(map(_reduce, self.operators))
        steps = {layer.name for operator in self.operators for layer in operator}
        own = sum(
            layer.output_elements * (MISH_STEPS if layer.operation == "Mish" else 1)
            for layer in self.layers
            if layer.name not in steps
            and layer.operation.removeprefix("com.microsoft::") not in QUANTISATION
            and not (is_normalisation and layer.parameters)
        )
        others = sum(_several(one) or 1 for one in self.operators if not _reduce(one))
        return own + self.layers[-1].output_elements * (is_normalisation + others)

    def moved_bytes(self, bytes_per_element: int) -> int:
        """Return the bytes that it moves if a number of the computation has
        ``bytes_per_element``, and 0 if that is 0."""
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


def launches_of(group: Group, wiring: Wiring, separate: Collection[str] = ()) -> tuple[Launch, ...]:
    """Return the launches of a group, in order of execution, on a unit that does not fuse the
    operations ``separate`` with the layer before them."""
    inside = {layer.name: layer for layer in group.layers}
    places = {name: place for place, name in enumerate(inside)}
    home: dict[str, _Opened] = {}
    opened: list[_Opened] = []
    separate = SEPARATE.union(separate)
    for layer in group.layers:
        launch = home.get(layer.name)
        if launch is None:
            operator, launch = _joined(layer, inside, places, home, wiring, separate)
            if launch is None:
                launch = _Opened([], [])
                opened.append(launch)
            if operator:
                launch.operators.append(operator)
            home |= dict.fromkeys((layer.name, *(step.name for step in operator)), launch)
        launch.layers.append(layer)
    # Only the last layer of a launch feeds others.
    opened.sort(key=lambda launch: places[launch.layers[-1].name])
    return tuple(_closed(launch, wiring) for launch in opened)


@dataclass(frozen=True)
class _Opened:
    """A launch that grows: its layers so far, and the operators of which it has or will have all
    steps."""

    layers: list[Layer]
    operators: list[tuple[Layer, ...]]


def _joined(
    layer: Layer,
    inside: Mapping[str, Layer],
    places: Mapping[str, int],
    home: Mapping[str, _Opened],
    wiring: Wiring,
    separate: Collection[str],
) -> tuple[tuple[Layer, ...], _Opened | None]:
    """Return the operator that ``layer`` begins, if one was written out, and the launch that it
    joins, or None."""
    is_reshape = layer.kind is LayerKind.RESHAPE
    is_fused = layer.kind in FUSED_KINDS or layer.operation in FUSED_OPERATIONS
    if layer.operation in separate or not (
        is_reshape or is_fused or layer.kind is LayerKind.REDUCTION
    ):
        return (), None
    feeders = sorted(
        (name for name, _ in wiring.feeds_in.get(layer.name, ()) if name in home),
        key=places.__getitem__,
        reverse=True,
    )
    for name in feeders:
        feeder, launch, readers = inside[name], home[name], wiring.readers[name]
        is_open = feeder.result_elements == 0 and launch.layers[-1] is feeder
        if not is_open or launch.layers[0].kind in NOT_A_BASE:
            continue
        if readers == {layer.name}:
            same = feeder.output_elements == layer.output_elements
            if same and layer.kind is not LayerKind.REDUCTION:
                return (), launch
        elif steps := _written_out(
            readers, (name, feeder.output_elements), inside, places, wiring, separate
        ):
            # A normalisation, which may first subtract the mean, is a launch of its own.
            means = [one[-1] for one in launch.operators[-1:] if _reduce(one)]
            computed = (one for one in reversed(launch.layers) if one.kind is not LayerKind.RESHAPE)
            alone = _reduce(steps) and next(computed) not in means
            return steps, None if alone or _operation(steps) in separate else launch
    read = set(wiring.feeds_in.get(layer.name, ()))
    if len(read) == 1 and not is_reshape:
        return _written_out({layer.name}, read.pop(), inside, places, wiring, separate), None
    return (), None


LONGEST = 32
"""Layers of the longest operator that is looked for: GELU by a hyperbolic tangent has 9, and 27 if
nodes that quantise stand between them."""


def _written_out(
    first: Collection[str],
    entry: tuple[str, int],
    inside: Mapping[str, Layer],
    places: Mapping[str, int],
    wiring: Wiring,
    separate: Collection[str],
) -> tuple[Layer, ...]:
    """Return the layers from the ``first`` ones to the one that all of them lead to, if they read
    only each other and ``entry``, a layer with its elements, else none. On the way from a single
    one is a reduction. Operations ``separate`` are no steps."""
    known, elements = entry
    pending = frozenset(first)
    is_whole = len(pending) > 1
    found: dict[str, Layer] = {}
    while 0 < len(pending) <= LONGEST - len(found) and pending <= places.keys():
        name = min(pending, key=places.__getitem__)
        layer = inside[name]
        sources = {source for source, _ in wiring.feeds_in[name]}
        is_step = layer.kind in STEPS and layer.operation not in (*NOT_A_STEP, *separate)
        if not is_step or sources - {known, *found}:
            break
        pending -= {name}
        found[name] = layer
        is_whole = is_whole or layer.kind is LayerKind.REDUCTION
        same = layer.output_elements == elements
        if not pending and is_whole and same and len(found) > 1:
            return tuple(found.values())
        readers = wiring.readers.get(name)
        if layer.result_elements or not readers:
            break
        pending |= readers
    return ()


def _reduce(steps: Sequence[Layer]) -> bool:
    return any(layer.kind is LayerKind.REDUCTION for layer in steps)


def _operation(steps: Sequence[Layer]) -> str:
    """Return which operation was written out, of those that a unit may run apart, or nothing."""
    if _several(steps):
        return "Mish"
    operations = {layer.operation for layer in steps}
    return "HardSwish" if {"HardSigmoid", "Mul"} <= operations else ""


def _several(steps: Sequence[Layer]) -> int:
    """Return the number of steps that compute if several are activations, else 0."""
    kinds = [layer.kind for layer in steps if layer.kind is not LayerKind.RESHAPE]
    return len(kinds) if kinds.count(LayerKind.ACTIVATION) > 1 else 0


def _closed(opened: _Opened, wiring: Wiring) -> Launch:
    layers = opened.layers
    head = layers[0]
    if head.kind is LayerKind.RESHAPE:
        return Launch(tuple(layers), 0, is_free=True)
    if head.kind is LayerKind.CONCATENATION:
        placed = sum(elements for _, elements in wiring.feeds_in.get(head.name, ()))
        copied = max(0, head.input_elements - placed)
        return Launch(tuple(layers), 2 * copied, is_free=copied == 0)
    own = {layer.name for layer in layers}
    steps = {layer.name for operator in opened.operators for layer in operator}
    known = set(own)
    moved = 0
    for layer in layers:
        feeds_in = wiring.feeds_in.get(layer.name, ())
        passed_on = sum(elements for name, elements in feeds_in if name in known)
        if layer.name in steps:
            # The steps of an operator read one tensor.
            known |= {name for name, _ in feeds_in}
        wide = layer.parameters - layer.narrow_parameters
        moved += wide + max(0, layer.input_elements - passed_on)
        readers = wiring.readers.get(layer.name, frozenset())
        if not readers or not readers <= own:
            moved += layer.output_elements
        else:
            moved += layer.result_elements
    narrow = sum(layer.narrow_bits for layer in layers)
    return Launch(
        tuple(layers), moved, is_free=False, narrow_bits=narrow, operators=tuple(opened.operators)
    )


def network_launches(
    network: GroupedNetwork, separate: Collection[str] = ()
) -> tuple[tuple[Launch, ...], ...]:
    """Return the launches of every group of a network, as :func:`launches_of`."""
    wiring = wiring_of(network.graph)
    return tuple(launches_of(group, wiring, separate) for group in network.groups)

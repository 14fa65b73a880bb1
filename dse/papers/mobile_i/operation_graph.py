"""A network as a graph of operations that processing engines run (Mobile-I II.B), and the
firings of one iteration of a dataflow graph as tasks with times and data between them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from paretosoc.fitness.cost_model.fusion import FUSED_KINDS, FUSED_OPERATIONS, NOT_A_BASE
from paretosoc.sdf.analysis.repetition import repetition_vector
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, SdfGraph
from paretosoc.sdf.grouping.grouping import groups_from_parts
from paretosoc.sdf.grouping.groups import Group, GroupEdge, GroupedNetwork
from paretosoc.sdf.grouping.network_view import layers_of, tensors_of
from paretosoc.sdf.grouping.parts import split_layers
from paretosoc.sdf.layer import LayerKind
from paretosoc.sdf.rates import Rate, in_phases

_CHANNEL_BY_CHANNEL = frozenset({LayerKind.POOLING, LayerKind.ACTIVATION, LayerKind.ELEMENTWISE})


@dataclass(frozen=True)
class Operation:
    """A share of the output channels of a group of fused layers (``group`` indexes them)."""

    name: str
    group: int
    share: Fraction


@dataclass(frozen=True)
class OperationGraph:
    """Operations in an order of execution, and the data that passes between them: edges have
    operations for groups."""

    name: str
    operations: tuple[Operation, ...]
    edges: tuple[GroupEdge, ...]


def fused_groups(graph: SdfGraph) -> GroupedNetwork:
    """Return every layer as a group of its own, except that an activation, a batch normalisation or
    an element-wise layer joins the only layer that it reads, if nothing else reads that one."""
    from networkx.utils import UnionFind

    layers, tensors = layers_of(graph), tensors_of(graph)
    split = split_layers(range(len(layers)), layers, tensors)
    home = {index: number for number, part in enumerate(split) for index in part}
    joined = UnionFind(range(len(split)))
    sources: dict[int, set[int]] = {index: set() for index in range(len(layers))}
    readers: dict[int, set[int]] = {index: set() for index in range(len(layers))}
    for tensor in tensors:
        readers[tensor.source] |= set(tensor.readers)
        for reader in tensor.readers:
            sources[reader].add(tensor.source)
    for index, layer in enumerate(layers):
        if not (layer.kind in FUSED_KINDS or layer.operation in FUSED_OPERATIONS):
            continue
        if len(sources[index]) != 1:
            continue
        (source,) = sources[index]
        feeder = layers[source]
        if (
            readers[source] == {index}
            and feeder.result_elements == 0
            and feeder.output_elements == layer.output_elements
            and feeder.kind not in NOT_A_BASE
        ):
            joined.union(home[index], home[source])
    parts: dict[int, list[int]] = {}
    for index in range(len(layers)):
        parts.setdefault(joined[home[index]], []).append(index)
    return groups_from_parts(graph, list(parts.values()))


def split_operations(network: GroupedNetwork, parts: int = 1) -> OperationGraph:
    """Cut every group into up to ``parts`` operations along its output channels.

    Concatenations are no operations: their inputs feed their readers, as they are written in place.
    Part k of a layer that works channel by channel (pooling, depthwise convolution, activation,
    sum) reads part k of its producer, if that is cut into as many. Any other reads all parts.

    Raises:
        GraphError: if ``parts`` is below 1.
    """
    if parts < 1:
        raise GraphError(f"the number of parts must be at least 1, got {parts}")
    feeds = _feeds(network)
    operations: list[Operation] = []
    edges: list[GroupEdge] = []
    pieces: dict[int, list[int]] = {}
    for number, group in enumerate(network.groups):
        if number not in feeds:
            continue
        shapes = group.layers[-1].output_shapes
        channels = shapes[0][1] if shapes and len(shapes[0]) > 1 and shapes[0][1] > 0 else 1
        count = min(parts, channels)
        pieces[number] = list(range(len(operations), len(operations) + count))
        for piece in range(count):
            width = channels * (piece + 1) // count - channels * piece // count
            name = group.layers[0].name if count == 1 else f"{group.layers[0].name}/{piece}"
            operations.append(Operation(name, number, Fraction(width, channels)))
        for source, elements in feeds[number].items():
            aligned = _is_channel_by_channel(group) and len(pieces[source]) == count
            for place, before in enumerate(pieces[source]):
                passed = -int(-elements * operations[before].share // 1)
                targets = pieces[number][place : place + 1] if aligned else pieces[number]
                edges += [GroupEdge(before, after, passed) for after in targets]
    return OperationGraph(network.name, tuple(operations), tuple(edges))


def _feeds(network: GroupedNetwork) -> dict[int, dict[int, int]]:
    """Return, per group that is an operation, the operations feeding it, and elements."""
    into: dict[int, dict[int, int]] = {number: {} for number in range(len(network.groups))}
    for edge in network.edges:
        into[edge.target][edge.source] = into[edge.target].get(edge.source, 0) + edge.elements
    read = {edge.source for edge in network.edges}
    result: dict[int, dict[int, int]] = {}
    for number, group in enumerate(network.groups):
        flat: dict[int, int] = {}
        for source, elements in into[number].items():
            through = {source: elements} if source in result else into[source]
            for origin, count in through.items():
                flat[origin] = flat.get(origin, 0) + count
        kinds = {layer.kind for layer in group.layers} - {LayerKind.RESHAPE}
        if kinds == {LayerKind.CONCATENATION} and flat and number in read:
            into[number] = flat
        else:
            result[number] = flat
    return result


def _is_channel_by_channel(group: Group) -> bool:
    head = group.layers[0]
    if head.kind in _CHANNEL_BY_CHANNEL:
        return True
    if head.window is None or not head.input_shapes or len(head.input_shapes[0]) < 2:
        return False
    return head.window.groups == head.input_shapes[0][1]


MAX_FIRINGS = 100_000


def firing_operations(
    graph: SdfGraph,
) -> tuple[list[tuple[str, int]], dict[tuple[int, int], int]]:
    """Return every actor's q firings of one iteration in an order of execution, each with its time
    in the unit that the graph's source used, and the bytes that pass between two of them (indices).

    Firing n of a channel's target takes tokens n c to (n + 1) c - 1, and firing m of its source
    makes m p to (m + 1) p - 1 (with rates by phase: the sums of all before). An edge joins two
    firings if these ranges meet. Iterations do not depend on each other, so firings of one actor
    may overlap. Initial tokens, which only loosen the dependences of an acyclic graph, and
    capacities are ignored.

    Raises:
        GraphError: if the graph is inconsistent, has a cycle (iterations would depend on each
            other), more than ``MAX_FIRINGS`` firings, or an actor without an execution time.
    """
    import networkx as nx

    try:
        cycle = nx.find_cycle(graph.multigraph)
    except nx.NetworkXNoCycle:
        pass
    else:
        names = " -> ".join(repr(edge[0]) for edge in cycle)
        raise GraphError(
            f"graph {graph.name!r}: must have no cycle for independent iterations, got {names}"
        )
    repetitions = repetition_vector(graph)
    if sum(repetitions.values()) > MAX_FIRINGS:
        raise GraphError(
            f"graph {graph.name!r}: must have at most {MAX_FIRINGS} firings in an iteration, "
            f"got {sum(repetitions.values())}"
        )
    place = {actor.name: number for number, actor in enumerate(graph.actors)}
    order = nx.lexicographical_topological_sort(
        nx.DiGraph(graph.multigraph), key=lambda name: place[name]
    )
    firings: list[tuple[str, int]] = []
    first: dict[str, int] = {}
    for name in order:
        first[name] = len(firings)
        times = _times(graph, graph.actor_by_name[name])
        firings += [
            (f"{name}/{number}", times[number % len(times)]) for number in range(repetitions[name])
        ]
    sizes: dict[tuple[int, int], int] = {}
    for channel in graph.channels:
        produced, consumed = Rate(channel.production), Rate(channel.consumption)
        for number in range(repetitions[channel.target]):
            begin, end = consumed.moved(number), consumed.moved(number + 1)
            source = produced.most(begin)
            while begin < end:
                until = min(end, produced.moved(source + 1))
                if until > begin:
                    key = first[channel.source] + source, first[channel.target] + number
                    sizes[key] = sizes.get(key, 0) + (until - begin) * channel.token_bytes
                begin, source = until, source + 1
    return firings, dict(sorted(sizes.items()))


def _times(graph: SdfGraph, actor: Actor) -> tuple[int, ...]:
    """Return the times, one per phase, on the actor's default processor type, which comes first."""
    if not actor.execution_times:
        raise GraphError(
            f"graph {graph.name!r}: actor {actor.name!r} must have an execution time, got none"
        )
    return in_phases(actor.execution_times[0][1], len(actor.phases))

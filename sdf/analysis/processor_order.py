"""Throughput of a graph bound to processors, each of which makes one firing at a time.

A processor repeats a static order: the firings of one iteration of the actors mapped to it, always
in the same order, each started as soon as its tokens are there and the firing before it has ended
(Sriram and Bhattacharyya, Embedded Multiprocessors, 5; Stuijk, Basten, Geilen and Corporaal, DAC
2007). That makes the execution monotone, so its throughput is an exact cycle ratio, whatever the
transient. The order is given, or taken from a list schedule of the first iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from sdf.analysis.cycle_ratio import maximum_cycle_ratio
from sdf.analysis.firing_graph import build_firing_graph
from sdf.analysis.liveness import check_firings, check_live
from sdf.analysis.repetition import repetition_vector
from sdf.analysis.throughput import Throughput, actors_on, dependences_of, execution_times
from sdf.errors import GraphError
from sdf.graph import SdfGraph


@dataclass(frozen=True)
class BoundThroughput:
    """The throughput on processors, and the order that it is reached with."""

    throughput: Throughput
    orders: tuple[tuple[str, tuple[str, ...]], ...]
    """(processor, actors in the order of their firings in one iteration)."""


def bound_throughput(
    graph: SdfGraph,
    binding: Mapping[str, str],
    *,
    processor_types: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> BoundThroughput:
    """The throughput with unbounded buffers and every actor on a processor.

    Args:
        binding: actor -> processor.
        processor_types: processor -> type, which selects execution times; a processor that is not
            in it is of the type that has its name.
        orders: processor -> its static order for one iteration; None takes ``list_schedule``.

    Raises:
        GraphError: if an actor is not bound or has no time on its processor's type, if an order
            does not hold every actor of its processor as often as the repetition vector says, if
            the orders deadlock, or if the graph is inconsistent or deadlocks or has too many
            firings.
    """
    times = bound_times(graph, binding, processor_types or {})
    repetitions = repetition_vector(graph)
    names = [actor.name for actor in graph.actors]
    check_firings(graph, names, sum(repetitions.values()))
    if orders is None:
        orders = list_schedule(graph, binding, times)
    else:
        check_live(graph)
        _check_orders(graph, binding, repetitions, orders)
    index = {name: number for number, name in enumerate(names)}
    firings = build_firing_graph(
        [repetitions[name] for name in names],
        dependences_of(names, list(graph.channels), auto_concurrency=True),
        [[index[name] for name in order] for order in orders.values()],
    )
    found = maximum_cycle_ratio(firings, [times[name] for name in names])
    if found.period is None:
        cycle = ", ".join(map(repr, actors_on(firings, names, found.edges)))
        raise GraphError(
            f"graph {graph.name!r}: the static orders deadlock: firings of {cycle} wait for each "
            "other"
        )
    return BoundThroughput(
        Throughput(found.period, actors_on(firings, names, found.edges)),
        tuple((processor, tuple(order)) for processor, order in orders.items()),
    )


def bound_times(
    graph: SdfGraph, binding: Mapping[str, str], processor_types: Mapping[str, str]
) -> dict[str, int]:
    """The time of one firing of every actor on the processor it is bound to.

    Raises:
        GraphError: see ``bound_throughput``.
    """
    known = {actor.name for actor in graph.actors}
    for name in binding:
        if name not in known:
            raise GraphError(f"graph {graph.name!r}: the binding names {name!r}, no such actor")
    kinds = {}
    for actor in graph.actors:
        if actor.name not in binding:
            raise GraphError(f"graph {graph.name!r}: actor {actor.name!r} is bound to no processor")
        processor = binding[actor.name]
        kinds[actor.name] = processor_types.get(processor, processor)
    tables = {kind: SdfGraph(graph.name, ()) for kind in kinds.values()}
    for kind in tables:
        chosen = tuple(actor for actor in graph.actors if kinds[actor.name] == kind)
        tables[kind] = SdfGraph(graph.name, chosen)
    times: dict[str, int] = {}
    for kind, table in tables.items():
        times.update(execution_times(table, kind))
    return times


def list_schedule(
    graph: SdfGraph, binding: Mapping[str, str], times: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """The order in which each processor starts its firings when one iteration is executed alone.

    First come, first served: at one instant first all firings end; then each free processor
    starts the waiting firing with the smallest (instant at which its last token came, actor's
    position in the graph). It never idles while something waits, so a live graph completes.
    It is one order: iterations overlap only as far as it lets them, and another may be faster.

    Raises:
        GraphError: if the graph is inconsistent or deadlocks.
    """
    check_live(graph)
    names = [actor.name for actor in graph.actors]
    index = {name: number for number, name in enumerate(names)}
    repetitions = repetition_vector(graph)
    incoming: list[list[int]] = [[] for _ in names]
    outgoing: list[list[int]] = [[] for _ in names]
    for number, channel in enumerate(graph.channels):
        incoming[index[channel.target]].append(number)
        outgoing[index[channel.source]].append(number)
    arrived = [channel.initial_tokens for channel in graph.channels]
    announced = [0] * len(names)
    processors = list(dict.fromkeys(binding[name] for name in names))
    queues: dict[str, list[tuple[int, int, int]]] = {name: [] for name in processors}
    orders: dict[str, list[str]] = {name: [] for name in processors}
    running: dict[str, int | None] = dict.fromkeys(processors)
    ends: list[tuple[int, str]] = []

    def announce(actor: int, now: int) -> None:
        """Queue the actor's firings whose tokens are there by now."""
        enough = repetitions[names[actor]]
        for number in incoming[actor]:
            enough = min(enough, arrived[number] // graph.channels[number].consumption)
        for firing in range(announced[actor], enough):
            heappush(queues[binding[names[actor]]], (now, actor, firing))
        announced[actor] = max(announced[actor], enough)

    def start_all(now: int) -> None:
        for processor in processors:
            if running[processor] is None and queues[processor]:
                _, actor, _ = heappop(queues[processor])
                running[processor] = actor
                orders[processor].append(names[actor])
                heappush(ends, (now + times[names[actor]], processor))

    for actor in range(len(names)):
        announce(actor, 0)
    start_all(0)
    while ends:
        now = ends[0][0]
        while ends and ends[0][0] == now:
            _, processor = heappop(ends)
            ended = running[processor]
            assert ended is not None
            running[processor] = None
            for number in outgoing[ended]:
                arrived[number] += graph.channels[number].production
                announce(index[graph.channels[number].target], now)
        start_all(now)
    return {processor: tuple(order) for processor, order in orders.items()}


def _check_orders(
    graph: SdfGraph,
    binding: Mapping[str, str],
    repetitions: Mapping[str, int],
    orders: Mapping[str, Sequence[str]],
) -> None:
    for processor in dict.fromkeys([*binding.values(), *orders]):
        order = orders.get(processor, ())
        for name in order:
            if binding.get(name) != processor:
                raise GraphError(
                    f"graph {graph.name!r}: the order of processor {processor!r} holds {name!r}, "
                    "which is not bound to it"
                )
        for name, bound_to in binding.items():
            if bound_to == processor and order.count(name) != repetitions[name]:
                raise GraphError(
                    f"graph {graph.name!r}: the order of processor {processor!r} must hold "
                    f"{name!r} {repetitions[name]} times, got {order.count(name)}"
                )

"""Throughput of a graph bound to processors, each of which makes one firing at a time.

A processor repeats a static order: the firings of one iteration of the actors mapped to it, always
in the same order, each started as soon as its tokens are there and the firing before it has ended
(Sriram and Bhattacharyya, Embedded Multiprocessors, 5, and Stuijk, Basten, Geilen and Corporaal,
DAC 2007). That makes the execution monotone, so its throughput is an exact cycle ratio, whatever
the transient. The order is given, or taken from a list schedule of the first iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from paretosoc.sdf.analysis.cycle_ratio import maximum_cycle_ratio
from paretosoc.sdf.analysis.repetition import check_firings, check_live, repetition_vector
from paretosoc.sdf.analysis.throughput import Throughput, execution_times, firing_model
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, SdfGraph
from paretosoc.sdf.rates import PerPhase, Rate, in_phases


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
    """Return the throughput with every actor on a processor, and buffers unbounded unless the graph
    bounds them.

    Args:
        binding: actor -> processor.
        processor_types: processor -> type, which selects execution times. A processor that is not
            in it has the type of its own name.
        orders: processor -> its static order for one iteration. None takes ``list_schedule``.

    Raises:
        GraphError: if an actor is not bound or has no time on its processor's type, if an order
            does not hold every actor of its processor as often as the repetition vector says, if
            the orders deadlock, or if the graph is inconsistent or deadlocks or has too many
            firings.
    """
    times = bound_times(graph, binding, processor_types or {})
    graph = graph.with_rooms
    repetitions = repetition_vector(graph)
    names = [actor.name for actor in graph.actors]
    check_firings(graph, names, sum(repetitions.values()))
    if orders is None:
        orders = list_schedule(graph, binding, times)
    else:
        check_live(graph)
        _check_orders(graph, binding, repetitions, orders)
    index = {name: number for number, name in enumerate(names)}
    counts = [repetitions[name] for name in names]
    model = firing_model(names, graph.channels, counts, times, overlapping=True)
    firings = model.unfolded([[index[name] for name in order] for order in orders.values()])
    found = maximum_cycle_ratio(firings)
    if found.period is None:
        cycle = ", ".join(map(repr, model.actors_on(firings, found.edges)))
        raise GraphError(
            f"graph {graph.name!r}: the static orders deadlock: firings of {cycle} wait for each "
            "other"
        )
    return BoundThroughput(
        Throughput(found.period, model.actors_on(firings, found.edges)),
        tuple((processor, tuple(order)) for processor, order in orders.items()),
    )


def bound_times(
    graph: SdfGraph, binding: Mapping[str, str], processor_types: Mapping[str, str]
) -> dict[str, PerPhase]:
    """Return the time of a firing of every actor on the processor it is bound to.

    Raises:
        GraphError: see ``bound_throughput``.
    """
    known = {actor.name for actor in graph.actors}
    for name in binding:
        if name not in known:
            raise GraphError(f"graph {graph.name!r}: the binding names {name!r}, no such actor")
    on_kind: dict[str, list[Actor]] = {}
    for actor in graph.actors:
        if actor.name not in binding:
            raise GraphError(f"graph {graph.name!r}: actor {actor.name!r} is bound to no processor")
        processor = binding[actor.name]
        on_kind.setdefault(processor_types.get(processor, processor), []).append(actor)
    times: dict[str, PerPhase] = {}
    for kind, actors in on_kind.items():
        times.update(execution_times(SdfGraph(graph.name, tuple(actors)), kind))
    return times


def list_schedule(
    graph: SdfGraph, binding: Mapping[str, str], times: Mapping[str, PerPhase]
) -> dict[str, tuple[str, ...]]:
    """Return the order in which each processor starts its firings when one iteration is executed
    alone.

    First come, first served: at one instant first all firings end. Then each free processor starts
    the waiting firing with the smallest (instant at which its last token came, actor's position in
    the graph). It never idles while something waits, so a live graph completes. It is one order:
    iterations overlap only as far as it lets them, and another may be faster.

    Raises:
        GraphError: if the graph is inconsistent or deadlocks.
    """
    check_live(graph)
    graph = graph.with_rooms
    names = [actor.name for actor in graph.actors]
    index = {name: number for number, name in enumerate(names)}
    repetitions = repetition_vector(graph)
    takes: list[list[tuple[int, Rate]]] = [[] for _ in names]
    makes: list[list[tuple[int, Rate]]] = [[] for _ in names]
    for number, channel in enumerate(graph.channels):
        takes[index[channel.target]].append((number, Rate(channel.consumption)))
        makes[index[channel.source]].append((number, Rate(channel.production)))
    targets = [index[channel.target] for channel in graph.channels]
    durations = [in_phases(times[actor.name], len(actor.phases)) for actor in graph.actors]
    arrived = [channel.initial_tokens for channel in graph.channels]
    announced = [0] * len(names)
    processors = list(dict.fromkeys(binding[name] for name in names))
    place_of = {name: place for place, name in enumerate(processors)}
    home = [place_of[binding[name]] for name in names]
    queues: list[list[tuple[int, int, int]]] = [[] for _ in processors]
    orders: list[list[str]] = [[] for _ in processors]
    running: list[tuple[int, int] | None] = [None for _ in processors]
    """Actor and firing."""
    ends: list[tuple[int, int]] = []

    def announce(actor: int, now: int) -> None:
        """Queue the actor's firings whose tokens are there by now."""
        enough = repetitions[names[actor]]
        for number, rate in takes[actor]:
            enough = min(enough, rate.most(arrived[number]))
        for firing in range(announced[actor], enough):
            heappush(queues[home[actor]], (now, actor, firing))
        announced[actor] = max(announced[actor], enough)

    def start(place: int, now: int) -> None:
        """Let a processor that is free begin the first firing that waits for it."""
        if running[place] is None and queues[place]:
            _, actor, firing = heappop(queues[place])
            running[place] = actor, firing
            orders[place].append(names[actor])
            heappush(ends, (now + durations[actor][firing % len(durations[actor])], place))

    for actor in range(len(names)):
        announce(actor, 0)
    for place in range(len(processors)):
        start(place, 0)
    while ends:
        now = ends[0][0]
        changed = set()
        while ends and ends[0][0] == now:
            _, place = heappop(ends)
            ended = running[place]
            assert ended is not None
            running[place] = None
            changed.add(place)
            actor, firing = ended
            for number, rate in makes[actor]:
                arrived[number] += rate.moved(firing + 1) - rate.moved(firing)
                announce(targets[number], now)
                changed.add(home[targets[number]])
        for place in sorted(changed):
            start(place, now)
    return {name: tuple(order) for name, order in zip(processors, orders, strict=True)}


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

"""The firings of one iteration of a graph as tasks with times and data between them."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.sdf.analysis.repetition import repetition_vector
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, SdfGraph
from paretosoc.sdf.rates import Rate, in_phases

MAX_FIRINGS = 100_000


@dataclass(frozen=True)
class Firing:
    """One firing of an actor. ``time`` is in the unit that the graph's source used."""

    name: str
    time: int


@dataclass(frozen=True)
class FiringEdge:
    """Bytes that firing ``source`` makes and firing ``target`` takes (indices)."""

    source: int
    target: int
    size_bytes: int


def firing_operations(graph: SdfGraph) -> tuple[tuple[Firing, ...], tuple[FiringEdge, ...]]:
    """Return every actor's q firings of one iteration, in an order of execution, and their
    channels.

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
    firings: list[Firing] = []
    first: dict[str, int] = {}
    for name in order:
        first[name] = len(firings)
        times = _times(graph, graph.actor_by_name[name])
        firings += [
            Firing(f"{name}/{number}", times[number % len(times)])
            for number in range(repetitions[name])
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
    return tuple(firings), tuple(FiringEdge(*key, size) for key, size in sorted(sizes.items()))


def _times(graph: SdfGraph, actor: Actor) -> tuple[int, ...]:
    """Return the times, one per phase, on the actor's default processor type, which comes first."""
    if not actor.execution_times:
        raise GraphError(
            f"graph {graph.name!r}: actor {actor.name!r} must have an execution time, got none"
        )
    return in_phases(actor.execution_times[0][1], len(actor.phases))

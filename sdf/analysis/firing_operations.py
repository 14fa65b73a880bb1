"""The firings of one iteration of an SDF graph as tasks with times and data between them."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx

from sdf.analysis.repetition import repetition_vector
from sdf.errors import GraphError
from sdf.graph import Actor, SdfGraph

MOST_FIRINGS = 100_000


@dataclass(frozen=True)
class Firing:
    """One firing of an actor; ``time`` in whatever unit the graph's source used."""

    name: str
    time: int


@dataclass(frozen=True)
class FiringEdge:
    """Firing ``source`` makes ``size_bytes`` of what firing ``target`` takes (indices)."""

    source: int
    target: int
    size_bytes: int


def firing_operations(graph: SdfGraph) -> tuple[tuple[Firing, ...], tuple[FiringEdge, ...]]:
    """Every actor's q firings of one iteration, in an order of execution, and their channels.

    Firing n of a channel's target takes tokens n c to (n + 1) c - 1, and firing m of its source
    makes m p to (m + 1) p - 1: an edge wherever the two meet. Iterations do not depend on each
    other, so firings of one actor may overlap. Initial tokens only loosen what an acyclic graph
    asks for, and are left out: the schedules are as if there were none.

    Raises:
        GraphError: where the graph is inconsistent, has a cycle (iterations would depend on each
            other), more than ``MOST_FIRINGS`` firings, or an actor without an execution time.
    """
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
    if sum(repetitions.values()) > MOST_FIRINGS:
        raise GraphError(
            f"graph {graph.name!r}: must have at most {MOST_FIRINGS} firings in an iteration, "
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
        time = _time(graph, graph.actor_by_name[name])
        firings += [Firing(f"{name}/{number}", time) for number in range(repetitions[name])]
    sizes: dict[tuple[int, int], int] = {}
    for channel in graph.channels:
        produced, consumed = channel.production, channel.consumption
        for number in range(repetitions[channel.target]):
            begin, end = number * consumed, (number + 1) * consumed
            for source in range(begin // produced, (end - 1) // produced + 1):
                tokens = min(end, (source + 1) * produced) - max(begin, source * produced)
                key = first[channel.source] + source, first[channel.target] + number
                sizes[key] = sizes.get(key, 0) + tokens * channel.token_bytes
    return tuple(firings), tuple(FiringEdge(*key, size) for key, size in sorted(sizes.items()))


def _time(graph: SdfGraph, actor: Actor) -> int:
    """On the processor type that comes first, which is the actor's default."""
    if not actor.execution_times:
        raise GraphError(
            f"graph {graph.name!r}: actor {actor.name!r} must have an execution time, got none"
        )
    return actor.execution_times[0][1]

"""Self-timed throughput with unbounded buffers and as many processors as there are firings.

Self-timed: an actor fires as soon as its tokens are there. A firing takes its tokens when it
starts and gives its results when it ends. A graph that is not strongly connected would pile up
tokens without end in front of its slow parts, so throughput is defined per strongly connected
component, and the graph's is the smallest of them, each scaled by the repetition vector
(Ghamarian et al., Throughput Analysis of Synchronous Data Flow Graphs, ACSD 2006).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from sdf.analysis.cycle_ratio import maximum_cycle_ratio
from sdf.analysis.firing_graph import Dependence, FiringGraph, build_firing_graph
from sdf.analysis.liveness import channels_within, check_live, component_repetitions
from sdf.analysis.repetition import repetition_vector, strongly_connected_components
from sdf.errors import GraphError
from sdf.graph import Channel, SdfGraph


@dataclass(frozen=True)
class Throughput:
    """A long-run rate, exactly, and what limits it."""

    period: Fraction
    """Time units per iteration, in the long run; 0 where nothing limits the rate."""
    critical_actors: tuple[str, ...] = ()
    """The actors on one critical cycle, in the graph's order."""

    @property
    def iterations(self) -> Fraction | None:
        """Iterations per time unit; None if unbounded. Higher is better."""
        return 1 / self.period if self.period else None


def execution_times(graph: SdfGraph, processor_type: str | None = None) -> dict[str, int]:
    """The time of one firing of every actor on a type of processor.

    Args:
        processor_type: None takes the first type that each actor lists: its default.

    Raises:
        GraphError: if an actor has no time on that type, or a negative one.
    """
    times = {}
    for actor in graph.actors:
        known = dict(actor.execution_times)
        kind = processor_type
        if kind is None:
            kind = next(iter(known), None)
        if kind is None or kind not in known:
            wanted = "any processor type" if kind is None else f"processor type {kind!r}"
            has = f"it has {', '.join(map(repr, known))}" if known else "it has none"
            raise GraphError(
                f"graph {graph.name!r}: actor {actor.name!r} has no execution time for {wanted}; "
                f"{has}"
            )
        times[actor.name] = known[kind]
    check_times(graph, times)
    return times


def check_times(graph: SdfGraph, times: Mapping[str, int]) -> None:
    """Every actor has a time >= 0.

    Raises:
        GraphError: naming the actor.
    """
    for actor in graph.actors:
        if actor.name not in times:
            raise GraphError(f"graph {graph.name!r}: actor {actor.name!r} has no execution time")
        if times[actor.name] < 0:
            raise GraphError(
                f"graph {graph.name!r}: actor {actor.name!r}: an execution time must be at least "
                f"0, got {times[actor.name]}"
            )


def self_timed_throughput(
    graph: SdfGraph, times: Mapping[str, int], *, auto_concurrency: bool = False
) -> Throughput:
    """The throughput of the graph with unbounded buffers.

    Args:
        times: time of one firing, by actor.
        auto_concurrency: whether an actor may fire again while it fires. Without it, every actor
            has in effect a self-loop with one token.

    For a graph of several unconnected components an iteration is one of each of them.

    Raises:
        GraphError: if the graph is inconsistent or deadlocks, if a time is missing or negative,
            or if a component has too many firings (``liveness.FIRING_LIMIT``).
    """
    check_times(graph, times)
    repetitions = repetition_vector(graph)
    slowest = Throughput(Fraction(0))
    for part in strongly_connected_components(graph):
        inner = channels_within(graph, part)
        if len(part) == 1:
            found = _single_actor(graph, part[0], inner, repetitions, times, auto_concurrency)
        else:
            found = _component(graph, part, inner, repetitions, times, auto_concurrency)
        if found.period > slowest.period:
            slowest = found
    return slowest


def dependences_of(
    actors: list[str], channels: list[Channel], *, auto_concurrency: bool
) -> list[Dependence]:
    """One dependence per channel, in their order; then, unless actors may overlap themselves, a
    self-loop with one token per actor."""
    index = {name: number for number, name in enumerate(actors)}
    dependences = [
        Dependence(
            index[channel.source],
            index[channel.target],
            channel.production,
            channel.consumption,
            channel.initial_tokens,
        )
        for channel in channels
    ]
    if not auto_concurrency:
        dependences.extend(Dependence(number, number, 1, 1, 1) for number in range(len(actors)))
    return dependences


def actors_on(graph: FiringGraph, actors: list[str], edges: tuple[int, ...]) -> tuple[str, ...]:
    """The actors whose firings a cycle passes."""
    found = {graph.actor_of(int(graph.source[edge])) for edge in edges}
    return tuple(actors[number] for number in sorted(found))


def _single_actor(
    graph: SdfGraph,
    name: str,
    loops: list[Channel],
    repetitions: Mapping[str, int],
    times: Mapping[str, int],
    auto_concurrency: bool,
) -> Throughput:
    """An actor alone: its self-loops say how many firings may overlap."""
    overlap = [loop.initial_tokens // loop.consumption for loop in loops]
    if not auto_concurrency:
        overlap.append(1)
    if not overlap:
        return Throughput(Fraction(0))
    if not min(overlap):
        check_live(graph)
    period = Fraction(repetitions[name] * times[name], min(overlap))
    return Throughput(period, (name,) if period else ())


def _component(
    graph: SdfGraph,
    part: list[str],
    inner: list[Channel],
    repetitions: Mapping[str, int],
    times: Mapping[str, int],
    auto_concurrency: bool,
) -> Throughput:
    """Several actors in cycles: the maximum cycle ratio of their firings."""
    counts = component_repetitions(graph, part, repetitions)
    firings = build_firing_graph(
        counts, dependences_of(part, inner, auto_concurrency=auto_concurrency)
    )
    found = maximum_cycle_ratio(firings, [times[name] for name in part])
    if found.period is None:
        check_live(graph)
        raise AssertionError("a cycle of firings without delay is a deadlock")
    scale = gcd(*(repetitions[name] for name in part))
    return Throughput(found.period * scale, actors_on(firings, part, found.edges))

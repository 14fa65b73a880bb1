"""Self-timed throughput with as many processors as there are firings.

Self-timed: an actor fires as soon as its tokens are there, in the order of its phases. A firing
takes its tokens when it starts and gives its results when it ends. If firings of one actor may
overlap (auto-concurrency) and phases differ in time, tokens still come out of a channel in the
order of the phases that write them: a reader waits for the writers of the tokens that it reads.

A graph that is not strongly connected would pile up tokens without end in front of its slow parts,
so throughput is defined per strongly connected component, and the graph's is the smallest of them,
each scaled by the repetition vector (Ghamarian et al., Throughput Analysis of Synchronous Data Flow
Graphs, ACSD 2006). Channels are unbounded but for the capacities that the graph itself states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paretosoc.sdf.analysis.cycle_ratio import maximum_cycle_ratio
from paretosoc.sdf.analysis.firing_graph import Dependence, FiringGraph, build_firing_graph
from paretosoc.sdf.analysis.repetition import (
    check_live,
    component_repetitions,
    components,
    iterations_of_part,
    repetition_vector,
)
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Channel, SdfGraph
from paretosoc.sdf.rates import PerPhase, Rate, cycle_total, in_phases


@dataclass(frozen=True)
class Throughput:
    """A long-run rate, exactly, and the cycle that limits it."""

    period: Fraction
    """Time units per iteration, in the long run, or 0 if nothing limits the rate."""
    critical_actors: tuple[str, ...] = ()
    """The actors on one critical cycle, in the graph's order."""

    @property
    def iterations(self) -> Fraction | None:
        """Return the iterations per time unit, or None if unbounded. Higher is better."""
        return 1 / self.period if self.period else None


def execution_times(graph: SdfGraph, processor_type: str | None = None) -> dict[str, PerPhase]:
    """Return the time of a firing of every actor on a type of processor.

    Args:
        processor_type: None takes the first type that each actor lists: its default.

    Raises:
        GraphError: if an actor has no time on that type, or a negative one.
    """
    times: dict[str, PerPhase] = {}
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


def check_times(graph: SdfGraph, times: Mapping[str, PerPhase]) -> None:
    """Check that every actor has a time >= 0, or one for each of its phases.

    Raises:
        GraphError: naming the actor.
    """
    for actor in graph.actors:
        label = f"graph {graph.name!r}: actor {actor.name!r}"
        if actor.name not in times:
            raise GraphError(f"{label} has no execution time")
        entries = in_phases(times[actor.name], len(actor.phases))
        if len(entries) != len(actor.phases):
            raise GraphError(
                f"{label}: {len(actor.phases)} phases need as many execution times, got "
                f"{len(entries)}"
            )
        if min(entries) < 0:
            raise GraphError(f"{label}: an execution time must be at least 0, got {min(entries)}")


def self_timed_throughput(
    graph: SdfGraph, times: Mapping[str, PerPhase], *, auto_concurrency: bool = False
) -> Throughput:
    """Return the throughput of the graph.

    Args:
        times: time of a firing, by actor.
        auto_concurrency: whether an actor may fire again while it fires. Without it, every actor
            has in effect a self-loop with one token.

    For a graph of several unconnected components an iteration is one of each of them.

    Raises:
        GraphError: if the graph is inconsistent or deadlocks, if a time is missing or negative,
            or if a component has too many firings (``liveness.FIRING_LIMIT``).
    """
    check_times(graph, times)
    graph = graph.with_rooms
    repetitions = repetition_vector(graph)
    slowest = Throughput(Fraction(0))
    for part, inner in components(graph):
        if len(part) == 1:
            found = _single_actor(graph, part[0], inner, repetitions, times, auto_concurrency)
        else:
            found = _component(graph, part, inner, repetitions, times, auto_concurrency)
        if found.period > slowest.period:
            slowest = found
    return slowest


@dataclass(frozen=True)
class FiringModel:
    """Actors and dependences as the firing graph takes them: those of the graph, in their order,
    then those that :func:`firing_model` adds."""

    names: list[str]
    """For each of its actors, the actor of the graph that it stands for."""
    counts: list[int]
    """Firings in one iteration."""
    times: list[PerPhase]
    dependences: list[Dependence]

    def unfolded(self, orders: Sequence[Sequence[int]] = ()) -> FiringGraph:
        """Return the firing graph of one iteration. ``orders`` as for ``build_firing_graph``."""
        return build_firing_graph(self.counts, self.times, self.dependences, orders)

    def actors_on(self, graph: FiringGraph, edges: Sequence[int]) -> tuple[str, ...]:
        """Return the actors whose firings a cycle of its firing graph passes, in the graph's
        order."""
        found = {self.names[graph.actor_of(int(graph.source[edge]))] for edge in edges}
        return tuple(name for name in dict.fromkeys(self.names) if name in found)


def firing_model(
    names: Sequence[str],
    channels: Sequence[Channel],
    counts: Sequence[int],
    times: Mapping[str, PerPhase],
    *,
    overlapping: bool,
) -> FiringModel:
    """Return channels between ``names`` as dependences. If firings do not overlap, each actor waits
    for itself. If they may, those of one time end in the order in which they start. For an actor
    whose phases differ in time, an actor without time is put on each channel: it passes on the
    results of the phases that write there, one after the other."""
    index = {name: number for number, name in enumerate(names)}
    model = FiringModel(list(names), list(counts), [times[name] for name in names], [])
    added: list[Dependence] = []
    once = Rate(1)
    if not overlapping:
        added += [Dependence(number, number, once, once, 1) for number in range(len(names))]
    for channel in channels:
        source, production = index[channel.source], channel.production
        time = times[channel.source]
        if overlapping and isinstance(time, tuple):
            rates = in_phases(production, len(time))
            writes = tuple(int(rate > 0) for rate in rates)
            passes_on = len(model.names)
            added.append(Dependence(source, passes_on, Rate(writes), once, 0))
            added.append(Dependence(passes_on, passes_on, once, once, 1))
            model.names.append(channel.source)
            model.counts.append(counts[source] // len(time) * sum(writes))
            model.times.append(0)
            source, production = passes_on, tuple(filter(None, rates))
        model.dependences.append(
            Dependence(
                source,
                index[channel.target],
                Rate(production),
                Rate(channel.consumption),
                channel.initial_tokens,
            )
        )
    model.dependences.extend(added)
    return model


def _single_actor(
    graph: SdfGraph,
    name: str,
    loops: list[Channel],
    repetitions: Mapping[str, int],
    times: Mapping[str, PerPhase],
    auto_concurrency: bool,
) -> Throughput:
    """Return the throughput of an actor alone: its self-loops say how many firings may overlap."""
    if auto_concurrency and not loops:
        return Throughput(Fraction(0))
    if all(loop.keeps_state for loop in loops):
        overlap = min(
            [Rate(loop.consumption).most(loop.initial_tokens) for loop in loops]
            + [1] * (not auto_concurrency)
        )
        if not overlap:
            check_live(graph)
        if overlap == 1 or isinstance(times[name], int):
            phases = len(graph.actor_by_name[name].phases)
            work = repetitions[name] // phases * cycle_total(times[name], phases)
            return Throughput(Fraction(work, overlap), (name,) if work else ())
    return _component(graph, [name], loops, repetitions, times, auto_concurrency)


def _component(
    graph: SdfGraph,
    part: list[str],
    inner: list[Channel],
    repetitions: Mapping[str, int],
    times: Mapping[str, PerPhase],
    auto_concurrency: bool,
) -> Throughput:
    """Return the throughput of actors in cycles: the maximum cycle ratio of their firings."""
    counts = component_repetitions(graph, part, repetitions)
    model = firing_model(part, inner, counts, times, overlapping=auto_concurrency)
    firings = model.unfolded()
    found = maximum_cycle_ratio(firings)
    if found.period is None:
        check_live(graph)
        raise AssertionError("a cycle of firings without delay is a deadlock")
    scale = iterations_of_part(graph, part, repetitions)
    return Throughput(found.period * scale, model.actors_on(firings, found.edges))

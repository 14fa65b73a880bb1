"""Consistency and the repetition vector of a dataflow graph (Lee and Messerschmitt 1987, and Bilsen
et al. 1996 for actors with phases)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Channel, SdfGraph
from paretosoc.sdf.rates import PerPhase, cycle_total


def channel_label(graph: SdfGraph, channel: Channel) -> str:
    """Return a channel's label for messages: graph, its own name if it has one, both ends."""
    name = f"{channel.name!r} " if channel.name else ""
    return f"graph {graph.name!r}: channel {name}({channel.source!r} -> {channel.target!r})"


def repetition_vector(graph: SdfGraph) -> dict[str, int]:
    """Return the number of firings of every actor in one iteration, in the order of the graph's
    actors.

    The smallest positive integers q with q[source] * production = q[target] * consumption on every
    channel (the balance equations). If an actor has phases, its q is a multiple of their number,
    and the equations hold for rates added up over them. Components that no channel connects are
    independent: each has the smallest vector of its own.

    Raises:
        GraphError: if the graph is inconsistent, that is, if only q = 0 solves the equations.
    """
    phases = {actor.name: len(actor.phases) for actor in graph.actors}
    totals = [
        (
            cycle_total(channel.production, phases[channel.source]),
            cycle_total(channel.consumption, phases[channel.target]),
        )
        for channel in graph.channels
    ]
    touching: dict[str, list[int]] = {actor.name: [] for actor in graph.actors}
    for number, channel in enumerate(graph.channels):
        touching[channel.source].append(number)
        if channel.target != channel.source:
            touching[channel.target].append(number)

    rates: dict[str, Fraction] = {}
    """Cycles through all phases, up to a factor for each component."""
    cycles: dict[str, int] = {}
    for actor in graph.actors:
        if actor.name in rates:
            continue
        rates[actor.name] = Fraction(1)
        component = [actor.name]
        waiting = deque(component)
        while waiting:
            here = waiting.popleft()
            for number in touching[here]:
                channel, (production, consumption) = graph.channels[number], totals[number]
                for known, end, factor in (
                    (channel.source, channel.target, Fraction(production, consumption)),
                    (channel.target, channel.source, Fraction(consumption, production)),
                ):
                    if known == here and end not in rates:
                        rates[end] = rates[here] * factor
                        component.append(end)
                        waiting.append(end)
        denominator = lcm(*(rates[name].denominator for name in component))
        whole = {name: int(rates[name] * denominator) for name in component}
        divisor = gcd(*whole.values())
        cycles.update((name, count // divisor) for name, count in whole.items())

    firings = {actor.name: cycles[actor.name] * phases[actor.name] for actor in graph.actors}
    for channel, (production, consumption) in zip(graph.channels, totals, strict=True):
        produced = cycles[channel.source] * production
        consumed = cycles[channel.target] * consumption
        if produced != consumed:
            raise GraphError(
                f"{channel_label(graph, channel)}: the graph is inconsistent: with production "
                f"{_figure(channel.production)} and consumption {_figure(channel.consumption)}, "
                f"the other channels ask for {firings[channel.source]} firings of "
                f"{channel.source!r} and {firings[channel.target]} of {channel.target!r} in an "
                f"iteration, so that {produced} tokens enter and {consumed} leave"
            )
    return firings


def _figure(rate: PerPhase) -> str:
    return str(rate) if isinstance(rate, int) else f"{sum(rate)} in {len(rate)} phases"


def iterations_of_part(graph: SdfGraph, part: Sequence[str], repetitions: Mapping[str, int]) -> int:
    """Return how many times the actors of ``part`` return to their initial state in one
    iteration."""
    return gcd(*(repetitions[name] // len(graph.actor_by_name[name].phases) for name in part))


def strongly_connected_components(graph: SdfGraph) -> list[list[str]]:
    """Return the sets of actors that reach each other along channels. Sets and members are in the
    graph's order.
    """
    import networkx as nx

    position = {actor.name: index for index, actor in enumerate(graph.actors)}
    parts = [
        sorted(part, key=position.__getitem__)
        for part in nx.strongly_connected_components(graph.multigraph)
    ]
    return sorted(parts, key=lambda part: position[part[0]])

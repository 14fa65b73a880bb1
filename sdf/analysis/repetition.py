"""Consistency and the repetition vector of an SDF graph (Lee and Messerschmitt 1987)."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from math import gcd, lcm

import networkx as nx

from sdf.errors import GraphError
from sdf.graph import Channel, SdfGraph


def channel_label(graph: SdfGraph, channel: Channel) -> str:
    """How messages call a channel: graph, own name if it has one, both ends."""
    name = f"{channel.name!r} " if channel.name else ""
    return f"graph {graph.name!r}: channel {name}({channel.source!r} -> {channel.target!r})"


def repetition_vector(graph: SdfGraph) -> dict[str, int]:
    """Firings of every actor in one iteration, in the order of the graph's actors.

    The smallest positive integers q with q[source] * production = q[target] * consumption on
    every channel (the balance equations). Components that no channel connects are independent:
    each has the smallest vector of its own.

    Raises:
        GraphError: if the graph is inconsistent, that is, if only q = 0 solves the equations.
    """
    touching: dict[str, list[Channel]] = {actor.name: [] for actor in graph.actors}
    for channel in graph.channels:
        touching[channel.source].append(channel)
        if channel.target != channel.source:
            touching[channel.target].append(channel)

    rates: dict[str, Fraction] = {}
    repetitions: dict[str, int] = {}
    for actor in graph.actors:
        if actor.name in rates:
            continue
        rates[actor.name] = Fraction(1)
        component = [actor.name]
        waiting = deque(component)
        while waiting:
            here = waiting.popleft()
            for channel in touching[here]:
                for end, rate in _implied_rates(channel, rates):
                    if end not in rates:
                        rates[end] = rate
                        component.append(end)
                        waiting.append(end)
        denominator = lcm(*(rates[name].denominator for name in component))
        whole = {name: int(rates[name] * denominator) for name in component}
        divisor = gcd(*whole.values())
        repetitions.update((name, count // divisor) for name, count in whole.items())

    for channel in graph.channels:
        produced = repetitions[channel.source] * channel.production
        consumed = repetitions[channel.target] * channel.consumption
        if produced != consumed:
            raise GraphError(
                f"{channel_label(graph, channel)}: the graph is inconsistent: with production "
                f"{channel.production} and consumption {channel.consumption}, the other channels "
                f"ask for {repetitions[channel.source]} firings of {channel.source!r} and "
                f"{repetitions[channel.target]} of {channel.target!r} in an iteration, so that "
                f"{produced} tokens enter and {consumed} leave"
            )
    return {actor.name: repetitions[actor.name] for actor in graph.actors}


def _implied_rates(channel: Channel, rates: dict[str, Fraction]) -> list[tuple[str, Fraction]]:
    """What the channel's balance equation says about each end whose other end is known."""
    implied = []
    if channel.source in rates:
        factor = Fraction(channel.production, channel.consumption)
        implied.append((channel.target, rates[channel.source] * factor))
    if channel.target in rates:
        factor = Fraction(channel.consumption, channel.production)
        implied.append((channel.source, rates[channel.target] * factor))
    return implied


def strongly_connected_components(graph: SdfGraph) -> list[list[str]]:
    """Actors that reach each other along channels; parts and members in the graph's order."""
    position = {actor.name: index for index, actor in enumerate(graph.actors)}
    parts = [
        sorted(part, key=position.__getitem__)
        for part in nx.strongly_connected_components(graph.multigraph)
    ]
    return sorted(parts, key=lambda part: position[part[0]])

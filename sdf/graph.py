"""Synchronous dataflow graphs: actors that fire, channels that carry tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import networkx as nx

from sdf.errors import GraphError
from sdf.layer import Layer


@dataclass(frozen=True)
class Actor:
    """A node of a dataflow graph.

    ``layer`` is set where the actor is a layer of a network. ``execution_times`` maps a
    processor type to the time of one firing, in whatever unit the graph's source used.
    """

    name: str
    layer: Layer | None = None
    execution_times: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Channel:
    """A FIFO: each firing of ``source`` puts ``production`` tokens in, each of ``target`` takes
    ``consumption`` out; ``initial_tokens`` are there at the start (Tang 3.3: U and V).

    For networks a token is one tensor element.
    """

    source: str
    target: str
    production: int = 1
    consumption: int = 1
    initial_tokens: int = 0
    token_bytes: int = 4
    name: str = ""


@dataclass(frozen=True)
class SdfGraph:
    """An SDF graph. Actors and channels keep the order in which they were given.

    Raises:
        GraphError: on a repeated actor, a channel to an actor that does not exist, a rate below 1,
            or a negative number of tokens.
    """

    name: str
    actors: tuple[Actor, ...]
    channels: tuple[Channel, ...] = field(default=())
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What its file left open, and how it was read."""

    def __post_init__(self) -> None:
        names = [actor.name for actor in self.actors]
        if len(set(names)) != len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise GraphError(f"graph {self.name!r}: actor {repeated!r} is there more than once")
        known = set(names)
        for channel in self.channels:
            label = f"graph {self.name!r}: channel {channel.source!r} -> {channel.target!r}"
            for end in (channel.source, channel.target):
                if end not in known:
                    raise GraphError(f"{label}: there is no actor {end!r}")
            for what in ("production", "consumption", "token_bytes"):
                if getattr(channel, what) < 1:
                    raise GraphError(
                        f"{label}: {what} must be at least 1, got {getattr(channel, what)}"
                    )
            if channel.initial_tokens < 0:
                raise GraphError(
                    f"{label}: initial_tokens must be at least 0, got {channel.initial_tokens}"
                )

    @cached_property
    def multigraph(self) -> nx.MultiDiGraph[str]:
        """The same graph for networkx: nodes carry ``actor``, edges carry ``channel``."""
        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(name=self.name)
        for actor in self.actors:
            graph.add_node(actor.name, actor=actor)
        for channel in self.channels:
            graph.add_edge(channel.source, channel.target, channel=channel)
        return graph

    @cached_property
    def actor_by_name(self) -> dict[str, Actor]:
        """Actors by their names."""
        return {actor.name: actor for actor in self.actors}

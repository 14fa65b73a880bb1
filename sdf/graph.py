"""Dataflow graphs, synchronous or cyclo-static: actors that fire, channels that carry tokens."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.layer import Layer
from paretosoc.sdf.rates import PerPhase

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class Actor:
    """A node of a dataflow graph. It fires its phases in turn. With one phase, the actor is
    synchronous (SDF), with more it is cyclo-static (CSDF).

    ``layer`` is set if the actor is a layer of a network. ``execution_times`` maps a processor type
    to the time of a firing, in the unit that the graph's source used.
    """

    name: str
    layer: Layer | None = None
    execution_times: tuple[tuple[str, PerPhase], ...] = ()
    phases: tuple[str, ...] = ("",)
    """Names of the phases, empty if they have none."""


@dataclass(frozen=True)
class Channel:
    """A FIFO: each firing of ``source`` puts ``production`` tokens in, each of ``target`` takes
    ``consumption`` out. ``initial_tokens`` are there at the start (Tang 3.3: U and V).

    For networks a token is one tensor element.
    """

    source: str
    target: str
    production: PerPhase = 1
    consumption: PerPhase = 1
    initial_tokens: int = 0
    token_bytes: int = 4
    name: str = ""
    capacity: int | None = None
    """Tokens that it holds at most, or None if it has no bound. A firing takes the room for its
    results when it starts, and leaves that of its inputs when it ends."""

    @property
    def keeps_state(self) -> bool:
        """Return whether it only carries an actor's own state from each firing to a later one."""
        return (
            self.source == self.target
            and isinstance(self.production, int)
            and isinstance(self.consumption, int)
            and self.capacity is None
        )


def room_channel(channel: Channel, capacity: int) -> Channel:
    """Return the channel back that bounds this one to a capacity: its tokens are free places."""
    return Channel(
        channel.target,
        channel.source,
        channel.consumption,
        channel.production,
        capacity - channel.initial_tokens,
        channel.token_bytes,
        f"{channel.name}_room" if channel.name else "",
    )


@dataclass(frozen=True)
class SdfGraph:
    """An SDF or CSDF graph. Actors and channels keep the order in which they were given.

    Raises:
        GraphError: on a repeated actor, an actor without a phase, a channel to an actor that does
            not exist, a rate below 1 (of a cyclo-static actor: below 0, or 0 in all phases),
            figures that are not one per phase, a negative number of tokens, or less capacity.
    """

    name: str
    actors: tuple[Actor, ...]
    channels: tuple[Channel, ...] = field(default=())
    time_unit: str = ""
    """The unit of execution times, empty if the source does not say."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """The points that its file left open, and how they were read."""

    def __post_init__(self) -> None:
        names = [actor.name for actor in self.actors]
        if len(set(names)) != len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise GraphError(f"graph {self.name!r}: actor {repeated!r} is there more than once")
        for actor in self.actors:
            label = f"graph {self.name!r}: actor {actor.name!r}"
            if not actor.phases:
                raise GraphError(f"{label} must have a phase, got none")
            for kind, times in actor.execution_times:
                _check_entries(times, actor, f"{label}: execution time on {kind!r}")
        for channel in self.channels:
            self._check(channel)

    def _check(self, channel: Channel) -> None:
        label = f"graph {self.name!r}: channel {channel.source!r} -> {channel.target!r}"
        for what, end in (("production", channel.source), ("consumption", channel.target)):
            if end not in self.actor_by_name:
                raise GraphError(f"{label}: there is no actor {end!r}")
            rate: PerPhase = getattr(channel, what)
            if isinstance(rate, tuple):
                _check_entries(rate, self.actor_by_name[end], f"{label}: {what}")
                if min(rate) < 0 or not any(rate):
                    raise GraphError(
                        f"{label}: {what} must be at least 0 in every phase, and not always 0, "
                        f"got {min(rate)}"
                    )
            elif rate < 1:
                raise GraphError(f"{label}: {what} must be at least 1, got {rate}")
        if channel.token_bytes < 1:
            raise GraphError(f"{label}: token_bytes must be at least 1, got {channel.token_bytes}")
        if channel.initial_tokens < 0:
            raise GraphError(
                f"{label}: initial_tokens must be at least 0, got {channel.initial_tokens}"
            )
        if channel.capacity is not None and channel.capacity < channel.initial_tokens:
            raise GraphError(
                f"{label}: capacity must be at least its {channel.initial_tokens} initial tokens, "
                f"got {channel.capacity}"
            )

    @cached_property
    def with_rooms(self) -> SdfGraph:
        """Return the same graph without capacities. Channels back, after all others, take their
        place."""
        rooms = [room_channel(c, c.capacity) for c in self.channels if c.capacity is not None]
        if not rooms:
            return self
        channels = (*(replace(channel, capacity=None) for channel in self.channels), *rooms)
        return replace(self, channels=channels)

    @cached_property
    def multigraph(self) -> nx.MultiDiGraph[str]:
        """Return the same graph for networkx: nodes carry ``actor``, edges carry ``channel``."""
        import networkx as nx

        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(name=self.name)
        for actor in self.actors:
            graph.add_node(actor.name, actor=actor)
        for channel in self.channels:
            graph.add_edge(channel.source, channel.target, channel=channel)
        return graph

    @cached_property
    def actor_by_name(self) -> dict[str, Actor]:
        """Map names to actors."""
        return {actor.name: actor for actor in self.actors}


def _check_entries(figures: PerPhase, actor: Actor, label: str) -> None:
    if isinstance(figures, tuple) and len(figures) != len(actor.phases):
        raise GraphError(
            f"{label} must have one entry per phase of {actor.name!r} ({len(actor.phases)}), got "
            f"{len(figures)}"
        )

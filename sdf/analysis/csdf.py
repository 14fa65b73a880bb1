"""Cyclo-static dataflow (Bilsen et al. 1996): actors go through their phases once an iteration.

As a mapped network has them (Tang et al. 3.1, step 3): one actor per processor, one phase per piece
of work on it, always in the same order. On a channel every write puts in as many tokens as every
read takes out, and an iteration has as many writes as reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sdf.analysis.throughput import self_timed_throughput
from sdf.errors import GraphError
from sdf.graph import Actor, Channel, SdfGraph


@dataclass(frozen=True)
class Phase:
    """One firing in the cycle of an actor; ``time`` in the graph's unit."""

    name: str
    time: int


@dataclass(frozen=True)
class CsdfActor:
    """An actor that fires its phases in turn, one at a time."""

    name: str
    phases: tuple[Phase, ...]


@dataclass(frozen=True)
class CsdfChannel:
    """A FIFO of at most ``capacity`` tokens: phase k of ``source`` puts in ``production[k]``, phase
    k of ``target`` takes out ``consumption[k]``.

    A phase starts when its tokens and the room for what it writes are there. It takes the room when
    it starts; what it writes is there, and what it reads is gone, when it ends.
    """

    name: str
    source: str
    target: str
    production: tuple[int, ...]
    consumption: tuple[int, ...]
    initial_tokens: int
    capacity: int
    token_bytes: int = 4


@dataclass(frozen=True)
class CsdfGraph:
    """Actors and channels in the order given; ``time_unit`` is what phases count in.

    Raises:
        GraphError: on a name that stands twice, a channel to an actor that is not there, rates that
            do not have one entry per phase or do not match, or more initial tokens than room.
    """

    name: str
    actors: tuple[CsdfActor, ...]
    channels: tuple[CsdfChannel, ...]
    time_unit: str = "ps"

    def __post_init__(self) -> None:
        phases = {actor.name: len(actor.phases) for actor in self.actors}
        for names, what in (
            ([actor.name for actor in self.actors], "actor"),
            ([channel.name for channel in self.channels], "channel"),
        ):
            for name in names:
                if names.count(name) > 1:
                    raise GraphError(f"graph {self.name!r}: {what} {name!r} stands twice")
        for actor in self.actors:
            if not actor.phases or any(phase.time < 0 for phase in actor.phases):
                raise GraphError(
                    f"graph {self.name!r}: actor {actor.name!r} needs a phase, and no time below 0"
                )
        for channel in self.channels:
            label = f"graph {self.name!r}: channel {channel.name!r}"
            for end, rates in (
                (channel.source, channel.production),
                (channel.target, channel.consumption),
            ):
                if end not in phases:
                    raise GraphError(f"{label}: there is no actor {end!r}")
                if len(rates) != phases[end] or min(rates) < 0:
                    raise GraphError(
                        f"{label}: one rate >= 0 per phase of {end!r} ({phases[end]}) is required, "
                        f"got {len(rates)}"
                    )
            writes = [rate for rate in channel.production if rate]
            reads = [rate for rate in channel.consumption if rate]
            if not writes or len(set(writes + reads)) != 1 or len(writes) != len(reads):
                raise GraphError(f"{label}: must have as many reads as writes, all of one size")
            if channel.initial_tokens % writes[0]:
                raise GraphError(f"{label}: initial tokens must be whole writes of {writes[0]}")
            if not 0 <= channel.initial_tokens <= channel.capacity:
                raise GraphError(
                    f"{label}: initial tokens must be from 0 to the capacity, {channel.capacity}, "
                    f"got {channel.initial_tokens}"
                )


def csdf_period(graph: CsdfGraph, *, bounded: bool = True) -> Fraction:
    """Time units per iteration of self-timed execution, exactly.

    Args:
        bounded: channels hold their capacity at most; else as much as there comes.

    Raises:
        GraphError: where the graph is deadlocked.
    """
    unfolded = phase_graph(graph, bounded=bounded)
    times = {
        phase_actor(actor.name, k): phase.time
        for actor in graph.actors
        for k, phase in enumerate(actor.phases)
    }
    return self_timed_throughput(unfolded, times, auto_concurrency=True).period


def phase_actor(actor: str, phase: int) -> str:
    """Name of a phase in :func:`phase_graph`."""
    return f"{actor}/{phase}"


def phase_graph(graph: CsdfGraph, *, bounded: bool = True) -> SdfGraph:
    """The same graph with an actor per phase and all rates 1; a token is a whole write.

    The phases of an actor wait for each other in a ring with one token, before the first.
    """
    channels = []
    for actor in graph.actors:
        count = len(actor.phases)
        channels += [
            Channel(
                phase_actor(actor.name, k),
                phase_actor(actor.name, (k + 1) % count),
                initial_tokens=int(k + 1 == count),
            )
            for k in range(count)
        ]
    for channel in graph.channels:
        writers = [k for k, rate in enumerate(channel.production) if rate]
        readers = [k for k, rate in enumerate(channel.consumption) if rate]
        size = channel.production[writers[0]]
        ahead, room = channel.initial_tokens // size, channel.capacity // size
        channels += _links(channel.source, writers, channel.target, readers, ahead)
        if bounded:
            channels += _links(channel.target, readers, channel.source, writers, room - ahead)
    return SdfGraph(
        name=graph.name,
        actors=tuple(
            Actor(phase_actor(actor.name, k))
            for actor in graph.actors
            for k in range(len(actor.phases))
        ),
        channels=tuple(channels),
    )


def _links(
    source: str, givers: list[int], target: str, takers: list[int], ahead: int
) -> list[Channel]:
    """The n-th giving is for the taking ``ahead`` places later, perhaps in a later iteration."""
    links = []
    for place, giver in enumerate(givers):
        iterations, taker = divmod(place + ahead, len(takers))
        links.append(
            Channel(
                phase_actor(source, giver),
                phase_actor(target, takers[taker]),
                initial_tokens=iterations,
            )
        )
    return links

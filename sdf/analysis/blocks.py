"""One iteration of a dataflow graph as blocks: firings that one processor makes in one go.

All firings of an actor in an iteration are one block, if the tokens that it needs can all be there
before: it takes them from blocks before it, or from iterations before. Actors that have to fire by
turns, because a cycle of channels holds less than an iteration of tokens, are one block together.
Blocks in their order are a valid schedule of an iteration, and of as many iterations at once as
``most_iterations`` says. Firings of different processors overlap less in it than they could.
"""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.sdf.analysis.repetition import channel_label, check_live, repetition_vector
from paretosoc.sdf.graph import Channel, SdfGraph
from paretosoc.sdf.rates import Rate


@dataclass(frozen=True)
class BlockChannel:
    """A channel between two blocks, or within one, or the free places of a channel with a capacity,
    which pass back without data.

    ``is_earlier``: the target takes what an earlier iteration has left.
    """

    channel: Channel
    source: int
    target: int
    is_earlier: bool
    size: int
    """Bytes that pass in an iteration."""
    initial_size: int
    """Bytes of the initial tokens."""


@dataclass(frozen=True)
class BlockedIteration:
    """The blocks of an iteration, in an order of execution."""

    blocks: tuple[tuple[str, ...], ...]
    """Actors of each, in the graph's order."""
    repetitions: dict[str, int]
    """Firings of each actor."""
    channels: tuple[BlockChannel, ...]
    most_iterations: int | None
    """Iterations that may be under way at once, or None if any number may: channels with initial
    tokens let a block start so many iterations after the one that it reads."""
    limited_by: str
    """The channel that allows no more, for messages. Empty if there is none."""


def blocked_iteration(graph: SdfGraph) -> BlockedIteration:
    """Return the blocks of an iteration.

    Raises:
        GraphError: if the graph is inconsistent or deadlocks.
    """
    import networkx as nx

    check_live(graph)
    repetitions = repetition_vector(graph)
    position = {actor.name: number for number, actor in enumerate(graph.actors)}

    def moved(channel: Channel) -> int:
        return Rate(channel.consumption).moved(repetitions[channel.target])

    def ahead(channel: Channel) -> int:
        return channel.initial_tokens // moved(channel)

    within: nx.DiGraph[str] = nx.DiGraph()
    within.add_nodes_from(position)
    every = graph.with_rooms.channels
    bytes_of = [c.token_bytes for c in graph.channels] + [0] * (len(every) - len(graph.channels))
    within.add_edges_from((c.source, c.target) for c in every if not ahead(c))
    parts = nx.condensation(within)
    first = {n: min(map(position.__getitem__, parts.nodes[n]["members"])) for n in parts}
    order = list(nx.lexicographical_topological_sort(parts, key=first.__getitem__))
    place = {name: k for k, n in enumerate(order) for name in parts.nodes[n]["members"]}
    later = {k: {order.index(n) for n in nx.descendants(parts, m)} for k, m in enumerate(order)}
    # A block that follows another within the iteration is never too early for it.
    limits = [
        (ahead(channel), channel_label(graph, channel))
        for channel in every
        if ahead(channel)
        and place[channel.target] not in {place[channel.source], *later[place[channel.source]]}
    ]
    most = min(limits, default=None)
    return BlockedIteration(
        blocks=tuple(
            tuple(sorted(parts.nodes[n]["members"], key=position.__getitem__)) for n in order
        ),
        repetitions=repetitions,
        channels=tuple(
            BlockChannel(
                channel=channel,
                source=place[channel.source],
                target=place[channel.target],
                is_earlier=ahead(channel) > 0,
                size=moved(channel) * size,
                initial_size=channel.initial_tokens * size,
            )
            for channel, size in zip(every, bytes_of, strict=True)
        ),
        most_iterations=None if most is None else most[0],
        limited_by="" if most is None else most[1],
    )

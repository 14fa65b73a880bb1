"""Freedom from deadlock: one iteration executed abstractly, without time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from sdf.analysis.repetition import channel_label, repetition_vector, strongly_connected_components
from sdf.errors import GraphError
from sdf.graph import Channel, SdfGraph

FIRING_LIMIT = 1_000_000
"""Firings of an iteration within one strongly connected component that analyses unfold."""


@dataclass(frozen=True)
class Blocked:
    """Where an execution stands still: a cycle of channels, each too empty for its target."""

    channels: tuple[Channel, ...]
    """``channels[k].source == channels[k + 1].target``: each waits for the next one."""
    tokens: tuple[int, ...]
    """What each of them holds at that moment."""

    @property
    def actors(self) -> tuple[str, ...]:
        """The cycle in the direction of the tokens."""
        return tuple(channel.source for channel in reversed(self.channels))


def check_live(graph: SdfGraph) -> None:
    """Say whether the graph can run forever: each strongly connected component is executed for
    the smallest whole number of firings that brings its channels back to where they were (Lee
    and Messerschmitt 1987). Components that only feed each other one way cannot block.

    Raises:
        GraphError: if the graph is inconsistent, if a cycle holds too few tokens (deadlock: the
            message names its actors), or if those firings exceed ``FIRING_LIMIT``.
    """
    repetitions = repetition_vector(graph)
    for part in strongly_connected_components(graph):
        inner = channels_within(graph, part)
        if not inner:
            continue
        counts = component_repetitions(graph, part, repetitions)
        _, blocked = execute_iteration(part, inner, counts, [c.initial_tokens for c in inner])
        if blocked is not None:
            raise GraphError(_deadlock_message(graph, blocked))


def component_repetitions(
    graph: SdfGraph, part: Sequence[str], repetitions: Mapping[str, int]
) -> list[int]:
    """The part's share of the repetition vector over its greatest common divisor.

    Raises:
        GraphError: if that is more than ``FIRING_LIMIT`` firings.
    """
    divisor = gcd(*(repetitions[name] for name in part))
    counts = [repetitions[name] // divisor for name in part]
    check_firings(graph, part, sum(counts))
    return counts


def check_firings(graph: SdfGraph, part: Sequence[str], firings: int) -> None:
    """Refuse to unfold more than ``FIRING_LIMIT`` firings of the connected actors of ``part``."""
    if firings > FIRING_LIMIT:
        raise GraphError(
            f"graph {graph.name!r}: the {len(part)} connected actors around {part[0]!r} fire "
            f"{firings} times in an iteration; at most {FIRING_LIMIT} firings are analysed"
        )


def execute_iteration(
    actors: Sequence[str],
    channels: Sequence[Channel],
    repetitions: Sequence[int],
    initial_tokens: Sequence[int],
) -> tuple[list[tuple[str, int]], Blocked | None]:
    """Fire every actor as often as ``repetitions`` says, or until nothing can fire.

    The order does not matter for whether it ends: a firing never disables another actor's.
    Channels must join actors of ``actors``; ``initial_tokens`` go with ``channels``.

    Returns:
        (actor, firings in a row) in the order executed, a periodic admissible sequential
        schedule if all fired; and where it blocked (None if it did not).
    """
    index = {name: number for number, name in enumerate(actors)}
    incoming: list[list[int]] = [[] for _ in actors]
    outgoing: list[list[int]] = [[] for _ in actors]
    for number, channel in enumerate(channels):
        incoming[index[channel.target]].append(number)
        outgoing[index[channel.source]].append(number)
    tokens = list(initial_tokens)
    left = list(repetitions)
    order: list[tuple[str, int]] = []
    waiting = deque(range(len(actors)))
    queued = [True] * len(actors)
    while waiting:
        actor = waiting.popleft()
        queued[actor] = False
        count = left[actor]
        for number in incoming[actor]:
            channel = channels[number]
            possible = tokens[number] // channel.consumption
            # A balanced self-loop gives back what it takes: one firing's worth is enough.
            if channel.source == channel.target and possible:
                continue
            count = min(count, possible)
        if not count:
            continue
        left[actor] -= count
        order.append((actors[actor], count))
        for number in incoming[actor]:
            tokens[number] -= count * channels[number].consumption
        for number in outgoing[actor]:
            channel = channels[number]
            tokens[number] += count * channel.production
            target = index[channel.target]
            if left[target] and not queued[target]:
                queued[target] = True
                waiting.append(target)
    if not any(left):
        return order, None
    return order, _blocked_cycle(channels, incoming, index, left, tokens)


def _blocked_cycle(
    channels: Sequence[Channel],
    incoming: list[list[int]],
    index: dict[str, int],
    left: list[int],
    tokens: list[int],
) -> Blocked:
    """Follow, from an unfinished actor, a channel that is too empty, until an actor returns."""
    actor = next(number for number, count in enumerate(left) if count)
    path: list[int] = []
    seen: dict[int, int] = {}
    while actor not in seen:
        seen[actor] = len(path)
        # The source of such a channel is unfinished too: had it fired all its times, the balance
        # equations would leave enough tokens for the target's remaining firings.
        number = next(n for n in incoming[actor] if tokens[n] < channels[n].consumption)
        path.append(number)
        actor = index[channels[number].source]
    cycle = path[seen[actor] :]
    return Blocked(tuple(channels[n] for n in cycle), tuple(tokens[n] for n in cycle))


def _deadlock_message(graph: SdfGraph, blocked: Blocked) -> str:
    names = [repr(name) for name in blocked.actors]
    cycle = " -> ".join([*names, names[0]])
    channel = blocked.channels[0]
    return (
        f"{channel_label(graph, channel)}: deadlock: the cycle {cycle} has too few initial tokens; "
        f"the execution stops where this channel holds {blocked.tokens[0]} of the "
        f"{channel.consumption} tokens that {channel.target!r} takes"
    )


def channels_within(graph: SdfGraph, part: Sequence[str]) -> list[Channel]:
    """The channels whose both ends are in ``part``, in the graph's order."""
    members = set(part)
    return [c for c in graph.channels if c.source in members and c.target in members]

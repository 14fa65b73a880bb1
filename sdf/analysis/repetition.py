"""Consistency, the repetition vector and liveness of a dataflow graph (Lee and Messerschmitt 1987,
and Bilsen et al. 1996 for actors with phases)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Channel, SdfGraph
from paretosoc.sdf.rates import PerPhase, Rate, cycle_total


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
    graph's order."""
    import networkx as nx

    position = {actor.name: index for index, actor in enumerate(graph.actors)}
    parts = [
        sorted(part, key=position.__getitem__)
        for part in nx.strongly_connected_components(graph.multigraph)
    ]
    return sorted(parts, key=lambda part: position[part[0]])


FIRING_LIMIT = 1_000_000
"""Firings of an iteration within one strongly connected component that analyses unfold."""


@dataclass(frozen=True)
class Blocked:
    """The cycle of channels, each too empty for its target, that stops an execution."""

    channels: tuple[Channel, ...]
    """``channels[k].source == channels[k + 1].target``: each waits for the next one."""
    tokens: tuple[int, ...]
    """The tokens that each of them holds at that moment."""
    needed: tuple[int, ...]
    """The tokens that the next firing of each one's target takes."""

    @property
    def actors(self) -> tuple[str, ...]:
        """Return the cycle in the direction of the tokens."""
        return tuple(channel.source for channel in reversed(self.channels))


def check_live(graph: SdfGraph) -> None:
    """Check that the graph can run forever. Each strongly connected component is executed for the
    smallest numbers of firings that bring its channels back to their initial state (Lee and
    Messerschmitt 1987). Components that only feed each other one way cannot block.

    Raises:
        GraphError: if the graph is inconsistent, if a cycle holds too few tokens (deadlock: the
            message names its actors), or if those firings exceed ``FIRING_LIMIT``.
    """
    graph = graph.with_rooms
    repetitions = repetition_vector(graph)
    for part, inner in components(graph):
        if not inner:
            continue
        counts = component_repetitions(graph, part, repetitions)
        _, blocked = execute_iteration(part, inner, counts, [c.initial_tokens for c in inner])
        if blocked is not None:
            raise GraphError(_deadlock_message(graph, blocked))


def component_repetitions(
    graph: SdfGraph, part: Sequence[str], repetitions: Mapping[str, int]
) -> list[int]:
    """Return the fewest firings of the part that bring its channels back to their initial state.

    Raises:
        GraphError: if that is more than ``FIRING_LIMIT`` firings.
    """
    divisor = iterations_of_part(graph, part, repetitions)
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

    The order does not decide whether it ends, since a firing never disables another actor's.
    Channels must join actors of ``actors``. ``initial_tokens`` go with ``channels``.

    Returns:
        (actor, firings in a row) in the order executed, a periodic admissible sequential schedule
        if all fired, and the cycle that blocked it (None if none did).
    """
    index = {name: number for number, name in enumerate(actors)}
    incoming: list[list[int]] = [[] for _ in actors]
    outgoing: list[list[int]] = [[] for _ in actors]
    for number, channel in enumerate(channels):
        incoming[index[channel.target]].append(number)
        outgoing[index[channel.source]].append(number)
    produced = [Rate(channel.production) for channel in channels]
    consumed = [Rate(channel.consumption) for channel in channels]
    tokens = list(initial_tokens)
    fired = [0] * len(actors)
    order: list[tuple[str, int]] = []
    waiting = deque(range(len(actors)))
    queued = [True] * len(actors)
    while waiting:
        actor = waiting.popleft()
        queued[actor] = False
        before = fired[actor]
        after = repetitions[actor]
        for number in incoming[actor]:
            enough = consumed[number].most(tokens[number] + consumed[number].moved(before))
            # A balanced self-loop gives back what it takes: one firing's worth is enough.
            if enough == before or not channels[number].keeps_state:
                after = min(after, enough)
        if after == before:
            continue
        fired[actor] = after
        order.append((actors[actor], after - before))
        for number in incoming[actor]:
            tokens[number] -= consumed[number].moved(after) - consumed[number].moved(before)
        for number in outgoing[actor]:
            tokens[number] += produced[number].moved(after) - produced[number].moved(before)
            target = index[channels[number].target]
            if fired[target] < repetitions[target] and not queued[target]:
                queued[target] = True
                waiting.append(target)
    if fired == list(repetitions):
        return order, None
    needed = [
        rate.moved(fired[index[channel.target]] + 1) - rate.moved(fired[index[channel.target]])
        for channel, rate in zip(channels, consumed, strict=True)
    ]
    unfinished = next(n for n, count in enumerate(fired) if count < repetitions[n])
    return order, _blocked_cycle(channels, incoming, index, unfinished, tokens, needed)


def _blocked_cycle(
    channels: Sequence[Channel],
    incoming: list[list[int]],
    index: dict[str, int],
    actor: int,
    tokens: list[int],
    needed: list[int],
) -> Blocked:
    """Follow, from an unfinished actor, a channel that is too empty, until an actor returns."""
    path: list[int] = []
    seen: dict[int, int] = {}
    while actor not in seen:
        seen[actor] = len(path)
        # The source of such a channel is unfinished too: had it fired all its times, the balance
        # equations would leave enough tokens for the target's remaining firings.
        number = next(n for n in incoming[actor] if tokens[n] < needed[n])
        path.append(number)
        actor = index[channels[number].source]
    cycle = path[seen[actor] :]
    return Blocked(
        tuple(channels[n] for n in cycle),
        tuple(tokens[n] for n in cycle),
        tuple(needed[n] for n in cycle),
    )


def _deadlock_message(graph: SdfGraph, blocked: Blocked) -> str:
    names = [repr(name) for name in blocked.actors]
    cycle = " -> ".join([*names, names[0]])
    channel = blocked.channels[0]
    return (
        f"{channel_label(graph, channel)}: deadlock: the cycle {cycle} has too few initial tokens; "
        f"the execution stops where this channel holds {blocked.tokens[0]} of the "
        f"{blocked.needed[0]} tokens that {channel.target!r} takes"
    )


def components(graph: SdfGraph) -> list[tuple[list[str], list[Channel]]]:
    """Return the strongly connected components, each with the channels inside it, in the graph's
    order."""
    parts = strongly_connected_components(graph)
    part_of = {name: number for number, part in enumerate(parts) for name in part}
    inner: list[list[Channel]] = [[] for _ in parts]
    for channel in graph.channels:
        if part_of[channel.source] == part_of[channel.target]:
            inner[part_of[channel.source]].append(channel)
    return list(zip(parts, inner, strict=True))

"""Graphs with bounded channels: storage distributions and what they allow.

A channel of capacity B is modelled by a channel in the other direction that starts with
B - initial_tokens tokens (Stuijk, Geilen and Basten, Exploring Trade-offs in Buffer Requirements
and Throughput Constraints for Synchronous Dataflow Graphs, DAC 2006): a firing claims the space
for its results when it starts, and gives back the space of what it took when it ends. Self-loops
carry an actor's own state; they are not bounded, and count with their initial tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

import numpy as np

from sdf.analysis.cycle_ratio import CycleRatio, maximum_cycle_ratio
from sdf.analysis.firing_graph import Dependence, IntArray, build_firing_graph
from sdf.analysis.liveness import check_firings
from sdf.analysis.repetition import channel_label, repetition_vector
from sdf.analysis.throughput import Throughput, actors_on, check_times, dependences_of
from sdf.errors import GraphError
from sdf.graph import Channel, SdfGraph


@dataclass(frozen=True)
class StorageDistribution:
    """A capacity for every channel, and the throughput that it allows."""

    capacities: tuple[int, ...]
    """Tokens, in the order of the graph's channels; >= initial tokens."""
    throughput: Throughput

    @property
    def tokens(self) -> int:
        """Sum of the capacities: the size of the distribution."""
        return sum(self.capacities)

    def bytes(self, graph: SdfGraph) -> int:
        """Memory that the distribution takes, all channels apart."""
        return sum(
            capacity * channel.token_bytes
            for capacity, channel in zip(self.capacities, graph.channels, strict=True)
        )


def smallest_capacity(channel: Channel) -> int:
    """The least capacity with which the channel's two ends alone do not deadlock: p + c - g +
    d mod g, g the greatest common divisor of the rates p and c, d the initial tokens; at least d
    (Stuijk, Geilen and Basten 2006). A self-loop needs what it starts with."""
    tokens = channel.initial_tokens
    if channel.source == channel.target:
        return tokens
    divisor = gcd(channel.production, channel.consumption)
    return max(tokens, channel.production + channel.consumption - divisor + tokens % divisor)


def capacity_step(channel: Channel) -> int:
    """Capacities between multiples of this (from the smallest one) change nothing."""
    return gcd(channel.production, channel.consumption)


def bounded_throughput(
    graph: SdfGraph,
    times: Mapping[str, int],
    capacities: Sequence[int],
    *,
    auto_concurrency: bool = False,
) -> Throughput | None:
    """The self-timed throughput with channels of these capacities; None if it deadlocks.

    Args:
        capacities: tokens, in the order of the graph's channels.

    Raises:
        GraphError: if the graph is inconsistent or has too many firings, if a time is missing or
            negative, if there is not one capacity per channel, or one is below the initial tokens.
    """
    bounded = BoundedGraph(graph, times, auto_concurrency=auto_concurrency)
    if len(capacities) != len(graph.channels):
        raise GraphError(
            f"graph {graph.name!r}: {len(graph.channels)} channels need as many capacities, got "
            f"{len(capacities)}"
        )
    for channel, capacity in zip(graph.channels, capacities, strict=True):
        if capacity < channel.initial_tokens:
            raise GraphError(
                f"{channel_label(graph, channel)}: the capacity must be at least its "
                f"{channel.initial_tokens} initial tokens, got {capacity}"
            )
    return bounded.throughput(bounded.ratio(tuple(capacities)))


class BoundedGraph:
    """A graph whose firings are unfolded once and whose capacities are changed and tried."""

    def __init__(
        self, graph: SdfGraph, times: Mapping[str, int], *, auto_concurrency: bool
    ) -> None:
        check_times(graph, times)
        self.graph = graph
        self.names = [actor.name for actor in graph.actors]
        self.times = [times[name] for name in self.names]
        repetitions = repetition_vector(graph)
        self.counts = [repetitions[name] for name in self.names]
        check_firings(graph, self.names, sum(self.counts))
        self.work_per_iteration = sum(
            time * count for time, count in zip(self.times, self.counts, strict=True)
        )
        dependences = dependences_of(
            self.names, list(graph.channels), auto_concurrency=auto_concurrency
        )
        self.bounded = [
            number
            for number, channel in enumerate(graph.channels)
            if channel.source != channel.target
        ]
        """Channels that have a capacity."""
        self._reverse: dict[int, int] = {}
        for number in self.bounded:
            channel = graph.channels[number]
            forward = dependences[number]
            self._reverse[number] = len(dependences)
            dependences.append(
                Dependence(
                    forward.target, forward.source, channel.consumption, channel.production, 0
                )
            )
        self._channel_of = {reverse: number for number, reverse in self._reverse.items()}
        self.firings = build_firing_graph(self.counts, dependences)

    def ratio(
        self, capacities: Sequence[int | None], *, at_least: Fraction = Fraction(0)
    ) -> CycleRatio:
        """The cycle ratio with these capacities; None leaves a channel unbounded as far as
        periods of ``at_least`` and longer (or, without it, deadlocks) can tell."""
        for number in self.bounded:
            channel = self.graph.channels[number]
            capacity = capacities[number]
            if capacity is None:
                space = self._practically_unbounded(number, at_least)
            else:
                space = capacity - channel.initial_tokens
            self.firings.set_tokens(self._reverse[number], space)
        return maximum_cycle_ratio(self.firings, self.times, at_least=at_least)

    def throughput(self, ratio: CycleRatio) -> Throughput | None:
        """The same for people; None if deadlocked."""
        if ratio.period is None:
            return None
        return Throughput(ratio.period, actors_on(self.firings, self.names, ratio.edges))

    def growth(self, ratio: CycleRatio) -> dict[int, int]:
        """For every channel whose capacity is on the cycle: the tokens that it must grow by
        before an edge of the cycle changes. With less on all of them the cycle stays as it is, so
        any better distribution has one of these or more (the storage dependencies of Stuijk,
        Geilen and Basten 2006, with the size of the step made exact)."""
        firings = self.firings
        growth: dict[int, int] = {}
        target = None
        for position, edge in enumerate(ratio.edges):
            # edges[k + 1] ends where edges[k] begins, so the one before gives this one's target.
            target = int(firings.source[ratio.edges[position - 1]])
            dependence = int(firings.dependence[edge])
            if dependence not in self._channel_of:
                continue
            rates = firings.dependences[dependence]
            source = int(firings.source[edge])
            supplied = source - int(firings.first_node[rates.source])
            supplied -= int(firings.delay[edge]) * self.counts[rates.source]
            claimed = target - int(firings.first_node[rates.target])
            enough = (claimed + 1) * rates.consumption - supplied * rates.production
            more = enough - firings.tokens[dependence]
            channel = self._channel_of[dependence]
            growth[channel] = min(growth.get(channel, more), more)
        return growth

    def sufficient_capacities(self, period: Fraction) -> list[int] | None:
        """Capacities with which a periodic schedule of this period, built for unbounded channels,
        still is one; None if there is none. They are sound, not smallest.

        Args:
            period: time units per iteration, > 0.
        """
        ratio = self.ratio([None] * len(self.graph.channels), at_least=period)
        if ratio.period != period or ratio.starts is None:
            return None
        scale, length = period.denominator, period.numerator
        first = self.firings.first_node
        capacities = []
        for number, channel in enumerate(self.graph.channels):
            least = smallest_capacity(channel)
            if number in self._reverse:
                rates = self.firings.dependences[number]
                ends = ratio.starts[first[rates.target] : first[rates.target + 1]]
                ends = ends + self.times[rates.target] * scale
                starts = ratio.starts[first[rates.source] : first[rates.source + 1]]
                space = _space_needed(starts, ends, length, rates)
                least = max(least, space + channel.initial_tokens)
            capacities.append(least)
        return capacities

    def _practically_unbounded(self, number: int, period: Fraction) -> int:
        """Space that makes every edge wait for a firing so many iterations back that no cycle
        through it takes longer than ``period`` per iteration: all firings of an iteration take
        ``work_per_iteration``, and no simple cycle holds a firing twice."""
        channel = self.graph.channels[number]
        moved = self.counts[self.firings.dependences[number].source] * channel.production
        iterations = 1
        if period:
            iterations += -(-self.work_per_iteration // period)
        return (iterations + 1) * moved


def _space_needed(starts: IntArray, ends: IntArray, length: int, rates: Dependence) -> int:
    """Free tokens at the start with which each producer's firing finds the space it claims.

    Args:
        starts: [q of the producer] starts of its firings in iteration 0.
        ends: [q of the consumer] ends of its firings in iteration 0.
        length: the period, in the same unit.
    """
    firings = len(ends)
    # From the second of two iterations on: the latest end of this firing and all before it.
    latest = np.maximum.accumulate(np.concatenate([ends - length, ends]))[firings:]
    iteration = (starts - latest[0]) // length
    within = np.searchsorted(latest, starts - iteration * length, side="right")
    released = iteration * firings + within
    claimed = np.arange(1, len(starts) + 1)
    return max(
        int(c) * rates.production - int(r) * rates.consumption
        for c, r in zip(claimed, released, strict=True)
    )

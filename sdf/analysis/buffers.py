"""Graphs with bounded channels: storage distributions and the throughput that they allow.

A channel of capacity B is modelled by a channel in the other direction that starts with B -
initial_tokens tokens (Stuijk, Geilen and Basten, Exploring Trade-offs in Buffer Requirements and
Throughput Constraints for Synchronous Dataflow Graphs, DAC 2006): a firing claims the space for its
results when it starts, and gives back the space of the tokens that it took when it ends. Capacities
that the graph itself states are upper bounds. Self-loops of one rate carry an actor's own state.
Unless the graph bounds them, they are not bounded, and count with their initial tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from paretosoc.sdf.analysis.cycle_ratio import CycleRatio, maximum_cycle_ratio
from paretosoc.sdf.analysis.firing_graph import SAFE_BITS, Dependence
from paretosoc.sdf.analysis.repetition import check_firings, repetition_vector
from paretosoc.sdf.analysis.throughput import Throughput, check_times, firing_model
from paretosoc.sdf.graph import Channel, SdfGraph, room_channel
from paretosoc.sdf.rates import IntArray, PerPhase, Rate

SETUP_WORK = 16
"""Relaxations of an edge that take as long as its part in setting up a trial of capacities."""


@dataclass(frozen=True)
class StorageDistribution:
    """A capacity for every channel, and the throughput that it allows."""

    capacities: tuple[int, ...]
    """Tokens, in the order of the graph's channels, >= initial tokens."""
    throughput: Throughput

    @property
    def tokens(self) -> int:
        """Sum of the capacities: the size of the distribution."""
        return sum(self.capacities)


def smallest_capacity(channel: Channel) -> int:
    """Return the smallest capacity with which the channel's two ends alone do not deadlock. It is
    never less than the initial tokens d.

    Before its firing n, the reader has ended n firings, and the last write that it waits for must
    have started: the channel then holds d, and all writes up to that one, less n reads. With one
    rate p and one c, g their greatest common divisor, that is at most p + c - g + d mod g (Stuijk,
    Geilen and Basten 2006). A self-loop that keeps an actor's state needs its initial tokens. In
    any other, firing n takes the room for its write before the read of firing n ends.
    """
    tokens = channel.initial_tokens
    if channel.keeps_state:
        return tokens
    if (
        channel.source != channel.target
        and isinstance(channel.production, int)
        and isinstance(channel.consumption, int)
    ):
        divisor = capacity_step(channel)
        return max(tokens, channel.production + channel.consumption - divisor + tokens % divisor)
    production, consumption = Rate(channel.production), Rate(channel.consumption)
    if channel.source == channel.target:
        firings = _numbers(max(production.phases, consumption.phases), tokens)
        writes = firings + 1
    else:
        moved = lcm(production.moved(production.phases), consumption.moved(consumption.phases))
        firings = _numbers(consumption.most(moved), moved + tokens)
        read = consumption.moved_by_each(firings + 1)
        firings, read = (a[read > consumption.moved_by_each(firings)] for a in (firings, read))
        writes = production.last_needed(read - tokens) + 1
    held = tokens + production.moved_by_each(writes) - consumption.moved_by_each(firings)
    return max(tokens, int(held.max()))


def _numbers(count: int, largest: int) -> IntArray:
    """Return 0, 1, ... as integers of a type that can hold twice ``largest``."""
    return np.arange(count).astype(object if largest >> SAFE_BITS else np.int64)


def capacity_step(channel: Channel) -> int:
    """Return the step between capacities that matter: those between two multiples of it, counted
    from the smallest capacity, change nothing."""
    rates = (channel.production, channel.consumption)
    return gcd(*(entry for rate in rates for entry in ((rate,) if isinstance(rate, int) else rate)))


class BoundedGraph:
    """A graph whose firings are unfolded once and whose capacities are changed and tried. An actor
    does not fire again while it fires."""

    def __init__(self, graph: SdfGraph, times: Mapping[str, PerPhase]) -> None:
        check_times(graph, times)
        self.graph = graph
        self.limits = [channel.capacity for channel in graph.channels]
        """The capacities that the graph states."""
        names = [actor.name for actor in graph.actors]
        repetitions = repetition_vector(graph)
        check_firings(graph, names, sum(repetitions.values()))
        self.bounded = [
            number for number, channel in enumerate(graph.channels) if not channel.keeps_state
        ]
        """Channels that have a capacity."""
        channels = list(graph.channels)
        rooms = [room_channel(channels[n], channels[n].initial_tokens) for n in self.bounded]
        self._initial = [channel.initial_tokens for channel in channels]
        self._reverse = {n: len(channels) + place for place, n in enumerate(self.bounded)}
        self._channel_of = {reverse: number for number, reverse in self._reverse.items()}
        self._model = firing_model(
            names, channels + rooms, [repetitions[name] for name in names], times, overlapping=False
        )
        self.firings = self._model.unfolded()
        self._trials = 0
        self.work_per_iteration = self.firings.total_time
        self._moved = [
            Rate(channel.production).moved(repetitions[channel.source]) for channel in channels
        ]
        """Tokens through each channel in an iteration."""
        self.smallest = [smallest_capacity(channel) for channel in channels]

    @property
    def work(self) -> int:
        """Return the cost of all trials so far, in relaxed edges. Setting up a trial counts, too,
        since it takes time for every edge."""
        return self.firings.work + SETUP_WORK * self._trials * len(self.firings.source)

    def ratio(
        self, capacities: Sequence[int | None], *, at_least: Fraction = Fraction(0)
    ) -> CycleRatio:
        """Return the cycle ratio with these capacities. A capacity of None leaves the channel
        unbounded, as far as periods of at least ``at_least`` (by default: deadlocks) can tell."""
        self._trials += 1
        unbounded = 2
        if at_least:
            # All firings of an iteration take no more than this, and no simple cycle holds a firing
            # twice: with every edge so many iterations back, none takes longer than ``at_least``.
            unbounded += -(-self.work_per_iteration // at_least)
        for number, reverse in self._reverse.items():
            capacity = capacities[number]
            if capacity is None:
                space = unbounded * self._moved[number]
            else:
                space = capacity - self._initial[number]
            if space != self.firings.tokens[reverse]:
                self.firings.set_tokens(reverse, space)
        return maximum_cycle_ratio(self.firings, at_least=at_least)

    def throughput(self, ratio: CycleRatio) -> Throughput | None:
        """Return a cycle ratio as a :class:`Throughput`, or None if it deadlocks."""
        if ratio.period is None:
            return None
        return Throughput(ratio.period, self._model.actors_on(self.firings, ratio.edges))

    def growth(self, ratio: CycleRatio) -> dict[int, int]:
        """Return, for every channel whose capacity is on the cycle, the tokens that it must grow by
        before an edge of the cycle changes. With smaller growth on all of them the cycle stays as
        it is, so any better distribution has at least one of these (the storage dependencies of
        Stuijk, Geilen and Basten 2006, with the size of the step made exact)."""
        firings = self.firings
        growth: dict[int, int] = {}
        for position, edge in enumerate(ratio.edges):
            # edges[k + 1] ends at the start of edges[k], so the one before gives this one's target.
            target = int(firings.source[ratio.edges[position - 1]])
            dependence = int(firings.dependence[edge])
            if dependence not in self._channel_of:
                continue
            rates = firings.dependences[dependence]
            source = int(firings.source[edge])
            supplied = source - int(firings.first_node[rates.source])
            supplied -= int(firings.delay[edge]) * firings.repetitions[rates.source]
            claimed = target - int(firings.first_node[rates.target])
            enough = rates.consumption.moved(claimed + 1) - rates.production.moved(supplied)
            more = enough - firings.tokens[dependence]
            channel = self._channel_of[dependence]
            growth[channel] = min(growth.get(channel, more), more)
        return growth

    def sufficient_capacities(self, period: Fraction) -> list[int] | None:
        """Return capacities that allow a periodic schedule of this period, or None if there is
        none. The schedule is built with no other bounds than the graph's own. The capacities are
        sound, not smallest.

        Args:
            period: time units per iteration, > 0.
        """
        ratio = self.ratio(self.limits, at_least=period)
        if ratio.period != period or ratio.starts is None:
            return None
        scale, length = period.denominator, period.numerator
        first = self.firings.first_node
        capacities = []
        for number, channel in enumerate(self.graph.channels):
            least = self.smallest[number]
            if number in self._reverse:
                rates = self.firings.dependences[self._reverse[number]]
                released = slice(first[rates.source], first[rates.source + 1])
                ends = ratio.starts[released] + self.firings.time[released] * scale
                starts = ratio.starts[first[rates.target] : first[rates.target + 1]]
                space = _space_needed(starts, ends, length, rates)
                least = max(least, space + channel.initial_tokens)
            capacities.append(least)
        return capacities


def _space_needed(starts: IntArray, ends: IntArray, length: int, rates: Dependence) -> int:
    """Return the free tokens with which each writer's firing finds the space it claims, by its
    starts and the reader's ends in iteration 0, [firings]."""
    firings = len(ends)
    # From the second of two iterations on: the latest end of this firing and all before it.
    latest = np.maximum.accumulate(np.concatenate([ends - length, ends]))[firings:]
    iteration = (starts - latest[0]) // length
    within = np.searchsorted(latest, starts - iteration * length, side="right")
    released = iteration * firings + within
    return max(
        rates.consumption.moved(claimed) - rates.production.moved(int(ended))
        for claimed, ended in enumerate(released, start=1)
    )

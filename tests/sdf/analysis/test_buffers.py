"""Buffers against plain simulation of bounded channels, and exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import gcd, lcm

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paretosoc.sdf.analysis import buffer_search
from paretosoc.sdf.analysis.buffer_search import (
    buffers_for_throughput,
    deadlock_free_buffers,
    throughput_buffer_trade_off,
)
from paretosoc.sdf.analysis.buffers import smallest_capacity
from paretosoc.sdf.analysis.repetition import check_live, repetition_vector
from paretosoc.sdf.analysis.throughput import self_timed_throughput
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from tests.support.bounded_channels import bounded_throughput

Timed = tuple[SdfGraph, dict[str, int]]


@st.composite
def live_graph(draw: st.DrawFn, channels: int = 3) -> Timed:
    """A connected, live graph of a few channels: a tree, cross links, feedback, self-loops."""
    count = draw(st.integers(2, 3))
    vector = draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    pairs = [(draw(st.integers(0, n - 1)), n) for n in range(1, count)]
    ends = st.integers(0, count - 1)
    pairs += draw(st.lists(st.tuples(ends, ends), max_size=channels - len(pairs)))
    made = []
    for source, target in pairs:
        divisor = gcd(vector[source], vector[target])
        tokens = draw(st.integers(0, 2))
        if source >= target:
            tokens += lcm(vector[source], vector[target])
        made.append(
            Channel(
                f"a{source}",
                f"a{target}",
                vector[target] // divisor,
                vector[source] // divisor,
                tokens,
            )
        )
    names = [f"a{n}" for n in range(count)]
    times = dict(zip(names, draw(st.lists(st.integers(1, 4), min_size=3)), strict=False))
    graph = SdfGraph("g", tuple(map(Actor, names)), tuple(made))
    try:
        check_live(graph)
    except GraphError:
        assume(False)
    return graph, times


def simulated_period(
    graph: SdfGraph, times: dict[str, int], capacities: tuple[int, ...]
) -> Fraction | None:
    """Ticks per iteration with bounded channels: the space for results is taken at the start of
    a firing, that of its inputs given back at its end. None if everything stops."""
    names = list(times)
    tokens = [channel.initial_tokens for channel in graph.channels]
    filled = list(tokens)
    loops = [c.source == c.target for c in graph.channels]
    running: list[tuple[str, int]] = []
    seen: dict[tuple[object, ...], tuple[int, int]] = {}
    fired = tick = 0

    def can_start(name: str) -> bool:
        return name not in dict(running) and all(
            (c.target != name or tokens[n] >= c.consumption)
            and (loops[n] or c.source != name or capacities[n] - filled[n] >= c.production)
            for n, c in enumerate(graph.channels)
        )

    while True:
        for name in names:
            while can_start(name):
                for n, c in enumerate(graph.channels):
                    if c.target == name:
                        tokens[n] -= c.consumption
                    if c.source == name:
                        filled[n] += c.production
                running.append((name, times[name]))
                fired += name == names[0]
        if not running:
            return None
        state = (tuple(tokens), tuple(filled), tuple(sorted(running)))
        if state in seen:
            before, fired_before = seen[state]
            share = repetition_vector(graph)[names[0]]
            return Fraction((tick - before) * share, fired - fired_before)
        seen[state] = (tick, fired)
        tick += 1
        for name, left in running:
            if left == 1:
                for n, c in enumerate(graph.channels):
                    if c.source == name:
                        tokens[n] += c.production
                    if c.target == name:
                        filled[n] -= c.consumption
        running = [(name, left - 1) for name, left in running if left > 1]


@contextmanager
def distributions_tried(most: int) -> Iterator[None]:
    """Let searches try so many distributions."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(buffer_search, "MAX_DISTRIBUTIONS", most)
        yield


def distributions(graph: SdfGraph, size: int) -> Iterator[tuple[int, ...]]:
    """All of exactly this size that hold the initial tokens."""

    def rest(channels: tuple[Channel, ...], size: int) -> Iterator[tuple[int, ...]]:
        if not channels:
            if size == 0:
                yield ()
            return
        tokens = channels[0].initial_tokens
        loop = channels[0].source == channels[0].target
        for capacity in [tokens] if loop else range(tokens, size + 1):
            for others in rest(channels[1:], size - capacity):
                yield (capacity, *others)

    yield from rest(graph.channels, size)


def best_periods(graph: SdfGraph, times: dict[str, int], sizes: range) -> dict[int, Fraction]:
    """The shortest period of every size at which the graph runs at all, by trying everything."""
    found = {}
    for size in sizes:
        periods = [
            simulated_period(graph, times, capacities) for capacities in distributions(graph, size)
        ]
        running = [period for period in periods if period is not None]
        if running:
            found[size] = min(running)
    return found


@settings(derandomize=True, deadline=None, max_examples=100)
@given(live_graph(5), st.lists(st.integers(0, 6), min_size=6, max_size=6))
def test_a_bounded_graph_equals_a_plain_simulation(timed: Timed, extra: list[int]) -> None:
    graph, times = timed
    capacities = tuple(
        c.initial_tokens + more for c, more in zip(graph.channels, extra, strict=False)
    )
    expected = simulated_period(graph, times, capacities)
    found = bounded_throughput(graph, times, capacities)
    assert (None if found is None else found.period) == expected


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 20))
def test_smallest_capacity_of_one_channel(production: int, consumption: int, tokens: int) -> None:
    channel = Channel("x", "y", production, consumption, tokens)
    graph = SdfGraph("g", (Actor("x"), Actor("y")), (channel,))
    times = {"x": 1, "y": 1}
    least = smallest_capacity(channel)
    assert simulated_period(graph, times, (least,)) is not None
    assert least == tokens or simulated_period(graph, times, (least - 1,)) is None


@settings(derandomize=True, deadline=None, max_examples=60)
@given(live_graph())
def test_nothing_smaller_is_live(timed: Timed) -> None:
    graph, times = timed
    found = deadlock_free_buffers(graph)
    assert found.exact
    assert found.lower_bound == found.distribution.tokens
    capacities = found.distribution.capacities
    assert simulated_period(graph, times, capacities) is not None
    assert not best_periods(graph, times, range(found.distribution.tokens))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(live_graph(), st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(2)]))
def test_nothing_smaller_is_as_fast(timed: Timed, slack: Fraction) -> None:
    graph, times = timed
    most = self_timed_throughput(graph, times)
    goal = most.period * slack or Fraction(7, 2)
    found = buffers_for_throughput(graph, times, 1 / goal)
    assert found.exact
    reached = simulated_period(graph, times, found.distribution.capacities)
    assert reached == found.distribution.throughput.period
    assert reached is not None
    assert reached <= goal
    assume(found.distribution.tokens <= 24)
    smaller = best_periods(graph, times, range(found.distribution.tokens))
    assert all(period > goal for period in smaller.values())


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(0, 30)),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.integers(1, 40),
)
def test_one_channel_over_its_whole_range(
    rates: tuple[int, int, int], times: tuple[int, int], tenths: int
) -> None:
    graph = SdfGraph("g", (Actor("x"), Actor("y")), (Channel("x", "y", *rates),))
    timing = {"x": times[0], "y": times[1]}
    work = sum(timing[name] * count for name, count in repetition_vector(graph).items())
    goal = max(Fraction(work * tenths, 10), self_timed_throughput(graph, timing).period)
    found = buffers_for_throughput(graph, timing, 1 / goal)
    assert found.exact
    for capacity in range(rates[2], found.distribution.tokens + 1):
        period = simulated_period(graph, timing, (capacity,))
        if period is not None and period <= goal:
            break
    assert found.distribution.capacities == (capacity,)
    with distributions_tried(0):
        unsearched = buffers_for_throughput(graph, timing, 1 / goal)
    assert unsearched.distribution.capacities == (capacity,)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(live_graph())
def test_the_trade_off_is_the_exhaustive_front(timed: Timed) -> None:
    graph, times = timed
    found = throughput_buffer_trade_off(graph, times)
    assert found.complete
    assert found.points[-1].throughput.period == self_timed_throughput(graph, times).period
    assume(found.points[-1].tokens <= 22)
    front = []
    for size, period in best_periods(graph, times, range(found.points[-1].tokens + 1)).items():
        if not front or period < front[-1][1]:
            front.append((size, period))
    assert [(point.tokens, point.throughput.period) for point in found.points] == front
    for point in found.points:
        assert simulated_period(graph, times, point.capacities) == point.throughput.period


@settings(derandomize=True, deadline=None, max_examples=80)
@given(live_graph(6))
def test_without_a_search_it_is_sound_and_no_channel_can_shrink(timed: Timed) -> None:
    graph, times = timed
    goal = self_timed_throughput(graph, times).period * 2
    with distributions_tried(0):
        found = buffers_for_throughput(graph, times, 1 / goal)
    best = buffers_for_throughput(graph, times, 1 / goal)
    assert found.tried == 0
    assert (
        found.lower_bound
        <= best.lower_bound
        <= best.distribution.tokens
        <= found.distribution.tokens
    )
    capacities = found.distribution.capacities
    reached = simulated_period(graph, times, capacities)
    assert reached is not None
    assert reached <= goal
    for number, channel in enumerate(graph.channels):
        if capacities[number] > channel.initial_tokens:
            less = (*capacities[:number], capacities[number] - 1, *capacities[number + 1 :])
            period = simulated_period(graph, times, less)
            assert period is None or period > goal


def test_the_published_example() -> None:
    """Stuijk, Geilen and Basten, DAC 2006: a -2:3-> b -1:2-> c with times 1, 2, 2; throughput of
    actor c, once an iteration, between 1/7 in 6 tokens and 1/4 in 10."""
    graph = SdfGraph(
        "example",
        (Actor("a"), Actor("b"), Actor("c")),
        (Channel("a", "b", 2, 3), Channel("b", "c", 1, 2)),
    )
    found = throughput_buffer_trade_off(graph, {"a": 1, "b": 2, "c": 2})
    assert [(p.tokens, p.throughput.iterations) for p in found.points] == [
        (6, Fraction(1, 7)),
        (8, Fraction(1, 6)),
        (9, Fraction(1, 5)),
        (10, Fraction(1, 4)),
    ]
    assert found.points[0].capacities == (4, 2)


def test_a_large_graph_within_its_bound() -> None:
    rates = [(1, 1), (2, 3), (2, 7), (8, 7), (640, 1)]
    times = dict(zip([f"a{n}" for n in range(6)], [70, 50, 110, 331, 290, 2], strict=True))
    channels = tuple(Channel(f"a{n}", f"a{n + 1}", p, c) for n, (p, c) in enumerate(rates))
    graph = SdfGraph("long", tuple(map(Actor, times)), channels)
    assert sum(repetition_vector(graph).values()) > 20_000
    live = deadlock_free_buffers(graph)
    assert live.exact
    assert live.distribution.capacities == tuple(map(smallest_capacity, channels))
    with distributions_tried(20):
        fast = buffers_for_throughput(graph, times)
    most = self_timed_throughput(graph, times)
    again = bounded_throughput(graph, times, fast.distribution.capacities)
    assert again is not None
    assert again.period == fast.distribution.throughput.period == most.period
    assert live.distribution.tokens < fast.lower_bound <= fast.distribution.tokens


def test_a_limit_ends_the_trade_off_with_what_is_proved() -> None:
    graph = SdfGraph("g", (Actor("x"), Actor("y")), (Channel("x", "y", 3, 5),))
    whole = throughput_buffer_trade_off(graph, {"x": 2, "y": 3})
    with distributions_tried(1):
        part = throughput_buffer_trade_off(graph, {"x": 2, "y": 3})
    assert whole.complete
    assert not part.complete
    assert part.points == whole.points[:1]


def test_what_cannot_be_asked_for() -> None:
    graph = SdfGraph("g", (Actor("x"), Actor("y")), (Channel("x", "y", name="c"),))
    times = {"x": 2, "y": 3}
    with pytest.raises(GraphError, match=r"no buffers give 1/2 .* the most is 1/3"):
        buffers_for_throughput(graph, times, Fraction(1, 2))
    with pytest.raises(GraphError, match="must be > 0, got 0"):
        buffers_for_throughput(graph, times, Fraction(0))
    with pytest.raises(GraphError, match="deadlock"):
        deadlock_free_buffers(SdfGraph("g", graph.actors, (*graph.channels, Channel("y", "x"))))


def test_no_time_at_all() -> None:
    graph = SdfGraph("g", (Actor("x"), Actor("y")), (Channel("x", "y", 2, 3),))
    found = buffers_for_throughput(graph, {"x": 0, "y": 0})
    assert found.distribution.capacities == (4,)
    assert not deadlock_free_buffers(SdfGraph("empty", ())).distribution.tokens

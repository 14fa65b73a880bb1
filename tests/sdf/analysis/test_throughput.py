"""Throughput against a plain state-space simulation, tick by tick."""

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heappush
from math import gcd, lcm

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.sdf.analysis import cycle_ratio
from paretosoc.sdf.analysis.cycle_ratio import maximum_cycle_ratio
from paretosoc.sdf.analysis.firing_graph import FiringGraph
from paretosoc.sdf.analysis.repetition import repetition_vector
from paretosoc.sdf.analysis.throughput import execution_times, self_timed_throughput
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph

Timed = tuple[SdfGraph, dict[str, int]]


def channel_of(
    vector: list[int], source: int, target: int, tokens: int, factor: int = 1
) -> Channel:
    divisor = gcd(vector[source], vector[target])
    return Channel(
        f"a{source}",
        f"a{target}",
        vector[target] // divisor * factor,
        vector[source] // divisor * factor,
        tokens,
    )


@st.composite
def strongly_connected(draw: st.DrawFn, least_time: int = 1) -> Timed:
    """A ring with chords and self-loops; tokens from none to plenty, so that some deadlock."""
    actors = draw(st.integers(1, 4))
    vector = draw(st.lists(st.integers(1, 4), min_size=actors, max_size=actors))
    channels = []
    pairs = [(n, (n + 1) % actors) for n in range(actors)]
    ends = st.integers(0, actors - 1)
    pairs += draw(st.lists(st.tuples(ends, ends), max_size=3))
    for source, target in pairs:
        factor = draw(st.sampled_from([1, 1, 2]))
        enough = lcm(vector[source], vector[target]) * factor
        tokens = draw(st.sampled_from([0, enough, enough, 2 * enough])) + draw(st.integers(0, 3))
        channels.append(channel_of(vector, source, target, tokens, factor))
    times = draw(st.lists(st.integers(least_time, 6), min_size=actors, max_size=actors))
    names = [f"a{n}" for n in range(actors)]
    graph = SdfGraph("g", tuple(map(Actor, names)), tuple(channels))
    return graph, dict(zip(names, times, strict=True))


def simulated_period(
    graph: SdfGraph, times: dict[str, int], auto_concurrency: bool
) -> Fraction | None:
    """Ticks per iteration once the state recurs; None if everything stops. Times >= 1."""
    names = list(times)
    tokens = [channel.initial_tokens for channel in graph.channels]
    running: list[tuple[str, int]] = []
    seen: dict[tuple[object, ...], tuple[int, int]] = {}
    fired = 0
    tick = 0
    while True:
        for name in names:
            inputs = [n for n, c in enumerate(graph.channels) if c.target == name]
            while (auto_concurrency or name not in dict(running)) and all(
                tokens[n] >= graph.channels[n].consumption for n in inputs
            ):
                for n in inputs:
                    tokens[n] -= graph.channels[n].consumption
                running.append((name, times[name]))
                fired += name == names[0]
        if not running:
            return None
        state = (tuple(tokens), tuple(sorted(running)))
        if state in seen:
            before, fired_before = seen[state]
            per_iteration = repetition_vector(graph)[names[0]]
            return Fraction((tick - before) * per_iteration, fired - fired_before)
        seen[state] = (tick, fired)
        tick += 1
        running = [(name, left - 1) for name, left in running]
        for name in [name for name, left in running if not left]:
            for n, channel in enumerate(graph.channels):
                if channel.source == name:
                    tokens[n] += channel.production
        running = [(name, left) for name, left in running if left]


@settings(derandomize=True, deadline=None, max_examples=100)
@given(strongly_connected(), st.booleans())
def test_equals_a_plain_simulation(timed: Timed, auto_concurrency: bool) -> None:
    graph, times = timed
    expected = simulated_period(graph, times, auto_concurrency)
    if expected is None:
        with pytest.raises(GraphError, match="deadlock"):
            self_timed_throughput(graph, times, auto_concurrency=auto_concurrency)
    else:
        found = self_timed_throughput(graph, times, auto_concurrency=auto_concurrency)
        assert found.period == expected
        assert found.iterations == 1 / expected
        assert found.critical_actors


@settings(derandomize=True, deadline=None, max_examples=60)
@given(strongly_connected(least_time=0), st.booleans())
def test_compiled_and_plain_code_agree(timed: Timed, auto_concurrency: bool) -> None:
    graph, times = timed
    found = []
    for compile_after in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cycle_ratio, "COMPILE_AFTER", compile_after)
            try:
                found.append(
                    self_timed_throughput(graph, times, auto_concurrency=auto_concurrency).period
                )
            except GraphError:
                found.append(None)
    assert found[0] == found[1]


@pytest.mark.parametrize("compile_after", [0, cycle_ratio.COMPILE_AFTER])
def test_without_execution_times_the_least_period_may_be_of_any_size(
    monkeypatch: pytest.MonkeyPatch, compile_after: int
) -> None:
    monkeypatch.setattr(cycle_ratio, "COMPILE_AFTER", compile_after)
    one, loop = np.array([0, 1]), np.array([0])
    graph = FiringGraph(one, one, loop, loop + 1, loop, loop, (), (1,), [], ())
    for least in (Fraction(1, 2**70), Fraction(2**70)):
        assert maximum_cycle_ratio(graph, at_least=least).period == least


@settings(derandomize=True, deadline=None, max_examples=100)
@given(strongly_connected(), st.booleans(), st.sampled_from([10**9 + 7, 10**40]))
def test_scales_with_time_beyond_64_bits(timed: Timed, auto_concurrency: bool, factor: int) -> None:
    graph, times = timed
    try:
        period = self_timed_throughput(graph, times, auto_concurrency=auto_concurrency).period
    except GraphError:
        return
    longer = {name: time * factor for name, time in times.items()}
    found = self_timed_throughput(graph, longer, auto_concurrency=auto_concurrency)
    assert found.period == period * factor


@st.composite
def one_way(draw: st.DrawFn) -> Timed:
    """Strongly connected parts in a row."""
    parts = draw(st.lists(strongly_connected(), min_size=2, max_size=3))
    actors: list[Actor] = []
    channels: list[Channel] = []
    times: dict[str, int] = {}
    last: tuple[str, int] | None = None
    for number, (graph, part_times) in enumerate(parts):
        vector = repetition_vector(graph)
        actors += [Actor(f"p{number}{actor.name}") for actor in graph.actors]
        times |= {f"p{number}{name}": time for name, time in part_times.items()}
        channels += [
            Channel(
                f"p{number}{c.source}",
                f"p{number}{c.target}",
                c.production,
                c.consumption,
                c.initial_tokens,
            )
            for c in graph.channels
        ]
        if last is not None:
            rates = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
            channels.append(Channel(last[0], f"p{number}a0", *rates))
        name = draw(st.sampled_from(sorted(vector)))
        last = (f"p{number}{name}", vector[name])
    return SdfGraph("g", tuple(actors), tuple(channels)), times


@settings(derandomize=True, deadline=None, max_examples=80)
@given(one_way(), st.booleans())
def test_the_slowest_component_decides(timed: Timed, auto_concurrency: bool) -> None:
    """With enough space on every channel, bounded and unbounded graph are equally fast."""
    graph, times = timed
    vector = repetition_vector(graph)
    plenty = 60
    bounded = SdfGraph(
        "bounded",
        graph.actors,
        graph.channels
        + tuple(
            Channel(
                c.target,
                c.source,
                c.consumption,
                c.production,
                plenty * vector[c.source] * c.production,
            )
            for c in graph.channels
            if c.source[:2] != c.target[:2]
        ),
    )
    try:
        found = self_timed_throughput(graph, times, auto_concurrency=auto_concurrency)
    except GraphError:
        with pytest.raises(GraphError, match="deadlock"):
            self_timed_throughput(bounded, times, auto_concurrency=auto_concurrency)
        return
    limited = self_timed_throughput(bounded, times, auto_concurrency=auto_concurrency)
    assert found.period == limited.period
    slowest = max(
        self_timed_throughput(part, times, auto_concurrency=auto_concurrency).period
        * Fraction(vector[part.actors[0].name], repetition_vector(part)[part.actors[0].name])
        for part in parts_of(graph)
    )
    assert found.period == slowest


def parts_of(graph: SdfGraph) -> list[SdfGraph]:
    prefixes = dict.fromkeys(actor.name[:2] for actor in graph.actors)
    return [
        SdfGraph(
            prefix,
            tuple(a for a in graph.actors if a.name[:2] == prefix),
            tuple(c for c in graph.channels if c.source[:2] == c.target[:2] == prefix),
        )
        for prefix in prefixes
    ]


def event_driven_period(graph: SdfGraph, times: dict[str, int]) -> Fraction:
    """As ``simulated_period`` without auto-concurrency, from event to event; the state is
    compared when the first actor has completed an iteration (Ghamarian et al. 2006)."""
    names = list(times)
    inputs = {m: [n for n, c in enumerate(graph.channels) if c.target == m] for m in names}
    outputs = {m: [n for n, c in enumerate(graph.channels) if c.source == m] for m in names}
    tokens = [channel.initial_tokens for channel in graph.channels]
    ends: dict[str, int] = {}
    heap: list[tuple[int, str]] = []
    seen: dict[tuple[object, ...], tuple[int, int]] = {}
    share = repetition_vector(graph)[names[0]]
    fired = now = 0
    while True:
        for name in names:
            if name not in ends and all(
                tokens[n] >= graph.channels[n].consumption for n in inputs[name]
            ):
                for n in inputs[name]:
                    tokens[n] -= graph.channels[n].consumption
                ends[name] = now + times[name]
                heappush(heap, (ends[name], name))
        now = heap[0][0]
        completed = False
        while heap and heap[0][0] == now:
            _, name = heappop(heap)
            del ends[name]
            for n in outputs[name]:
                tokens[n] += graph.channels[n].production
            fired += name == names[0]
            completed |= name == names[0] and fired % share == 0
        if completed:
            state = (tuple(tokens), tuple(sorted((n, end - now) for n, end in ends.items())))
            if state in seen:
                return Fraction((now - seen[state][0]) * share, fired - seen[state][1])
            seen[state] = (now, fired)


@pytest.mark.parametrize(("last", "space"), [(640, 1), (640, 3), (1155, 2)])
def test_twenty_thousand_firings(last: int, space: int) -> None:
    rates = [(1, 1), (2, 3), (2, 7), (8, 7), (last, 1)]
    times = dict(zip([f"a{n}" for n in range(6)], [70, 50, 110, 331, 290, 2], strict=True))
    forward = [Channel(f"a{n}", f"a{n + 1}", p, c) for n, (p, c) in enumerate(rates)]
    back = [
        Channel(
            c.target,
            c.source,
            c.consumption,
            c.production,
            space + c.production + c.consumption - 1,
        )
        for c in forward
    ]
    graph = SdfGraph("long", tuple(map(Actor, times)), (*forward, *back))
    assert sum(repetition_vector(graph).values()) > 20_000
    assert self_timed_throughput(graph, times).period == event_driven_period(graph, times)


def test_closed_forms() -> None:
    one = (Actor("x"),)
    three = SdfGraph("g", one, (Channel("x", "x", 2, 2, 7),))
    assert self_timed_throughput(three, {"x": 10}, auto_concurrency=True).period == Fraction(10, 3)
    assert self_timed_throughput(three, {"x": 10}).period == 10
    free = SdfGraph("g", one)
    assert self_timed_throughput(free, {"x": 10}, auto_concurrency=True).iterations is None
    assert self_timed_throughput(free, {"x": 0}).iterations is None
    assert self_timed_throughput(SdfGraph("g", ()), {}).iterations is None
    chain = SdfGraph("g", (*one, Actor("y")), (Channel("x", "y", 3, 2),))
    found = self_timed_throughput(chain, {"x": 10, "y": 6})
    assert found.period == 20
    assert found.critical_actors == ("x",)


def test_astronomic_repetitions_without_cycles() -> None:
    graph = SdfGraph("g", (Actor("x"), Actor("y")), (Channel("x", "y", 10**15, 1),))
    assert self_timed_throughput(graph, {"x": 1, "y": 1}).period == 10**15


def test_a_component_counts_with_its_share_of_the_whole_iteration() -> None:
    """The cycle x, y fires 6 times an iteration although 1 would do for it alone."""
    graph = SdfGraph(
        "g",
        (Actor("x"), Actor("y"), Actor("sink")),
        (Channel("x", "y"), Channel("y", "x", 1, 1, 1), Channel("y", "sink", 1, 6)),
    )
    assert self_timed_throughput(graph, {"x": 2, "y": 3, "sink": 1}).period == 30


def test_execution_times_by_processor_type() -> None:
    graph = SdfGraph(
        "g",
        (
            Actor("x", execution_times=(("cpu", 3), ("dsp", 2))),
            Actor("y", execution_times=(("dsp", 5),)),
        ),
    )
    assert execution_times(graph) == {"x": 3, "y": 5}
    assert execution_times(graph, "dsp") == {"x": 2, "y": 5}
    with pytest.raises(GraphError, match=r"actor 'y' has no execution time .*'cpu'.*'dsp'"):
        execution_times(graph, "cpu")
    with pytest.raises(GraphError, match=r"actor 'z' .* it has none"):
        execution_times(SdfGraph("g", (Actor("z"),)))
    with pytest.raises(GraphError, match="at least 0, got -1"):
        execution_times(SdfGraph("g", (Actor("z", execution_times=(("cpu", -1),)),)))
    with pytest.raises(GraphError, match="actor 'y' has no execution time"):
        self_timed_throughput(graph, {"x": 1})

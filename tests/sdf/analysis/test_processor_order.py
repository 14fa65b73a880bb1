"""Throughput on processors against a plain simulation, tick by tick."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.sdf.analysis.processor_order import bound_throughput, list_schedule
from paretosoc.sdf.analysis.repetition import check_live, repetition_vector
from paretosoc.sdf.analysis.throughput import self_timed_throughput
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph

Bound = tuple[SdfGraph, dict[str, str]]


@st.composite
def bound_graph(draw: st.DrawFn) -> Bound:
    """A ring with chords, each actor on one of two processors of the same type."""
    count = draw(st.integers(1, 4))
    vector = draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    ends = st.integers(0, count - 1)
    pairs = [(n, (n + 1) % count) for n in range(count)]
    pairs += draw(st.lists(st.tuples(ends, ends), max_size=2))
    channels = []
    for source, target in pairs:
        divisor = gcd(vector[source], vector[target])
        tokens = lcm(vector[source], vector[target]) * draw(st.integers(0, 2))
        channels.append(
            Channel(
                f"a{source}",
                f"a{target}",
                vector[target] // divisor,
                vector[source] // divisor,
                tokens + draw(st.integers(0, 2)),
            )
        )
    actors = tuple(
        Actor(f"a{n}", execution_times=(("cpu", draw(st.integers(1, 6))),)) for n in range(count)
    )
    binding = {actor.name: draw(st.sampled_from(["p", "q"])) for actor in actors}
    return SdfGraph("g", actors, tuple(channels)), binding


TYPES = {"p": "cpu", "q": "cpu"}


def times_of(graph: SdfGraph) -> dict[str, int]:
    return {actor.name: dict(actor.execution_times)["cpu"] for actor in graph.actors}


def is_live(graph: SdfGraph) -> bool:
    try:
        check_live(graph)
    except GraphError:
        return False
    return True


def simulate_in_order(graph: SdfGraph, orders: dict[str, tuple[str, ...]]) -> Fraction:
    """Ticks per iteration of processors that repeat their orders, once the state recurs."""
    times = times_of(graph)
    tokens = [channel.initial_tokens for channel in graph.channels]
    place = dict.fromkeys(orders, 0)
    running: dict[str, tuple[str, int]] = {}
    seen: dict[tuple[object, ...], tuple[int, int]] = {}
    rounds = tick = 0
    first = next(iter(orders))
    while True:
        for processor, order in orders.items():
            name = order[place[processor]]
            inputs = [n for n, c in enumerate(graph.channels) if c.target == name]
            if processor not in running and all(
                tokens[n] >= graph.channels[n].consumption for n in inputs
            ):
                for n in inputs:
                    tokens[n] -= graph.channels[n].consumption
                running[processor] = (name, times[name])
                place[processor] = (place[processor] + 1) % len(order)
                rounds += processor == first and place[processor] == 0
        assert running
        state = (tuple(tokens), tuple(sorted(running.items())), tuple(place.values()))
        if state in seen:
            return Fraction(tick - seen[state][0], rounds - seen[state][1])
        seen[state] = (tick, rounds)
        tick += 1
        for processor, (name, left) in list(running.items()):
            running[processor] = (name, left - 1)
            if left == 1:
                del running[processor]
                for n, channel in enumerate(graph.channels):
                    if channel.source == name:
                        tokens[n] += channel.production


@settings(derandomize=True, deadline=None, max_examples=100)
@given(bound_graph())
def test_equals_a_plain_simulation(bound: Bound) -> None:
    graph, binding = bound
    if not is_live(graph):
        with pytest.raises(GraphError, match="deadlock"):
            bound_throughput(graph, binding, processor_types=TYPES)
        return
    found = bound_throughput(graph, binding, processor_types=TYPES)
    orders = dict(found.orders)
    assert found.throughput.period == simulate_in_order(graph, orders)
    again = bound_throughput(graph, binding, processor_types=TYPES, orders=orders)
    assert again == found
    times, vector = times_of(graph), repetition_vector(graph)
    for processor in orders:
        load = sum(times[n] * vector[n] for n in vector if binding[n] == processor)
        assert found.throughput.period >= load
    assert found.throughput.period >= self_timed_throughput(graph, times).period


def first_come_first_served(graph: SdfGraph, binding: dict[str, str]) -> dict[str, list[str]]:
    """One iteration, tick by tick; waiting times are found by looking back at all arrivals."""
    times, vector = times_of(graph), repetition_vector(graph)
    arrivals = [[-1] * channel.initial_tokens for channel in graph.channels]
    started = dict.fromkeys(vector, 0)
    running: dict[str, tuple[str, int]] = {}
    orders: dict[str, list[str]] = {processor: [] for processor in binding.values()}
    names = list(vector)
    for tick in range(10_000):
        for processor, (name, end) in list(running.items()):
            if end == tick:
                del running[processor]
                for n, channel in enumerate(graph.channels):
                    if channel.source == name:
                        arrivals[n] += [tick] * channel.production
        for processor, order in orders.items():
            waiting = []
            for name in names:
                inputs = [n for n, c in enumerate(graph.channels) if c.target == name]
                taken = [(started[name] + 1) * graph.channels[n].consumption for n in inputs]
                if binding[name] != processor or started[name] == vector[name]:
                    continue
                if all(len(arrivals[n]) >= t for n, t in zip(inputs, taken, strict=True)):
                    last = max(
                        [0, *(arrivals[n][t - 1] for n, t in zip(inputs, taken, strict=True))]
                    )
                    waiting.append((last, names.index(name), name))
            if waiting and processor not in running:
                name = min(waiting)[2]
                started[name] += 1
                order.append(name)
                running[processor] = (name, tick + times[name])
        if started == vector:
            break
    return orders


@settings(derandomize=True, deadline=None, max_examples=100)
@given(bound_graph())
def test_the_list_schedule_is_first_come_first_served(bound: Bound) -> None:
    graph, binding = bound
    if is_live(graph):
        found = list_schedule(graph, binding, times_of(graph))
        expected = first_come_first_served(graph, binding)
        assert {p: list(order) for p, order in found.items()} == expected


PAIR = SdfGraph(
    "pair",
    (
        Actor("x", execution_times=(("cpu", 2), ("dsp", 1))),
        Actor("y", execution_times=(("cpu", 3),)),
    ),
    (Channel("x", "y", 2, 1),),
)


def test_types_orders_and_unconnected_processors() -> None:
    alone = bound_throughput(PAIR, {"x": "cpu", "y": "cpu"})
    assert alone.throughput.period == 8
    assert alone.orders == (("cpu", ("x", "y", "y")),)
    apart = bound_throughput(PAIR, {"x": "a", "y": "b"}, processor_types={"a": "dsp", "b": "cpu"})
    assert apart.throughput.period == 6
    assert apart.throughput.critical_actors == ("y",)


@pytest.mark.parametrize(
    ("binding", "orders", "message"),
    [
        ({"x": "cpu"}, None, "'y' is bound to no processor"),
        ({"x": "cpu", "y": "cpu", "z": "cpu"}, None, "names 'z', no such actor"),
        ({"x": "cpu", "y": "dsp"}, None, "'y' has no execution time for processor type 'dsp'"),
        ({"x": "cpu", "y": "cpu"}, {"cpu": ["x", "y"]}, "must hold 'y' 2 times, got 1"),
        ({"x": "cpu", "y": "cpu"}, {"gpu": ["x"]}, "must hold 'x' 1 times, got 0"),
        (
            {"x": "cpu", "y": "cpu"},
            {"cpu": ["x", "y", "y"], "gpu": ["x"]},
            "'gpu' holds 'x', which is not bound",
        ),
        (
            {"x": "cpu", "y": "cpu"},
            {"cpu": ["y", "x", "y"]},
            "orders deadlock: firings of 'x', 'y'",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    binding: dict[str, str], orders: dict[str, list[str]] | None, message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        bound_throughput(PAIR, binding, orders=orders)

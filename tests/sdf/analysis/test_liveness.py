"""Deadlock against a plain execution, one firing at a time."""

from __future__ import annotations

from math import gcd

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.sdf.analysis.repetition import (
    FIRING_LIMIT,
    check_live,
    execute_iteration,
    repetition_vector,
)
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph


@st.composite
def consistent_graph(draw: st.DrawFn) -> SdfGraph:
    actors = draw(st.integers(1, 5))
    vector = draw(st.lists(st.integers(1, 6), min_size=actors, max_size=actors))
    channels = []
    for _ in range(draw(st.integers(0, 7))):
        source = draw(st.integers(0, actors - 1))
        target = draw(st.integers(0, actors - 1))
        divisor = gcd(vector[source], vector[target])
        production, consumption = vector[target] // divisor, vector[source] // divisor
        tokens = draw(st.integers(0, production + consumption))
        channels.append(Channel(f"a{source}", f"a{target}", production, consumption, tokens))
    return SdfGraph("g", tuple(Actor(f"a{n}") for n in range(actors)), tuple(channels))


def runs_forever(graph: SdfGraph) -> bool:
    """Fire the first actor that can and has not had its share, until all or none."""
    left = repetition_vector(graph)
    tokens = [channel.initial_tokens for channel in graph.channels]
    while any(left.values()):
        for name in left:
            inputs = [n for n, c in enumerate(graph.channels) if c.target == name]
            if left[name] and all(tokens[n] >= graph.channels[n].consumption for n in inputs):
                break
        else:
            return False
        left[name] -= 1
        for number, channel in enumerate(graph.channels):
            if channel.target == name:
                tokens[number] -= channel.consumption
            if channel.source == name:
                tokens[number] += channel.production
    assert tokens == [channel.initial_tokens for channel in graph.channels]
    return True


@settings(derandomize=True, deadline=None, max_examples=100)
@given(consistent_graph())
def test_agrees_with_a_plain_execution(graph: SdfGraph) -> None:
    if runs_forever(graph):
        check_live(graph)
    else:
        with pytest.raises(GraphError, match="deadlock: the cycle"):
            check_live(graph)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(consistent_graph())
def test_the_execution_is_an_admissible_schedule_or_a_true_block(graph: SdfGraph) -> None:
    left = repetition_vector(graph)
    tokens = {n: channel.initial_tokens for n, channel in enumerate(graph.channels)}
    order, blocked = execute_iteration(
        list(left), graph.channels, list(left.values()), list(tokens.values())
    )
    for name, count in order:
        for _ in range(count):
            left[name] -= 1
            for number, channel in enumerate(graph.channels):
                if channel.target == name:
                    tokens[number] -= channel.consumption
                    assert tokens[number] >= 0
            for number, channel in enumerate(graph.channels):
                if channel.source == name:
                    tokens[number] += channel.production
    if blocked is None:
        assert not any(left.values())
        return
    assert any(left.values())
    follows = [*blocked.channels[1:], blocked.channels[0]]
    for channel, after, held in zip(blocked.channels, follows, blocked.tokens, strict=True):
        assert channel.source == after.target
        assert held < channel.consumption
        assert left[channel.target] > 0
        assert held in {tokens[n] for n, c in enumerate(graph.channels) if c == channel}


def test_the_error_names_the_cycle() -> None:
    graph = SdfGraph(
        "ring",
        (Actor("in"), Actor("x"), Actor("y"), Actor("z")),
        (
            Channel("in", "x"),
            Channel("x", "y", name="xy"),
            Channel("y", "z", 2, 3, name="yz"),
            Channel("z", "x", 3, 2, 1, name="zx"),
        ),
    )
    with pytest.raises(GraphError) as caught:
        check_live(graph)
    message = str(caught.value)
    assert "graph 'ring'" in message
    assert any(
        cycle in message
        for cycle in (
            "'x' -> 'y' -> 'z' -> 'x'",
            "'y' -> 'z' -> 'x' -> 'y'",
            "'z' -> 'x' -> 'y' -> 'z'",
        )
    )
    assert "'in'" not in message


def test_a_self_loop_without_enough_tokens() -> None:
    def loop(tokens: int) -> SdfGraph:
        return SdfGraph("g", (Actor("x"),), (Channel("x", "x", 2, 2, tokens),))

    check_live(loop(2))
    with pytest.raises(GraphError, match="'x' -> 'x'"):
        check_live(loop(1))


def test_huge_rates_without_a_cycle_cost_nothing() -> None:
    check_live(SdfGraph("g", (Actor("x"), Actor("y")), (Channel("x", "y", 10**15 + 1, 10**15),)))


def test_an_iteration_that_is_too_long_is_refused_by_its_size() -> None:
    many = FIRING_LIMIT
    graph = SdfGraph(
        "g",
        (Actor("x"), Actor("y")),
        (Channel("x", "y", many, 1), Channel("y", "x", 1, many, many)),
    )
    with pytest.raises(GraphError, match=f"{many + 1} times"):
        check_live(graph)

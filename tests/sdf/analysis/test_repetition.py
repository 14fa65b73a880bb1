"""Repetition vectors against exact linear algebra."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.sdf.analysis.repetition import repetition_vector, strongly_connected_components
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph


def graph_of(actors: int, channels: list[tuple[int, int, int, int]]) -> SdfGraph:
    return SdfGraph(
        "g",
        tuple(Actor(f"a{n}") for n in range(actors)),
        tuple(Channel(f"a{s}", f"a{t}", p, c) for s, t, p, c in channels),
    )


def null_space(matrix: list[list[Fraction]], columns: int) -> list[list[Fraction]]:
    """A basis by Gauss-Jordan elimination."""
    rows = [list(row) for row in matrix]
    pivots: list[int] = []
    for column in range(columns):
        place = len(pivots)
        found = next((r for r in range(place, len(rows)) if rows[r][column]), None)
        if found is None:
            continue
        rows[place], rows[found] = rows[found], rows[place]
        lead = rows[place][column]
        rows[place] = [value / lead for value in rows[place]]
        for r in range(len(rows)):
            if r != place and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[place], strict=True)]
        pivots.append(column)
    basis = []
    for free in (c for c in range(columns) if c not in pivots):
        vector = [Fraction(0)] * columns
        vector[free] = Fraction(1)
        for row, pivot in enumerate(pivots):
            vector[pivot] = -rows[row][free]
        basis.append(vector)
    return basis


def by_linear_algebra(graph: SdfGraph) -> dict[str, int] | None:
    """The sum of the null space's smallest integer vectors; None if an actor is in none.

    In reduced form each basis vector is supported on one component of a consistent graph.
    """
    names = [actor.name for actor in graph.actors]
    matrix = []
    for channel in graph.channels:
        row = [Fraction(0)] * len(names)
        row[names.index(channel.source)] += channel.production
        row[names.index(channel.target)] -= channel.consumption
        matrix.append(row)
    total = [0] * len(names)
    for vector in null_space(matrix, len(names)):
        denominator = 1
        for value in vector:
            denominator = denominator * value.denominator // gcd(denominator, value.denominator)
        whole = [int(value * denominator) for value in vector]
        divisor = gcd(*whole)
        total = [a + b // divisor for a, b in zip(total, whole, strict=True)]
    return dict(zip(names, total, strict=True)) if all(value > 0 for value in total) else None


@st.composite
def any_graph(draw: st.DrawFn) -> SdfGraph:
    """Any rates at all, or rates that balance a drawn vector, or nearly."""
    actors = draw(st.integers(1, 6))
    vector = draw(st.lists(st.integers(1, 12), min_size=actors, max_size=actors))
    channels = []
    for _ in range(draw(st.integers(0, 8))):
        source = draw(st.integers(0, actors - 1))
        target = draw(st.integers(0, actors - 1))
        divisor = gcd(vector[source], vector[target])
        factor = draw(st.integers(1, 3))
        production = vector[target] // divisor * factor
        consumption = vector[source] // divisor * factor
        if draw(st.integers(0, 9)) == 0:
            production = draw(st.integers(1, 12))
        channels.append((source, target, production, consumption))
    return graph_of(actors, channels)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(any_graph())
def test_equals_the_rational_null_space(graph: SdfGraph) -> None:
    expected = by_linear_algebra(graph)
    if expected is None:
        with pytest.raises(GraphError, match="inconsistent"):
            repetition_vector(graph)
    else:
        assert repetition_vector(graph) == expected


def test_a_chain_of_rate_changes() -> None:
    rates = [(1, 1), (2, 3), (2, 7), (8, 7), (5, 1)]
    graph = graph_of(6, [(n, n + 1, p, c) for n, (p, c) in enumerate(rates)])
    assert list(repetition_vector(graph).values()) == [147, 147, 98, 28, 32, 160]


def test_components_are_independent_and_keep_the_order() -> None:
    graph = graph_of(5, [(4, 0, 2, 4), (2, 1, 3, 9)])
    assert list(repetition_vector(graph).items()) == [
        ("a0", 1),
        ("a1", 1),
        ("a2", 3),
        ("a3", 1),
        ("a4", 2),
    ]
    assert repetition_vector(SdfGraph("empty", ())) == {}


def test_rates_beyond_64_bits() -> None:
    big = 10**30 + 1
    assert repetition_vector(graph_of(3, [(0, 1, big, 2), (1, 2, 1, 1)])) == {
        "a0": 2,
        "a1": big,
        "a2": big,
    }


def test_an_inconsistent_graph_names_channel_and_rates() -> None:
    graph = SdfGraph(
        "loop",
        (Actor("x"), Actor("y")),
        (Channel("x", "y", 2, 3, name="go"), Channel("y", "x", 5, 7, name="back")),
    )
    with pytest.raises(GraphError) as caught:
        repetition_vector(graph)
    for part in (
        "'loop'",
        "'back'",
        "production 5",
        "consumption 7",
        "2 firings of 'y'",
        "10 tokens",
    ):
        assert part in str(caught.value)


def test_a_self_loop_must_give_back_what_it_takes() -> None:
    with pytest.raises(GraphError, match="inconsistent"):
        repetition_vector(graph_of(1, [(0, 0, 2, 1)]))


def test_strongly_connected_components_in_order() -> None:
    graph = graph_of(5, [(3, 1, 1, 1), (1, 3, 1, 1), (0, 3, 1, 1), (2, 2, 1, 1)])
    assert strongly_connected_components(graph) == [["a0"], ["a1", "a3"], ["a2"], ["a4"]]

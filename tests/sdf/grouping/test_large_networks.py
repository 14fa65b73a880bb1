"""Networks of many layers: cut in linear time, and as plain algorithms cut small ones."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.dse.papers.mobile_i.operation_graph import fused_groups
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.grouping import balance
from paretosoc.sdf.grouping.balance import balanced_parts
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.grouping.network_view import TensorUse
from paretosoc.sdf.grouping.options import Grouping
from paretosoc.sdf.grouping.parts import split_branches
from paretosoc.sdf.grouping.summary import summarise
from paretosoc.sdf.layer import Layer, LayerKind
from paretosoc.sdf.onnx.importer import ImportedNetwork
from tests.support.growth import LINEAR, growth
from tests.support.problems.small_networks import graph_of, layer

ACT, CONV, FREE = LayerKind.ACTIVATION, LayerKind.CONVOLUTION, LayerKind.RESHAPE


def chain(size: int) -> SdfGraph:
    kinds = (CONV, ACT, FREE)
    layers = [layer(f"l{n}", kinds[n % 3], macs=1000 + 7 * n % 13) for n in range(size)]
    return graph_of(layers, list(pairwise(range(size))))


def wide(size: int) -> SdfGraph:
    """One layer feeds all others, and the last one reads them."""
    layers = [layer(f"l{n}", CONV, macs=1000) for n in range(size)]
    wires = [(0, n) for n in range(1, size)] + [(n, size - 1) for n in range(1, size - 1)]
    return graph_of(layers, wires)


def separate(size: int) -> SdfGraph:
    """Every layer reads an input of its own; most cost nothing."""
    return graph_of([layer(f"l{n}", FREE if n % 3 else CONV) for n in range(size)], [])


def dense(size: int) -> SdfGraph:
    """Every layer reads all before it; as many wires as the square of ``edge``."""
    edge = int((2 * size) ** 0.5)
    layers = [layer(f"l{n}", CONV, macs=1000) for n in range(edge)]
    return graph_of(layers, [(a, b) for b in range(edge) for a in range(b)])


@pytest.mark.parametrize("make", [chain, wide, separate, dense])
@pytest.mark.parametrize(
    "cuts", [None, Grouping(branches=True), Grouping(each_layer=True), 20], ids=str
)
def test_cutting_takes_linear_time(make: Any, cuts: int | Grouping | None) -> None:
    def cut(graph: SdfGraph) -> None:
        assert group_network(graph, None, cuts).groups

    assert growth(cut, make, 250) < LINEAR


@pytest.mark.parametrize("make", [chain, wide, dense])
def test_fusing_and_counting_take_linear_time(make: Any) -> None:
    def look(graph: SdfGraph) -> None:
        assert fused_groups(graph).groups
        assert summarise(ImportedNetwork(graph, (), (), (), (), "")).layers

    assert growth(look, make, 250) < LINEAR


def test_units_that_change_at_every_layer_take_linear_time() -> None:
    """Islands among supported layers, and stretches that no unit can run whole."""

    def cut(graph: SdfGraph) -> None:
        table = [(True, n % 2 == 0, n % 3 > 0) for n in range(len(graph.actors))]
        assert len(group_network(graph, table).groups) > 1
        table = [(n % 2 == 0, n % 2 == 1) for n in range(len(graph.actors))]
        assert len(group_network(graph, table).groups) > 1

    assert growth(cut, chain, 250) < LINEAR


def test_many_groups_of_many_layers_take_linear_time() -> None:
    def cut(size: int) -> None:
        work = [1 + 7 * n % 13 for n in range(size)]
        starts = balanced_parts(work, size // 5, [size] * size)
        assert len(starts) == size // 5

    assert growth(cut, lambda size: size, 750) < LINEAR


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=30),
    st.integers(1, 30),
    st.integers(1, 8),
)
def test_without_a_table_the_largest_part_is_as_small(
    work: list[int], parts: int, longest: int
) -> None:
    reach = [min(len(work), index + 1 + (longest + index) % 9) for index in range(len(work))]
    reach = [max(reach[: index + 1]) for index in range(len(work))]

    def sizes() -> list[int]:
        starts = balanced_parts(work, parts, reach)
        assert starts[0] == 0
        ends = [*starts[1:], len(work)]
        assert all(start < end <= reach[start] for start, end in zip(starts, ends, strict=True))
        return [sum(work[start:end]) for start, end in zip(starts, ends, strict=True)]

    by_table = sizes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(balance, "MAX_TABLE", 0)
        nearest = sizes()
    assert (len(nearest), max(nearest)) == (len(by_table), max(by_table))


def joined_plainly(count: int, uses: list[TensorUse]) -> list[list[int]]:
    """The rule of :func:`split_branches`, tried on all parts until nothing can be joined."""
    home = list(range(count))
    while True:
        parts = sorted(set(home))
        edges = {(home[use.source], home[r]) for use in uses for r in use.readers}
        edges = {(a, b) for a, b in edges if a != b}
        before: dict[int, set[int]] = {}
        for part in parts:
            own = {a for a, b in edges if b == part}
            before[part] = own.union(*(before[a] for a in own))
        for index in parts:
            own = {a for a, b in edges if b == index}
            found = [
                part
                for part in sorted(own)
                if {b for a, b in edges if a == part} == {index} and own - {part} <= before[part]
            ]
            if found:
                home = [found[0] if part == index else part for part in home]
                break
        else:
            return [[i for i in range(count) if home[i] == part] for part in parts]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.data())
def test_branches_are_those_of_the_plain_rule(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    uses = []
    for source in range(count - 1):
        readers = data.draw(st.lists(st.integers(source + 1, count - 1), max_size=3, unique=True))
        if readers:
            uses.append(TensorUse(source, tuple(sorted(readers)), 1))
    items = [Layer(f"l{n}", "Conv", CONV, 0, 0, 1, 1) for n in range(count)]
    assert split_branches(range(count), items, uses) == joined_plainly(count, uses)

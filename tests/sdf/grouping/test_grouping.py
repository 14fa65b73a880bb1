"""Grouping: random networks against plain second implementations, and the rules one by one."""

from collections.abc import Callable
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.grouping.balance import balanced_parts
from paretosoc.sdf.grouping.grouping import group_network, legal_cuts, transition_points
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.grouping.network_view import NetworkView, layers_of, tensors_of
from paretosoc.sdf.grouping.options import Grouping
from paretosoc.sdf.layer import Layer, LayerKind
from tests.support.stretches import group_at

KINDS = {
    "Conv": LayerKind.CONVOLUTION,
    "Relu": LayerKind.ACTIVATION,
    "BatchNormalization": LayerKind.NORMALISATION,
    "LRN": LayerKind.NORMALISATION,
    "Add": LayerKind.ELEMENTWISE,
    "MaxPool": LayerKind.POOLING,
    "Concat": LayerKind.CONCATENATION,
    "Reshape": LayerKind.RESHAPE,
    "Softmax": LayerKind.SOFTMAX,
}


def network(
    operations: list[str],
    reads: list[list[int]],
    *,
    elements: list[int] | None = None,
    macs: list[int] | None = None,
) -> SdfGraph:
    """Layer i has the i-th operation and reads the single tensors of the layers given; -1 is the
    network's input of ten elements."""
    elements = elements or [10] * len(operations)
    read = {source for sources in reads for source in sources}
    actors, channels = [], []
    for index, (operation, sources) in enumerate(zip(operations, reads, strict=True)):
        name = f"{index}:{operation}"
        kind = KINDS[operation]
        work = macs[index] if macs else 1000 if kind is LayerKind.CONVOLUTION else 0
        incoming = sum(10 if source < 0 else elements[source] for source in set(sources))
        layer = Layer(name, operation, kind, work, 0, incoming, elements[index])
        actors.append(Actor(name, layer))
        for source in sorted(set(sources) - {-1}):
            channels.append(
                Channel(actors[source].name, name, elements[source], elements[source], name="out")
            )
    assert read <= set(range(-1, len(operations)))
    return SdfGraph("net", tuple(actors), tuple(channels))


def chain(*operations: str) -> SdfGraph:
    return network(list(operations), [[index - 1] for index in range(len(operations))])


@st.composite
def networks(draw: st.DrawFn, operators: tuple[str, ...] = tuple(sorted(KINDS))) -> SdfGraph:
    count = draw(st.integers(1, 9))
    operations: list[str] = []
    reads: list[list[int]] = []
    for index in range(count):
        operation = draw(st.sampled_from(operators))
        # Near sources, so that cuts happen; zero-cost layers read one tensor.
        most = 1 if operation == "Reshape" else 3
        sources = st.integers(max(-1, index - 3), index - 1)
        operations.append(operation)
        reads.append(draw(st.lists(sources, min_size=1, max_size=most)))
    sizes = draw(st.lists(st.integers(1, 50), min_size=count, max_size=count))
    work = [draw(st.integers(0, 5000)) if op != "Reshape" else 0 for op in operations]
    return network(operations, reads, elements=sizes, macs=work)


COSTLY = tuple(sorted(set(KINDS) - {"Reshape"}))


def members(grouped: GroupedNetwork) -> list[list[int]]:
    """Layer indices of the groups."""
    return [[int(layer.name.split(":")[0]) for layer in group.layers] for group in grouped.groups]


def sources_by_reader(graph: SdfGraph) -> list[tuple[int, int]]:
    index = {actor.name: number for number, actor in enumerate(graph.actors)}
    return [(index[channel.source], index[channel.target]) for channel in graph.channels]


# Cuts


@settings(deadline=None, derandomize=True, max_examples=100)
@given(networks())
def test_legal_cuts_by_looking_at_every_position(graph: SdfGraph) -> None:
    edges = sources_by_reader(graph)
    expected = tuple(
        cut
        for cut in range(1, len(graph.actors))
        # Every layer writes one tensor, so tensors are told apart by their sources.
        if len({source for source, reader in edges if source < cut <= reader}) == 1
    )
    assert legal_cuts(graph) == expected
    assert set(transition_points(graph)) <= set(expected)


def test_one_tensor_for_several_readers_is_one() -> None:
    fork = network(["Conv", "Conv", "Conv", "Concat"], [[-1], [0], [0], [1, 2]])
    assert legal_cuts(fork) == (1,)
    assert legal_cuts(network(["Conv", "Conv", "Add"], [[-1], [0], [0, 1]])) == (1,)


def test_two_tensors_of_one_layer_are_two() -> None:
    layers = [Layer(name, "Split", LayerKind.DATA_MOVEMENT, 0, 0, 8, 8) for name in "ab"]
    actors = tuple(Actor(layer.name, layer) for layer in layers)
    one = Channel("a", "b", 4, 4, name="left")
    two = Channel("a", "b", 4, 4, name="right")
    assert legal_cuts(SdfGraph("net", actors, (one,))) == (1,)
    assert legal_cuts(SdfGraph("net", actors, (one, two))) == ()


def test_fusible_layers_stay_together() -> None:
    graph = chain("Conv", "BatchNormalization", "Relu", "MaxPool", "LRN", "Conv", "Add", "Relu",
                  "Reshape", "Conv", "Softmax")  # fmt: skip
    assert legal_cuts(graph) == tuple(range(1, 11))
    assert transition_points(graph) == (3, 4, 5, 9)
    assert members(group_network(graph, None)) == [[0, 1, 2], [3], [4], [5, 6, 7, 8], [9, 10]]


def test_normalisation_before_a_convolution_starts_a_group() -> None:
    graph = chain("Conv", "MaxPool", "BatchNormalization", "Relu", "Conv")
    assert members(group_network(graph, None)) == [[0], [1], [2, 3], [4]]


def test_a_leading_zero_cost_layer_goes_to_its_reader() -> None:
    for options in ({}, {"each_layer": True}, {"branches": True}):
        graph = chain("Reshape", "Reshape", "Conv", "MaxPool")
        assert members(group_network(graph, None, Grouping(**options))) == [[0, 1, 2], [3]]
    assert members(group_network(chain("Reshape", "Reshape"), None)) == [[0, 1]]


# Properties of every grouping

OPTIONS = st.one_of(
    st.just({}),
    st.just({"branches": True}),
    st.just({"each_layer": True}),
    st.integers(1, 10).map(lambda count: {"count": count}),
    st.integers(1, 10).map(lambda count: {"count": count, "branches": True}),
)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(networks(), OPTIONS)
def test_groups_are_a_partition_in_an_order_of_execution(graph: SdfGraph, options) -> None:
    grouped = group_network(graph, None, Grouping(**options))
    parts = members(grouped)
    assert sorted(index for part in parts for index in part) == list(range(len(graph.actors)))
    assert all(part == sorted(part) for part in parts)
    assert grouped.graph is graph
    assert grouped == group_network(graph, None, Grouping(**options))
    owner = {index: number for number, part in enumerate(parts) for index in part}
    elements = [actor.layer.output_elements for actor in graph.actors]
    edges = sources_by_reader(graph)
    # What crosses, tensor by tensor.
    crossing: dict[tuple[int, int], int] = {}
    for source, target in {(source, owner[reader]) for source, reader in edges}:
        if owner[source] != target:
            pair = owner[source], target
            crossing[pair] = crossing.get(pair, 0) + elements[source]
    assert {(e.source, e.target): e.elements for e in grouped.edges} == crossing
    for number, group in enumerate(grouped.groups):
        entering = {source for source, reader in edges
                    if owner[reader] == number != owner[source]}  # fmt: skip
        inputs = sum(
            actor.layer.input_elements
            - sum(elements[source] for source, reader in edges if reader == index)
            for index, actor in enumerate(graph.actors)
            if owner[index] == number
        )
        assert group.external_input_elements == inputs + sum(elements[s] for s in entering)
        leaving = {source for source, reader in edges
                   if owner[source] == number != owner[reader]}  # fmt: skip
        results = set(parts[number]) - {source for source, _ in edges}
        assert group.external_output_elements == sum(elements[s] for s in leaving | results)
        costly = any(layer.kind is not LayerKind.RESHAPE for layer in group.layers)
        neighbours = any(number in (edge.source, edge.target) for edge in grouped.edges)
        assert costly or not neighbours


@settings(deadline=None, derandomize=True, max_examples=100)
@given(networks())
def test_chain_groups_end_at_the_transition_points(graph: SdfGraph) -> None:
    parts = members(group_network(graph, None))
    stretches = members(group_at(graph, transition_points(graph)))
    if 4 * max(map(work_of(graph), stretches)) > sum(map(work_of(graph), stretches)):
        # A stretch of much work is cut further: test_pieces.py.
        return
    costly = [part for part in parts if any(
        graph.actors[index].layer.kind is not LayerKind.RESHAPE for index in part)]  # fmt: skip
    if len(costly) == len(parts):
        assert tuple(part[0] for part in parts[1:]) == transition_points(graph)


def work_of(graph: SdfGraph) -> Callable[[list[int]], int]:
    layers = layers_of(graph)
    view = NetworkView(layers, tensors_of(graph), np.ones((len(layers), 1), dtype=np.bool_))
    return view.work_of


def test_a_result_that_is_read_too_leaves_once() -> None:
    layers = [
        Layer("a", "Conv", LayerKind.CONVOLUTION, 1, 0, 5, 7, result_elements=7),
        Layer("b", "MaxPool", LayerKind.POOLING, 0, 0, 7, 3),
    ]
    actors = tuple(Actor(layer.name, layer) for layer in layers)
    graph = SdfGraph("net", actors, (Channel("a", "b", 7, 7, name="t"),))
    apart, together = group_network(graph, None), group_at(graph, [])
    assert [group.external_output_elements for group in apart.groups] == [7, 3]
    assert [group.external_output_elements for group in together.groups] == [10]


# Balance


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.data())
def test_balanced_parts_against_every_partition(data: st.DataObject) -> None:
    work = data.draw(st.lists(st.integers(0, 20), min_size=1, max_size=9))
    parts = data.draw(st.integers(1, 10))
    count = len(work)
    reach = [data.draw(st.integers(index + 1, count)) for index in range(count)]
    reach = [min(reach[index:]) for index in range(count)]
    reach = [max(index + 1, stop) for index, stop in enumerate(reach)]

    def allowed(starts: tuple[int, ...]) -> bool:
        return all(end <= reach[start] for start, end in pairwise((*starts, count)))

    everything = [
        (0, *cuts)
        for size in range(count)
        for cuts in combinations(range(1, count), size)
        if allowed((0, *cuts))
    ]
    wanted = max(min(parts, count), min(len(starts) for starts in everything))
    sizes = {
        starts: [sum(work[a:b]) for a, b in pairwise((*starts, count))]
        for starts in everything
        if len(starts) == wanted
    }
    best = min((max(size), sum(part**2 for part in size)) for size in sizes.values())
    found = balanced_parts(work, parts, reach)
    assert found[0] == 0
    size = sizes[tuple(found)]
    assert (max(size), sum(part**2 for part in size)) == best


def test_impossible_balances_are_refused() -> None:
    with pytest.raises(GraphError, match="at least 1, got 0"):
        balanced_parts([1], 0, [1])
    with pytest.raises(GraphError, match="nothing to group"):
        balanced_parts([], 1, [])


@pytest.mark.parametrize("wanted", [1, 2, 5, 10, 100])
def test_about_as_many_groups_as_asked_for(wanted: int) -> None:
    for name in ("vgg19", "resnet50", "densenet121"):
        graph = load_network(name).graph
        every = group_network(graph, None)
        grouped = group_network(graph, None, groups=wanted)
        assert len(grouped.groups) == min(wanted, len(every.groups))
        assert [(e.source, e.target) for e in grouped.edges] == list(
            pairwise(range(len(grouped.groups)))
        )
        branched = group_network(graph, None, Grouping(wanted, branches=True))
        assert len(branched.groups) <= max(wanted, 1)


def test_thousands_of_layers() -> None:
    graph = chain(*(["Conv", "Relu", "MaxPool"] * 1000))
    assert len(group_network(graph, None).groups) == 2000
    assert len(group_network(graph, None, groups=50).groups) == 50
    assert len(group_network(graph, None, Grouping(branches=True)).groups) == 2000


# Support


def test_layers_that_no_unit_runs_together_are_kept_apart() -> None:
    graph = chain("Conv", "Relu", "Conv", "MaxPool")
    table = [[True, False], [False, True], [True, True], [True, False]]
    for options in ({}, {"count": 1}, {"branches": True}):
        parts = members(group_network(graph, table, Grouping(**options)))
        assert all(np.array(table)[part].all(axis=0).any() for part in parts)
        assert [0] in parts
    assert len(group_network(graph, table, groups=1).groups) == 3


def test_a_layer_that_nothing_runs_does_not_tear_the_rest() -> None:
    graph = chain("Conv", "MaxPool", "Conv")
    table = [[True], [False], [True]]
    assert members(group_network(graph, table, groups=1)) == [[0, 1, 2]]


def test_an_island_takes_its_lighter_neighbour_along() -> None:
    operations = ["Conv"] * 6
    operations[2], operations[3] = "MaxPool", "LRN"
    everywhere = [True, True]
    table = [everywhere, everywhere, everywhere, [True, False], everywhere, everywhere]
    graph = network(
        operations, [[index - 1] for index in range(6)], macs=[9**6, 9**6, 0, 0, 9**6, 9**6]
    )
    assert members(group_network(graph, None)) == [[0], [1], [2], [3], [4], [5]]
    assert members(group_network(graph, table)) == [[0], [1], [2, 3], [4], [5]]
    # Not where that would take much of the work from the other unit.
    heavy = network(["Conv", "LRN", "Conv"], [[-1], [0], [1]], macs=[9**6, 0, 9**6])
    assert len(group_network(heavy, [everywhere, [True, False], everywhere]).groups) == 3


@settings(deadline=None, derandomize=True, max_examples=100)
@given(networks(COSTLY), st.data(), OPTIONS)
def test_groups_have_a_unit_wherever_cuts_allow(
    graph: SdfGraph, data: st.DataObject, options
) -> None:
    units = data.draw(st.integers(1, 3))
    table = np.array([
        data.draw(st.lists(st.booleans(), min_size=units, max_size=units)) for _ in graph.actors
    ])  # fmt: skip
    for stretch in pairwise((0, *legal_cuts(graph), len(graph.actors))):
        table[slice(*stretch), data.draw(st.integers(0, units - 1))] = True
    grouped = group_network(graph, table, Grouping(**options))
    assert all(table[part].all(axis=0).any() for part in members(grouped))


# Branches


def test_branches_become_groups() -> None:
    # 0 -> (1-2 | 3 | 4-5) -> 6 -> 7
    graph = network(
        ["Conv", "Conv", "Relu", "Conv", "MaxPool", "Conv", "Concat", "Conv"],
        [[-1], [0], [1], [0], [0], [4], [2, 3, 5], [6]],
    )
    grouped = group_network(graph, None, Grouping(branches=True))
    assert members(grouped) == [[0], [1, 2], [3], [4, 5], [6], [7]]
    assert [(edge.source, edge.target) for edge in grouped.edges] == [
        (0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (4, 5),
    ]  # fmt: skip
    assert members(group_at(graph, transition_points(graph))) == [[0], [1, 2, 3, 4, 5, 6], [7]]


def test_a_plain_shortcut_makes_no_branch() -> None:
    block = network(["Conv", "Conv", "Conv", "Add", "Relu"], [[-1], [0], [1], [0, 2], [3]])
    assert members(group_network(block, None, Grouping(branches=True))) == [[0], [1, 2, 3, 4]]
    projected = network(
        ["Conv", "Conv", "Conv", "Conv", "Add", "Relu"], [[-1], [0], [0], [2], [1, 3], [4]]
    )
    assert members(group_network(projected, None, Grouping(branches=True))) == [
        [0],
        [1],
        [2, 3],
        [4, 5],
    ]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(networks(COSTLY))
def test_branches_delay_nothing(graph: SdfGraph) -> None:
    """Within a group of the chain, with a unit for every branch, branches end when their layers
    would if each of them had a unit of its own."""
    times = [actor.layer.macs + 1 for actor in graph.actors]
    branches = members(group_network(graph, None, Grouping(branches=True)))
    for stretch in members(group_at(graph, transition_points(graph))):
        edges = [pair for pair in sources_by_reader(graph) if set(pair) <= set(stretch)]
        parts = [part for part in branches if set(part) <= set(stretch)]
        assert sorted(index for part in parts for index in part) == stretch
        alone = ends_of([[index] for index in stretch], edges, times)
        assert ends_of(parts, edges, times).items() <= alone.items()


def ends_of(
    parts: list[list[int]], edges: list[tuple[int, int]], times: list[int]
) -> dict[int, int]:
    """When each part ends, by its last layer, if all parts run as early as they can."""
    owner = {index: number for number, part in enumerate(parts) for index in part}
    order: nx.DiGraph[int] = nx.DiGraph()
    order.add_nodes_from(range(len(parts)))
    order.add_edges_from((owner[a], owner[b]) for a, b in edges if owner[a] != owner[b])
    ends: dict[int, int] = {}
    for number in nx.topological_sort(order):
        start = max((ends[before] for before in order.predecessors(number)), default=0)
        ends[number] = start + sum(times[index] for index in parts[number])
    return {parts[number][-1]: end for number, end in ends.items()}


# Input that is no network


def test_what_is_no_network_is_refused() -> None:
    layer = Layer("a", "Conv", LayerKind.CONVOLUTION, 1, 0, 1, 1)
    a, b = Actor("a", layer), Actor("b", layer)
    cases = {
        "is not a network layer": SdfGraph("net", (Actor("a"),)),
        "has no layer": SdfGraph("net", ()),
        "does not follow the order": SdfGraph("net", (a, b), (Channel("b", "a"),)),
        "a delay or two rates": SdfGraph("net", (a, b), (Channel("a", "b", 2, 3),)),
        "a delay": SdfGraph("net", (a, b), (Channel("a", "b", initial_tokens=1),)),
    }
    for text, graph in cases.items():
        with pytest.raises(GraphError, match=text):
            group_network(graph, None)


def test_bad_options_are_refused() -> None:
    graph = chain("Conv", "Conv")
    with pytest.raises(GraphError, match=r"\[2 layers, units\], got shape \[3, 1\]"):
        group_network(graph, [[True]] * 3)
    with pytest.raises(GraphError, match="at least 1, got 0"):
        group_network(graph, None, groups=0)
    for options in ({"count": 2}, {"branches": True}):
        with pytest.raises(GraphError, match="one layer a group excludes"):
            Grouping(each_layer=True, **options)

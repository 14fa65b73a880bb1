"""Stretches cut where several tensors cross: against every choice of cuts, and on networks."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.grouping.network_view import NetworkView, layers_of, tensors_of
from paretosoc.sdf.grouping.pieces import (
    LOST_UNIT,
    MAX_PIECE,
    _atoms,
    _crossing,
    _order,
    cut_into_pieces,
)
from paretosoc.sdf.layer import Layer, LayerKind

LAYERS = {
    "Conv": LayerKind.CONVOLUTION,
    "Sigmoid": LayerKind.ACTIVATION,
    "Mul": LayerKind.ELEMENTWISE,
    "Add": LayerKind.ELEMENTWISE,
    "Concat": LayerKind.CONCATENATION,
    "ReduceMean": LayerKind.REDUCTION,
    "MatMul": LayerKind.MATRIX_PRODUCT,
    "Softmax": LayerKind.SOFTMAX,
    "MaxPool": LayerKind.POOLING,
}


def network(*layers: tuple[str, list[int]], elements: int = 10, macs: int = 10**4) -> SdfGraph:
    """Each layer as its operator and the numbers of the layers that it reads."""
    actors, channels = [], []
    for index, (operation, reads) in enumerate(layers):
        kind = LAYERS[operation]
        work = macs if kind in (LayerKind.CONVOLUTION, LayerKind.MATRIX_PRODUCT) else 0
        size = elements * max(1, len(reads))
        layer = Layer(f"{index}", operation, kind, work, 0, size, elements)
        actors.append(Actor(layer.name, layer))
        channels += [Channel(f"{r}", f"{index}", elements, elements, name="out") for r in reads]
    return SdfGraph("net", tuple(actors), tuple(channels))


def view_of(graph: SdfGraph, support: np.ndarray | None = None) -> NetworkView:
    layers = layers_of(graph)
    table = np.ones((len(layers), 1), dtype=np.bool_) if support is None else support
    return NetworkView(layers, tensors_of(graph), table)


@st.composite
def skipping_networks(draw: st.DrawFn) -> SdfGraph:
    """Convolutions, each reading some of the four layers before it."""
    layers: list[tuple[str, list[int]]] = [("Conv", [])]
    for index in range(1, draw(st.integers(2, 9))):
        near = range(max(0, index - 4), index)
        reads = draw(st.lists(st.sampled_from(near), min_size=1, unique=True))
        layers.append((draw(st.sampled_from(["Conv", "Conv", "Concat", "MaxPool"])), sorted(reads)))
    return network(*layers, elements=draw(st.sampled_from([1, 10, 100])))


@settings(deadline=None, derandomize=True, max_examples=100)
@given(skipping_networks(), st.integers(1, 6), st.integers(0, 10**6))
def test_the_pieces_cost_least_of_all_choices_of_cuts(
    graph: SdfGraph, parts: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    layers = layers_of(graph)
    support = rng.random((len(layers), 2)) < 0.85
    support[:, 0] = True
    view = view_of(graph, support)
    members = range(len(layers))
    wanted = max(1, view.work_of(members) // parts)
    order = _order(view, members)
    atoms = _atoms(view, order)
    position = {index: place for place, atom in enumerate(atoms) for index in atom}
    crossing = 64 * _crossing(view, position, len(atoms))
    work = [view.work_of(atom) for atom in atoms]

    def cost(starts: tuple[int, ...]) -> float:
        total = 0.0
        for start, end in pairwise((*starts, len(atoms))):
            size = sum(work[start:end])
            if end - start > 1 and size > MAX_PIECE * wanted:
                return np.inf
            total += size**2 / wanted + wanted + (crossing[start] if start else 0)
            able = np.array([view.units_of(atom) for atom in atoms[start:end]])
            for unit in range(2):
                if not able[:, unit].all():
                    total += LOST_UNIT / 2 * sum(np.array(work[start:end])[able[:, unit]])
        return total

    best = min(
        cost((0, *cuts))
        for size in range(len(atoms))
        for cuts in combinations(range(1, len(atoms)), size)
    )
    pieces = cut_into_pieces(view, members, wanted)
    where, starts = 0, []
    for piece in pieces:
        starts.append(where)
        where += len({position[index] for index in piece})
    assert cost(tuple(starts)) == pytest.approx(best)
    # An order of execution that holds every layer once.
    assert sorted(index for piece in pieces for index in piece) == list(members)
    owner = {index: number for number, piece in enumerate(pieces) for index in piece}
    assert all(owner[t.source] <= owner[r] for t in view.tensors for r in t.readers)


def test_crossing_elements_are_those_of_the_tensors_that_are_read_later() -> None:
    graph = network(("Conv", []), ("Conv", [0]), ("Conv", [0]), ("Concat", [1, 2]), ("Conv", [3]))
    view = view_of(graph)
    inside = {1: 0, 2: 1, 3: 2}
    assert _crossing(view, inside, 3).tolist() == [10, 20, 20]


def test_what_runtimes_fuse_stays_together() -> None:
    silu = network(
        ("Conv", []), ("Sigmoid", [0]), ("Mul", [0, 1]), ("Conv", [2]), ("Concat", [2, 3])
    )
    assert _atoms(view_of(silu), range(5)) == [[0, 1, 2], [3], [4]]
    normalised = network(
        ("Conv", []),
        ("Add", [0]),
        ("ReduceMean", [1]),
        ("Add", [1, 2]),
        ("Mul", [3]),
        ("ReduceMean", [4]),
        ("Mul", [3, 5]),
        ("MatMul", [1, 6]),
    )
    assert _atoms(view_of(normalised), range(8)) == [[0, 1], [2, 3, 4, 5, 6], [7]]
    attention = network(
        ("MatMul", []), ("MatMul", [0]), ("Mul", [1]), ("Softmax", [2]), ("MatMul", [0, 3])
    )
    assert _atoms(view_of(attention), range(5)) == [[0], [1, 2, 3, 4]]


def test_the_order_follows_a_branch_to_its_end() -> None:
    """Two inputs, the layers behind them listed in turn: each branch is executed as a whole, so
    that the other one has no tensor yet."""
    graph = network(
        ("Conv", []),
        ("Conv", []),
        ("Conv", [0]),
        ("Conv", [1]),
        ("Conv", [2]),
        ("Conv", [3]),
        ("Concat", [4, 5]),
    )
    assert _order(view_of(graph), range(7)) == [0, 2, 4, 1, 3, 5, 6]


def u_net(depth: int) -> SdfGraph:
    """Down, up, and a skip connection on every level."""
    layers: list[tuple[str, list[int]]] = [("Conv", [])]
    skips = []
    for _ in range(depth):
        layers.append(("Conv", [len(layers) - 1]))
        skips.append(len(layers) - 1)
        layers.append(("MaxPool", [len(layers) - 1]))
    for skip in reversed(skips):
        layers.append(("Conv", [len(layers) - 1]))
        layers.append(("Concat", [len(layers) - 1, skip]))
        layers.append(("Conv", [len(layers) - 1]))
    return network(*layers, macs=10**6)


def test_a_network_of_skip_connections_falls_into_even_groups() -> None:
    graph = u_net(8)
    view = view_of(graph)
    for wanted in (None, 8, 12, 20):
        grouped = group_network(graph, None, groups=wanted)
        work = [sum(layer.macs for layer in group.layers) for group in grouped.groups]
        assert max(work) <= 0.25 * sum(work)
        assert len(grouped.groups) >= 12 if wanted is None else len(grouped.groups) <= wanted
        passed = sum(edge.elements for edge in grouped.edges)
        assert passed < sum(tensor.elements for tensor in view.tensors)


def test_one_layer_keeps_a_unit_from_its_neighbours_only() -> None:
    """A layer that the second unit cannot run, in the middle: the rest may run there."""
    graph = u_net(8)
    support = np.ones((len(graph.actors), 2), dtype=np.bool_)
    support[len(graph.actors) // 2, 1] = False
    grouped = group_network(graph, support)
    names = {actor.name: index for index, actor in enumerate(graph.actors)}
    free = [g for g in grouped.groups if all(support[names[x.name], 1] for x in g.layers)]
    macs = [sum(layer.macs for group in some for layer in group.layers) for some in
            (free, grouped.groups)]  # fmt: skip
    assert macs[0] >= 0.9 * macs[1]

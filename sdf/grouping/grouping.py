"""Networks cut into groups: the parts that are mapped as one (HaX-CoNN 3.1)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.grouping.balance import balanced_parts
from paretosoc.sdf.grouping.groups import Group, GroupEdge, GroupedNetwork
from paretosoc.sdf.grouping.network_view import (
    NetworkView,
    layers_of,
    legal_cuts,
    tensors_of,
    transition_points,
)
from paretosoc.sdf.grouping.options import Grouping
from paretosoc.sdf.grouping.parts import join_to_count, split_branches, split_layers
from paretosoc.sdf.grouping.pieces import cut_stretch
from paretosoc.sdf.layer import LayerKind

__all__ = ["group_network", "groups_from_parts", "legal_cuts", "transition_points"]

_SACRIFICE = 20
"""A group follows a neighbour onto fewer units if its work is at most the network's over this."""

MAX_SHARE = 4
"""A stretch that no single tensor crosses anywhere is cut all the same if its work is more than the
network's over this."""
MIN_GROUPS = 12
"""If a network has fewer such stretches, they are cut until there are about this many groups."""
PIECES = 16
"""Into about so many times its share, or the number of groups asked for if that is larger."""

Support = Sequence[Sequence[bool]] | NDArray[np.bool_]
_Part = Sequence[int]
"""Layers of a group, by their index in the order of execution, ascending."""


def group_network(
    graph: SdfGraph, supported: Support | None, groups: int | Grouping | None = None
) -> GroupedNetwork:
    """Cut a network into groups.

    By default it is cut at every place that one tensor crosses and that tears no fusion apart.
    A layer that fewer units can run than its neighbours takes a light neighbour with it, since on
    its own it would cost two transitions. Layers are never joined if no unit could run them
    together. A stretch of much work without a place that a single tensor crosses is cut at places
    that little crosses (:mod:`sdf.grouping.pieces`). Edges may then skip groups.

    Args:
        graph: a network, actors in an order of execution.
        supported: [layers, units], whether a unit can run a layer. None: every unit, every layer.
        groups: about how many, or how they are cut. Neighbours are joined so that the largest has
            as little work as possible. None: as many as there are.

    Raises:
        GraphError: if the graph is not a network, the table has the wrong shape, or no group is
            asked for.
    """
    layers = layers_of(graph)
    view = NetworkView(layers, tensors_of(graph), _support_table(supported, len(layers)))
    cut = groups if isinstance(groups, Grouping) else Grouping(groups)
    parts: list[_Part]
    if cut.each_layer:
        parts = list(split_layers(range(len(layers)), layers, view.tensors))
    else:
        chain = _chain(graph, view)
        if cut.branches:
            parts = _branched(view, _joined_islands(view, chain), cut.count)
        else:
            parts, is_chain = _without_large_parts(view, chain, max(PIECES, cut.count or 0))
            if cut.count is not None and is_chain:
                parts = _balanced(view, parts, cut.count)
            elif cut.count is not None:
                parts = list(join_to_count(view, parts, cut.count))
    return _assembled(graph, view, _without_idle_parts(view, parts))


def groups_from_parts(graph: SdfGraph, parts: Sequence[Sequence[int]]) -> GroupedNetwork:
    """Build groups from given parts, each a list of layers by their place in the order of
    execution, ascending. Every layer must be in exactly one part, and the parts must have an order
    of execution.

    Raises:
        GraphError: if the graph is not a network.
    """
    layers = layers_of(graph)
    view = NetworkView(layers, tensors_of(graph), _support_table(None, len(layers)))
    return _assembled(graph, view, _without_idle_parts(view, list(parts)))


def _support_table(supported: Support | None, layers: int) -> NDArray[np.bool_]:
    if supported is None:
        return np.ones((layers, 1), dtype=np.bool_)
    table = np.asarray(supported, dtype=np.bool_)
    if table.ndim != 2 or table.shape[0] != layers or table.shape[1] < 1:
        raise GraphError(
            f"the table of supported layers must be [{layers} layers, units], got shape "
            f"{list(table.shape)}"
        )
    return table


def _chain(graph: SdfGraph, view: NetworkView) -> list[_Part]:
    """Return the stretches between transition points, cut further if no unit can run one whole."""
    count = len(view.layers)
    legal = legal_cuts(graph)
    chain: list[_Part] = []
    for start, end in pairwise((0, *transition_points(graph), count)):
        whole = range(start, end)
        if view.units_of(whole).any():
            chain.append(whole)
            continue
        inner = legal[bisect_right(legal, start) : bisect_left(legal, end)]
        pieces = [range(*ends) for ends in pairwise((start, *inner, end))]
        reach = _reach(view, pieces)
        first = 0
        while first < len(pieces):
            chain.append(range(pieces[first].start, pieces[reach[first] - 1].stop))
            first = reach[first]
    return chain


def _reach(view: NetworkView, chain: Sequence[_Part]) -> list[int]:
    """Return, for each element of a chain, the first later one that no unit can run with it."""
    table = np.array([view.units_of(part) for part in chain])
    # A layer that nothing can run is no reason to cut: it fails anyway, and is then named.
    table[~table.any(axis=1)] = True
    stops = np.full(table.shape[1], len(chain))
    reach = []
    for index in range(len(chain) - 1, -1, -1):
        stops = np.where(table[index], stops, index)
        reach.append(int(stops.max()))
    return reach[::-1]


def _joined_islands(view: NetworkView, chain: list[_Part]) -> list[_Part]:
    """Join a part to its lighter neighbour if all its neighbours run on more units than it."""
    units = [view.units_of(part) for part in chain]
    work = [view.work_of(part) for part in chain]
    follows = [False] * len(chain)
    """Whether a part is joined to the one before it."""
    total = sum(work)
    for index in range(len(chain)):
        beside = [other for other in (index - 1, index + 1) if 0 <= other < len(chain)]
        island = beside and all(
            units[index].any()
            and (units[index] <= units[other]).all()
            and (units[index] != units[other]).any()
            for other in beside
        )
        if island:
            lighter = min(beside, key=lambda other: work[other])
            if work[lighter] * _SACRIFICE <= total:
                follows[max(index, lighter)] = True
    joined: list[list[int]] = []
    shared = units[0]
    for part, own, follow in zip(chain, units, follows, strict=True):
        if follow and (shared & own).any():
            joined[-1] += part
            shared = shared & own
        else:
            joined.append(list(part))
            shared = own
    return list(joined)


def _without_large_parts(
    view: NetworkView, chain: list[_Part], pieces: int
) -> tuple[list[_Part], bool]:
    """Cut parts of more than a share of the work at places that several tensors cross. If there are
    few parts, also cut the others, the largest first. Parts that stay chains have no islands. Also
    return whether all of them do."""
    work = [view.work_of(part) for part in chain]
    total = sum(work)
    cut: dict[int, list[list[int]]] = {}
    count = len(chain)
    for index in sorted(range(len(chain)), key=lambda index: -work[index]):
        if work[index] * MAX_SHARE > total:
            size = total // pieces
        elif count < MIN_GROUPS:
            size = work[index] // (MIN_GROUPS - count + 1)
        else:
            break
        found = cut_stretch(view, chain[index], max(1, size))
        if len(found) > 1:
            cut[index] = found
            count += len(found) - 1
    parts: list[_Part] = []
    for is_cut, run in groupby(range(len(chain)), key=cut.__contains__):
        if is_cut:
            parts += [piece for index in run for piece in cut[index]]
        else:
            parts += _joined_islands(view, [chain[index] for index in run])
    return parts, not cut


def _balanced(view: NetworkView, chain: Sequence[_Part], groups: int) -> list[_Part]:
    work = [view.work_of(part) for part in chain]
    starts = balanced_parts(work, groups, _reach(view, chain))
    return [
        [index for part in chain[start:end] for index in part]
        for start, end in pairwise((*starts, len(chain)))
    ]


def _branched(view: NetworkView, chain: Sequence[_Part], groups: int | None) -> list[_Part]:
    """Split the chain's parts into branches, those first that gain most from it."""
    split = [split_branches(part, view.layers, view.tensors_of(part)) for part in chain]
    if groups is None or sum(map(len, split)) <= groups:
        return [part for parts in split for part in parts]
    if len(chain) >= groups:
        return _balanced(view, chain, groups)
    gains = [
        sum(work) - max(work)
        for work in ([view.work_of(part) for part in parts] for parts in split)
    ]
    room = groups - len(chain)
    chosen: set[int] = set()
    for index in sorted(range(len(chain)), key=lambda index: (-gains[index], index)):
        if len(split[index]) - 1 <= room:
            room -= len(split[index]) - 1
            chosen.add(index)
    parts: list[_Part] = []
    for index, whole in enumerate(chain):
        parts.extend(split[index] if index in chosen else [whole])
    return parts


def _without_idle_parts(view: NetworkView, parts: list[_Part]) -> list[list[int]]:
    """Join parts that cost nothing to the one that they read, or else to their first reader."""
    owner = {index: number for number, part in enumerate(parts) for index in part}
    merged = {number: list(part) for number, part in enumerate(parts)}
    for number, part in enumerate(parts):
        if len(parts) == 1 or any(view.layers[i].kind is not LayerKind.RESHAPE for i in part):
            continue
        read: set[int] = set()
        feeds: set[int] = set()
        for index in merged[number]:
            for tensor in (view.tensors[n] for n in view.tensors_at[index]):
                if tensor.source == index:
                    feeds.update(owner[reader] for reader in tensor.readers)
                else:
                    read.add(owner[tensor.source])
        others = sorted(read - {number}) or sorted(feeds - {number})
        if others and (len(read - {number}) <= 1):
            target = others[0]
            owner.update(dict.fromkeys(merged[number], target))
            merged[target] = sorted(merged[target] + merged.pop(number))
    return list(merged.values())


def _assembled(graph: SdfGraph, view: NetworkView, parts: list[list[int]]) -> GroupedNetwork:
    """Build the network of the parts, in an order of execution, and the tensors between them."""
    owner = {index: number for number, part in enumerate(parts) for index in part}
    order = TopologicalSorter[int](dict.fromkeys(range(len(parts)), ()))
    elements: dict[tuple[int, int], int] = {}
    for tensor in view.tensors:
        source = owner[tensor.source]
        for target in {owner[reader] for reader in tensor.readers} - {source}:
            elements[source, target] = elements.get((source, target), 0) + tensor.elements
            order.add(target, source)
    sequence = _first_layers_first(order, parts)
    position = {part: index for index, part in enumerate(sequence)}
    groups = tuple(_group(view, parts[part]) for part in sequence)
    edges = sorted(
        (position[source], position[target], count) for (source, target), count in elements.items()
    )
    return GroupedNetwork(graph.name, graph, groups, tuple(GroupEdge(*edge) for edge in edges))


def _first_layers_first(order: TopologicalSorter[int], parts: list[list[int]]) -> list[int]:
    """Return the parts in an order of execution. Of the parts that could be next, the one with the
    first layer comes first."""
    order.prepare()
    ready: list[tuple[int, int]] = []
    sequence = []
    while order.is_active():
        for part in order.get_ready():
            heappush(ready, (parts[part][0], part))
        sequence.append(heappop(ready)[1])
        order.done(sequence[-1])
    return sequence


def _group(view: NetworkView, part: _Part) -> Group:
    first, last = view.layers[part[0]].name, view.layers[part[-1]].name
    entering, leaving = view.traffic_of(part)
    return Group(
        name=first if len(part) == 1 else f"{first} .. {last}",
        layers=tuple(view.layers[index] for index in part),
        external_input_elements=entering,
        external_output_elements=leaving,
    )

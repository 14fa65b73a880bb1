"""The firings of one iteration as nodes: the homogeneous expansion with one edge per dependence.

Firings are numbered over all iterations, n = iteration * q + firing. All execution times of an
actor being equal, its firings end in the order in which they start, so firing n of a channel's
target waits, of all firings of the source, only for the last one that it needs:

    ceil(((n + 1) * consumption - initial_tokens) / production) - 1.

That single edge has the same longest paths as the full expansion of Sriram and Bhattacharyya
(Embedded Multiprocessors, 3.8), with sum(q[target]) edges instead of one per token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdf.errors import GraphError

IntArray = npt.NDArray[Any]
"""int64, or Python integers (dtype object) where 64 bits would not do."""

SAFE_BITS = 61


@dataclass(frozen=True)
class Dependence:
    """A channel between actors given by their indices, stripped to what timing depends on."""

    source: int
    target: int
    production: int
    consumption: int
    tokens: int


@dataclass
class FiringGraph:
    """Incoming edges of every firing, grouped by target. E edges, N firings, A actors.

    ``delay`` says how many iterations earlier the source's firing is. Only ``source`` and
    ``delay`` change, when ``set_tokens`` changes how many tokens a dependence starts with.
    """

    first_node: IntArray
    """[A + 1] node of firing 0 of every actor."""
    first_edge: IntArray
    """[N + 1] first incoming edge of every node."""
    source: IntArray
    """[E] node that the edge comes from."""
    delay: IntArray
    """[E] iterations."""
    dependence: IntArray
    """[E] index into the dependences; -1 for an edge of a given order."""
    dependences: tuple[Dependence, ...]
    repetitions: tuple[int, ...]
    tokens: list[int]
    """Present initial tokens of every dependence."""
    edges_of: tuple[IntArray, ...]
    """Per dependence [q of its target]: its edges, by the target's firing."""
    work: int = 0
    """Edge relaxations spent on it so far."""

    @property
    def firings(self) -> int:
        """Nodes."""
        return int(self.first_node[-1])

    def set_tokens(self, number: int, tokens: int) -> None:
        """Let dependence ``number`` start with other tokens."""
        if tokens == self.tokens[number]:
            return
        self.tokens[number] = tokens
        edges = self.edges_of[number]
        self.source[edges], self.delay[edges] = _sources(self, number, tokens)

    def actor_of(self, node: int) -> int:
        """The actor that a node is a firing of."""
        return int(np.searchsorted(self.first_node, node, side="right")) - 1


def build_firing_graph(
    repetitions: Sequence[int],
    dependences: Sequence[Dependence],
    orders: Sequence[Sequence[int]] = (),
) -> FiringGraph:
    """Unfold one iteration of actors 0..A-1.

    Args:
        repetitions: q of every actor; they balance every dependence.
        orders: static orders, each the actors that one processor fires in one iteration, in
            that order and repeated for ever; every actor in it is there q times.
    """
    first_node = np.concatenate([[0], np.cumsum(np.array(repetitions, dtype=np.int64))])
    nodes = int(first_node[-1])
    targets = [np.arange(first_node[d.target], first_node[d.target + 1]) for d in dependences]
    owners = [np.full(len(nodes_of), n) for n, nodes_of in enumerate(targets)]
    ordered_target, ordered_source, ordered_delay = _order_edges(first_node, orders)
    target = np.concatenate([*targets, ordered_target]).astype(np.int64)
    owner = np.concatenate([*owners, np.full(len(ordered_target), -1)]).astype(np.int64)
    by_target = np.argsort(target, kind="stable")
    position = np.empty_like(by_target)
    position[by_target] = np.arange(len(by_target))
    ends = np.cumsum([len(nodes_of) for nodes_of in targets], dtype=np.int64)
    edges_of = tuple(
        position[end - len(nodes_of) : end] for nodes_of, end in zip(targets, ends, strict=True)
    )
    graph = FiringGraph(
        first_node=first_node,
        first_edge=np.searchsorted(target[by_target], np.arange(nodes + 1)),
        source=np.zeros(len(target), dtype=np.int64),
        delay=np.zeros(len(target), dtype=np.int64),
        dependence=owner[by_target],
        dependences=tuple(dependences),
        repetitions=tuple(repetitions),
        tokens=[-1] * len(dependences),
        edges_of=edges_of,
    )
    placed = position[len(target) - len(ordered_target) :]
    graph.source[placed] = ordered_source
    graph.delay[placed] = ordered_delay
    for number, dependence in enumerate(dependences):
        graph.set_tokens(number, dependence.tokens)
    return graph


def _sources(graph: FiringGraph, number: int, tokens: int) -> tuple[IntArray, IntArray]:
    """Source node and delay of every edge of one dependence, by the target's firing."""
    dependence = graph.dependences[number]
    firings = graph.repetitions[dependence.target]
    moved = firings * dependence.consumption
    """Tokens through the channel in an iteration: as many more only delay by one iteration."""
    whole, part = divmod(tokens, moved)
    if max(moved, whole) >> SAFE_BITS:
        numbers = np.array(range(1, firings + 1), dtype=object)
    else:
        numbers = np.arange(1, firings + 1, dtype=np.int64)
    needed = numbers * dependence.consumption - part
    firing = -(-needed // dependence.production) - 1
    repetitions = graph.repetitions[dependence.source]
    delay = whole - firing // repetitions
    if whole >> SAFE_BITS:
        raise GraphError(
            f"{tokens} initial tokens, {moved} tokens an iteration: more iterations than 64 bits "
            "can count"
        )
    node = graph.first_node[dependence.source] + firing % repetitions
    return node.astype(np.int64), delay.astype(np.int64)


def _order_edges(
    first_node: IntArray, orders: Sequence[Sequence[int]]
) -> tuple[IntArray, IntArray, IntArray]:
    """Targets, sources and delays: each firing of an order waits for the one before it."""
    target: list[int] = []
    source: list[int] = []
    delay: list[int] = []
    for order in orders:
        fired: dict[int, int] = {}
        nodes = []
        for actor in order:
            nodes.append(int(first_node[actor]) + fired.get(actor, 0))
            fired[actor] = fired.get(actor, 0) + 1
        target.extend(nodes)
        source.extend([*nodes[-1:], *nodes[:-1]])
        delay.extend([1] * len(nodes[:1]) + [0] * len(nodes[1:]))
    return (
        np.array(target, dtype=np.int64),
        np.array(source, dtype=np.int64),
        np.array(delay, dtype=np.int64),
    )

"""The firings of one iteration as nodes: the homogeneous expansion with one edge per dependence.

Firings are numbered over all iterations, n = iteration * q + firing. All firings of an actor end in
the order in which they start (``sdf.analysis.throughput`` sees to it), so firing n of a channel's
target waits, of all firings of the source, only for the last one that it needs: the one that puts
in token number P(n + 1) - initial_tokens, with P(n) the tokens that n firings of the target take.
With one rate at either end that is firing

    ceil(((n + 1) * consumption - initial_tokens) / production) - 1.

That single edge has the same longest paths as the full expansion of Sriram and Bhattacharyya
(Embedded Multiprocessors, 3.8), with sum(q[target]) edges instead of one per token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.rates import IntArray, PerPhase, Rate, cycle_total

SAFE_BITS = 61


@dataclass(frozen=True)
class Dependence:
    """A channel between actors given by their indices, reduced to the figures that timing depends
    on."""

    source: int
    target: int
    production: Rate
    consumption: Rate
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
    """[E] index into the dependences, or -1 for an edge of a given order."""
    time: IntArray
    """[N] execution time of every firing."""
    dependences: tuple[Dependence, ...]
    repetitions: tuple[int, ...]
    tokens: list[int]
    """Present initial tokens of every dependence."""
    edges_of: tuple[IntArray, ...]
    """Per dependence [q of its target]: its edges, by the target's firing."""
    work: int = 0
    """Edge relaxations spent on it so far."""

    @cached_property
    def total_time(self) -> int:
        """Return the sum of the execution times of all firings."""
        return sum(self.time.tolist())

    @property
    def firings(self) -> int:
        """Return the number of nodes."""
        return int(self.first_node[-1])

    def set_tokens(self, number: int, tokens: int) -> None:
        """Let dependence ``number`` start with other tokens."""
        if tokens == self.tokens[number]:
            return
        self.tokens[number] = tokens
        edges = self.edges_of[number]
        self.source[edges], self.delay[edges] = _sources(self, number, tokens)

    def actor_of(self, node: int) -> int:
        """Return the actor that a node is a firing of."""
        return int(np.searchsorted(self.first_node, node, side="right")) - 1


def build_firing_graph(
    repetitions: Sequence[int],
    times: Sequence[PerPhase],
    dependences: Sequence[Dependence],
    orders: Sequence[Sequence[int]] = (),
) -> FiringGraph:
    """Unfold one iteration of actors 0..A-1.

    Args:
        repetitions: q of every actor, which balances every dependence.
        times: execution time of every actor, >= 0.
        orders: static orders, each the actors that one processor fires in one iteration, in that
            order and repeated for ever. Every actor in it is there q times.
    """
    counts = np.array(repetitions, dtype=np.int64)
    first_node = np.concatenate([[0], np.cumsum(counts)])
    nodes = int(first_node[-1])
    ends = np.array([(d.source, d.target) for d in dependences], dtype=np.int64).reshape(-1, 2)
    sizes = counts[ends[:, 1]]
    ordered_target, ordered_source, ordered_delay = _order_edges(first_node, orders)
    target = np.concatenate([_runs(first_node[ends[:, 1]], sizes), ordered_target])
    owner = np.concatenate(
        [np.repeat(np.arange(len(dependences)), sizes), np.full(len(ordered_target), -1)]
    )
    by_target = np.argsort(target, kind="stable")
    position = np.empty_like(by_target)
    position[by_target] = np.arange(len(by_target))
    *edges_of, placed = np.split(position, np.cumsum(sizes))
    graph = FiringGraph(
        first_node=first_node,
        first_edge=np.searchsorted(target[by_target], np.arange(nodes + 1)),
        source=np.zeros(len(target), dtype=np.int64),
        delay=np.zeros(len(target), dtype=np.int64),
        dependence=owner[by_target],
        time=_firing_times(repetitions, times),
        dependences=tuple(dependences),
        repetitions=tuple(repetitions),
        tokens=[-1] * len(dependences),
        edges_of=tuple(edges_of),
    )
    graph.source[placed] = ordered_source
    graph.delay[placed] = ordered_delay
    _set_simple(graph)
    for number, dependence in enumerate(dependences):
        graph.set_tokens(number, dependence.tokens)
    return graph


def _runs(begins: IntArray, sizes: IntArray) -> IntArray:
    """Return begin, begin + 1, ... of every run, one run after the other."""
    ends = np.cumsum(sizes)
    runs: IntArray = np.arange(np.sum(sizes)) + np.repeat(begins - ends + sizes, sizes)
    return runs


def _firing_times(repetitions: Sequence[int], times: Sequence[PerPhase]) -> IntArray:
    """Return the times as int64 if they fit with room to spare, else as Python integers."""
    phases = [1 if isinstance(time, int) else len(time) for time in times]
    large = any(
        cycle_total(time, count) >> SAFE_BITS for time, count in zip(times, phases, strict=True)
    )
    parts = [
        np.resize(np.array(time, dtype=object if large else np.int64), count)
        for time, count in zip(times, repetitions, strict=True)
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _set_simple(graph: FiringGraph) -> None:
    """Set the tokens of all dependences with one rate at either end and moderate figures at once.
    Graphs may have tens of thousands."""
    rows = []
    for number, dependence in enumerate(graph.dependences):
        production, consumption = dependence.production, dependence.consumption
        moved = consumption.moved(graph.repetitions[dependence.target])
        if production.phases == consumption.phases == 1 and not (
            max(moved, dependence.tokens) >> SAFE_BITS
        ):
            rows.append((number, production.moved(1), consumption.moved(1), dependence.tokens))
            graph.tokens[number] = dependence.tokens
    if not rows:
        return
    numbers, production, consumption, tokens = np.array(rows, dtype=np.int64).T
    ends = np.array([(d.source, d.target) for d in graph.dependences], dtype=np.int64)[numbers]
    counts = np.array(graph.repetitions, dtype=np.int64)
    sizes = counts[ends[:, 1]]
    moved = sizes * consumption
    row = np.repeat(np.arange(len(rows)), sizes)
    needed = _runs(np.ones_like(sizes), sizes) * consumption[row] - (tokens % moved)[row]
    iteration, firing = np.divmod((needed - 1) // production[row], counts[ends[:, 0]][row])
    edges = np.concatenate([graph.edges_of[number] for number in numbers])
    graph.source[edges] = graph.first_node[ends[:, 0]][row] + firing
    graph.delay[edges] = (tokens // moved)[row] - iteration


def _sources(graph: FiringGraph, number: int, tokens: int) -> tuple[IntArray, IntArray]:
    """Return the source node and delay of every edge of one dependence, by the target's firing."""
    dependence = graph.dependences[number]
    firings = graph.repetitions[dependence.target]
    # As many tokens more only delay by one iteration.
    moved = dependence.consumption.moved(firings)
    whole, part = divmod(tokens, moved)
    if whole >> SAFE_BITS:
        raise GraphError(
            f"{tokens} initial tokens, {moved} tokens an iteration: more iterations than 64 bits "
            "can count"
        )
    large = moved >> SAFE_BITS
    numbers = np.arange(1, firings + 1).astype(object if large else np.int64)
    firing = dependence.production.last_needed(dependence.consumption.moved_by_each(numbers) - part)
    repetitions = graph.repetitions[dependence.source]
    delay = whole - firing // repetitions
    node = graph.first_node[dependence.source] + firing % repetitions
    return node.astype(np.int64), delay.astype(np.int64)


def _order_edges(
    first_node: IntArray, orders: Sequence[Sequence[int]]
) -> tuple[IntArray, IntArray, IntArray]:
    """Return targets, sources and delays: each firing of an order waits for the one before it."""
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

"""The maximum cycle ratio of a firing graph: the exact period of self-timed execution.

The k-th iteration of a live graph that is executed self-timed starts at k * period + O(1). The
period is the largest ratio, over all cycles of firings, of execution times to iterations (Reiter
1968, and Sriram and Bhattacharyya, Embedded Multiprocessors, 7). For SDF graphs it equals the
result of the state-space exploration of Ghamarian et al. 2006. Unlike an exploration, its cost does
not depend on how long the transient before the periodic phase is.

Newton's iteration on the period (Lawler 1976, Burns 1991): look for a cycle of positive weight
under time - period * delay, by longest paths from zero. Take its exact ratio as the next period.
Stop when there is none. The last longest paths prove the result: they are start times that no edge
violates. All numbers are integers, scaled by the period's denominator.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from paretosoc.common.machine_code.jit import make_kernel
from paretosoc.sdf.analysis.firing_graph import SAFE_BITS, FiringGraph
from paretosoc.sdf.rates import IntArray

COMPILE_AFTER = 500_000
"""Edge relaxations on one graph from which on compiled code pays for being loaded."""


@dataclass(frozen=True)
class CycleRatio:
    """The cycle that bounds the execution, and the proof that nothing bounds it more."""

    period: Fraction | None
    """Time units per iteration, 0 if no cycle takes time, or None if the graph is deadlocked."""
    edges: tuple[int, ...]
    """A critical cycle: edges[k + 1] leads to the source of edges[k]. If deadlocked, a cycle
    without delay. Empty if nothing exceeds the given lower bound."""
    starts: IntArray | None
    """[firings] start times of the first iteration of a periodic schedule, in units of 1 / period's
    denominator, or None if deadlocked."""


def maximum_cycle_ratio(graph: FiringGraph, *, at_least: Fraction = Fraction(0)) -> CycleRatio:
    """Return the period of the firing graph, exactly.

    Args:
        at_least: a known lower bound on the period, or a period below which differences do not
            matter. The result is the larger of it and the maximum cycle ratio.
    """
    longest_delay = int(graph.delay.max(initial=0))
    nodes, edges = graph.firings, len(graph.source)
    total = graph.total_time
    slow = _Slow(graph)
    order, blocked = _order(graph, slow)
    if blocked:
        return CycleRatio(None, blocked, None)

    period = at_least
    critical: tuple[int, ...] = ()
    value: Any = _zeros(nodes, False)
    parent: Any = [-1] * nodes
    while True:
        work, iterations = period.numerator, period.denominator
        largest = max(
            4 * total * iterations + work * (longest_delay + 1),
            nodes * (longest_delay + 1),
            iterations,
        )
        small = not largest >> SAFE_BITS
        fast = small and graph.work + edges >= COMPILE_AFTER
        if fast:
            arrays = (graph.first_edge, graph.source, graph.delay, graph.time.astype(np.int64))
            value, parent = np.array(value, dtype=np.int64), np.array(parent, dtype=np.int64)
            _, longest_paths, best_cycle = _COMPILED
        else:
            arrays = slow.arrays
            value, parent = list(value), list(parent)
            _, longest_paths, best_cycle = _KERNELS
        _, source, delay, weight = arrays
        mark = _zeros(nodes, fast)
        limit = nodes + 2 if fast or not small else 1 + COMPILE_AFTER // (edges + 1)
        sweeps = _zeros(1, fast)
        status = longest_paths(
            *arrays,
            order if fast else order.tolist(),
            work,
            iterations,
            value,
            parent,
            mark,
            limit,
            sweeps,
        )
        graph.work += edges * int(sweeps[0])
        if status == _STABLE:
            return CycleRatio(period, critical, value if fast else _integers(value))
        if status == _PAUSED:
            continue
        node = int(best_cycle(source, delay, weight, parent, mark))
        cycle = [int(parent[node])]
        while int(source[cycle[-1]]) != node:
            cycle.append(int(parent[int(source[cycle[-1]])]))
        critical = tuple(cycle)
        period = Fraction(
            sum(int(weight[source[edge]]) for edge in cycle),
            sum(int(delay[edge]) for edge in cycle),
        )
        value, parent = _zeros(nodes, False), [-1] * nodes


class _Slow:
    """The graph as lists of Python integers, made when first asked for."""

    def __init__(self, graph: FiringGraph) -> None:
        self._graph = graph

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """Return the first edges, sources, delays and weights."""
        graph = self._graph
        return tuple(
            array.tolist() for array in (graph.first_edge, graph.source, graph.delay, graph.time)
        )


def _order(graph: FiringGraph, slow: _Slow) -> tuple[IntArray, tuple[int, ...]]:
    """Return the nodes, sources first along edges without delay, or the edges of a cycle of such
    edges."""
    fast = graph.work + len(graph.source) >= COMPILE_AFTER
    kernel = (_COMPILED if fast else _KERNELS)[0]
    arrays = (graph.first_edge, graph.source, graph.delay) if fast else slow.arrays[:3]
    order, stack, pointer, state = (_zeros(graph.firings, fast) for _ in range(4))
    depth = kernel(*arrays, order, stack, pointer, state)
    graph.work += len(graph.source)
    if depth:
        walk = [int(node) for node in stack[:depth]]
        begin = walk.index(int(graph.source[pointer[walk[-1]]]))
        return np.array([], dtype=np.int64), tuple(int(pointer[node]) for node in walk[begin:])
    return np.asarray(order, dtype=np.int64), ()


def _integers(values: list[int]) -> IntArray:
    """Return the values as int64 if they fit with room to spare, else as Python integers."""
    large = any(int(value) >> SAFE_BITS for value in values)
    return np.array([int(v) for v in values], dtype=object if large else np.int64)


def _zeros(length: int, fast: bool) -> Any:
    return np.zeros(length, dtype=np.int64) if fast else [0] * length


# The three functions below run as they are on lists of Python integers, and compiled on int64
# arrays. They therefore use nothing but loops and indexing.


def _topological_order(
    first_edge: Any, source: Any, delay: Any, order: Any, stack: Any, pointer: Any, state: Any
) -> int:
    """Walk depth first along edges without delay: ``order`` [N] lists sources before targets.
    Return 0, or the length of the walk in ``stack`` whose last edge leads back into it. The edges
    are in ``pointer``. ``state`` [N] begins with zeros."""
    nodes = len(order)
    done = 0
    for root in range(nodes):
        if state[root]:
            continue
        depth = 1
        stack[0] = root
        state[root] = 1
        pointer[root] = first_edge[root]
        while depth:
            node = stack[depth - 1]
            edge = pointer[node]
            end = first_edge[node + 1]
            while edge < end and (delay[edge] > 0 or state[source[edge]] == 2):
                edge += 1
            pointer[node] = edge
            if edge == end:
                state[node] = 2
                order[done] = node
                done += 1
                depth -= 1
                continue
            before = source[edge]
            if state[before] == 1:
                return depth
            state[before] = 1
            pointer[before] = first_edge[before]
            stack[depth] = before
            depth += 1
    return 0


def _longest_paths(
    first_edge: Any,
    source: Any,
    delay: Any,
    weight: Any,
    order: Any,
    work: Any,
    iterations: Any,
    value: Any,
    parent: Any,
    mark: Any,
    limit: Any,
    sweeps: Any,
) -> int:
    """Compute longest paths from zero under weight * iterations - work * delay, in ``value``, and
    count ``sweeps`` [1]. Return whether they are stable (0), the edges in ``parent`` close a cycle
    of positive weight (1), or ``limit`` sweeps are over (2)."""
    nodes = len(order)
    while sweeps[0] < limit:
        sweeps[0] += 1
        changed = False
        for place in range(nodes):
            node = order[place]
            best = value[node]
            chosen = -1
            for edge in range(first_edge[node], first_edge[node + 1]):
                before = source[edge]
                candidate = value[before] + weight[before] * iterations - work * delay[edge]
                if candidate > best:
                    best = candidate
                    chosen = edge
            if chosen >= 0:
                value[node] = best
                parent[node] = chosen
                changed = True
        if not changed:
            return 0
        for node in range(nodes):
            mark[node] = 0
        for root in range(nodes):
            node = root
            while mark[node] == 0:
                mark[node] = root + 1
                if parent[node] < 0:
                    break
                node = source[parent[node]]
            else:
                if mark[node] == root + 1:
                    return 1
    return 2


def _best_cycle(source: Any, delay: Any, weight: Any, parent: Any, mark: Any) -> int:
    """Return a node on the cycle of parents with about the largest ratio: any would do."""
    nodes = len(parent)
    for node in range(nodes):
        mark[node] = 0
    best = -1
    best_node = -1
    for root in range(nodes):
        node = root
        while mark[node] == 0 and parent[node] >= 0:
            mark[node] = root + 1
            node = source[parent[node]]
        if mark[node] != root + 1 or parent[node] < 0:
            continue
        work = weight[node]
        iterations = delay[parent[node]]
        here = source[parent[node]]
        while here != node:
            work += weight[here]
            iterations += delay[parent[here]]
            here = source[parent[here]]
        ratio = work // iterations
        if ratio > best:
            best = ratio
            best_node = node
    return best_node


_STABLE, _PAUSED = 0, 2
_KERNELS: tuple[Any, ...] = (_topological_order, _longest_paths, _best_cycle)
_COMPILED = tuple(make_kernel(kernel) for kernel in _KERNELS)


def warm_up() -> None:
    """Compile the kernels, or load their machine code."""
    one, loop = np.array([0, 1]), np.array([0])
    graph = FiringGraph(one, one, loop, loop + 1, loop, loop + 1, (), (1,), [], (), COMPILE_AFTER)
    maximum_cycle_ratio(graph)

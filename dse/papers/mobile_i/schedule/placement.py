"""Where and when in the period every task runs."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from paretosoc.dse.papers.mobile_i.periodic import TaskGraph


@dataclass(frozen=True)
class Placement:
    """An engine and a start for every task of all copies; ends never pass the period."""

    period_ps: int
    engine: tuple[int, ...]
    start_ps: tuple[int, ...]


def place_in_order(graph: TaskGraph, engines: int, order: Sequence[int]) -> Placement:
    """One task after the other onto the engine with the least load (III.1, lines 4 and 5).

    Equal loads: the engine with the lower number. Dependences are left to retiming.

    Args:
        order: every task of all copies once: task i of copy k of n tasks is k n + i.
    """
    size = len(graph.tasks)
    heap = [(0, engine) for engine in range(engines)]
    engine, start = [0] * len(order), [0] * len(order)
    for number in order:
        load, place = heap[0]
        engine[number], start[number] = place, load
        heapq.heapreplace(heap, (load + graph.tasks[number % size].time_ps, place))
    return Placement(max(load for load, _ in heap), tuple(engine), tuple(start))

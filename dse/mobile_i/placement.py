"""Where and when in the period every task runs."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from results.task_graph import TaskGraph


@dataclass(frozen=True)
class Placement:
    """An engine and a start for every task of all copies; ends never pass the period."""

    period_ps: int
    engine: tuple[int, ...]
    start_ps: tuple[int, ...]


class EngineLoads:
    """Puts one task after the other onto the engine with the least load (III.1, lines 4 and 5)."""

    def __init__(self, engines: int) -> None:
        self._heap = [(0, engine) for engine in range(engines)]
        self._engine: list[int] = []
        self._start: list[int] = []

    def add(self, graph: TaskGraph, order: Sequence[int]) -> None:
        """One more copy of a graph, its tasks in ``order``; equal loads: the lower engine."""
        first = len(self._engine)
        self._engine += [0] * len(graph.tasks)
        self._start += [0] * len(graph.tasks)
        for number in order:
            load, engine = self._heap[0]
            self._engine[first + number] = engine
            self._start[first + number] = load
            heapq.heapreplace(self._heap, (load + graph.tasks[number].time_ps, engine))

    @property
    def period_ps(self) -> int:
        """c_p: the largest load."""
        return max(load for load, _ in self._heap)

    def placement(self) -> Placement:
        """What has been placed so far."""
        return Placement(self.period_ps, tuple(self._engine), tuple(self._start))

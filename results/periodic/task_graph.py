"""Task graphs of periodic schedules: operations with times, data that passes between them."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.results.errors import ResultError

INT64_BITS = 62


@dataclass(frozen=True)
class Task:
    """One operation: its time on a processing engine, ps, and the power it draws above idle."""

    name: str
    time_ps: int
    dynamic_mw: int = 0


@dataclass(frozen=True)
class Transfer:
    """Data from one task to another (indices): ``memory_ps`` through the memory, ``cache_ps`` if it
    stays in the cache of the engine that made it."""

    source: int
    target: int
    size_bytes: int
    memory_ps: int
    cache_ps: int


@dataclass(frozen=True)
class TaskGraph:
    """G = (V, E) of Mobile-I II.B, tasks numbered in an order of execution.

    Raises:
        ResultError: if there is no task, a time is below 1 ps, a transfer does not go from a lower
            to a higher task, or the cache is slower than the memory.
    """

    name: str
    tasks: tuple[Task, ...]
    transfers: tuple[Transfer, ...]

    def __post_init__(self) -> None:
        label = f"task graph {self.name!r}"
        if not self.tasks:
            raise ResultError(f"{label}: at least one task is required, got none")
        for task in self.tasks:
            if not 1 <= task.time_ps < 1 << INT64_BITS or task.dynamic_mw < 0:
                raise ResultError(
                    f"{label}: task {task.name!r}: time_ps must be at least 1 and dynamic_mw at "
                    f"least 0, got {task.time_ps} and {task.dynamic_mw}"
                )
        for number, edge in enumerate(self.transfers):
            if not 0 <= edge.source < edge.target < len(self.tasks):
                raise ResultError(
                    f"{label}: transfer {number} ({edge.source} -> {edge.target}) must go from a "
                    f"lower to a higher task, and there are {len(self.tasks)}"
                )
            if not 0 <= edge.cache_ps <= edge.memory_ps or edge.size_bytes < 0:
                raise ResultError(
                    f"{label}: transfer {number}: 0 <= cache_ps <= memory_ps and size_bytes >= 0 "
                    f"are required, got {edge.cache_ps}, {edge.memory_ps} and {edge.size_bytes}"
                )

    @property
    def work_ps(self) -> int:
        """Time of all tasks on one engine."""
        return sum(task.time_ps for task in self.tasks)

    @property
    def longest_ps(self) -> int:
        """Time of the longest task."""
        return max(task.time_ps for task in self.tasks)


def repeated(graph: TaskGraph, copies: int) -> TaskGraph:
    """Return X independent copies of a graph as one: task i of copy k is number k n + i, and
    transfers likewise. Inferences do not depend on each other (Mobile-I II.C)."""
    if copies < 1:
        raise ResultError(f"copies must be at least 1, got {copies}")
    size = len(graph.tasks)
    return TaskGraph(
        graph.name,
        graph.tasks * copies,
        tuple(
            Transfer(
                edge.source + copy * size,
                edge.target + copy * size,
                edge.size_bytes,
                edge.memory_ps,
                edge.cache_ps,
            )
            for copy in range(copies)
            for edge in graph.transfers
        ),
    )

"""Task graphs, arrays of identical engines, and periodic schedules of the one on the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

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
            replace(edge, source=edge.source + copy * size, target=edge.target + copy * size)
            for copy in range(copies)
            for edge in graph.transfers
        ),
    )


@dataclass(frozen=True)
class EngineArray:
    """Identical processing engines (PEs), each with its own cache. ``idle_mw`` is the power of all
    of them, the memory and the board at rest."""

    engines: int
    cache_bytes: int
    idle_mw: int = 0


@dataclass(frozen=True)
class PeriodicSchedule:
    """Every period runs ``copies`` (X) of ``graph``. Tasks are numbered as ``repeated`` does.

    ``ahead`` is r(i) = -R(i) >= 0: how many periods earlier than the last stage a task runs. A
    cached transfer takes ``cache_ps`` and holds its bytes in the cache of its source's engine from
    the end of its source to the end of its target. The others take ``memory_ps``.
    """

    method: str
    graph: TaskGraph
    array: EngineArray
    copies: int
    period_ps: int
    engine: tuple[int, ...]
    start_ps: tuple[int, ...]
    """In the period."""
    ahead: tuple[int, ...]
    cached: tuple[int, ...]
    """Numbers of the cached transfers, ascending."""

    @cached_property
    def tasks(self) -> TaskGraph:
        """Return all copies as one graph."""
        return repeated(self.graph, self.copies)

    @property
    def prologue_periods(self) -> int:
        """Return the periods of the prologue, max r."""
        return max(self.ahead)

    @property
    def prologue_ps(self) -> int:
        """Return the time of the prologue, max r x c_p."""
        return self.prologue_periods * self.period_ps

    @property
    def utilisation(self) -> Fraction:
        """Return the utilisation by Eq. 1: sum of c_i x X / (h x c_p)."""
        return Fraction(self.graph.work_ps * self.copies, self.array.engines * self.period_ps)

    def latency_ps(self, inferences: int) -> int:
        """Return the latency by Eq. 3: (max r + N / X) x c_p, N / X rounded up."""
        return (self.prologue_periods - (-inferences // self.copies)) * self.period_ps

    def energy_fj(self, inferences: int) -> int:
        """Return the energy of N inferences: idle power during the latency, and the tasks' power
        above it."""
        dynamic = sum(task.time_ps * task.dynamic_mw for task in self.graph.tasks)
        return inferences * dynamic + self.latency_ps(inferences) * self.array.idle_mw

    @property
    def least_period_ps(self) -> int:
        """Return a lower bound on the period with this many copies: the longest task, and the work
        over the engines."""
        work = self.graph.work_ps * self.copies
        return max(self.graph.longest_ps, -(-work // self.array.engines))

    @property
    def least_prologue_periods(self) -> int:
        """Return a lower bound on max r at this period for placements in which no task crosses the
        end of a period. It follows tasks and transfers along paths, the transfers as fast as within
        a cache, each task as late as its successors and the periods' ends allow."""
        graph, period = self.graph, self.period_ps
        # Time left from a task's start until the last period ends.
        left = [0] * len(graph.tasks)
        for edge in sorted(graph.transfers, key=lambda edge: edge.source, reverse=True):
            through = edge.cache_ps + _from_start(left, graph, edge.target, period)
            left[edge.source] = max(left[edge.source], through)
        return max(-(-_from_start(left, graph, n, period) // period) - 1 for n in range(len(left)))


def _from_start(left: list[int], graph: TaskGraph, number: int, period_ps: int) -> int:
    """Return the time after a task's start, given the times after the tasks' ends (``left``). A
    task that would cross the end of a period ends there."""
    time = graph.tasks[number].time_ps
    after = left[number]
    if after // period_ps < (after + time - 1) // period_ps:
        after = -(-after // period_ps) * period_ps
    return after + time

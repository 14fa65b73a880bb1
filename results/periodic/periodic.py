"""A periodic schedule of copies of a task graph on identical processing engines (Mobile-I)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from paretosoc.results.periodic.task_graph import TaskGraph, repeated


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

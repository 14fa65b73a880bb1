"""When every group of a design point runs, and where."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class ScheduledGroup:
    """One execution of a group: indices into the problem, and instants in picoseconds."""

    frame: int
    """Counted from 1."""
    network: int
    repeat: int
    """Counted from 1."""
    group: int
    """Index over all networks."""
    unit: int
    ready_ps: int
    start_ps: int
    end_ps: int
    alone_ps: int
    """Stand-alone time; end - start beyond it is what contention costs."""


@dataclass(frozen=True)
class Schedule:
    """Executions in the order (frame, network, repeat, group)."""

    groups: tuple[ScheduledGroup, ...]

    @property
    def makespan_ps(self) -> int:
        """End of the last execution."""
        return max((group.end_ps for group in self.groups), default=0)

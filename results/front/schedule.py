"""The time and unit of every group of a design point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from paretosoc.common.units import PS_PER_MS

if TYPE_CHECKING:
    from pandas import DataFrame

    from paretosoc.results.front.front import Member
    from paretosoc.results.problem.problem import Problem


class ScheduledGroup(NamedTuple):
    """One execution of a group: indices into the problem, and instants in picoseconds.

    A tuple, since schedules have thousands: quick to make, and read as rows of a table.
    """

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
    """Stand-alone time. The rest of end - start is the cost of contention."""


@dataclass(frozen=True)
class Schedule:
    """Executions in the order (frame, network, repeat, group)."""

    groups: tuple[ScheduledGroup, ...]

    def __repr__(self) -> str:
        return f"<Schedule: {len(self.groups)} executions in {self.makespan_ps / PS_PER_MS:.6g} ms>"

    @property
    def makespan_ps(self) -> int:
        """End of the last execution."""
        return max((group.end_ps for group in self.groups), default=0)

    def to_pandas(self, problem: Problem | None = None) -> DataFrame:
        """Return a row per execution. See :func:`results.text.front_rows.schedule_frame`."""
        from paretosoc.results.text.front_rows import schedule_frame

        return schedule_frame(self, problem)

    def _repr_html_(self) -> str:
        from paretosoc.results.export.notebook import schedule_html

        return schedule_html(self)


@dataclass(frozen=True, eq=False)
class ScheduledMember:
    """A design point with its schedule, which no file holds: it follows from the other two."""

    problem: Problem
    member: Member
    schedule: Schedule
    """One frame alone. If networks run freely, its beginning (see ``free_run``)."""

    def __repr__(self) -> str:
        names = ", ".join(network.name for network in self.problem.networks)
        return f"<ScheduledMember of {names}: {self.schedule!r}>"

    def to_pandas(self) -> DataFrame:
        """Return a row per execution, with names.

        Raises:
            ResultError: if pandas is not installed (``paretosoc[notebooks]``).
        """
        return self.schedule.to_pandas(self.problem)

    def _repr_html_(self) -> str:
        from paretosoc.results.export.notebook import schedule_html

        return schedule_html(self.schedule, self.problem)

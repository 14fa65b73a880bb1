"""The time and unit of every group of a design point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
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
    """Stand-alone time."""

    @property
    def contention_ps(self) -> int:
        """Return the time that contention adds."""
        return self.end_ps - self.start_ps - self.alone_ps

    @property
    def waited_ps(self) -> int:
        """Return the time from ready to start."""
        return self.start_ps - self.ready_ps


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

    @cached_property
    def lanes(self) -> Mapping[tuple[int, int], tuple[int, int]]:
        """Return which part of a unit's row a network has in a picture, counted from 0, and of how
        many parts, by unit and network.

        A row has one part, unless executions of two networks overlap on the unit.
        """
        on_unit: dict[int, list[ScheduledGroup]] = {}
        for row in sorted(self.groups, key=lambda row: row.start_ps):
            on_unit.setdefault(row.unit, []).append(row)
        found = {}
        for unit, rows in on_unit.items():
            networks = sorted({row.network for row in rows})
            is_one = not any(_overlap_of_networks(rows))
            for k, network in enumerate(networks):
                found[unit, network] = (0, 1) if is_one else (k, len(networks))
        return found

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

    @property
    def shown_ps(self) -> int:
        """Return the end of the time that pictures show: that of the last execution, or of the
        period that recurs if networks have rates.

        A free run is shown without the executions still running at its end, since a slow network's
        group may be most of the picture beside fast networks.
        """
        run, window = self.member.free_run, self.member.window_ps
        if run is not None:
            return run.shown_ps
        return max(self.schedule.makespan_ps, 0 if window is None else window[1])

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

        return schedule_html(self.schedule, self.problem, self.shown_ps)


def _overlap_of_networks(rows: Iterable[ScheduledGroup]) -> Iterator[bool]:
    """Yield for each execution, by rising start, whether one of another network runs at its
    start."""
    latest: dict[int, int] = {}
    for row in rows:
        yield any(end > row.start_ps for n, end in latest.items() if n != row.network)
        latest[row.network] = max(row.end_ps, latest.get(row.network, 0))

"""Periodic schedules (Mobile-I): a result folder in memory, of the second kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from paretosoc.dse.errors import WorkloadError
from paretosoc.results.periodic.choice import FASTEST, choose_schedule, figure_lines, schedule_title
from paretosoc.results.periodic.file import read_periodic
from paretosoc.results.periodic.result import PeriodicResult
from paretosoc.results.periodic.table import engine_table, periodic_rows, periodic_table, task_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType


@dataclass(frozen=True, eq=False)
class PeriodicFront:
    """Schedules of one network on arrays of several sizes, for commands that show results."""

    numeric: PeriodicResult

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a result folder.

        Raises:
            ResultError: if the file is missing, was changed, or contradicts itself.
        """
        return cls(read_periodic(Path(folder)))

    def __len__(self) -> int:
        return len(self.numeric.members)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row of plain data per schedule."""
        return periodic_rows(self.numeric)

    def member_document(self, which: int | str) -> dict[str, Any]:
        """Return one schedule with its tasks."""
        index = choose_schedule(self.numeric, str(which))
        return {**self.rows()[index], "tasks": task_rows(self.numeric.members[index])}

    def views(self, *, width: int, all_rows: bool) -> list[RenderableType]:
        """Return the table of schedules."""
        del width, all_rows
        return [periodic_table(self.numeric)]

    def member_views(self, which: int | str, *, all_rows: bool) -> list[RenderableType]:
        """Return one schedule: its figures, and the executions of every processing element in a
        period."""
        from rich.text import Text

        del all_rows
        index = choose_schedule(self.numeric, str(which))
        schedule = self.numeric.members[index]
        lines = figure_lines(schedule, self.numeric.inferences)
        return [
            Text(schedule_title(self.numeric, index).capitalize(), style="bold"),
            *(Text(f"{name}: {value}") for name, value in lines),
            engine_table(schedule),
        ]

    @classmethod
    def figure(cls, what: str, named: Sequence[tuple[str, Self]], members: Sequence[str]) -> Figure:
        """Return ``front`` of one or several results, or ``gantt`` of one schedule.

        Raises:
            WorkloadError: on another figure, or several schedules.
        """
        from paretosoc.results.periodic.picture import (
            front_picture,
            fronts_picture,
            schedule_picture,
        )

        if what not in ("front", "gantt"):
            raise WorkloadError(f"{what}: is not for periodic schedules; front and gantt are")
        results = [(name, front.numeric) for name, front in named]
        if what == "front":
            return front_picture(results[0][1]) if len(results) == 1 else fronts_picture(results)
        if len(results) > 1 or len(members) > 1:
            raise WorkloadError("gantt: of periodic schedules one is drawn, of one result")
        result = results[0][1]
        text = members[0] if members else FASTEST
        return schedule_picture(result.members[choose_schedule(result, text)])

    def trace(self, members: Sequence[str]) -> tuple[bytes, list[str]]:
        """Return a trace for Perfetto, and the titles of the schedules in it."""
        from paretosoc.results.periodic.trace import periodic_trace_bytes

        chosen = dict.fromkeys(choose_schedule(self.numeric, text) for text in members)
        schedules = [
            (schedule_title(self.numeric, index), self.numeric.members[index]) for index in chosen
        ]
        return periodic_trace_bytes(schedules), [title for title, _ in schedules]

    def page(self, platform: str | None) -> tuple[bytes, list[str]]:
        """Return the HTML report.

        Raises:
            WorkloadError: with a platform, which is for deployment.
        """
        from paretosoc.results.periodic.page import periodic_report_html

        if platform is not None:
            raise WorkloadError("--platform: is for deployment, not for periodic schedules")
        return periodic_report_html(self.numeric).encode(), []

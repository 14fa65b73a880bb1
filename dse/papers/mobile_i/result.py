"""Periodic schedules of one network on arrays of several sizes: a result folder in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from paretosoc.common.files import naming, read_file
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule
from paretosoc.results.errors import ResultError
from paretosoc.results.front.named_members import FASTEST, LOWEST_ENERGY, member_number

if TYPE_CHECKING:
    from rich.console import RenderableType

    from paretosoc.dse.certificate.verify.checks import Check
    from paretosoc.results.plots.picture import Picture

FILE = "periodic.json"
SMALLEST = "smallest"


@dataclass(frozen=True)
class PeriodicResult:
    """The result of ``dse papers periodic``. Members are the schedules of the method searched with,
    one for each number of engines. ``others`` are other methods' schedules on the same arrays.

    Registered under ``paretosoc.results``, so the commands for results take it.
    """

    words: ClassVar[str] = "periodic schedules (dse papers periodic)"

    network: str
    platform: str
    platform_sha256: str
    network_sha256: str
    inferences: int
    """N of Eq. 3."""
    parts: int
    """Operations that a layer was split into at most."""
    command: str
    version: str
    members: tuple[PeriodicSchedule, ...]
    others: tuple[PeriodicSchedule, ...]

    @classmethod
    def load(cls, folder: str | Path) -> PeriodicResult:
        """Read a result folder.

        Raises:
            ResultError: if the file is missing, cannot be read, does not follow its schema, was
                changed, or contradicts itself.
        """
        return read_periodic(Path(folder))

    @classmethod
    def verify(
        cls, folder: Path, *, ignore_hashes: bool, verify_front: object = None
    ) -> Iterator[Check]:
        """Check a result folder without trusting the program that wrote it. End with the first
        failed check."""
        from paretosoc.dse.papers.mobile_i.check import verify_periodic

        del verify_front
        return verify_periodic(folder, ignore_hashes=ignore_hashes)

    def __len__(self) -> int:
        return len(self.members)

    def objectives(self, schedule: PeriodicSchedule) -> tuple[int, int, int]:
        """Return latency of all inferences (ps), number of engines, energy (fJ). All are
        minimised."""
        return (
            schedule.latency_ps(self.inferences),
            schedule.array.engines,
            schedule.energy_fj(self.inferences),
        )

    def choose(self, which: int | str) -> int:
        """Return the index of a member: a number from 0, or ``fastest`` (least latency),
        ``lowest-energy`` (least energy), ``smallest`` (fewest engines). The first of equals counts.

        Raises:
            ResultError: if there is no such member. The message lists the members.
        """
        text, count, marks = str(which), len(self.members), self._marks()
        if (index := member_number(text, count)) is not None:
            return index
        if text not in marks:
            raise ResultError(
                f"member {text!r}: a number from 0 to {count - 1} or a mark ({', '.join(marks)})"
            )
        return marks[text]

    def _marks(self) -> dict[str, int]:
        rows = [self.objectives(schedule) for schedule in self.members]
        return {
            name: min(range(len(rows)), key=lambda index: rows[index][column])
            for column, name in ((0, FASTEST), (2, LOWEST_ENERGY), (1, SMALLEST))
        }

    def title(self, index: int) -> str:
        """Return ``member 0 (fastest): 64 engines``."""
        names = [name for name, place in self._marks().items() if place == index]
        marks = f" ({', '.join(names)})" if names else ""
        return f"member {index}{marks}: {self.members[index].array.engines} engines"

    def rows(self, resolution: float | None = 0.0) -> list[dict[str, Any]]:
        """Return one row of plain data per schedule, members first."""
        del resolution
        return [
            {
                "member": number if number < len(self.members) else None,
                "method": schedule.method,
                "engines": schedule.array.engines,
                "copies": schedule.copies,
                "latency_ps": schedule.latency_ps(self.inferences),
                "energy_fj": schedule.energy_fj(self.inferences),
                "period_ps": schedule.period_ps,
                "least_period_ps": schedule.least_period_ps,
                "prologue_periods": schedule.prologue_periods,
                "least_prologue_periods": schedule.least_prologue_periods,
                "prologue_ps": schedule.prologue_ps,
                "utilisation": float(schedule.utilisation),
                "cached_transfers": len(schedule.cached),
            }
            for number, schedule in enumerate((*self.members, *self.others))
        ]

    def member_document(self, which: int | str) -> dict[str, Any]:
        """Return one schedule with its tasks."""
        index = self.choose(which)
        schedule = self.members[index]
        tasks, size = schedule.graph.tasks, len(schedule.graph.tasks)
        rows = [
            {
                "task": tasks[number % size].name,
                "copy": number // size,
                "engine": engine,
                "start_ps": start,
                "end_ps": start + tasks[number % size].time_ps,
                "periods_ahead": ahead,
            }
            for number, (engine, start, ahead) in enumerate(
                zip(schedule.engine, schedule.start_ps, schedule.ahead, strict=True)
            )
        ]
        return {**self.rows()[index], "tasks": rows}

    def views(self, *, width: int, resolution: float | None) -> list[RenderableType]:
        """Return the table of schedules."""
        from paretosoc.dse.papers.mobile_i.views.pictures import periodic_table

        del width, resolution
        return [periodic_table(self)]

    def member_views(self, which: int | str, *, all_rows: bool) -> list[RenderableType]:
        """Return one schedule: its figures, and the executions of every processing element in a
        period."""
        from rich.text import Text

        from paretosoc.dse.papers.mobile_i.views.pictures import engine_table, figure_lines

        del all_rows
        index = self.choose(which)
        schedule = self.members[index]
        return [
            Text(self.title(index).capitalize(), style="bold"),
            *(Text(f"{name}: {value}") for name, value in figure_lines(schedule, self.inferences)),
            engine_table(schedule),
        ]

    @classmethod
    def drawn(
        cls, what: str, named: Sequence[tuple[str, PeriodicResult]], members: Sequence[str]
    ) -> Picture:
        """Return ``front`` of one or several results, or ``gantt`` of one schedule.

        Raises:
            WorkloadError: on another figure, or several schedules.
        """
        from paretosoc.dse.papers.mobile_i.views.pictures import (
            front_picture,
            fronts_picture,
            schedule_picture,
        )

        if what not in ("front", "gantt"):
            raise WorkloadError(f"{what}: is not for periodic schedules; front and gantt are")
        result = named[0][1]
        if what == "front":
            return front_picture(result) if len(named) == 1 else fronts_picture(named)
        if len(named) > 1 or len(members) > 1:
            raise WorkloadError("gantt: of periodic schedules one is drawn, of one result")
        return schedule_picture(result.members[result.choose(members[0] if members else FASTEST)])

    def trace(self, members: Sequence[str]) -> tuple[bytes, list[str]]:
        """Return a trace for Perfetto, and the titles of the schedules in it."""
        from paretosoc.dse.papers.mobile_i.views.trace import periodic_trace_bytes

        chosen = {self.title(index): self.members[index] for index in map(self.choose, members)}
        return periodic_trace_bytes(list(chosen.items())), list(chosen)

    def page(self, platform: str | None) -> tuple[bytes, list[str]]:
        """Return the HTML report.

        Raises:
            WorkloadError: with a platform, which is for deployment.
        """
        from paretosoc.dse.papers.mobile_i.views.page import periodic_report_html

        if platform is not None:
            raise WorkloadError("--platform: is for deployment, not for periodic schedules")
        return periodic_report_html(self).encode(), []


def undominated(schedules: list[PeriodicSchedule], inferences: int) -> list[PeriodicSchedule]:
    """Return the non-dominated schedules in latency, engines and energy."""
    rows = [
        (schedule.latency_ps(inferences), schedule.array.engines, schedule.energy_fj(inferences))
        for schedule in schedules
    ]
    return [
        schedule
        for place, schedule in enumerate(schedules)
        if not any(
            all(a <= b for a, b in zip(row, rows[place], strict=True))
            and (row != rows[place] or other < place)
            for other, row in enumerate(rows)
            if other != place
        )
    ]


def read_periodic(folder: Path, *, check_hashes: bool = True) -> PeriodicResult:
    """Return the schedules in a result folder, as :meth:`PeriodicResult.load` does."""
    from paretosoc.dse.papers.mobile_i.file import periodic_from_document
    from paretosoc.results.io.canonical_json import parse

    path = folder / FILE
    data = read_file(path, ResultError)
    with naming(path, ResultError):
        return periodic_from_document(parse(data), check_hashes=check_hashes)

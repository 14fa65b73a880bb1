"""A schedule as a table: one row per segment, groups that follow each other on one unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paretosoc.common.tables import plain_table
from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.results.front.schedule import Schedule, ScheduledGroup
from paretosoc.results.problem.problem import Problem

if TYPE_CHECKING:
    from rich.table import Table

SCHEDULE_ROWS = 40
"""Rows printed of a schedule, which may have thousands of executions."""


@dataclass(frozen=True)
class Stretch:
    """Groups of one network that one unit runs one after the other, nothing else between them."""

    executions: tuple[ScheduledGroup, ...]

    @property
    def start_ps(self) -> int:
        """Start of the first."""
        return self.executions[0].start_ps

    @property
    def end_ps(self) -> int:
        """End of the last."""
        return self.executions[-1].end_ps

    @property
    def alone_ps(self) -> int:
        """Return the sum of the stand-alone times."""
        return sum(execution.alone_ps for execution in self.executions)

    @property
    def contention_ps(self) -> int:
        """Return the time that contention adds."""
        busy = sum(execution.end_ps - execution.start_ps for execution in self.executions)
        return busy - self.alone_ps

    @property
    def waited_ps(self) -> int:
        """Time that groups were ready before they started, added up."""
        return sum(execution.start_ps - execution.ready_ps for execution in self.executions)


def stretches(schedule: Schedule) -> list[Stretch]:
    """Return the executions of a schedule in segments, by rising start."""
    parts: list[list[ScheduledGroup]] = []
    order = sorted(schedule.groups, key=lambda e: (e.unit, e.start_ps, e.end_ps))
    for execution in order:
        before = parts[-1][-1] if parts else None
        if before is not None and (
            (before.unit, before.frame, before.network, before.repeat, before.group + 1)
            == (
                execution.unit,
                execution.frame,
                execution.network,
                execution.repeat,
                execution.group,
            )
        ):
            parts[-1].append(execution)
        else:
            parts.append([execution])
    found = [Stretch(tuple(part)) for part in parts]
    return sorted(found, key=lambda s: (s.start_ps, s.executions[0].unit))


def schedule_table(
    problem: Problem, schedule: Schedule, *, most: int | None = None, rest: str
) -> Table:
    """Return the segments as a rich table, times in ms. With ``most``, at most that many of them
    are shown, followed by the number left out and the option (``rest``) that shows them."""
    several_frames = any(execution.frame > 1 for execution in schedule.groups)
    frame = [">frame"] if several_frames else []
    table = plain_table(*frame, "network", collapse_padding=True)
    for name in ("groups", "unit"):
        table.add_column(name, no_wrap=True)
    for name in ("start", "end", "alone", "contention", "waited"):
        table.add_column(f"{name}\nms", justify="right", no_wrap=True)
    found = stretches(schedule)
    shown = found if most is None else found[:most]
    for stretch in shown:
        first, last = stretch.executions[0], stretch.executions[-1]
        network = problem.networks[first.network]
        begin, end = first.group - network.first_group, last.group - network.first_group
        name = network.name if network.repeats == 1 else f"{network.name} ({first.repeat})"
        times = (
            stretch.start_ps,
            stretch.end_ps,
            stretch.alone_ps,
            stretch.contention_ps,
            stretch.waited_ps,
        )
        table.add_row(
            *([str(first.frame)] if several_frames else []),
            name,
            str(begin) if begin == end else f"{begin}-{end}",
            problem.units[first.unit].name,
            *(f"{time / PS_PER_MS:.4f}" for time in times),
        )
    if len(shown) < len(found):
        table.caption = f"{pluralize(len(found) - len(shown), 'more row')}: {rest}"
        table.caption_justify = "left"
    return table

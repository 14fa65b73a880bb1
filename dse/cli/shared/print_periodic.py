"""Printing periodic schedules, for the commands that make or show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from results.periodic.choice import figure_lines, schedule_title
from results.periodic.table import engine_table, periodic_table

if TYPE_CHECKING:
    from results.periodic.result import PeriodicResult


def print_periodic(result: PeriodicResult) -> None:
    """The table of schedules."""

    Console(highlight=False).print(periodic_table(result))


def print_schedule(result: PeriodicResult, index: int) -> None:
    """One member: its figures, and what every engine runs in a period."""

    schedule = result.members[index]
    console = Console(highlight=False)
    console.print(schedule_title(result, index).capitalize(), style="bold", markup=False)
    for name, value in figure_lines(schedule, result.inferences):
        console.print(f"{name}: {value}", markup=False)
    console.print(engine_table(schedule))

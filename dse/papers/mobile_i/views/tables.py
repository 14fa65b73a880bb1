"""Periodic schedules as tables: all of a result, for terminals and pages, and one in detail."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paretosoc.common.text import pluralize
from paretosoc.common.units import FJ_PER_J, PS_PER_MS, PS_PER_S
from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule
from paretosoc.dse.papers.mobile_i.result import PeriodicResult

if TYPE_CHECKING:
    from rich.table import Table

Row = dict[str, Any]

COLUMNS: tuple[tuple[str, str | None, Callable[[Row], str]], ...] = (
    ("", "Member", lambda row: "" if row["member"] is None else str(row["member"])),
    ("method", "Method", lambda row: row["method"]),
    ("PEs", "PEs", lambda row: str(row["engines"])),
    ("copies", "Copies", lambda row: str(row["copies"])),
    ("latency\ns", "Latency (s)", lambda row: f"{row['latency_ps'] / PS_PER_S:.4g}"),
    ("energy\nJ", "Energy (J)", lambda row: f"{row['energy_fj'] / FJ_PER_J:.4g}"),
    ("period\nms", "Period (ms)", lambda row: f"{row['period_ps'] / PS_PER_MS:.4g}"),
    ("over\nbound", None, lambda row: f"{row['period_ps'] / row['least_period_ps'] - 1:.1%}"),
    ("prologue\nperiods", "Prologue (periods)", lambda row: str(row["prologue_periods"])),
    (
        "\nbound",
        "its bound",
        lambda row: str(row["least_prologue_periods"]) if row["prologue_periods"] else "",
    ),
    ("use of\nPEs", "Use of PEs", lambda row: f"{row['utilisation']:.1%}"),
    ("in\ncache", None, lambda row: str(row["cached_transfers"])),
)
"""Heading in a terminal, on a page (None: not there), and the text for a row of the result."""


def periodic_table(result: PeriodicResult) -> Table:
    """Return the schedules as a rich table, members first."""
    from rich.box import SIMPLE
    from rich.table import Table

    graph = result.members[0].graph
    title = (
        f"{result.network} on {result.platform}: {result.inferences:,} inferences, "
        f"{len(graph.tasks)} tasks, {len(graph.transfers)} transfers"
    )
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=0, collapse_padding=True)
    for number, (heading, _, _) in enumerate(COLUMNS):
        table.add_column(heading, justify="right" if number > 1 else "left", no_wrap=number > 0)
    for number, row in enumerate(result.rows()):
        if number == len(result.members):
            table.add_section()
        table.add_row(*(text(row) for _, _, text in COLUMNS))
    return table


def figure_lines(schedule: PeriodicSchedule, inferences: int) -> list[tuple[str, str]]:
    """Return the figures of a schedule as pairs of name and value."""
    many = pluralize(inferences, "inference")
    above = schedule.period_ps / schedule.least_period_ps - 1
    prologue = (
        f"{pluralize(schedule.prologue_periods, 'period')}, "
        f"{schedule.prologue_ps / PS_PER_MS:.6g} ms"
    )
    if schedule.prologue_periods:
        prologue += f"; any placement: at least {schedule.least_prologue_periods}"
    return [
        ("method", schedule.method),
        ("engines", str(schedule.array.engines)),
        ("copies of the graph a period", str(schedule.copies)),
        ("period", f"{schedule.period_ps / PS_PER_MS:.6g} ms, {above:.2%} above the bound"),
        ("use of the engines", f"{float(schedule.utilisation):.2%}"),
        ("prologue", prologue),
        (f"latency of {many}", f"{schedule.latency_ps(inferences) / PS_PER_S:.6g} s"),
        (f"energy of {many}", f"{schedule.energy_fj(inferences) / FJ_PER_J:.6g} J"),
        (
            "transfers kept in caches",
            f"{len(schedule.cached)} of {len(schedule.graph.transfers) * schedule.copies}",
        ),
    ]


def engine_table(schedule: PeriodicSchedule) -> Table:
    """Return a table of every engine's tasks in a period, as copy:task, the longest first."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, padding=0, collapse_padding=True)
    for heading in ("PE", "busy", "tasks", "periods\nahead"):
        table.add_column(heading, justify="right")
    table.add_column("longest tasks (copy: name)", overflow="ellipsis", no_wrap=True)
    tasks, size = schedule.graph.tasks, len(schedule.graph.tasks)
    on: list[list[int]] = [[] for _ in range(schedule.array.engines)]
    for number, engine in enumerate(schedule.engine):
        on[engine].append(number)
    for engine, numbers in enumerate(on):
        numbers.sort(key=lambda n: (-tasks[n % size].time_ps, n))
        busy = sum(tasks[n % size].time_ps for n in numbers)
        ahead = sorted({schedule.ahead[n] for n in numbers})
        table.add_row(
            str(engine),
            f"{busy / schedule.period_ps:.1%}",
            str(len(numbers)),
            "-".join(map(str, ahead if len(ahead) < 2 else (ahead[0], ahead[-1]))),
            ", ".join(f"{n // size}: {tasks[n % size].name}" for n in numbers[:4]),
        )
    return table

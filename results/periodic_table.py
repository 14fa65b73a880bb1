"""Periodic schedules as a table for people, and the same rows as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from results.periodic import PeriodicSchedule
from results.periodic_result import PeriodicResult

if TYPE_CHECKING:
    from rich.table import Table

Row = dict[str, object]


def periodic_rows(result: PeriodicResult) -> list[Row]:
    """One row per schedule, members first: plain data for JSON."""
    return [
        {
            "member": number if number < len(result.members) else None,
            "method": schedule.method,
            "engines": schedule.array.engines,
            "copies": schedule.copies,
            "latency_ps": schedule.latency_ps(result.inferences),
            "energy_fj": schedule.energy_fj(result.inferences),
            "period_ps": schedule.period_ps,
            "least_period_ps": least_period_ps(schedule),
            "prologue_periods": schedule.prologue_periods,
            "least_prologue_periods": least_prologue_periods(schedule),
            "prologue_ps": schedule.prologue_ps,
            "utilisation": float(schedule.utilisation),
            "cached_transfers": len(schedule.cached),
        }
        for number, schedule in enumerate((*result.members, *result.others))
    ]


def least_period_ps(schedule: PeriodicSchedule) -> int:
    """No period of so many copies is shorter: the longest task, and the work over the engines."""
    work = schedule.graph.work_ps * schedule.copies
    return max(schedule.graph.longest_ps, -(-work // schedule.array.engines))


def least_prologue_periods(schedule: PeriodicSchedule) -> int:
    """No placement has a smaller max r at this period: a path of tasks and transfers, these as fast
    as within a cache, lies in max r + 1 periods."""
    path = [task.time_ps for task in schedule.graph.tasks]
    for edge in sorted(schedule.graph.transfers, key=lambda edge: edge.source, reverse=True):
        through = schedule.graph.tasks[edge.source].time_ps + edge.cache_ps + path[edge.target]
        path[edge.source] = max(path[edge.source], through)
    return -(-max(path) // schedule.period_ps) - 1


def periodic_table(result: PeriodicResult) -> Table:
    """The rows as a rich table: s, J and ms."""
    from rich.box import SIMPLE
    from rich.table import Table

    title = (
        f"{result.network} on {result.platform}: {result.inferences:,} inferences, "
        f"{len(result.members[0].graph.tasks)} tasks, {len(result.members[0].graph.transfers)} "
        "transfers"
    )
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=0, collapse_padding=True)
    table.add_column("")
    table.add_column("method", no_wrap=True)
    for header in (
        *("PEs", "copies", "latency\ns", "energy\nJ", "period\nms", "over\nbound"),
        *("prologue\nperiods", "\nbound", "use of\nPEs", "in\ncache"),
    ):
        table.add_column(header, justify="right", no_wrap=True)
    for number, schedule in enumerate((*result.members, *result.others)):
        if number == len(result.members):
            table.add_section()
        retimed = schedule.prologue_periods
        table.add_row(
            str(number) if number < len(result.members) else "",
            schedule.method,
            str(schedule.array.engines),
            str(schedule.copies),
            f"{schedule.latency_ps(result.inferences) / 1e12:.4g}",
            f"{schedule.energy_fj(result.inferences) / 1e15:.4g}",
            f"{schedule.period_ps / 1e9:.4g}",
            f"{schedule.period_ps / least_period_ps(schedule) - 1:.1%}",
            str(retimed),
            "" if retimed == 0 else str(least_prologue_periods(schedule)),
            f"{float(schedule.utilisation):.1%}",
            str(len(schedule.cached)),
        )
    return table

"""Periodic schedules as a table for people, and the same rows as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paretosoc.common.units import FJ_PER_J, PS_PER_MS, PS_PER_S
from paretosoc.results.periodic.periodic import PeriodicSchedule
from paretosoc.results.periodic.result import PeriodicResult
from paretosoc.results.periodic.task_graph import TaskGraph

if TYPE_CHECKING:
    from rich.table import Table

Row = dict[str, object]


def periodic_rows(result: PeriodicResult) -> list[Row]:
    """Return one row per schedule, members first, as plain data for JSON."""
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
    """Return a lower bound on the period with this many copies: the longest task, and the work over
    the engines."""
    work = schedule.graph.work_ps * schedule.copies
    return max(schedule.graph.longest_ps, -(-work // schedule.array.engines))


def least_prologue_periods(schedule: PeriodicSchedule) -> int:
    """Return a lower bound on max r at this period for placements in which no task crosses the end
    of a period. It follows tasks and transfers along paths, the transfers as fast as within a
    cache, each task as late as its successors and the periods' ends allow."""
    graph, period = schedule.graph, schedule.period_ps
    # Time left from a task's start until the last period ends.
    left = [0] * len(graph.tasks)
    for edge in sorted(graph.transfers, key=lambda edge: edge.source, reverse=True):
        through = edge.cache_ps + _from_start(left, graph, edge.target, period)
        left[edge.source] = max(left[edge.source], through)
    return max(-(-_from_start(left, graph, n, period) // period) - 1 for n in range(len(left)))


def _from_start(left: list[int], graph: TaskGraph, number: int, period_ps: int) -> int:
    """Return the time after a task's start, given the times after the tasks' ends (``left``). A
    task that would cross the end of a period ends there."""
    time = graph.tasks[number].time_ps
    after = left[number]
    if after // period_ps < (after + time - 1) // period_ps:
        after = -(-after // period_ps) * period_ps
    return after + time


def periodic_table(result: PeriodicResult) -> Table:
    """Return the rows as a rich table: s, J and ms."""
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
            f"{schedule.latency_ps(result.inferences) / PS_PER_S:.4g}",
            f"{schedule.energy_fj(result.inferences) / FJ_PER_J:.4g}",
            f"{schedule.period_ps / PS_PER_MS:.4g}",
            f"{schedule.period_ps / least_period_ps(schedule) - 1:.1%}",
            str(retimed),
            "" if retimed == 0 else str(least_prologue_periods(schedule)),
            f"{float(schedule.utilisation):.1%}",
            str(len(schedule.cached)),
        )
    return table


def task_rows(schedule: PeriodicSchedule) -> list[Row]:
    """Return one row per task of a period, as plain data for JSON."""
    size = len(schedule.graph.tasks)
    return [
        {
            "task": schedule.graph.tasks[number % size].name,
            "copy": number // size,
            "engine": engine,
            "start_ps": start,
            "end_ps": start + schedule.graph.tasks[number % size].time_ps,
            "periods_ahead": ahead,
        }
        for number, (engine, start, ahead) in enumerate(
            zip(schedule.engine, schedule.start_ps, schedule.ahead, strict=True)
        )
    ]


def engine_table(schedule: PeriodicSchedule) -> Table:
    """Return a table of every engine's tasks in a period, as copy:task, the longest first."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, padding=0, collapse_padding=True)
    table.add_column("PE", justify="right")
    table.add_column("busy", justify="right")
    table.add_column("tasks", justify="right")
    table.add_column("periods\nahead", justify="right")
    table.add_column("longest tasks (copy: name)", overflow="ellipsis", no_wrap=True)
    size = len(schedule.graph.tasks)
    on: list[list[int]] = [[] for _ in range(schedule.array.engines)]
    for number, engine in enumerate(schedule.engine):
        on[engine].append(number)
    for engine, numbers in enumerate(on):
        numbers.sort(key=lambda n: (-schedule.graph.tasks[n % size].time_ps, n))
        busy = sum(schedule.graph.tasks[n % size].time_ps for n in numbers)
        ahead = sorted({schedule.ahead[n] for n in numbers})
        table.add_row(
            str(engine),
            f"{busy / schedule.period_ps:.1%}",
            str(len(numbers)),
            "-".join(map(str, ahead if len(ahead) < 2 else (ahead[0], ahead[-1]))),
            ", ".join(f"{n // size}: {schedule.graph.tasks[n % size].name}" for n in numbers[:4]),
        )
    return table

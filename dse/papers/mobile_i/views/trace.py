"""Periodic schedules in the Trace Event Format, for Perfetto and chrome://tracing.

One process for each schedule. In it a thread for the periods and one for each engine, a complete
event for each task of the prologue and of the first full periods, and a flow event for each
transfer of the first frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule
from paretosoc.results.export.trace import (
    Event,
    execution,
    flow,
    process_name,
    thread_names,
    trace_document,
)

FULL_PERIODS = 2
"""Periods after the prologue. The others are like them."""
_PERIODS_THREAD = 1
_FIRST_ENGINE = 2


def periodic_trace_bytes(schedules: Sequence[tuple[str, PeriodicSchedule]]) -> bytes:
    """Return the trace of schedules, each under its title, as JSON. Equal schedules give equal
    bytes."""
    events: list[Event] = []
    for process, (title, schedule) in enumerate(schedules, 1):
        engines = [f"PE {number}" for number in range(schedule.array.engines)]
        events += [
            process_name(process, title),
            *thread_names(process, ["periods", *engines]),
            *_periods(schedule, process),
            *_executions(schedule, process),
            *_transfers(schedule, process),
        ]
    return trace_document(events)


def _periods(schedule: PeriodicSchedule, process: int) -> Iterator[Event]:
    prologue = schedule.prologue_periods
    for n in range(prologue + FULL_PERIODS):
        kind, number = ("prologue", n + 1) if n < prologue else ("period", n - prologue + 1)
        span = n * schedule.period_ps, (n + 1) * schedule.period_ps
        yield execution(process, _PERIODS_THREAD, f"{kind} {number}", kind, span)


def _executions(schedule: PeriodicSchedule, process: int) -> Iterator[Event]:
    """Return the executions: in period n a task that is r ahead runs for frame n - (max r - r)."""
    size, deepest = len(schedule.graph.tasks), schedule.prologue_periods
    for n in range(deepest + FULL_PERIODS):
        for number, (engine, offset, ahead) in enumerate(
            zip(schedule.engine, schedule.start_ps, schedule.ahead, strict=True)
        ):
            frame = n - (deepest - ahead)
            if frame < 0:
                continue
            task, copy = schedule.graph.tasks[number % size], number // size
            start = n * schedule.period_ps + offset
            end = start + task.time_ps
            arguments = {
                "frame": frame + 1,
                "copy": copy,
                "periods_ahead": ahead,
                "start_ps": start,
                "end_ps": end,
            }
            thread = _FIRST_ENGINE + engine
            yield execution(process, thread, task.name, f"copy {copy}", (start, end), arguments)


def _transfers(schedule: PeriodicSchedule, process: int) -> Iterator[Event]:
    """Return the flows of the first frame."""
    tasks, cached, deepest = schedule.tasks, set(schedule.cached), schedule.prologue_periods
    start = [
        (deepest - ahead) * schedule.period_ps + offset
        for ahead, offset in zip(schedule.ahead, schedule.start_ps, strict=True)
    ]
    thread = [_FIRST_ENGINE + engine for engine in schedule.engine]
    for number, edge in enumerate(tasks.transfers):
        stays, begin = number in cached, start[edge.source]
        yield from flow(
            process,
            "transfer in the cache" if stays else "transfer through the memory",
            *("transfer", str(number)),
            (thread[edge.source], begin, begin + tasks.tasks[edge.source].time_ps),
            (thread[edge.target], start[edge.target]),
            {"ps": edge.cache_ps if stays else edge.memory_ps, "bytes": edge.size_bytes},
        )

"""Periodic schedules in the Trace Event Format, for Perfetto and chrome://tracing.

One process for each schedule. In it a thread for the periods and one for each engine, a complete
event for each task of the prologue and of the first full periods, and a flow event for each
transfer of the first frame.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule
from paretosoc.results.export.trace import microseconds, ticks

FULL_PERIODS = 2
"""Periods after the prologue. The others are like them."""
_PERIODS_THREAD = 1
_FIRST_ENGINE = 2

Event = dict[str, Any]


def periodic_trace_bytes(schedules: Sequence[tuple[str, PeriodicSchedule]]) -> bytes:
    """Return the trace of schedules, each under its title, as JSON. Equal schedules give equal
    bytes."""
    events: list[Event] = []
    for place, (title, schedule) in enumerate(schedules):
        process = place + 1
        events += _names(schedule, process, title)
        events += _periods(schedule, process)
        events += _executions(schedule, process)
        events += _transfers(schedule, process)
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
    return f'{{"displayTimeUnit":"ns","traceEvents":[\n{lines}\n]}}\n'.encode()


def _names(schedule: PeriodicSchedule, process: int, title: str) -> list[Event]:
    threads = [(_PERIODS_THREAD, "periods")]
    threads += [(_FIRST_ENGINE + n, f"PE {n}") for n in range(schedule.array.engines)]
    events: list[Event] = [
        {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": title}}
    ]
    for thread, name in threads:
        common = {"ph": "M", "pid": process, "tid": thread}
        events += [
            {**common, "name": "thread_name", "args": {"name": name}},
            {**common, "name": "thread_sort_index", "args": {"sort_index": thread}},
        ]
    return events


def _periods(schedule: PeriodicSchedule, process: int) -> list[Event]:
    prologue, period = schedule.prologue_periods, schedule.period_ps
    return [
        {
            "ph": "X",
            "name": f"prologue {n + 1}" if n < prologue else f"period {n - prologue + 1}",
            "cat": "prologue" if n < prologue else "period",
            "pid": process,
            "tid": _PERIODS_THREAD,
            "ts": microseconds(n * period),
            "dur": microseconds((n + 1) * period) - microseconds(n * period),
        }
        for n in range(prologue + FULL_PERIODS)
    ]


def _executions(schedule: PeriodicSchedule, process: int) -> list[Event]:
    """Return the executions. In period n a task that is r ahead runs for frame n - (max r - r), if
    there is one, all counted from 0."""
    size = len(schedule.graph.tasks)
    deepest, events = schedule.prologue_periods, []
    for n in range(deepest + FULL_PERIODS):
        for number, (engine, offset, ahead) in enumerate(
            zip(schedule.engine, schedule.start_ps, schedule.ahead, strict=True)
        ):
            frame = n - (deepest - ahead)
            if frame < 0:
                continue
            task = schedule.graph.tasks[number % size]
            start = n * schedule.period_ps + offset
            first, last = microseconds(start), microseconds(start + task.time_ps)
            events.append(
                {
                    "ph": "X",
                    "name": task.name,
                    "cat": f"copy {number // size}",
                    "pid": process,
                    "tid": _FIRST_ENGINE + engine,
                    "ts": first,
                    "dur": last - first,
                    "args": {
                        "frame": frame + 1,
                        "copy": number // size,
                        "periods_ahead": ahead,
                        "start_ps": start,
                        "end_ps": start + task.time_ps,
                    },
                }
            )
    return events


def _transfers(schedule: PeriodicSchedule, process: int) -> list[Event]:
    """Return the flows of the first frame. They begin inside the source, at its last instant."""
    tasks, cached = schedule.tasks, set(schedule.cached)
    deepest, events = schedule.prologue_periods, []

    def start_of(number: int) -> int:
        return (deepest - schedule.ahead[number]) * schedule.period_ps + schedule.start_ps[number]

    for number, edge in enumerate(tasks.transfers):
        source, target = start_of(edge.source), start_of(edge.target)
        stays = number in cached
        flow: Event = {
            "name": "transfer in the cache" if stays else "transfer through the memory",
            "cat": "transfer",
            "id": f"{process}.{number}",
            "pid": process,
        }
        end = source + tasks.tasks[edge.source].time_ps
        # A 1/1024 us before the end: flows bind to the event that encloses them.
        last = (
            microseconds(source) if ticks(end) <= ticks(source) + 1 else microseconds(end) - 2**-10
        )
        time = edge.cache_ps if stays else edge.memory_ps
        events += [
            {
                **flow,
                "ph": "s",
                "tid": _FIRST_ENGINE + schedule.engine[edge.source],
                "ts": last,
                "args": {"ps": time, "bytes": edge.size_bytes},
            },
            {
                **flow,
                "ph": "f",
                "bp": "e",
                "tid": _FIRST_ENGINE + schedule.engine[edge.target],
                "ts": microseconds(target),
            },
        ]
    return events

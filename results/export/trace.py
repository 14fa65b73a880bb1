"""Schedules in the Trace Event Format, for Perfetto and chrome://tracing.

One process for each member. In it a thread for each unit, a complete event for each execution, a
flow event for each transition and conversion, and counters for power and the demanded memory
bandwidth. If networks run freely, one more thread has the window that is counted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from paretosoc.common.units import PS_PER_US
from paretosoc.results.front.front import FreeRun
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.free_running import describe_shown_part
from paretosoc.results.text.member_diff import is_conversion
from paretosoc.results.text.power_bandwidth_trace import activity, steps_by_unit

TICKS_PER_US = 1 << 10
"""Instants are rounded to 1/1024 us, less than a nanosecond. Readers keep them as binary fractions
and turn them into integer nanoseconds. Thirds of a decimal would make the end of one event pass the
start of the next, which events on one track must not. The exact picoseconds are arguments."""

Event = dict[str, Any]


def trace_bytes(members: Sequence[tuple[str, ScheduledMember]]) -> bytes:
    """Return the trace of members, each under its title, as JSON. Equal schedules give equal
    bytes.
    """
    events: list[Event] = []
    for place, (title, shown) in enumerate(members):
        process, run = place + 1, shown.member.free_run
        events += _names(shown.problem, process, title if run is None else _title(title, run))
        events += _window(shown, process)
        events += _executions(shown, process)
        events += _transitions(shown, process)
        events += _counters(shown, process)
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
    return f'{{"displayTimeUnit":"ns","traceEvents":[\n{lines}\n]}}\n'.encode()


def ticks(ps: int) -> int:
    """Return the nearest multiple of 1/1024 us."""
    return (ps * TICKS_PER_US + PS_PER_US // 2) // PS_PER_US


def microseconds(ps: int) -> float:
    """Return the nearest tick in microseconds, exactly."""
    return ticks(ps) / TICKS_PER_US


def _title(title: str, run: FreeRun) -> str:
    return f"{title}: {describe_shown_part(run)}"


def _names(problem: Problem, process: int, title: str) -> list[Event]:
    events: list[Event] = [
        {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": title}},
        {
            "ph": "M",
            "name": "process_sort_index",
            "pid": process,
            "tid": 0,
            "args": {"sort_index": process},
        },
    ]
    for u, unit in enumerate(problem.units):
        thread = {"ph": "M", "pid": process, "tid": u + 1}
        events += [
            {**thread, "name": "thread_name", "args": {"name": unit.name}},
            {**thread, "name": "thread_sort_index", "args": {"sort_index": u + 1}},
        ]
    return events


def _window(shown: ScheduledMember, process: int) -> list[Event]:
    """Return a separate thread with the shown part of the window that throughput and power are
    counted in. It is empty unless networks run freely."""
    run, problem = shown.member.free_run, shown.problem
    if run is None or run.shown_ps <= run.window_ps[0]:
        return []
    begin, end = microseconds(run.window_ps[0]), microseconds(run.shown_ps)
    thread = {"pid": process, "tid": len(problem.units) + 1}
    names = [network.name for network in problem.networks]
    return [
        {**thread, "ph": "M", "name": "thread_name", "args": {"name": "counted window"}},
        {
            **thread,
            "ph": "X",
            "name": "counted window",
            "cat": "window",
            "ts": begin,
            "dur": end - begin,
            "args": {
                "begin_ps": run.window_ps[0],
                "end_ps": run.window_ps[1],
                **{
                    f"frame period of {name} (ps)": period
                    for name, period in zip(names, run.periods_ps, strict=True)
                },
            },
        },
    ]


def _executions(shown: ScheduledMember, process: int) -> list[Event]:
    figures = activity(shown.problem, shown.member)
    events = []
    for execution in shown.schedule.groups:
        network = shown.problem.networks[execution.network]
        group = execution.group - network.first_group
        start, end = microseconds(execution.start_ps), microseconds(execution.end_ps)
        events.append(
            {
                "ph": "X",
                "name": f"{network.name} {group}: {network.group_names[group]}",
                "cat": network.name,
                "pid": process,
                "tid": execution.unit + 1,
                "ts": start,
                "dur": end - start,
                "args": {
                    "frame": execution.frame,
                    "repeat": execution.repeat,
                    "ready_ps": execution.ready_ps,
                    "start_ps": execution.start_ps,
                    "end_ps": execution.end_ps,
                    "alone_ps": execution.alone_ps,
                    "contention_ps": execution.end_ps - execution.start_ps - execution.alone_ps,
                    "waited_ps": execution.start_ps - execution.ready_ps,
                    "demand_kbps": figures.demand_kbps[execution.group],
                    "dynamic_mw": figures.dynamic_mw[execution.group],
                },
            }
        )
    return events


def _transitions(shown: ScheduledMember, process: int) -> list[Event]:
    """Return the flows. A flow starts inside the source, at its last instant that still belongs to
    it, and ends at the target's start, since flows bind to the event that encloses them."""
    problem, units = shown.problem, shown.member.design.units.tolist()
    outgoing: dict[int, list[tuple[int, int]]] = {}
    for e, (tail, head) in enumerate(problem.edges):
        if units[tail] != units[head]:
            outgoing.setdefault(tail, []).append((e, head))
    by_key = {(row.frame, row.repeat, row.group): row for row in shown.schedule.groups}
    events: list[Event] = []
    for source in shown.schedule.groups:
        for edge, head in outgoing.get(source.group, ()):
            target = by_key.get((source.frame, source.repeat, head))
            if target is None:
                continue  # It starts after the shown part.
            delay = int(problem.transition_ps[edge, source.unit, target.unit])
            converts = is_conversion(problem, source.unit, target.unit)
            name = "conversion" if converts else "transition"
            flow: Event = {
                "name": name,
                "cat": name,
                "id": f"{process}.{source.frame}.{source.repeat}.{edge}",
                "pid": process,
            }
            last = max(ticks(source.start_ps), ticks(source.end_ps) - 1) / TICKS_PER_US
            events += [
                {**flow, "ph": "s", "tid": source.unit + 1, "ts": last, "args": {"ps": delay}},
                {
                    **flow,
                    "ph": "f",
                    "bp": "e",
                    "tid": target.unit + 1,
                    "ts": microseconds(target.start_ps),
                },
            ]
    return events


def _counters(shown: ScheduledMember, process: int) -> list[Event]:
    """Return one value for each unit, which viewers stack. Power includes the share that is always
    drawn.
    """
    figures = activity(shown.problem, shown.member)
    names = [unit.name for unit in shown.problem.units]
    powers = steps_by_unit(shown, figures.dynamic_mw)
    demands = steps_by_unit(shown, figures.demand_kbps)
    events: list[Event] = []
    for instant, row in zip(powers.instants_ps, powers.values, strict=True):
        watts = {
            name: (value + idle) / 1000
            for name, value, idle in zip(names, row, figures.idle_mw, strict=True)
        }
        watts["memory, clocks and board"] = figures.base_mw / 1000
        events.append(_counter("power (W)", process, instant, watts))
    for instant, row in zip(demands.instants_ps, demands.values, strict=True):
        rates = {name: value / 10**6 for name, value in zip(names, row, strict=True)}
        events.append(_counter("bandwidth asked for (GB/s)", process, instant, rates))
    return events


def _counter(name: str, process: int, instant_ps: int, values: dict[str, float]) -> Event:
    return {"ph": "C", "name": name, "pid": process, "ts": microseconds(instant_ps), "args": values}

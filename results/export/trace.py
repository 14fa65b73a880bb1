"""Schedules in the Trace Event Format, for Perfetto and chrome://tracing, and as node data of Model
Explorer.

One process for each member. In it a thread for each unit, a complete event for each execution, a
flow event for each transition and conversion, and counters for power and the demanded memory
bandwidth. If networks run freely, one more thread has the window that is counted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from paretosoc.common.units import FJ_PER_MJ, KBPS_PER_GBPS, PS_PER_MS, PS_PER_US
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.text.member_diff import is_conversion
from paretosoc.results.text.rates import describe_shown_part
from paretosoc.results.text.schedule import activity, largest_of, mean_of, steps_by_unit

TICKS_PER_US = 1 << 10
"""Instants are rounded to 1/1024 us, less than a nanosecond. Readers keep them as binary fractions
and turn them into integer nanoseconds. Thirds of a decimal would make the end of one event pass the
start of the next, which events on one track must not. The exact picoseconds are arguments."""

Event = dict[str, Any]


def trace_bytes(members: Sequence[tuple[str, ScheduledMember]]) -> bytes:
    """Return the trace of members, each under its title, as JSON. Equal schedules give equal
    bytes."""
    events: list[Event] = []
    for place, (title, shown) in enumerate(members):
        events += member_events(place + 1, title, shown)
    return trace_document(events)


def member_events(process: int, title: str, shown: ScheduledMember) -> list[Event]:
    """Return the events of a member, under its title."""
    run = shown.member.free_run
    return [
        process_name(process, title if run is None else f"{title}: {describe_shown_part(run)}"),
        _metadata(process, "process_sort_index", {"sort_index": process}),
        *thread_names(process, [unit.name for unit in shown.problem.units]),
        *_window(shown, process),
        *_executions(shown, process),
        *_transitions(shown, process),
        *_counters(shown, process),
    ]


def trace_document(events: Sequence[Event]) -> bytes:
    """Return events as the JSON of a trace."""
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
    return f'{{"displayTimeUnit":"ns","traceEvents":[\n{lines}\n]}}\n'.encode()


def _metadata(process: int, name: str, values: dict[str, Any], thread: int = 0) -> Event:
    return {"ph": "M", "pid": process, "tid": thread, "name": name, "args": values}


def process_name(process: int, title: str) -> Event:
    """Return the event that names a process."""
    return _metadata(process, "process_name", {"name": title})


def thread_names(process: int, names: Sequence[str]) -> list[Event]:
    """Return events that name the threads 1, 2, ... of a process, and keep them in this order."""
    return [
        _metadata(process, name, values, thread)
        for thread, text in enumerate(names, 1)
        for name, values in (
            ("thread_name", {"name": text}),
            ("thread_sort_index", {"sort_index": thread}),
        )
    ]


def execution(
    process: int,
    thread: int,
    name: str,
    category: str,
    span_ps: tuple[int, int],
    arguments: dict[str, Any] | None = None,
) -> Event:
    """Return the complete event of a thread's activity from one instant to another."""
    start, end = map(microseconds, span_ps)
    event: Event = {"ph": "X", "name": name, "cat": category, "pid": process, "tid": thread}
    event |= {"ts": start, "dur": end - start}
    return event if arguments is None else event | {"args": arguments}


def flow(
    process: int,
    name: str,
    category: str,
    number: str,
    source: tuple[int, int, int],
    target: tuple[int, int],
    arguments: dict[str, Any],
) -> list[Event]:
    """Return a flow from one execution to another. It starts inside the source, at its last instant
    that still belongs to it, and ends at the target's start, since flows bind to the event that
    encloses them.

    Args:
        number: distinguishes flows of a process.
        source: thread, start and end (ps).
        target: thread and start (ps).
    """
    common: Event = {"name": name, "cat": category, "id": f"{process}.{number}", "pid": process}
    thread, start, end = source
    last = max(ticks(start), ticks(end) - 1) / TICKS_PER_US
    return [
        {**common, "ph": "s", "tid": thread, "ts": last, "args": arguments},
        {**common, "ph": "f", "bp": "e", "tid": target[0], "ts": microseconds(target[1])},
    ]


def ticks(ps: int) -> int:
    """Return the nearest multiple of 1/1024 us."""
    return (ps * TICKS_PER_US + PS_PER_US // 2) // PS_PER_US


def microseconds(ps: int) -> float:
    """Return the nearest tick in microseconds, exactly."""
    return ticks(ps) / TICKS_PER_US


def _window(shown: ScheduledMember, process: int) -> list[Event]:
    """Return a separate thread with the shown part of the window that throughput and power are
    counted in. It is empty unless networks run freely."""
    run, problem = shown.member.free_run, shown.problem
    if run is None or run.shown_ps <= run.window_ps[0]:
        return []
    thread, name = len(problem.units) + 1, "counted window"
    arguments = {"begin_ps": run.window_ps[0], "end_ps": run.window_ps[1]}
    for network, period in zip(problem.networks, run.periods_ps, strict=True):
        arguments[f"frame period of {network.name} (ps)"] = period
    span = run.window_ps[0], run.shown_ps
    return [
        _metadata(process, "thread_name", {"name": name}, thread),
        execution(process, thread, name, "window", span, arguments),
    ]


def _executions(shown: ScheduledMember, process: int) -> list[Event]:
    figures = activity(shown.problem, shown.member)
    events = []
    for row in shown.schedule.groups:
        network = shown.problem.networks[row.network]
        group = row.group - network.first_group
        name = f"{network.name} {group}: {network.group_names[group]}"
        span = row.start_ps, row.end_ps
        arguments = {
            "frame": row.frame,
            "repeat": row.repeat,
            "ready_ps": row.ready_ps,
            "start_ps": row.start_ps,
            "end_ps": row.end_ps,
            "alone_ps": row.alone_ps,
            "contention_ps": row.contention_ps,
            "waited_ps": row.waited_ps,
            "demand_kbps": figures.demand_kbps[row.group],
            "dynamic_mw": figures.dynamic_mw[row.group],
        }
        events.append(execution(process, row.unit + 1, name, network.name, span, arguments))
    return events


def _transitions(shown: ScheduledMember, process: int) -> list[Event]:
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
            events += flow(
                *(process, name, name, f"{source.frame}.{source.repeat}.{edge}"),
                (source.unit + 1, source.start_ps, source.end_ps),
                (target.unit + 1, target.start_ps),
                {"ps": delay},
            )
    return events


def _counters(shown: ScheduledMember, process: int) -> list[Event]:
    """Return one value for each unit, which viewers stack. Power includes the share that is always
    drawn."""
    figures = activity(shown.problem, shown.member)
    names = [unit.name for unit in shown.problem.units]
    none = [0] * len(names)
    rest = {"idle memory, clocks and board": figures.base_mw / 1000}
    events: list[Event] = []
    for title, of_group, together, always, scale, more in (
        ("power (W)", figures.dynamic_mw, mean_of, figures.idle_mw, 1000, rest),
        ("bandwidth asked for (GB/s)", figures.demand_kbps, largest_of, none, KBPS_PER_GBPS, {}),
    ):
        steps = steps_by_unit(shown, of_group, together)
        for instant, row in zip(steps.instants_ps, steps.values, strict=True):
            values = [(value + base) / scale for value, base in zip(row, always, strict=True)]
            event: Event = {"ph": "C", "name": title, "pid": process, "ts": microseconds(instant)}
            events.append(event | {"args": {**dict(zip(names, values, strict=True)), **more}})
    return events


COLOURS = ("#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#fb9a99", "#ffff99", "#e0e0e0", "#d9c3a5")
"""Of units, in their order. Names of nodes are black on them."""


def node_data(shown: ScheduledMember, origins: CostOrigins) -> dict[str, bytes]:
    """Return the node data of each network of a member, by the networks' names. Tasks have no
    model, and none.

    The values are texts by names of nodes, which are those of layers: ``gpu, 0.83 ms, 4.1 mJ with
    12 layers``. Time and energy are those of the layer's group, contention included, in its first
    execution, if one is shown. The energy is that above idle.
    """
    problem, units = shown.problem, shown.member.design.units.tolist()
    dynamic_mw = activity(problem, shown.member).dynamic_mw
    first = {row.group: row for row in reversed(shown.schedule.groups)}
    documents = {}
    for network, origin in zip(problem.networks, origins.networks, strict=True):
        if origin.source.is_task:
            continue
        nodes: dict[str, dict[str, str]] = {}
        for g, group in zip(network.groups, origin.groups, strict=True):
            u, size = units[g], len(group.layers)
            colour = COLOURS[problem.unit_of[u] % len(COLOURS)]
            value = f"{problem.units[u].name}, starts after the shown part"
            if g in first:
                took_ps = first[g].end_ps - first[g].start_ps
                ms, mj = took_ps / PS_PER_MS, took_ps * dynamic_mw[g] / FJ_PER_MJ
                value = f"{problem.units[u].name}, {ms:.4g} ms, {mj:.4g} mJ"
                value += f" with {size} layers" if size > 1 else ""
            nodes |= {layer: {"value": value, "bgColor": colour} for layer in group.layers}
        document = {"name": f"{network.name}: unit, time", "results": nodes}
        documents[network.name] = (json.dumps(document, indent=1) + "\n").encode()
    return documents

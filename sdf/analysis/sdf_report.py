"""Everything the analyses say about one dataflow graph: as a report, as text and as JSON types."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from paretosoc.common.text import pluralize
from paretosoc.sdf.analysis.buffer_search import (
    SmallestBuffers,
    TradeOff,
    buffers_for_throughput,
    deadlock_free_buffers,
    throughput_buffer_trade_off,
)
from paretosoc.sdf.analysis.buffers import StorageDistribution
from paretosoc.sdf.analysis.processor_order import BoundThroughput, bound_throughput
from paretosoc.sdf.analysis.repetition import FIRING_LIMIT, check_live, repetition_vector
from paretosoc.sdf.analysis.throughput import Throughput, execution_times, self_timed_throughput
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.rates import PerPhase

TRADE_OFF_FIRINGS = 5_000
"""Firings in an iteration up to which the report explores the trade-off."""


@dataclass(frozen=True)
class SdfReport:
    """A consistent, live graph. Times are in the unit of its execution times."""

    name: str
    time_unit: str
    """Empty if the graph does not say."""
    channels: tuple[str, ...]
    """Name, or "source -> target" if there is none, in the graph's order."""
    repetitions: tuple[tuple[str, int], ...]
    """(actor, firings in one iteration)."""
    phases: tuple[tuple[str, int], ...]
    """(actor, its number of phases)."""
    times: tuple[tuple[str, PerPhase], ...]
    """(actor, time of a firing on its default processor type), empty if there are none."""
    throughput: Throughput | None
    """No auto-concurrency: an actor's firings do not overlap. Buffers are unbounded but for the
    capacities that the graph states. Both hold for all other figures, too."""
    auto_concurrent: Throughput | None
    """Firings of one actor may overlap."""
    bound: BoundThroughput | None
    """On processors, in a static order."""
    deadlock_free: SmallestBuffers | None
    """The smallest buffers with which it can run forever."""
    wanted: Fraction | None
    """Iterations per time unit that ``fast_enough`` is for."""
    fast_enough: SmallestBuffers | None
    """The smallest buffers for a throughput, without auto-concurrency."""
    trade_off: TradeOff | None
    """Throughput over buffer size."""
    notes: tuple[str, ...]
    """The analyses that were left out, and why."""


def analyse(
    graph: SdfGraph, *, processor_type: str | None = None, throughput: Fraction | None = None
) -> SdfReport:
    """Run all analyses on a graph.

    Args:
        processor_type: whose execution times to take. None takes each actor's default. There is
            one processor of each type that is used.
        throughput: iterations per time unit to find buffers for. None takes the highest possible.

    Raises:
        GraphError: if the graph is inconsistent or deadlocks, if an argument does not fit it, or
            if only some actors have execution times.
    """
    repetitions = repetition_vector(graph)
    check_live(graph)
    notes = list(graph.notes) if processor_type is None else []
    if any(channel.capacity is not None for channel in graph.channels):
        notes.append("no buffer is larger than the graph says")
    fastest = overlapping = None
    times: dict[str, PerPhase] = {}
    if any(actor.execution_times for actor in graph.actors) or throughput is not None:
        times = execution_times(graph, processor_type)
        fastest = self_timed_throughput(graph, times)
        overlapping = self_timed_throughput(graph, times, auto_concurrency=True)
    elif graph.actors:
        notes.append("no throughput: the actors have no execution times")

    firings = sum(repetitions.values())
    bound = deadlock_free = fast_enough = trade_off = None
    if firings > FIRING_LIMIT:
        notes.append(
            f"no buffers and no processors: an iteration has {firings} firings, more than "
            f"{FIRING_LIMIT}"
        )
    else:
        deadlock_free = deadlock_free_buffers(graph)
        if times:
            kinds = {a.name: processor_type or a.execution_times[0][0] for a in graph.actors}
            bound = bound_throughput(graph, kinds)
        if fastest is not None and (throughput is not None or fastest.period):
            fast_enough = buffers_for_throughput(graph, times, throughput)
            if firings <= TRADE_OFF_FIRINGS:
                trade_off = throughput_buffer_trade_off(graph, times)
            else:
                notes.append(
                    f"no trade-off: an iteration has {firings} firings, more than "
                    f"{TRADE_OFF_FIRINGS}"
                )
    wanted = throughput
    if wanted is None and fastest is not None and fast_enough is not None:
        wanted = fastest.iterations
    return SdfReport(
        name=graph.name,
        time_unit=graph.time_unit,
        channels=tuple(c.name or f"{c.source} -> {c.target}" for c in graph.channels),
        repetitions=tuple(repetitions.items()),
        phases=tuple((actor.name, len(actor.phases)) for actor in graph.actors),
        times=tuple(times.items()),
        throughput=fastest,
        auto_concurrent=overlapping,
        bound=bound,
        deadlock_free=deadlock_free,
        wanted=wanted,
        fast_enough=fast_enough,
        trade_off=trade_off,
        notes=tuple(notes),
    )


def format_report(report: SdfReport) -> str:
    """Return the report as lines of text, without a final line break."""
    firings = sum(count for _, count in report.repetitions)
    lines = [
        f"{report.name or 'graph without a name'}: "
        f"{pluralize(len(report.repetitions), 'actor')}, "
        f"{pluralize(len(report.channels), 'channel')}, consistent and live",
        f"repetition vector ({pluralize(firings, 'firing')} in an iteration)",
    ]
    times = dict(report.times)
    unit = report.time_unit or "time units"
    for (actor, count), (_, phases) in zip(report.repetitions, report.phases, strict=True):
        line = f"  {actor}: {count}" + (f" in {phases} phases" if phases > 1 else "")
        if actor in times:
            time = times[actor]
            each = f"{time} {unit} each"
            line += f", {each if isinstance(time, int) else f'{sum(time)} {unit} for all phases'}"
        lines.append(line)
    if report.throughput is not None:
        lines.append(f"throughput: {_rate(report, report.throughput)}")
    if report.auto_concurrent is not None:
        lines.append(f"throughput with auto-concurrency: {_rate(report, report.auto_concurrent)}")
    if report.bound is not None:
        lines.append(
            f"throughput on {pluralize(len(report.bound.orders), 'processor')} in static order: "
            f"{_rate(report, report.bound.throughput)}"
        )
        for processor, order in report.bound.orders:
            lines.append(f"  {processor}: {', '.join(dict.fromkeys(order))}")
    if report.deadlock_free is not None:
        lines.append(f"buffers without deadlock: {_buffers(report, report.deadlock_free)}")
    if report.fast_enough is not None:
        lines.append(
            f"buffers for {report.wanted} iterations per {report.time_unit or 'time unit'}: "
            f"{_buffers(report, report.fast_enough)}"
        )
    if report.trade_off is not None:
        lines.append("throughput over buffer size (Pareto points)")
        for point in report.trade_off.points:
            rate = point.throughput.iterations or "unbounded"
            lines.append(f"  {pluralize(point.tokens, 'token')}: {rate}")
        if not report.trade_off.complete:
            lines.append("  larger ones were not explored")
    lines.extend(f"note: {note}" for note in report.notes)
    return "\n".join(lines)


def _rate(report: SdfReport, throughput: Throughput) -> str:
    if throughput.iterations is None:
        return "unbounded"
    critical = ", ".join(throughput.critical_actors)
    return (
        f"{throughput.iterations} iterations per {report.time_unit or 'time unit'} (period "
        f"{throughput.period}; limited by {critical})"
    )


def _buffers(report: SdfReport, found: SmallestBuffers) -> str:
    proof = "the smallest" if found.exact else f"at least {found.lower_bound} are needed"
    each = "; ".join(
        f"{name}: {capacity}"
        for name, capacity in zip(report.channels, found.distribution.capacities, strict=True)
    )
    return f"{pluralize(found.distribution.tokens, 'token')}, {proof} ({each})"


def report_data(report: SdfReport) -> dict[str, Any]:
    """Return a report as JSON types. Exact fractions are texts such as ``"1/120"``, with a float
    beside them. Null means unbounded, or that the analysis was left out (``notes`` says why)."""
    times = dict(report.times)
    return {
        "name": report.name,
        "time_unit": report.time_unit or None,
        "actors": [
            {"name": name, "repetitions": count, "phases": phases, "time": times.get(name)}
            for (name, count), (_, phases) in zip(report.repetitions, report.phases, strict=True)
        ],
        "firings": sum(count for _, count in report.repetitions),
        "channels": list(report.channels),
        "throughput": _rate_data(report.throughput),
        "auto_concurrent_throughput": _rate_data(report.auto_concurrent),
        "bound": None
        if report.bound is None
        else {
            "throughput": _rate_data(report.bound.throughput),
            "orders": [
                {
                    "processor": processor,
                    "firings": [[actor, len(list(run))] for actor, run in groupby(order)],
                }
                for processor, order in report.bound.orders
            ],
        },
        "deadlock_free_buffers": _buffer_data(report, report.deadlock_free),
        "buffers_for_throughput": None
        if report.fast_enough is None
        else {
            "wanted": _fraction(report.wanted),
            **(_buffer_data(report, report.fast_enough) or {}),
        },
        "trade_off": None
        if report.trade_off is None
        else {
            "complete": report.trade_off.complete,
            "points": [_distribution(report, point) for point in report.trade_off.points],
        },
        "notes": list(report.notes),
    }


def _fraction(value: Fraction | None) -> dict[str, Any] | None:
    return None if value is None else {"exact": str(value), "value": float(value)}


def _rate_data(throughput: Throughput | None) -> dict[str, Any] | None:
    if throughput is None:
        return None
    return {
        "iterations_per_time_unit": _fraction(throughput.iterations),
        "period": _fraction(throughput.period),
        "critical_actors": list(throughput.critical_actors),
    }


def _buffer_data(report: SdfReport, found: SmallestBuffers | None) -> dict[str, Any] | None:
    return (
        None
        if found is None
        else {
            **_distribution(report, found.distribution),
            "lower_bound": found.lower_bound,
            "smallest": found.exact,
        }
    )


def _distribution(report: SdfReport, distribution: StorageDistribution) -> dict[str, Any]:
    return {
        "tokens": distribution.tokens,
        "capacities": [
            {"channel": name, "tokens": capacity}
            for name, capacity in zip(report.channels, distribution.capacities, strict=True)
        ],
        "throughput": _rate_data(distribution.throughput),
    }

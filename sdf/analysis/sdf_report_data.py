"""The report on a dataflow graph as JSON types."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from typing import Any

from paretosoc.sdf.analysis.buffer_search import SmallestBuffers
from paretosoc.sdf.analysis.buffers import StorageDistribution
from paretosoc.sdf.analysis.sdf_report import SdfReport
from paretosoc.sdf.analysis.throughput import Throughput


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
        "throughput": _rate(report.throughput),
        "auto_concurrent_throughput": _rate(report.auto_concurrent),
        "bound": None
        if report.bound is None
        else {
            "throughput": _rate(report.bound.throughput),
            "orders": [
                {
                    "processor": processor,
                    "firings": [[actor, len(list(run))] for actor, run in groupby(order)],
                }
                for processor, order in report.bound.orders
            ],
        },
        "deadlock_free_buffers": _buffers(report, report.deadlock_free),
        "buffers_for_throughput": None
        if report.fast_enough is None
        else {"wanted": _fraction(report.wanted), **_found(report, report.fast_enough)},
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


def _rate(throughput: Throughput | None) -> dict[str, Any] | None:
    if throughput is None:
        return None
    return {
        "iterations_per_time_unit": _fraction(throughput.iterations),
        "period": _fraction(throughput.period),
        "critical_actors": list(throughput.critical_actors),
    }


def _buffers(report: SdfReport, found: SmallestBuffers | None) -> dict[str, Any] | None:
    return None if found is None else _found(report, found)


def _found(report: SdfReport, found: SmallestBuffers) -> dict[str, Any]:
    return {
        **_distribution(report, found.distribution),
        "lower_bound": found.lower_bound,
        "smallest": found.exact,
    }


def _distribution(report: SdfReport, distribution: StorageDistribution) -> dict[str, Any]:
    return {
        "tokens": distribution.tokens,
        "capacities": [
            {"channel": name, "tokens": capacity}
            for name, capacity in zip(report.channels, distribution.capacities, strict=True)
        ],
        "throughput": _rate(distribution.throughput),
    }

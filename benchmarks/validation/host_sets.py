"""Tang's Table 2 without calibration: the effect of the host's clock on times on TX2's GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares

from benchmarks.accuracy import table2
from benchmarks.validation.scores import Comparison
from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

TANG = "TX2, Tang's Table 2, time"
TANG_SLOWDOWN = "TX2, Tang's Table 2, slowdown by the CPU's clock"


def uncalibrated(platform: Platform) -> list[Comparison]:
    """Compare the estimate of Tang's networks, with the host's effect fitted to the table's others.

    For each network the time is that of the estimate without launches, times a scale or plus a time
    per launch that the other two are fitted to (soft-L1 on log errors). Compared are all times, and
    the slowdowns of each GPU clock against the fastest CPU.
    """
    tables = [_tang_table(platform, name, nine) for name, nine in table2.published().items()]
    laws: dict[str, Callable[[_TangTable, float], FloatArray]] = {
        "no host": lambda table, _: table.unlaunched_ms,
        "one scale": lambda table, scale: table.unlaunched_ms * scale,
        "a time per launch": lambda table, ms: table.unlaunched_ms + ms * table.launches,
    }
    found = []
    others = "the other two networks"
    for law, time_ms in laws.items():
        times = []
        for table in tables:
            fitted = _fitted(time_ms, [other for other in tables if other is not table])
            times.append(time_ms(table, fitted))
        found += _tang_comparisons(tables, times, others, law)
    shipped = [table.estimate_ms for table in tables]
    fitted_to = "other networks by TensorRT"
    found += _tang_comparisons(tables, shipped, fitted_to, "the program's estimate")
    return sorted(found, key=lambda comparison: comparison.data != TANG)


@dataclass(frozen=True, eq=False)
class _TangTable:
    """A network's figures, [9] each: measured, estimated with and without launches, launches times
    the slowdown of the host's clock, and the places of the same GPU clock at the fastest CPU.
    """

    measured_ms: FloatArray
    estimate_ms: FloatArray
    unlaunched_ms: FloatArray
    launches: FloatArray
    at_fastest_cpu: IntArray


def _tang_table(platform: Platform, name: str, nine: Sequence[table2.Published]) -> _TangTable:
    unit = platform.unit_by_name["gpu"]
    points = np.array([entry.measurement.points for entry in nine], dtype=np.int64)
    network = group_network(load_network(name).graph, None, groups=1)

    def estimate_ms(fixed_ns: int | None) -> FloatArray:
        peaks = tuple(replace(peak, ns_per_layer=fixed_ns) for peak in unit.peaks)
        changed = unit if fixed_ns is None else replace(unit, peaks=peaks)
        units = tuple(changed if other is unit else other for other in platform.units)
        costs = network_costs(network, replace(platform, units=units))
        times: FloatArray = costs.units[platform.units.index(unit)].time_ps.sum(axis=0) / 1e9
        at_points: FloatArray = times[tuple(points.T)]
        return at_points

    without = estimate_ms(0)
    gpu, cpu = points[:, 0], points[:, 1]
    fastest = [int(np.flatnonzero((gpu == own) & (cpu == cpu.max()))[0]) for own in gpu]
    return _TangTable(
        measured_ms=np.array([1000 / entry.fps for entry in nine]),
        estimate_ms=estimate_ms(None),
        unlaunched_ms=without,
        launches=estimate_ms(1_000_000) - without,
        at_fastest_cpu=np.array(fastest),
    )


def _fitted(
    time_ms: Callable[[_TangTable, float], FloatArray], tables: Sequence[_TangTable]
) -> float:
    """Return the one parameter of a law that fits the tables best, positive."""

    def errors(logarithm: FloatArray) -> FloatArray:
        value = float(np.exp(logarithm[0]))
        parts = [np.log(time_ms(table, value) / table.measured_ms) for table in tables]
        result: FloatArray = np.concatenate(parts)
        return result

    return float(np.exp(least_squares(errors, [-1.5], loss="soft_l1", f_scale=0.1).x[0]))


def _tang_comparisons(
    tables: Sequence[_TangTable], times: Sequence[FloatArray], fitted_to: str, law: str
) -> list[Comparison]:
    """Compare times [9] of each table, and their slowdowns at the slower CPU clocks."""

    def slowdown(table: _TangTable, ms: FloatArray) -> FloatArray:
        slower = table.at_fastest_cpu != np.arange(len(ms))
        result: FloatArray = (ms / ms[table.at_fastest_cpu])[slower]
        return result

    measured = [table.measured_ms for table in tables]
    pairs = list(zip(tables, times, measured, strict=True))
    return [
        Comparison(TANG, fitted_to, law, "ms", np.concatenate(times), np.concatenate(measured)),
        Comparison(
            TANG_SLOWDOWN,
            fitted_to,
            law,
            "times",
            np.concatenate([slowdown(table, ms) for table, ms, _ in pairs]),
            np.concatenate([slowdown(table, ms) for table, _, ms in pairs]),
        ),
    ]

"""Measurements of this machine as an ordinary platform file and an ordinary profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from paretosoc.common.units import NS_PER_S, PS_PER_NS
from paretosoc.dse.tools.host.machine.host_units import Host, HostUnit
from paretosoc.dse.tools.host.measure.measuring import CoRun, Measured
from paretosoc.fitness.calibration.pccs_document import contention_entry, used_fit
from paretosoc.fitness.calibration.pccs_fit import fit_contention
from paretosoc.fitness.calibration.pccs_sweep import Sweep
from paretosoc.fitness.profiles.profile_document import (
    Document,
    Import,
    Subject,
    merged,
    ms,
    rounded,
)
from paretosoc.platforms.platform import Platform
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.grouping.groups import GroupedNetwork

PLATFORM = "host"
PRECISION = "fp32"
MEMORY_MHZ = 1000
"""A name for the one clock of the memory, so that bytes per cycle are GB/s."""
MACS_PER_CYCLE = 16
"""Multiply-accumulates of one core per cycle, at least: two vector units of eight lanes. Wider
units, and cores that run above the clock that the system reports, do more. Then the measured figure
counts. Only estimates of networks that were not measured use it, and with a measured efficiency."""
SOURCE_NO_POWER = "Not known: no power is measured; energy and power mean nothing here."
_SPARE = 1.001
"""A measured time is rounded in its file."""
FEWEST_SAMPLES = 8
MIN_DEMAND_GBPS = 1e-3
_PROBED = (
    "bytes by the estimate over this time",
    "by what it leaves to a process that reads memory",
)
"""Origin of a demand, without and with a probe."""
Entry = dict[str, Any]


@dataclass(frozen=True)
class HostFigures:
    """Figures of a platform file of this machine beyond its units."""

    peak_gbps: float
    share: float
    """Share of the peak that one unit reads alone."""
    macs_per_cycle: int
    """Multiply-accumulates of one unit per cycle, at the clock that the system reports."""
    efficiency: float
    contention: Entry | None
    fixed_us: float
    """Fixed time of a hand-over."""
    handover_gbps: float
    source: str


UNKNOWN = HostFigures(
    100.0, 1.0, MACS_PER_CYCLE, 0.5, None, 10.0, 10.0, "Before anything was measured."
)
"""With these a problem can be built whose groups are then measured."""


def platform_document(host: Host, units: Sequence[HostUnit], figures: HostFigures) -> Entry:
    """Return the platform file."""

    def sourced(text: str, status: str = "measured") -> dict[str, str]:
        return {"source": text[:4000], "status": status}

    def domain(name: str, mhz: float, text: str) -> Entry:
        return {
            "name": name,
            "parked_mhz": mhz,
            "ladder": {"frequencies_mhz": [mhz], **sourced(text, "assumed")},
            "may_be_off": False,
            "voltage": {"unknown": True, **sourced("The system does not tell.", "assumed")},
        }

    zero = {"idle": {"mw": [0]}, "busy": {"mw": [0]}, **sourced(SOURCE_NO_POWER, "assumed")}
    energy = (
        " The processor's energy counters could be read here; they are not used."
        if host.energy_readable
        else ""
    )
    peak_text = (
        "Two vector units of eight lanes per core, assumed, or what the fastest group does, if "
        f"that is more; the efficiency is that of the networks measured. {figures.source}"
    )
    return {
        "name": PLATFORM,
        "title": f"{host.processor}, {len(units)} units"[:200],
        "default_precision": PRECISION,
        "domains": [
            *(
                domain(unit.name, host.mhz, "As the system tells it; it is not controlled.")
                for unit in units
            ),
            domain("memory", MEMORY_MHZ, "A name: with it, bytes per cycle are GB/s."),
        ],
        "units": [
            {
                "name": unit.name,
                "kind": "cpu",
                "clocks": [unit.name, "memory"],
                "host": None,
                "peaks": [
                    {
                        "precision": PRECISION,
                        "bytes_per_element": 4,
                        "macs_per_cycle": figures.macs_per_cycle,
                        "efficiency": {"default": figures.efficiency},
                        **sourced(peak_text, "derived"),
                    }
                ],
                "bandwidth": {"share": figures.share, **sourced(figures.source)},
                "clock_law": {
                    "overlap": 3,
                    **sourced("The clocks have one point: nothing rests on it.", "assumed"),
                },
                "fixed": {"us_per_layer": 0, **sourced("In the groups' times already.", "assumed")},
                "power": [{"domain": unit.name, **zero}],
                "contention": figures.contention,
                "support": {
                    "kinds": None,
                    "unsupported_operations": [],
                    "rules": [],
                    "max_segments": None,
                    **sourced("ONNX Runtime's CPU provider.", "assumed"),
                },
            }
            for unit in units
        ],
        "memory": {
            "domain": "memory",
            "bytes_per_cycle": max(1, math.ceil(figures.peak_gbps)),
            "power": {"domain": "memory", **zero},
            **sourced(
                f"What all units read at once, or ask for alone, rounded up. {figures.source}"
            ),
        },
        "transitions": [
            {
                "unit": unit.name,
                "out_gbps": figures.handover_gbps,
                "out_us": figures.fixed_us,
                "in_gbps": 10_000,
                "in_us": 0,
                **sourced(
                    "The whole hand-over counts as the giver's; a line through those measured. "
                    + figures.source
                ),
            }
            for unit in units
        ],
        "deployment": {
            "controls": [],
            "onnxruntime": {unit.name: {"provider": "CPUExecutionProvider"} for unit in units},
            "openvino": {unit.name: "CPU" for unit in units},
        },
        "board": {"mw": 0, **sourced(SOURCE_NO_POWER + energy, "assumed")},
    }


def host_figures(
    measured: Measured,
    problem: Problem,
    networks: Sequence[GroupedNetwork],
    demand_gbps: Sequence[Sequence[float]],
    host: Host,
    units: Sequence[HostUnit],
    source: str,
) -> HostFigures:
    """Return figures of the platform from the measurements. ``demand_gbps`` is [units][groups]."""
    alone = max(measured.stream_gbps)
    peak = max(alone, *measured.together_gbps, *(max(row) for row in demand_gbps))
    macs = [group.macs for network in networks for group in network.groups]
    seconds = sum(spread.median_ns for spread in measured.alone[0]) / NS_PER_S
    hertz = host.mhz * 1e6
    fastest = max(
        count / (spread.median_ns / NS_PER_S)
        for spreads in measured.alone
        for count, spread in zip(macs, spreads, strict=True)
    )
    macs_per_cycle = max(MACS_PER_CYCLE * len(units[0].cores), math.ceil(_SPARE * fastest / hertz))
    fixed_us, gbps = _handover_line(measured, problem, networks)
    return HostFigures(
        peak_gbps=peak,
        share=round(min(1.0, max(alone / math.ceil(peak), 1e-3)), 4),
        macs_per_cycle=macs_per_cycle,
        efficiency=round(min(1.0, max(sum(macs) / seconds / (macs_per_cycle * hertz), 1e-4)), 4),
        contention=_contention(measured.co_runs, demand_gbps, source),
        fixed_us=fixed_us,
        handover_gbps=gbps,
        source=source,
    )


def demands_of(measured: Measured, bytes_moved: Sequence[int]) -> tuple[tuple[float, ...], ...]:
    """Return [units][groups] in GB/s: the probe's result, else the estimated bytes over the
    time."""
    return tuple(
        tuple(
            max(MIN_DEMAND_GBPS, moved / spread.median_ns if probed is None else probed)
            for moved, spread, probed in zip(bytes_moved, spreads, row, strict=True)
        )
        for spreads, row in zip(measured.alone, measured.demand_gbps, strict=True)
    )


def sweep_of(co_runs: Sequence[CoRun], demand_gbps: Sequence[Sequence[float]]) -> Sweep:
    """Return the samples of all units as one sweep: they are alike."""
    rows = [
        (demand_gbps[run.unit][run.group], run.external_gbps, run.slowdown)
        for run in co_runs
        if run.external_gbps > 0
    ]
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return Sweep(columns[0], columns[1], columns[2])


def _contention(
    co_runs: Sequence[CoRun], demand_gbps: Sequence[Sequence[float]], source: str
) -> Entry | None:
    sweep = sweep_of(co_runs, demand_gbps)
    if len(sweep.own) < FEWEST_SAMPLES:
        return None
    fit = fit_contention(sweep, keep_undetermined=True)
    return contention_entry(fit, used_fit(fit, sweep), source)


def _handover_line(
    measured: Measured, problem: Problem, networks: Sequence[GroupedNetwork]
) -> tuple[float, float]:
    """Return the fixed part in us and GB/s of a line through the hand-overs, neither negative."""
    from scipy.optimize import nnls

    carried: dict[int, int] = {}
    for network, entry in zip(networks, problem.networks, strict=True):
        for edge in network.edges:
            source = entry.first_group + edge.source
            carried[source] = max(carried.get(source, 0), edge.elements * 4)
    rows = [(carried[key[0]], item.median_ns) for key, item in measured.handovers.items()]
    if not rows:
        return UNKNOWN.fixed_us, UNKNOWN.handover_gbps
    table = np.array([(1.0, size) for size, _ in rows])
    (fixed_ns, ns_per_byte), _ = nnls(table, np.array([ns for _, ns in rows]))
    gbps = min(10_000.0, 1 / ns_per_byte) if ns_per_byte > 0 else 10_000.0
    return round(float(fixed_ns) / 1000, 3), round(max(float(gbps), 1e-3), 3)


def profile_document(
    platform: Platform,
    problem: Problem,
    networks: Sequence[GroupedNetwork],
    measured: Measured,
    demand_gbps: Sequence[Sequence[float]],
    source: str,
) -> Document:
    """Return the profile: times, demands and hand-overs of all groups."""
    documents: list[Document] = []
    clocks = tuple(
        (domain.name, domain.operating_points[-1].frequency_khz) for domain in platform.domains
    )
    names = [unit.name for unit in problem.units]
    for network, entry in zip(networks, problem.networks, strict=True):
        macs = sum(group.macs for group in network.groups) // entry.batch
        subject = Subject(network.name, macs, PRECISION, clocks, entry.batch)
        made = Import(network, platform, subject, source)
        for place, group in enumerate(network.groups):
            g = entry.first_group + place
            spreads = {name: measured.alone[u][g] for u, name in enumerate(names)}
            made.add_part(
                "groups",
                [group.name],
                {
                    "ms": {
                        name: ms(Fraction(spread.median_ns) * PS_PER_NS)
                        for name, spread in spreads.items()
                    },
                    "traffic_gbps": {
                        name: rounded(Fraction(demand_gbps[u][g]), 4)
                        for u, name in enumerate(names)
                    },
                    "notes": {
                        name: f"median of {spread.samples}, middle half {spread.spread:.1%}; "
                        f"demand: {_PROBED[measured.demand_gbps[u][g] is not None]}"
                        for u, (name, spread) in enumerate(spreads.items())
                    },
                },
            )
        made.record["transitions"] = [
            {
                "after": network.groups[g - entry.first_group].name,
                "from": names[u],
                "to": names[v],
                "ms": ms(Fraction(item.median_ns) * PS_PER_NS),
            }
            for (g, u, v), item in sorted(measured.handovers.items())
            if g in entry.groups
        ]
        documents.append(made.document)
    return reduce(merged, documents)

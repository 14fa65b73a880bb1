"""The problem of the speed figures: two networks of ten groups, a GPU and a DLA, 14 x 4 points.

Known optima (exhaustive search over all mappings): see ``KNOWN_BEST_MAKESPAN_PS``.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from paretosoc.fitness.contention import contention_table
from paretosoc.platforms.platform import Contention
from paretosoc.platforms.source import Source, Status, round_half_up
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ProblemDomain, ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import Problem

DATA = Path(__file__).parents[1] / "data" / "reference_problem.json"
PEAK_KBPS = 136_500_000
KNOWN_BEST_MAKESPAN_PS = {1: 7_533_629_000, 2: 7_325_701_000}
"""Most transitions per network -> smallest makespan, to the nanosecond, at any clocks."""

_SOURCE = Source(Status.DERIVED, "constants of the public HaX-CoNN solver, read as PCCS parameters")
GPU_CONTENTION = Contention(
    normal_bandwidth_kbps=38_100_000,
    total_bandwidth_kbps=87_200_000,
    balance_point_kbps=45_300_000,
    peak_bandwidth_kbps=127_500_000,
    max_minor_percent=Fraction("4.9"),
    rate_percent_per_gbps=Fraction("1.11"),
    source=_SOURCE,
)
DLA_CONTENTION = Contention(
    normal_bandwidth_kbps=27_900_000,
    total_bandwidth_kbps=22_100_000,
    balance_point_kbps=71_100_000,
    peak_bandwidth_kbps=127_500_000,
    max_minor_percent=Fraction("4.9"),
    rate_percent_per_gbps=Fraction("0.35"),
    source=_SOURCE,
)


def reference_problem(*, max_transitions: int | None = None, points: bool = True) -> Problem:
    """Return the problem with latency and energy as objectives.

    Args:
        max_transitions: most transitions per network. None: any number.
        points: all 14 x 4 operating points, or only the fastest of each domain.
    """
    document: dict[str, Any] = json.loads(DATA.read_text(), parse_float=Decimal)
    share = [Fraction(value) for value in document["memory_share"]]
    groups = len(share)
    names: list[str] = document["units"]
    domains, units = [], []
    for u, name in enumerate(names):
        ladder = document["operating_points"][name][0 if points else -1 :]
        clock = [Fraction(point["frequency_ghz"]) for point in ladder]
        domains.append(
            ProblemDomain(
                name=name,
                frequencies_khz=tuple(int(f * 1_000_000) for f in clock),
                voltages_mv=(None,) * len(ladder),
                may_be_off=False,
                static_mw=np.zeros(len(ladder), dtype=np.int64),
                allowed=np.ones(len(ladder), dtype=np.bool_),
            )
        )
        time = np.zeros((groups, len(ladder)), dtype=np.int64)
        demand = np.zeros_like(time)
        for g in range(groups):
            alone = Fraction(document["time_ms"][g][u]) * 10**9
            asked = Fraction(document["demand_percent"][g][u]) / 100 * PEAK_KBPS
            for k, f in enumerate(clock):
                factor = share[g] + (1 - share[g]) * clock[-1] / f
                time[g, k] = round_half_up(alone * factor)
                demand[g, k] = round_half_up(asked / factor)
        idle = _milliwatts(ladder, "idle_w")
        busy = _milliwatts(ladder, "busy_w")
        units.append(
            ProblemUnit(
                name=name,
                clocks=(u,),
                time_ps=time,
                demand_kbps=demand,
                dynamic_mw=np.tile(busy - idle, (groups, 1)),
                idle_mw=idle,
                contention=contention_table(
                    GPU_CONTENTION if name == "gpu" else DLA_CONTENTION,
                    [Fraction(1)],
                    [int(demand.max())],
                ),
            )
        )
    networks = tuple(
        ProblemNetwork(
            name=network["name"],
            first_group=network["groups"][0],
            group_names=tuple(f"g{g}" for g in network["groups"]),
            max_transitions=max_transitions,
        )
        for network in document["networks"]
    )
    edges = tuple((g, g + 1) for network in networks for g in network.groups[:-1])
    transition = np.zeros((len(edges), 2, 2), dtype=np.int64)
    for e, (g, _) in enumerate(edges):
        for i, key in ((0, "gpu_to_dla"), (1, "dla_to_gpu")):
            transition[e, i, 1 - i] = int(Fraction(document["transition_ms"][key][g]) * 10**9)
    return Problem(
        networks=networks,
        edges=edges,
        transition_ps=transition,
        domains=tuple(domains),
        units=tuple(units),
        memory_domain=None,
        board_mw=int(document["board_w"] * 1000),
        allowed=np.ones((groups, 2), dtype=np.bool_),
        objectives=(Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)),
    )


def _milliwatts(ladder: list[dict[str, Decimal]], key: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([int(point[key] * 1000) for point in ladder], dtype=np.int64)

"""Problems built by hand, for tests of the timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from paretosoc.fitness.contention import contention_table
from paretosoc.platforms.platform import Contention
from paretosoc.platforms.source import Source, Status
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import (
    ContentionTable,
    ProblemDomain,
    ProblemNetwork,
    ProblemUnit,
)
from paretosoc.results.problem.problem import DesignPoint, Problem

NO_LIMIT_KBPS = 10**9


def network(
    name: str,
    first_group: int,
    groups: int,
    *,
    repeats: int = 1,
    waits_for: tuple[int, ...] = (),
    arrival_ps: int = 0,
) -> ProblemNetwork:
    return ProblemNetwork(
        name=name,
        first_group=first_group,
        group_names=tuple(f"g{g}" for g in range(groups)),
        repeats=repeats,
        waits_for=waits_for,
        arrival_ps=arrival_ps,
    )


def problem(
    networks: Sequence[ProblemNetwork],
    times_ps: Sequence[Sequence[int]],
    *,
    edges: Mapping[tuple[int, int], int] | None = None,
    demands_kbps: Sequence[int] | None = None,
    contention: ContentionTable | None = None,
) -> Problem:
    """One clock, one operating point, no power.

    Args:
        networks: their groups.
        times_ps: [groups][units]; -1: cannot run.
        edges: (source, target) -> transition time between any two different units.
        demands_kbps: of every group, on all units alike.
        contention: of all units alike.
    """
    edges = edges or {}
    time = np.array(times_ps, dtype=np.int64)
    groups, units = time.shape
    demand = np.array(demands_kbps or [0] * groups, dtype=np.int64)
    transition = np.zeros((len(edges), units, units), dtype=np.int64)
    for row, delay in zip(transition, edges.values(), strict=True):
        row[~np.eye(units, dtype=np.bool_)] = delay
    return Problem(
        networks=tuple(networks),
        edges=tuple(edges),
        transition_ps=transition,
        domains=(
            ProblemDomain(
                name="clock",
                frequencies_khz=(1000,),
                voltages_mv=(None,),
                may_be_off=False,
                static_mw=np.zeros(1, dtype=np.int64),
                allowed=np.ones(1, dtype=np.bool_),
            ),
        ),
        units=tuple(
            ProblemUnit(
                name=f"unit{u}",
                clocks=(0,),
                time_ps=time[:, u : u + 1],
                demand_kbps=demand[:, None],
                dynamic_mw=np.zeros((groups, 1), dtype=np.int64),
                idle_mw=np.zeros(1, dtype=np.int64),
                contention=contention,
            )
            for u in range(units)
        ),
        memory_domain=None,
        board_mw=0,
        allowed=time >= 0,
        objectives=(Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)),
    )


def parameters(
    *,
    normal_kbps: int = NO_LIMIT_KBPS,
    total_kbps: int = NO_LIMIT_KBPS,
    balance_kbps: int = 1,
    peak_kbps: int = 100,
    minor_percent: str = "0",
    rate_percent_per_gbps: str = "0",
) -> Contention:
    """Without arguments nobody slows anybody."""
    return Contention(
        normal_bandwidth_kbps=normal_kbps,
        total_bandwidth_kbps=total_kbps,
        balance_point_kbps=balance_kbps,
        peak_bandwidth_kbps=peak_kbps,
        max_minor_percent=Fraction(minor_percent),
        rate_percent_per_gbps=Fraction(rate_percent_per_gbps),
        source=Source(Status.ASSUMED, "a test"),
    )


def flat_loss(percent: str) -> ContentionTable:
    """Whoever has a co-runner with a demand of 100 kB/s or more loses so many percent."""
    return contention_table(parameters(minor_percent=percent), [Fraction(1)], [NO_LIMIT_KBPS])


def design(units: Sequence[int]) -> DesignPoint:
    """On the only operating point."""
    return DesignPoint(np.array(units, dtype=np.int64), np.zeros(1, dtype=np.int64))

"""What a branch and bound search may choose, laid out in flat arrays for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np

from fitness.plan import IntArray
from results.problem import EnergyUse, Problem

UNLIMITED = -1


class SearchSpace(NamedTuple):
    """The mapping rules and the shape of the networks; all int64.

    Lists of lists are flat, entry i between ``X_start[i]`` and ``X_start[i + 1]``.
    """

    allowed: IntArray
    """[groups x units]: 1 where a group may be on a unit."""
    network: IntArray
    """[groups]"""
    in_start: IntArray
    in_group: IntArray
    """Groups that feed a group."""
    out_start: IntArray
    out_group: IntArray
    out_edge: IntArray
    """Groups that a group feeds, and where the edge begins in ``Plan.transition_ps``."""
    first: IntArray
    """[networks]: first group."""
    size: IntArray
    repeats: IntArray
    first_job: IntArray
    order: IntArray
    """[networks]: every network after those that it waits for."""
    wait_start: IntArray
    wait_network: IntArray
    is_chain: IntArray
    """[networks]: 1 where group i feeds group i + 1 and nothing else."""
    limit: IntArray
    """[networks]: most transitions, or ``UNLIMITED``."""
    segments: IntArray
    """[units]: most segments, or ``UNLIMITED``."""
    deadline: IntArray
    """[networks]: most latency in ps, or ``UNLIMITED``."""
    ladder: IntArray
    """[domains]: operating points."""
    sums_rates: int
    """1 where the objective is Eq. 10 of HaX-CoNN instead of the makespan."""
    power_cap_mw: int
    energy_budget_fj: int
    period_ps: int
    """``UNLIMITED`` where there is none."""
    is_periodic: int
    """1 where energy and power are counted over the period."""


def make_search_space(problem: Problem, *, sums_rates: bool = False) -> SearchSpace:
    """Lays the choices of a problem out."""
    units = len(problem.units)
    groups = problem.group_count
    incoming: list[list[int]] = [[] for _ in range(groups)]
    outgoing: list[list[tuple[int, int]]] = [[] for _ in range(groups)]
    for e, (source, target) in enumerate(problem.edges):
        incoming[target].append(source)
        outgoing[source].append((target, e * units * units))
    networks = problem.networks
    order = TopologicalSorter({n: set(network.waits_for) for n, network in enumerate(networks)})
    edges = set(problem.edges)
    chains = [
        {(g, g + 1) for g in network.groups[:-1]}
        == {edge for edge in edges if edge[0] in network.groups}
        for network in networks
    ]
    return SearchSpace(
        allowed=problem.allowed.astype(np.int64).reshape(-1),
        network=_ints([n for n, network in enumerate(networks) for _ in network.groups]),
        in_start=_starts(incoming),
        in_group=_ints([g for row in incoming for g in row]),
        out_start=_starts(outgoing),
        out_group=_ints([g for row in outgoing for g, _ in row]),
        out_edge=_ints([edge for row in outgoing for _, edge in row]),
        first=_ints([network.first_group for network in networks]),
        size=_ints([len(network.group_names) for network in networks]),
        repeats=_ints([network.repeats for network in networks]),
        first_job=_ints([sum(o.repeats for o in networks[:n]) for n in range(len(networks))]),
        order=_ints(list(order.static_order())),
        wait_start=_starts([network.waits_for for network in networks]),
        wait_network=_ints([m for network in networks for m in network.waits_for]),
        is_chain=_ints([int(chain) for chain in chains]),
        limit=_ints([_limit(network.max_transitions) for network in networks]),
        segments=_ints([_limit(unit.max_segments) for unit in problem.units]),
        deadline=_ints([_limit(network.deadline_ps) for network in networks]),
        ladder=_ints([len(domain.frequencies_khz) for domain in problem.domains]),
        sums_rates=int(sums_rates),
        power_cap_mw=_limit(problem.power_cap_mw),
        energy_budget_fj=_limit(problem.energy_budget_fj),
        period_ps=_limit(problem.period_ps),
        is_periodic=int(problem.energy_use is EnergyUse.PERIODIC),
    )


def _limit(value: int | None) -> int:
    return UNLIMITED if value is None else value


def _ints(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _starts(rows: Sequence[Sequence[object]]) -> IntArray:
    return np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)

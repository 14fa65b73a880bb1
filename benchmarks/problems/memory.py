"""Random problems whose groups and networks take memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.results.problem.parts import MemoryPool, ProblemUnit
from paretosoc.results.problem.problem import Problem


def with_memory(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with bytes of every group on every unit and of every network's
    activations.

    In half of the cases there are several pools or units that load whole networks. Two of three
    have a limit between the least and the most that can be taken, pools too.
    """
    groups = problem.group_count
    drawn = [rng.integers(0, 8, groups) * 1000 for _ in problem.units]
    # Entries of interchangeable units take the same.
    by_costs: dict[tuple[bytes, str | None], IntArray] = {}
    for unit, held in zip(problem.units, drawn, strict=True):
        by_costs.setdefault((unit.time_ps.tobytes(), unit.number_format), held)
    units = tuple(
        replace(unit, weight_bytes=by_costs[unit.time_ps.tobytes(), unit.number_format])
        for unit in problem.units
    )
    networks = tuple(
        replace(network, activation_bytes=int(rng.integers(0, 3)) * 500)
        for network in problem.networks
    )
    table = _bytes(units)
    least = int(np.where(problem.allowed, table, 10**9).min(axis=1).sum())
    most = int(np.where(problem.allowed, table, 0).max(axis=1).sum())
    fixed = sum(network.activation_bytes for network in networks)
    cap = None
    if rng.integers(3):
        cap = fixed + least + int(rng.integers(0, most - least + 1)) * 2 // 3
    problem = replace(problem, units=units, networks=networks, memory_cap_bytes=cap)
    return with_pools(rng, problem, most_bytes(problem)) if rng.integers(2) else problem


def _bytes(units: Sequence[ProblemUnit]) -> IntArray:
    """Return weights as [groups, units]."""
    tables = [unit.weight_bytes for unit in units if unit.weight_bytes is not None]
    return np.stack(tables, axis=1)


def most_bytes(problem: Problem) -> int:
    """Return the most bytes of all networks in one pool, on whichever units their groups are."""
    table = _bytes(problem.units)
    most = int(np.where(problem.allowed, table, 0).max(axis=1).sum())
    return most + sum(network.activation_bytes for network in problem.networks)


def with_pools(rng: np.random.Generator, problem: Problem, most: int) -> Problem:
    """Return the problem with one to three pools, some of them limited, and activations of each
    group.

    Some units load whole networks. ``most``: bytes of all networks in one pool.
    """
    pools = tuple(
        MemoryPool(f"pool{p}", int(rng.integers(most // 4, most + 1)) if rng.integers(2) else None)
        for p in range(int(rng.integers(1, 4)))
    )
    of_unit = {u: (int(rng.integers(len(pools))), rng.integers(3) == 0) for u in problem.unit_of}

    def placed(unit: ProblemUnit, first: int) -> ProblemUnit:
        pool, loads_whole = of_unit[first]
        return replace(unit, memory_pool=pool, loads_whole_networks=bool(loads_whole))

    networks = []
    for network in problem.networks:
        held = rng.integers(0, 4, len(network.group_names)) * 500
        given = tuple(held.tolist()) if rng.integers(3) else None
        if given is not None:
            network = replace(network, activation_bytes=max(given), group_activation_bytes=given)
        networks.append(network)
    return replace(
        problem,
        memory_pools=pools,
        units=tuple(map(placed, problem.units, problem.unit_of)),
        networks=tuple(networks),
    )

"""Random problems whose groups and networks take memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from results.problem.problem import Problem


def with_memory(rng: np.random.Generator, problem: Problem) -> Problem:
    """The problem with bytes of every group on every unit and of every network's activations; two
    of three have a limit between the least and the most that can be taken."""
    groups = problem.group_count
    units = tuple(
        replace(unit, weight_bytes=rng.integers(0, 8, groups) * 1000) for unit in problem.units
    )
    # Entries of interchangeable units take the same.
    by_costs = {}
    for u, unit in enumerate(problem.units):
        key = (unit.time_ps.tobytes(), unit.number_format)
        by_costs.setdefault(key, units[u].weight_bytes)
        units = (*units[:u], replace(units[u], weight_bytes=by_costs[key]), *units[u + 1 :])
    networks = tuple(
        replace(network, activation_bytes=int(rng.integers(0, 3)) * 500)
        for network in problem.networks
    )
    table = np.stack([unit.weight_bytes for unit in units], axis=1)
    least = int(np.where(problem.allowed, table, 10**9).min(axis=1).sum())
    most = int(np.where(problem.allowed, table, 0).max(axis=1).sum())
    fixed = sum(network.activation_bytes for network in networks)
    cap = None
    if rng.integers(3):
        cap = fixed + least + int(rng.integers(0, most - least + 1)) * 2 // 3
    return replace(problem, units=units, networks=networks, memory_cap_bytes=cap)

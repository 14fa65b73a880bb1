"""Memory that design points hold at least, docs/concepts/certificate.md (A child is left out)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from common.arrays import IntArray
from results.front.certificate import NOT_NAMED
from results.problem.problem import Problem


def least_memory_bytes(problem: Problem, units: Sequence[int], counted: Iterable[int]) -> int:
    """Memory that groups on the ``counted`` units take at least, given the units of some groups;
    these are all units of some pools."""
    entries = [problem.units[u] for u in counted]
    whole = [entry for entry in entries if entry.loads_whole_networks]
    tables = [
        entry.weight_bytes if entry in entries and entry not in whole else None
        for entry in problem.units
    ]
    total = sum(least_of(problem, tables, g, unit) for g, unit in enumerate(units))
    # [groups]: units that each may be on, one where it is named.
    may = [
        [problem.units[unit]]
        if unit != NOT_NAMED
        else [entry for u, entry in enumerate(problem.units) if problem.allowed[g, u]]
        for g, unit in enumerate(units)
    ]
    for network in problem.networks:
        for pool in {entry.memory_pool for entry in entries}:
            total += max(
                held if all(entry.memory_pool == pool for entry in may[g]) else 0
                for g, held in zip(network.groups, network.held_bytes, strict=True)
            )
        for entry in whole:
            if entry.weight_bytes is not None and any(may[g] == [entry] for g in network.groups):
                total += sum(int(entry.weight_bytes[g]) for g in network.groups)
    return total


def memory_is_kept(problem: Problem, units: Sequence[int]) -> bool:
    """Whether groups on these units, others anywhere, can keep all limits of memory."""
    counted = [(problem.memory_cap_bytes, list(range(len(problem.units))))]
    counted += [
        (pool.cap_bytes, [u for u, entry in enumerate(problem.units) if entry.memory_pool == p])
        for p, pool in enumerate(problem.memory_pools)
    ]
    return all(
        cap is None or least_memory_bytes(problem, units, entries) <= cap
        for cap, entries in counted
    )


def least_of(problem: Problem, tables: Sequence[IntArray | None], group: int, unit: int) -> int:
    """What a group adds by the table of its unit; with ``NOT_NAMED`` the smallest over those that
    it may be on; 0 where a table is not known."""
    values = [0 if table is None else int(table[group]) for table in tables]
    if unit != NOT_NAMED:
        return values[unit]
    return min(value for u, value in enumerate(values) if problem.allowed[group, u])

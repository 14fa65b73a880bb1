"""The memory of design points, as tables of the bytes that each choice of a group adds.

In a *place* a network holds the largest of its groups' needs: in a pool, the largest activations;
in an entry that loads whole networks, the weights of all its groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class MemoryTables:
    """Bytes of a group on an entry of a unit, empty if the problem counts no memory."""

    weights: IntArray
    """[pools, groups, units]: added up over the groups."""
    held: IntArray
    """[places, groups, units]: of the groups of a network the largest."""
    pool_of_place: IntArray
    """[places]"""


def memory_tables_of(problem: Problem) -> MemoryTables:
    """Return the memory tables of a sound problem. If it names no pool, there is one."""
    groups, units = problem.group_count, problem.units
    known = [unit.weight_bytes for unit in units if unit.weight_bytes is not None]
    if len(known) < len(units):
        nothing = np.zeros((0, groups, len(units)), dtype=np.int64)
        return MemoryTables(nothing, nothing, np.zeros(0, dtype=np.int64))
    pools = max(1, len(problem.memory_pools))
    own = np.stack(known, axis=1)
    whole = own.copy()
    for network in problem.networks:
        span = slice(network.groups.start, network.groups.stop)
        whole[span] = own[span].sum(axis=0)
    pool = np.array([unit.memory_pool for unit in units])
    loads_whole = np.array([unit.loads_whole_networks for unit in units])
    activations = np.array([b for network in problem.networks for b in network.held_bytes])
    places = [np.where(pool == p, activations[:, None], 0) for p in range(pools)]
    entries = np.flatnonzero(loads_whole)
    places += [np.where(np.arange(len(units)) == u, whole, 0) for u in entries]
    return MemoryTables(
        weights=np.stack([np.where((pool == p) & ~loads_whole, own, 0) for p in range(pools)]),
        held=np.stack(places).astype(np.int64),
        pool_of_place=np.concatenate((np.arange(pools), pool[entries])).astype(np.int64),
    )

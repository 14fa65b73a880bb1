"""Memory that weights and activations take, if it is an objective, limited, or could exceed the
board's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import FIELDS, Options, as_written
from paretosoc.fitness.costs.number_formats import UnitFormat
from paretosoc.platforms.platform import SHARED_POOL, Platform
from paretosoc.results.problem.parts import MemoryPool
from paretosoc.sdf.grouping.activations import held_activation_elements
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.grouping.network_view import layers_of


@dataclass(frozen=True, eq=False)
class MemoryTables:
    """Bytes in the memories of the chip's units."""

    weights: tuple[IntArray, ...]
    """[groups of all networks] of each unit in each format."""
    activations: tuple[tuple[int, ...], ...]
    """Bytes of each network while each of its groups runs, for all frames in flight."""
    cap: int | None
    """At most so much in all pools together."""
    pools: tuple[MemoryPool, ...]
    """None if all units have one."""
    pool_of: tuple[int, ...]
    """Pool of each unit in each format."""


def memory_tables(
    options: Options,
    choices: Sequence[UnitFormat],
    groups: Sequence[GroupedNetwork],
    platform: Platform,
    *,
    frames: int,
    has_phases: bool,
    is_objective: bool,
) -> MemoryTables | None:
    """Return the bytes of networks on units, or None if memory is not asked for and always fits.

    Constants count with their size in the format of the group's unit (those of a byte or less as
    stored), and not at all on a unit whose own memory is no pool. Activations are counted in the
    widest format that may be chosen.

    Args:
        choices: units with formats.
        groups: groups of each network of the workload.
        platform: its capacities are limits if a mapping could need more.
        frames: number of frames in flight.
        has_phases: networks share weights, which these sums count twice. Capacities then limit
            nothing.
        is_objective: memory is.

    Raises:
        WorkloadError: on a limit of a pool that none of the units has.
    """
    used = {choice.unit.memory_pool for choice in choices}
    named = [pool for pool in platform.memory_pools if pool.name in used]
    names = [SHARED_POOL, *(pool.name for pool in named)]
    pool_of = tuple(names.index(choice.unit.memory_pool or SHARED_POOL) for choice in choices)
    caps = _caps(options, names)
    widths = [choice.bytes_per_element for choice in choices]
    layers = [group.layers for network in groups for group in network.groups]
    weights = tuple(
        np.array(
            [
                sum(layer.held_bytes(width) for layer in own)
                if (choice.unit.bandwidth_share and not choice.unit.kept_bytes)
                or choice.unit.memory_pool
                else 0
                for own in layers
            ],
            dtype=np.int64,
        )
        for choice, width in zip(choices, widths, strict=True)
    )
    activations = tuple(
        tuple(frames * max(widths) * elements for elements in _held_elements(network))
        for network in groups
    )
    capacities = [platform.memory.capacity_bytes, *(pool.capacity_bytes for pool in named)]
    for p, (name, capacity) in enumerate(zip(names, capacities, strict=True)):
        here = [c for c, pool in enumerate(pool_of) if pool == p]
        most = _most_bytes(choices, weights, activations, here)
        if capacity is not None and not has_phases and most > capacity:
            key = name if named else None
            caps[key] = min(capacity, caps.get(key, capacity))
    if not caps and not is_objective:
        return None
    pools = tuple(MemoryPool(name, caps.get(name)) for name in names) if named else ()
    return MemoryTables(weights, activations, caps.get(None), pools, pool_of)


def _caps(options: Options, names: Sequence[str]) -> dict[str | None, int]:
    """Return bytes by pool, with None for all together. The strictest of several holds."""
    caps: dict[str | None, int] = {}
    for name, megabytes in options.memory_cap_mb:
        if name is not None and (name not in names or len(names) == 1):
            known = ", ".join(names) if len(names) > 1 else "the units share one memory"
            raise WorkloadError(
                f"{as_written('memory_cap_mb')}: no unit of this problem has the memory pool "
                f"{name!r} ({known})"
            )
        limit = FIELDS["memory_cap_mb"].figure(megabytes)
        caps[name] = FIELDS["memory_cap_mb"].strictest((limit, caps.get(name)))
    return caps


def _held_elements(network: GroupedNetwork) -> list[int]:
    """Return, for each group, the most activations that are held while one of its layers runs."""
    held = dict(
        zip(
            (layer.name for layer in layers_of(network.graph)),
            held_activation_elements(network.graph),
            strict=True,
        )
    )
    return [max(held[layer.name] for layer in group.layers) for group in network.groups]


def _most_bytes(
    choices: Sequence[UnitFormat],
    weights: Sequence[IntArray],
    activations: Sequence[Sequence[int]],
    here: Sequence[int],
) -> int:
    """Return a bound on the bytes that any mapping holds in a pool with these choices."""
    if not here:
        return 0
    whole = [c for c in here if choices[c].unit.loads_whole_networks]
    others = [weights[c] for c in here if c not in whole]
    total = sum(int(weights[c].sum()) for c in whole) + sum(map(max, activations))
    return total + (int(np.max(others, axis=0).sum()) if others else 0)

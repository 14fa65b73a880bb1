"""A network's operations with their times on an array of processing engines."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from paretosoc.common.options import as_written
from paretosoc.common.units import PS_PER_NS, TRAFFIC_PER_BYTE
from paretosoc.dse.papers.mobile_i.operation_graph import OperationGraph, firing_operations
from paretosoc.dse.papers.mobile_i.periodic import EngineArray, Task, TaskGraph, Transfer
from paretosoc.fitness.costs.network_costs import choose_precision, network_costs
from paretosoc.fitness.costs.transitions import carried_ps
from paretosoc.fitness.profiles.profile_file import Profile
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.platform import PeArray, Platform
from paretosoc.platforms.source import round_half_up
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.grouping.groups import GroupedNetwork

PS_PER_CYCLE_AT_1_KHZ = 10**9


def pe_array_of(platform: Platform) -> PeArray:
    """Return the array of engines that the platform has.

    Raises:
        PlatformError: if it has none.
    """
    if platform.pe_array is None:
        raise PlatformError(
            f"platform {platform.name!r} must have an array of processing engines (pe_array), "
            "got none; neurocube has one"
        )
    return platform.pe_array


def engine_array(platform: Platform, engines: int) -> EngineArray:
    """Return so many engines of the platform, with their power at rest, and that of memory and
    board.

    Raises:
        PlatformError: if the platform has no array, or not one of this size.
    """
    array = pe_array_of(platform)
    if engines not in array.counts:
        raise PlatformError(
            f"{as_written('pes')}: a number of processing elements that platform "
            f"{platform.name!r} can have is required ({', '.join(map(str, array.counts))}), got "
            f"{engines}"
        )
    unit = platform.unit_by_name[array.unit]
    at_rest = platform.board_mw + platform.memory.power.idle_mw[-1]
    return EngineArray(
        engines, array.cache_bytes, at_rest + engines * sum(t.idle_mw[-1] for t in unit.power)
    )


def task_graph(
    operations: OperationGraph,
    network: GroupedNetwork,
    platform: Platform,
    engines: int,
    *,
    precision: str | None = None,
    profile: Profile | None = None,
) -> TaskGraph:
    """Return tasks with times at the fastest clocks, and transfers by the memory and by the caches.

    A group's time is measured, calibrated or estimated, as everywhere
    (:mod:`fitness.costs.network_costs`). If more engines than vaults share the vaults'
    bandwidth, the estimate has that share. An operation takes its share of the time of its group.
    Times are rounded half up, at least 1 ps.

    Raises:
        PlatformError: if the platform has no such array, or its engine cannot run a layer.
    """
    engine_array(platform, engines)
    array = pe_array_of(platform)
    unit = platform.unit_by_name[array.unit]
    unit = replace(unit, bandwidth_share=unit.bandwidth_share / -(-engines // array.vaults))
    chip = replace(
        platform,
        units=tuple(unit if other.name == unit.name else other for other in platform.units),
    )
    (costs,) = network_costs(
        network, chip, precision=precision, units=[unit.name], profile=profile
    ).units
    # The fastest point of every clock is the last one of all.
    times, powers = (
        costs.time_ps.reshape(len(network.groups), -1)[:, -1].tolist(),
        costs.dynamic_mw.reshape(len(network.groups), -1)[:, -1].tolist(),
    )
    tasks = []
    for operation in operations.operations:
        time = times[operation.group]
        if time < 0:
            raise PlatformError(
                f"{unit.name!r} cannot run {operation.name!r} of network {operations.name!r}: "
                f"{costs.note[operation.group]}"
            )
        share = max(1, round_half_up(time * operation.share))
        tasks.append(Task(operation.name, share, powers[operation.group]))
    number_format = choose_precision(platform, precision)
    width = unit.peak_by_format[number_format].bytes_per_element
    transfers = tuple(
        _transfer(edge.source, edge.target, edge.elements * width, platform, array)
        for edge in operations.edges
    )
    return TaskGraph(operations.name, tuple(tasks), transfers)


def firing_task_graph(graph: SdfGraph, platform: Platform) -> TaskGraph:
    """Return a task per firing of an SDF graph, whose execution times are the engine's cycles.

    Raises:
        GraphError: if the graph is inconsistent, cyclic, too large or without times.
        PlatformError: if the platform has no array.
    """
    array = pe_array_of(platform)
    unit = platform.unit_by_name[array.unit]
    khz = platform.ladder_khz(unit.clocks[0])[-1]
    power = sum(table.above_idle_mw[-1] for table in unit.power)
    firings, edges = firing_operations(graph)
    tasks = tuple(
        Task(name, max(1, round_half_up(Fraction(time * PS_PER_CYCLE_AT_1_KHZ, khz))), power)
        for name, time in firings
    )
    return TaskGraph(
        graph.name,
        tasks,
        tuple(_transfer(*ends, size, platform, array) for ends, size in edges.items()),
    )


def _transfer(source: int, target: int, size: int, platform: Platform, array: PeArray) -> Transfer:
    """Return a transfer. The way through the memory is that of a transition from the unit to
    another one. A cache that would be slower counts as fast as that."""
    way = platform.transition_by_unit[array.unit]
    memory = carried_ps(way, way, size)
    cache = round_half_up(
        Fraction(size * TRAFFIC_PER_BYTE, array.cache_bandwidth_kbps)
        + array.cache_fixed_ns * PS_PER_NS
    )
    return Transfer(source, target, size, memory, min(cache, memory))

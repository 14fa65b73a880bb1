"""Idle and dynamic power of units, and the power of domains that are on, in mW."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.platforms.platform import Platform, Unit


def ladder_shape(platform: Platform, unit: Unit) -> tuple[int, ...]:
    """Return the number of operating points of each of the unit's clocks, in their order."""
    return tuple(len(platform.domain_by_name[name].operating_points) for name in unit.clocks)


def unit_idle_mw(platform: Platform, unit: Unit) -> IntArray:
    """Return the power while the unit's own domain is on, [*operating points of its clocks]."""
    shape = ladder_shape(platform, unit)
    own = np.array(unit.power[0].idle_mw, dtype=np.int64)
    return np.broadcast_to(_along(own, 0, len(shape)), shape).copy()


def domain_static_mw(platform: Platform, domain: str) -> IntArray:
    """Return the power whenever the domain is on, whatever its units do, [operating points].

    The memory's idle power, and the idle power of every core that hosts a unit: it is there even
    while that unit is off.
    """
    points = len(platform.domain_by_name[domain].operating_points)
    total = np.zeros(points, dtype=np.int64)
    if domain == platform.memory.domain:
        total += np.array(platform.memory.power.idle_mw, dtype=np.int64)
    for unit in platform.units:
        for table in unit.power[1:]:
            if table.domain == domain:
                total += np.array(table.idle_mw, dtype=np.int64)
    return total


def busy_above_idle_mw(platform: Platform, unit: Unit) -> IntArray:
    """Return busy - idle of the unit and of its host, [*operating points of its clocks]."""
    shape = ladder_shape(platform, unit)
    total = np.zeros(shape, dtype=np.int64)
    for axis, table in enumerate(unit.power):
        total += _along(np.array(table.above_idle_mw, dtype=np.int64), axis, len(shape))
    return total


def traffic_mw(platform: Platform, demand_kbps: IntArray) -> IntArray:
    """Return the memory's power above idle for a demand. Same shape, the memory's clock last.

    demand / peak x (busy - idle), rounded half up.
    """
    memory = platform.memory
    peak = memory.bytes_per_cycle * np.array(platform.ladder_khz(memory.domain), dtype=np.int64)
    above = np.array(memory.power.above_idle_mw, dtype=np.int64)
    # At most 2 x 10^10 kB/s x 10^7 mW, well below 2^63.
    return (2 * demand_kbps * above + peak) // (2 * peak)


def _along(values: IntArray, axis: int, dimensions: int) -> IntArray:
    """Return ``values`` in a shape in which they vary along one of several axes."""
    shape = [1] * dimensions
    shape[axis] = len(values)
    return values.reshape(shape)


def domain_idle_mw(platform: Platform, domain: str) -> IntArray:
    """Return the idle power of a domain that is on, with its units, [operating points]."""
    drawn = domain_static_mw(platform, domain)
    for unit in platform.units:
        if unit.clocks[0] == domain:
            drawn = drawn + np.array(unit.power[0].idle_mw, dtype=np.int64)
    return drawn


def alone_idle_mw(platform: Platform, unit: Unit, board_mw: int) -> IntArray:
    """Return the power at all times while only ``unit`` is in use, [*operating points of its
    clocks].

    It is that of the board, and of every domain that is on, with its units. Domains that are not
    among the unit's clocks and are never off stand at their parked point.
    """
    shape = ladder_shape(platform, unit)
    total = np.full(shape, board_mw, dtype=np.int64)
    for domain in platform.domains:
        if domain.may_be_off and domain.name not in unit.clocks:
            continue
        drawn = domain_idle_mw(platform, domain.name)
        if domain.name in unit.clocks:
            total += _along(drawn, unit.clocks.index(domain.name), len(shape))
        else:
            total += int(drawn[domain.parked])
    return total

"""Memory bandwidth of all units at once, and its changes by other users."""

from __future__ import annotations

from collections.abc import Sequence

from paretosoc.dse.tools.host.machine.machine import Machine

STREAM_S = 0.3
CHANGED = 1.15
"""Largest over smallest from which on it has changed; a machine of its own stays within 3 %."""


def together_gbps(machine: Machine, units: int) -> float:
    """Return the rate that units 0 to ``units`` - 1 read, all as fast as they can."""
    logs = machine.stream(dict.fromkeys(range(units)), STREAM_S)
    return sum(log.gbps for log in logs.values())


def changes(gbps: Sequence[float]) -> bool:
    """Return whether the memory gave more at one time than at another."""
    return max(gbps) > CHANGED * min(gbps)


def range_of(gbps: Sequence[float]) -> str:
    """Return smallest and largest, such as ``48.1 to 70.3``."""
    low, high = f"{min(gbps):.1f}", f"{max(gbps):.1f}"
    return low if low == high else f"{low} to {high}"

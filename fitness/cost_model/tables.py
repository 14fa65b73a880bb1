"""Costs of every group of one network on every unit, in integers, and their origin."""

from __future__ import annotations

from dataclasses import dataclass

from paretosoc.common.arrays import IntArray
from paretosoc.results.costs.cost_origins import CostError, CostOrigin

__all__ = ["CostError", "CostOrigin", "IntArray", "NetworkCosts", "UnitCosts"]


@dataclass(frozen=True, eq=False)
class UnitCosts:
    """Costs of the groups of one network on one unit.

    Arrays are int64 of shape [groups, *operating points of the unit's clocks in their order].
    If the unit cannot run a group, ``time_ps`` is -1 and the others are 0, whatever the clocks.
    """

    unit: str
    clocks: tuple[str, ...]
    time_ps: IntArray
    """Stand-alone time, at least 1."""
    demand_kbps: IntArray
    """Memory bandwidth that the group uses while it runs alone."""
    dynamic_mw: IntArray
    """Power above idle while the group runs: busy - idle of the unit (and of its host), and the
    memory's for the group's traffic."""
    origin: tuple[CostOrigin, ...]
    """One per group."""
    note: tuple[str, ...]
    """One per group: the source of a measurement, or why the unit cannot run the group."""
    error: tuple[CostError, ...]
    """One per group: how far these costs may be off."""
    number_format: str | None = None
    """Number format of these costs if several may be chosen."""
    step_ps: IntArray | None = None
    """The time by which each further repeat takes longer, if it does."""


@dataclass(frozen=True, eq=False)
class NetworkCosts:
    """Costs of one network on all units of a platform, units in the platform's order. If number
    formats are chosen, on each unit in every format."""

    network: str
    units: tuple[UnitCosts, ...]
    transition_ps: IntArray
    """[edges, units, units]: the time that passes when an edge goes from one unit to another, 0 on
    the diagonal."""
    refused: tuple[str, ...] = ()
    """Parts of the network that units cannot run, with their share of the work."""
    notes: tuple[str, ...] = ()
    """Units that a source has no time of. Figures of measurements and fits that beat the hardware,
    with possible explanations."""

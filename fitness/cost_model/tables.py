"""Costs of every group of one network on every unit, in integers, and their origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.results.costs.cost_origins import CostError, CostOrigin

__all__ = ["CostError", "CostOrigin", "IntArray", "NetworkCosts", "UnitCosts", "of_all_groups"]


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


def of_all_groups(tables: Sequence[UnitCosts]) -> UnitCosts:
    """Return the costs of the groups of several networks after each other, on one unit."""
    steps = None
    if any(table.step_ps is not None and table.step_ps.any() for table in tables):
        steps = [np.zeros_like(t.time_ps) if t.step_ps is None else t.step_ps for t in tables]
    return replace(
        tables[0],
        time_ps=np.concatenate([table.time_ps for table in tables]),
        demand_kbps=np.concatenate([table.demand_kbps for table in tables]),
        dynamic_mw=np.concatenate([table.dynamic_mw for table in tables]),
        origin=tuple(chain.from_iterable(table.origin for table in tables)),
        note=tuple(chain.from_iterable(table.note for table in tables)),
        error=tuple(chain.from_iterable(table.error for table in tables)),
        step_ps=None if steps is None else np.concatenate(steps),
    )


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

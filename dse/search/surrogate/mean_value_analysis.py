"""Estimated rates and power of free-running networks, without simulation.

A network with F frames in flight is a customer class of a closed queueing network: each frame waits
at one unit at a time, for its next group, behind the groups of others. Approximate mean value
analysis (Bard 1979, Schweitzer 1979) gives the rates from a few numbers per network and unit, in a
fraction of a timeline's time if slow networks run beside fast ones. Contention for the memory is
left out. The estimate only selects rows to evaluate, and never replaces an evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretosoc.common.arrays import BoolArray, FloatArray, IntArray
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.problem.execution import frames_in_flight

ROUNDS = 8
"""Rounds of the fixed point."""
MIN_MW = 1e-6
"""A chip's power may be given as 0, but the logarithm must stay finite."""


@dataclass(frozen=True, eq=False)
class Work:
    """The work of each network for one frame with all its repeats, for n choices."""

    time: FloatArray
    """[n, networks, units]: ps on each unit."""
    visits: FloatArray
    """[n, networks, units]: executions of groups there."""
    segments: FloatArray
    """[n, networks, units]: segments there."""
    moving: FloatArray
    """[n, networks]: ps of transitions."""
    energy: FloatArray
    """[n, networks]: fJ above idle."""

    def take(self, index: IntArray) -> Work:
        """Return copies of those at ``index``."""
        return Work(*(getattr(self, name)[index] for name in self.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated rates and power of n choices."""

    rate: FloatArray
    """[n, networks]: frames per ps."""
    power: FloatArray
    """[n]: mW, at least ``MIN_MW``."""
    images: tuple[int, ...]
    """[networks]: of a frame."""

    @property
    def efficiency(self) -> FloatArray:
        """Return [n]: images per fJ."""
        return self.image_rate / self.power

    @property
    def image_rate(self) -> FloatArray:
        """Return [n]: images of all networks per ps."""
        value: FloatArray = self.rate @ np.array(self.images)
        return value


@dataclass(frozen=True, eq=False)
class ClockTables:
    """Costs of all groups on all units at n choices of clocks."""

    space: DesignSpace
    points: IntArray
    """[n, domains]"""

    @cached_property
    def time(self) -> FloatArray:
        """Return [n, groups, units]: ps, 0 if not allowed."""
        return self._table("time_ps")

    @cached_property
    def energy(self) -> FloatArray:
        """Return [n, groups, units]: fJ above idle."""
        return self.time * self._table("dynamic_mw")

    def _table(self, name: str) -> FloatArray:
        problem = self.space.problem
        result = np.empty((len(self.points), *problem.allowed.shape))
        for u, unit in enumerate(problem.units):
            at = (slice(None), *(self.points[:, clock] for clock in unit.clocks))
            result[:, :, u] = getattr(unit, name)[at].T
        result[:, ~problem.allowed] = 0.0
        return result

    @cached_property
    def static(self) -> FloatArray:
        """Return [n, domains]: mW of a domain that is on, and of the units that are on with it."""
        return self.space.static_mw(self.points).astype(np.float64)


def work_of_rows(space: DesignSpace, rows: IntArray, tables: ClockTables) -> Work:
    """Return the work of each network in rows [n, groups + domains]. ``tables`` at their clocks."""
    mapping = rows[:, : space.groups]
    at = np.arange(len(rows))[:, None], np.arange(space.groups), mapping
    on = mapping[:, :, None] == np.arange(len(space.problem.units))
    moving = np.zeros(mapping.shape)
    group = np.arange(1, space.groups)
    moving[:, 1:] = space.transition_before[group, mapping[:, :-1], mapping[:, 1:]]
    begins = np.ones(mapping.shape, dtype=np.bool_)
    same_network = space.owner[1:] == space.owner[:-1]
    begins[:, 1:] = (mapping[:, 1:] != mapping[:, :-1]) | ~same_network
    repeats = np.array([network.repeats for network in space.problem.networks], dtype=np.float64)

    def total(values: FloatArray) -> FloatArray:
        return np.add.reduceat(values, space.first, axis=1)

    return Work(
        time=total(np.where(on, tables.time[at][:, :, None], 0.0)) * repeats[:, None],
        visits=total(on.astype(np.float64)) * repeats[:, None],
        segments=total((on & begins[:, :, None]).astype(np.float64)),
        moving=total(moving) * repeats,
        energy=total(tables.energy[at]) * repeats,
    )


def rates_of(work: Work, in_flight: int) -> FloatArray:
    """Return [n, networks]: frames per ps of each network, ``in_flight`` of them at a time."""
    used = work.visits > 0.0
    each = work.time / np.maximum(work.visits, 1.0)
    queued = in_flight * used / np.maximum(used.sum(axis=2, keepdims=True), 1)
    rate = np.zeros(work.moving.shape)
    for _ in range(ROUNDS):
        waiting = queued * each
        # A frame finds all others there, and of its own network all but itself.
        ahead = waiting.sum(axis=1, keepdims=True) - waiting / in_flight
        stay = work.time + work.visits * ahead
        rate = in_flight / (work.moving + stay.sum(axis=2))
        queued = rate[:, :, None] * stay
    return rate


def estimate(
    space: DesignSpace, work: Work, tables: ClockTables, which: IntArray | slice
) -> Estimate:
    """Estimate rates and power of n pieces of work, at the clocks ``which`` of the tables."""
    rate = rates_of(work, frames_in_flight(space.problem.execution))
    used: BoolArray = np.asarray((work.visits > 0.0).any(axis=1))
    on = space.domains_on(used)
    idle = space.problem.board_mw + np.where(on, tables.static[which], 0.0).sum(axis=1)
    # mW are fJ/ps.
    power = np.maximum(idle + (rate * work.energy).sum(axis=1), MIN_MW)
    return Estimate(rate, power, space.problem.images)


def estimate_rows(space: DesignSpace, rows: IntArray) -> Estimate:
    """Estimate rates and power of rows [n, groups + domains]."""
    tables = ClockTables(space, rows[:, space.groups :])
    return estimate(space, work_of_rows(space, rows, tables), tables, slice(None))

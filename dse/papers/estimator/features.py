"""Features of a design point without simulation, for whole arrays of rows, in SI units.

First per group: its costs at its clocks, the idle power, and the loss of rate of units beside each
other. Then per segment, consecutive groups of a network on one unit: the estimator's tokens.
MapFormer has a token for every layer, more than 1,000 of them. A mapping cuts a network into
segments (its "sub-DNNs"), so nothing of the mapping is lost, and a sequence has some twenty tokens
instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Figures:
    """Figures of n rows with G groups on U units."""

    time_s: FloatArray
    """[n, G]: alone, on its unit at its clocks."""
    demand_kbps: FloatArray
    """[n, G]"""
    dynamic_w: FloatArray
    """[n, G]: above idle, while it runs."""
    transition_s: FloatArray
    """[n, G]: the longest over the edges into the group."""
    idle_w: FloatArray
    """[n]: power drawn all the time by everything that is on."""
    memory_point: IntArray
    """[n]: operating point of the memory; 0 if it has no domain."""


class FigureReader:
    """Looks the figures of rows up, for one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.space = DesignSpace(problem)

    def __call__(self, rows: IntArray) -> Figures:
        """Return the figures of ``rows`` [n, groups + domains]."""
        problem, groups = self.problem, self.space.groups
        mapping, points = rows[:, :groups], rows[:, groups:]
        shape = mapping.shape
        tables = [np.zeros(shape, dtype=np.int64) for _ in range(3)]
        for u, unit in enumerate(problem.units):
            row, group = np.nonzero(mapping == u)
            at = (group, *(points[row, clock] for clock in unit.clocks))
            for table, values in zip(
                tables, (unit.time_ps, unit.demand_kbps, unit.dynamic_mw), strict=True
            ):
                table[row, group] = values[at]
        time, demand, dynamic = (table.astype(np.float64) for table in tables)
        memory = problem.memory_domain
        on = self.space.domains_on(self.space.units_used(rows))
        result = np.zeros(mapping.shape)
        for edge, (a, b) in enumerate(self.problem.edges):
            waits = self.problem.transition_ps[edge, mapping[:, a], mapping[:, b]]
            result[:, b] = np.maximum(result[:, b], waits)
        return Figures(
            time_s=time * 1e-12,
            demand_kbps=demand,
            dynamic_w=dynamic * 1e-3,
            transition_s=result * 1e-12,
            idle_w=self.space.idle_mw(on, points).astype(np.float64) * 1e-3,
            memory_point=np.zeros(len(rows), np.int64) if memory is None else points[:, memory],
        )


def loss_parameters(problem: Problem) -> FloatArray:
    """Return [units, operating points of the memory, 7]: the loss of a group under others' demand
    (PCCS).

    The parameters are normal, total, balance, peak in kB/s, then the three slopes as shares of the
    rate (per kB/s, the last per kB/s squared). All are 0 if a unit has no contention model.
    """
    memory = problem.memory_domain
    points = 1 if memory is None else len(problem.domains[memory].allowed)
    result = np.zeros((len(problem.units), points, 7))
    for u, unit in enumerate(problem.units):
        if unit.contention is None:
            continue
        table = unit.contention
        for k, name in enumerate(("normal", "total", "balance", "peak")):
            result[u, :, k] = getattr(table, f"{name}_kbps")
        for k, name in enumerate(("minor", "proportional", "intensive")):
            share = getattr(table, f"{name}_num") / getattr(table, f"{name}_den")
            result[u, :, 4 + k] = share / WORK_PER_PS
    return result


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments of n rows with N networks of at most S segments, 0 beyond a network's last."""

    count: IntArray
    """[n, N]: segments of each network."""
    unit: IntArray
    """[n, N, S]"""
    groups: FloatArray
    """[n, N, S]: how many groups are in it."""
    work_s: FloatArray
    """[n, N, S]: time of one pass alone."""
    demand_kbps: FloatArray
    """[n, N, S]: mean over that time."""
    dynamic_w: FloatArray
    """[n, N, S]: the same of the power above idle."""
    transition_s: FloatArray
    """[n, N, S]: before it begins; 0 for a network's first."""
    idle_w: FloatArray
    """[n]: power drawn all the time by everything that is on."""
    residence_s: FloatArray
    """[n, N, S]: time that a frame spends in it, waiting included, 0 if unknown."""


def segments_of(
    figures: Figures, residence_s: FloatArray | None, space: DesignSpace, rows: IntArray
) -> Segments:
    """Return the segments of ``rows`` [n, groups + domains], in the order of the groups.

    ``residence_s``: [n, groups], if it is known.
    """
    n, groups, networks = len(rows), space.groups, len(space.first)
    unit = rows[:, :groups]
    begins = np.ones((n, groups), dtype=np.bool_)
    begins[:, 1:] = (unit[:, 1:] != unit[:, :-1]) | (space.owner[1:] != space.owner[:-1])
    so_far = np.cumsum(begins, axis=1)
    place: IntArray = so_far - so_far[:, space.first][:, space.owner]
    longest = int(place.max(initial=0)) + 1
    shape = (n, networks, longest)
    index = ((np.arange(n)[:, None] * networks + space.owner) * longest + place).reshape(-1)

    def total(values: FloatArray) -> FloatArray:
        size = n * networks * longest
        summed: FloatArray = np.bincount(index, values.reshape(-1), minlength=size).astype(float)
        return summed.reshape(shape)

    time = figures.time_s
    work = total(time)
    safe = np.where(work > 0.0, work, 1.0)
    where = np.zeros(n * networks * longest, dtype=np.int64)
    where[index] = unit.reshape(-1)
    transition = total(np.where(begins, figures.transition_s, 0.0))
    transition[:, :, 0] = 0.0
    return Segments(
        count=place[:, space.first + space.size - 1] + 1,
        unit=where.reshape(shape),
        groups=total(np.ones_like(time)),
        work_s=work,
        demand_kbps=total(time * figures.demand_kbps) / safe,
        dynamic_w=total(time * figures.dynamic_w) / safe,
        transition_s=transition,
        idle_w=figures.idle_w,
        residence_s=np.zeros(shape) if residence_s is None else total(residence_s),
    )

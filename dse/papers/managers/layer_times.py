"""Linear regression of a group's stand-alone time, as MOSAIC and ODMDEF predict it.

t(g, u, f) = a_u * w_g * f0 / f + b_u * q_g * m0 / m + c_u is fitted by least squares for each unit
u over all groups at several clocks. f and m are the unit's own clock and the memory's, f0 and m0
their fastest. A problem has no multiply-accumulates. So w_g, the group's time on the first unit at
its fastest clocks, represents its work, and q_g, the bytes that it moves there, its traffic. The
fit sees the very networks that will run, which is more than the papers' profiles could know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PS_PER_S
from paretosoc.dse.space.design_space import DesignSpace

BYTES_PER_KB = 1e3
LADDER_PLACES = 4
"""Operating points of a domain that are profiled."""


@dataclass(frozen=True, eq=False)
class LayerTimes:
    """A fitted regression. ``coefficients`` [units, 3] in the order a, b, c (seconds)."""

    space: DesignSpace
    units: tuple[int, ...]
    work_s: FloatArray
    """[groups]"""
    traffic_bytes: FloatArray
    """[groups]"""
    coefficients: FloatArray

    def predict(self, clocks: IntArray) -> FloatArray:
        """Return [groups, units of ``units``]: seconds at operating points [domains].

        They are infinite if a group may not run there, and never below a nanosecond.
        """
        problem = self.space.problem
        times = np.full((self.space.groups, len(self.units)), np.inf)
        for k, u in enumerate(self.units):
            features = _features(self.space, u, clocks, self.work_s, self.traffic_bytes)
            predicted = np.maximum(features @ self.coefficients[k], 1e-9)
            times[:, k] = np.where(problem.allowed[:, u], predicted, np.inf)
        return times


def fit_layer_times(space: DesignSpace, units: Sequence[int]) -> LayerTimes:
    """Fit the regression of ``units`` (indices), from the costs of the problem's own groups."""
    problem = space.problem
    work, traffic = _reference(space, units)
    coefficients = np.zeros((len(units), 3))
    for k, u in enumerate(units):
        unit, runs = problem.units[u], problem.allowed[:, u]
        features, seconds = [], []
        for clocks in _profiled_clocks(space, u):
            at = tuple(clocks[list(unit.clocks)])
            features.append(_features(space, u, clocks, work, traffic)[runs])
            seconds.append(unit.time_ps[(slice(None), *at)][runs] / PS_PER_S)
        table, target = np.concatenate(features), np.concatenate(seconds)
        coefficients[k] = np.linalg.lstsq(table, target, rcond=None)[0]
    return LayerTimes(space, tuple(units), work, traffic, coefficients)


def _reference(space: DesignSpace, units: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return [groups] seconds and bytes, on the first of ``units`` that may run the group."""
    problem = space.problem
    work, traffic = np.zeros(space.groups), np.zeros(space.groups)
    for u in reversed(list(units)):
        unit, runs = problem.units[u], problem.allowed[:, u]
        at = (slice(None), *(space.points[clock][-1] for clock in unit.clocks))
        seconds = unit.time_ps[at] / PS_PER_S
        work = np.where(runs, seconds, work)
        traffic = np.where(runs, seconds * unit.demand_kbps[at] * BYTES_PER_KB, traffic)
    return work, traffic


def _features(
    space: DesignSpace, u: int, clocks: IntArray, work_s: FloatArray, traffic_bytes: FloatArray
) -> FloatArray:
    """Return [groups, 3]: work and traffic (in units of a GB) by their clocks, and one."""
    problem = space.problem
    own, memory = problem.units[u].clocks[0], problem.memory_domain
    slower = _slower(space, own, clocks)
    memory_slower = 1.0 if memory is None else _slower(space, memory, clocks)
    columns = (work_s * slower, traffic_bytes * 1e-9 * memory_slower, np.ones_like(work_s))
    return np.stack(columns, axis=1)


def _slower(space: DesignSpace, domain: int, clocks: IntArray) -> float:
    """Return the fastest frequency over the chosen one."""
    ladder = space.problem.domains[domain].frequencies_khz
    return ladder[int(space.points[domain][-1])] / ladder[int(clocks[domain])]


def _profiled_clocks(space: DesignSpace, u: int) -> list[IntArray]:
    """Return operating points [domains] at which times are fitted: a few of the unit's own domain,
    then of the memory's, all others at their fastest."""
    problem = space.problem
    chosen = [space.fastest]
    domains = {problem.units[u].clocks[0]}
    if problem.memory_domain is not None:
        domains.add(problem.memory_domain)
    for d in sorted(domains):
        points = space.points[d]
        places = np.unique(np.linspace(0, len(points) - 1, LADDER_PLACES).astype(np.int64))
        for point in points[places[:-1]]:
            clocks = space.fastest.copy()
            clocks[d] = point
            chosen.append(clocks)
    return chosen

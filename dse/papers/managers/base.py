"""The common part of the managers that MapFormer is compared with: one decision for one workload.

Each is an engine (:mod:`dse.search.base`), so that the driver of all searches runs it and the
timeline judges it. Their descriptions are in MapFormer's sections 2 and 5 and Table 1, and in the
papers that those cite. Assumptions are in the docstring of each.

Managers that choose no clocks take a power mode, as a board's maker sets it for a budget. MapFormer
(5.3) compares at modes that restrict "the combined frequencies of the computing components" to 10,
15 and 30 W. A mode here is one step of all ladders together: the fastest at which the chip stays
within the cap with every unit that may be used busy all the time with its hungriest group. So it is
never above the cap, whatever is mapped. Boards' own modes are made the same way, with their own
worst case.

Linear regression of a group's stand-alone time, as MOSAIC and ODMDEF predict it.

t(g, u, f) = a_u * w_g * f0 / f + b_u * q_g * m0 / m + c_u is fitted by least squares for each unit
u over all groups at several clocks. f and m are the unit's own clock and the memory's, f0 and m0
their fastest. A problem has no multiply-accumulates. So w_g, the group's time on the first unit at
its fastest clocks, represents its work, and q_g, the bytes that it moves there, its traffic. The
fit sees the very networks that will run, which is more than the papers' profiles could know.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PS_PER_S
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes
from paretosoc.results.problem.problem import Problem

ACCELERATOR_PREFIX = "dla"


class Manager(ABC):
    """An engine that proposes one row, its decision, and ends."""

    name: ClassVar[str]

    def __init__(self, space: DesignSpace, *, seed: int = 0) -> None:
        self._space = space
        self._rng = np.random.default_rng(seed)
        self._answer: IntArray | None = None

    @abstractmethod
    def decide(self) -> IntArray:
        """Return [groups + domains]: the manager's decision, canonical."""

    @property
    def answer(self) -> IntArray:
        """Return [groups + domains]: the decision, computed on first use."""
        if self._answer is None:
            self._answer = self.decide()
        return self._answer

    def ask(self) -> IntArray:
        """Return the decision, the first time only."""
        if self._answer is not None:
            return np.zeros((0, self._space.width), dtype=np.int64)
        return self.answer[None]

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Ignore the outcomes: the decision is final."""
        del rows, outcomes


def cpu_and_gpu(problem: Problem) -> tuple[int, ...]:
    """Return the indices of the units that are no deep-learning accelerators.

    These managers use no others (MapFormer, Table 1). Every group must have one of them.

    Raises:
        WorkloadError: if a group may run on accelerators alone.
    """
    units = tuple(
        u for u, unit in enumerate(problem.units) if not unit.name.startswith(ACCELERATOR_PREFIX)
    )
    homeless = np.flatnonzero(~problem.allowed[:, list(units)].any(axis=1))
    if len(homeless):
        names = [name for network in problem.networks for name in network.group_names]
        raise WorkloadError(
            f"group {names[homeless[0]]!r}: a unit that is no deep-learning accelerator is "
            "required by this manager, got none that may run it"
        )
    return units


def whole_row(space: DesignSpace, mapping: IntArray, clocks: IntArray) -> IntArray:
    """Return [groups + domains]: a mapping [groups] at operating points [domains], canonical."""
    row: IntArray = space.canonical(np.concatenate((mapping, clocks))[None])[0]
    return row


STEPS = 30
"""Number of common steps of all ladders."""


def mode_steps(space: DesignSpace) -> IntArray:
    """Return [steps, domains]: operating points with all domains at the same share of their
    ladders.

    Slowest first, each once.
    """
    most = space.point_count - 1
    places = np.rint(np.arange(STEPS + 1)[:, None] * most / STEPS).astype(np.int64)
    points = space.point_at[np.arange(len(most)), places]
    return np.unique(points, axis=0)


def power_mode(space: DesignSpace, units: Sequence[int]) -> IntArray:
    """Return [domains]: operating points of the fastest step within the problem's power cap.

    The worst power with ``units`` in use counts. Returns the slowest step if none is within the
    cap, the fastest without a cap.
    """
    steps = mode_steps(space)
    cap = space.problem.power_cap_mw
    if cap is None:
        fastest: IntArray = steps[-1]
        return fastest
    within = [step for step in steps if worst_power_mw(space, units, step) <= cap]
    chosen: IntArray = within[-1] if within else steps[0]
    return chosen


def worst_power_mw(space: DesignSpace, units: Sequence[int], clocks: IntArray) -> int:
    """Return the power at operating points [domains] with all of ``units`` busy, in mW.

    Each runs its hungriest group, and no other unit is used.
    """
    problem = space.problem
    used = np.zeros((1, len(problem.units)), dtype=np.bool_)
    used[0, list(units)] = True
    power = int(space.idle_mw(space.domains_on(used), clocks[None])[0])
    for u in units:
        dynamic = problem.units[u].dynamic_mw
        at = (problem.allowed[:, u], *clocks[list(problem.units[u].clocks)])
        power += int(dynamic[at].max(initial=0))
    return power


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

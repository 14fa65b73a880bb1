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
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from paretosoc.common.arrays import IntArray
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

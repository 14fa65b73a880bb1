"""What the managers that MapFormer is compared with share: one decision for one workload.

Each is an engine (:mod:`dse.search.base`), so that the driver of all searches runs it and the
timeline judges it. What is known of them is in MapFormer's sections 2 and 5 and Table 1, and in the
papers that those cite; assumptions are in the docstring of each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.search.base import Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes
from paretosoc.results.problem.problem import Problem

ACCELERATOR_PREFIX = "dla"


class DecidingEngine(Engine, Protocol):
    """An engine that ends with one decision."""

    @property
    def answer(self) -> IntArray | None:
        """[groups + domains]: the decision; None where it found nothing."""
        ...


class Manager(ABC):
    """An engine that proposes one row, its decision, and ends."""

    name: ClassVar[str]
    label: ClassVar[str]
    """For people: in tables and pictures."""

    def __init__(self, space: DesignSpace, *, seed: int = 0) -> None:
        self._space = space
        self._rng = np.random.default_rng(seed)
        self._answer: IntArray | None = None

    @abstractmethod
    def decide(self) -> IntArray:
        """[groups + domains]: what the manager puts on the board, canonical."""

    @property
    def answer(self) -> IntArray:
        """[groups + domains]: the decision, computed on first use."""
        if self._answer is None:
            self._answer = self.decide()
        return self._answer

    def ask(self) -> IntArray:
        """The decision, the first time."""
        if self._answer is not None:
            return np.zeros((0, self._space.width), dtype=np.int64)
        return self.answer[None]

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """No-op: the decision is final."""
        del rows, outcomes


def cpu_and_gpu(problem: Problem) -> tuple[int, ...]:
    """Indices of the units that are no deep-learning accelerators: all that these managers use
    (MapFormer, Table 1). Every group must have one of them.

    Raises:
        WorkloadError: where a group may run on accelerators alone.
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
    """[groups + domains]: a mapping [groups] at operating points [domains], canonical."""
    row: IntArray = space.canonical(np.concatenate((mapping, clocks))[None])[0]
    return row

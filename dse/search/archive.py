"""The front as it grows: every feasible row that nothing seen so far dominates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.dse.search.archive_jit import join_front
from paretosoc.dse.search.base import EngineState
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes

MOST_ADDED = 1 << 62
"""Rows that no search adds: with those of a batch their number stays in int64."""


class Archive:
    """Non-dominated rows in exact integers. Of equal objective vectors the first stays."""

    def __init__(self, width: int, objectives: int, constraints: int) -> None:
        self.rows: IntArray = np.zeros((0, width), dtype=np.int64)
        self.objectives: IntArray = np.zeros((0, objectives), dtype=np.int64)
        self.numbers: IntArray = np.zeros(0, dtype=np.int64)
        """[members], rising: how many rows had been added before it."""
        self.least_constraint_values: IntArray = np.full(constraints, np.iinfo(np.int64).max)
        """[constraints]: the smallest value of each limited figure, feasible or not."""
        self.added = 0
        """Rows, members or not."""
        self.stayed: BoolArray = np.zeros(0, dtype=np.bool_)
        """Whether each of the members before the last rows that joined stayed one."""

    def add(self, rows: IntArray, outcomes: Outcomes) -> bool:
        """Add rows that no member dominates. Return whether the front has changed."""
        begin = self.added
        self.added += len(rows)
        if outcomes.constraint_values.shape[1] and outcomes.possible.any():
            least = outcomes.constraint_values[outcomes.possible].min(axis=0)
            self.least_constraint_values = np.minimum(self.least_constraint_values, least)
        stays = np.empty(len(self.rows), dtype=np.bool_)
        joins = np.empty(len(rows), dtype=np.bool_)
        new = outcomes.objectives
        if not join_front(self.objectives, new, outcomes.feasible, stays, joins):
            return False
        self.stayed, joining = stays, np.flatnonzero(joins)
        self.rows = np.concatenate((self.rows[stays], rows[joining]))
        self.numbers = np.concatenate((self.numbers[stays], begin + joining))
        self.objectives = np.concatenate((self.objectives[stays], new[joining]))
        return True

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Return the archive as arrays for :meth:`restore`, named with ``prefix``."""
        return {
            f"{prefix}rows": self.rows,
            f"{prefix}objectives": self.objectives,
            f"{prefix}numbers": self.numbers,
            f"{prefix}least_constraint_values": self.least_constraint_values,
            f"{prefix}added": np.array([self.added]),
        }

    def restore(self, state: EngineState, prefix: str, space: DesignSpace) -> None:
        """Replace the content by the arrays of ``state``.

        Raises:
            ValueError: if they are not those of an archive of this space.
        """
        rows = state.rows(f"{prefix}rows", space)
        added = int(state.array(f"{prefix}added", np.int64, (1,), least=0, most=MOST_ADDED)[0])
        width = len(space.problem.objectives)
        self.objectives = state.array(f"{prefix}objectives", np.int64, (len(rows), width))
        numbers = state.array(
            f"{prefix}numbers", np.int64, (len(rows),), least=0, most=max(0, added - 1)
        )
        if (np.diff(numbers) <= 0).any():
            raise ValueError(f"{prefix}numbers: rising numbers are required")
        self.least_constraint_values = state.array(
            f"{prefix}least_constraint_values", np.int64, self.least_constraint_values.shape
        )
        self.rows, self.numbers, self.added = rows, numbers, added

    def joined(self, count: int) -> BoolArray:
        """Return [count]: whether each of the last ``count`` rows added is a member now."""
        mask = np.zeros(count, dtype=np.bool_)
        numbers = self.numbers - (self.added - count)
        mask[numbers[numbers >= 0]] = True
        return mask

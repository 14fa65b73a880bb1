"""NSGA-II that begins anew once its front has stopped growing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.search.base import EngineState
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes
from paretosoc.results.front.dominance import hypervolume, non_dominated, reference_point

SPAN = 15_000
"""Evaluations after which the growth of the front is looked at."""
MIN_GROWTH = 2e-3
"""A hypervolume that grew by a smaller share than this within the span: begin anew."""
MOST_KEPT = 400
"""Members of all fronts so far that a population begins with, at most."""


class RestartingNsga2:
    """NSGA-II (:class:`dse.search.optimizers.nsga2.Nsga2Engine`) that restarts once a run stops
    growing.

    A population that has converged seldom leaves its mappings. Odd restarts begin as the first run
    does. Even ones begin with members of the fronts of all runs, whose parts can be combined. Up to
    the first restart the rows are those of one run.

    All random numbers follow from ``seed``, so a seed gives the same rows in any process.
    """

    name = "nsga2"

    def __init__(self, space: DesignSpace, *, seed: int, **settings: Any) -> None:
        """Begin the first run. The settings are those of every run."""
        self._space = space
        self._begin: Callable[..., Nsga2Engine] = partial(Nsga2Engine, space, **settings)
        self._run = self._begin(seed=seed)
        self._seed = seed
        self._restarts = 0
        self._evaluated = 0
        objectives = len(space.problem.objectives)
        self._before: IntArray = np.zeros((0, objectives), dtype=np.int64)
        self._kept_rows: IntArray = np.zeros((0, space.width), dtype=np.int64)
        self._kept_objectives = self._before

    @property
    def members(self) -> tuple[IntArray, IntArray]:
        """Return rows and objectives of the front of all runs so far."""
        front = self._run.front
        rows = np.concatenate((self._kept_rows, front.rows))
        objectives = np.concatenate((self._kept_objectives, front.objectives))
        best = non_dominated(objectives)
        return rows[best], objectives[best]

    def ask(self) -> IntArray:
        """Return the next rows of the present run, or none if it could make no new row."""
        return self._run.ask()

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Pass the outcomes on, and begin a new run if the present one has stopped growing."""
        self._run.tell(rows, outcomes)
        self._evaluated += len(rows)
        if self._evaluated < SPAN:
            return
        self._evaluated = 0
        now = self._run.front.objectives
        # Without a feasible point the population may still come nearer to its limits.
        if len(now) and len(self._before) and not _grew(self._before, now):
            self._restart()
        else:
            self._before = now

    def _restart(self) -> None:
        self._kept_rows, self._kept_objectives = self.members
        self._before = self._kept_objectives[:0]
        self._restarts += 1
        rng = np.random.default_rng((self._seed, self._restarts))
        first = None
        if self._restarts % 2 == 0:
            first = self._kept_rows[rng.permutation(len(self._kept_rows))[:MOST_KEPT]]
        seed = int(rng.integers(1 << 32))
        self._run = self._begin(seed=seed, first=first)

    def state(self) -> EngineState:
        """Return the present run's state, the fronts of earlier runs, and when growth is checked
        next."""
        run = self._run.state()
        return EngineState(
            arrays={
                **run.arrays,
                "kept_rows": self._kept_rows,
                "kept_objectives": self._kept_objectives,
                "before": self._before,
                "restarts": np.array([self._restarts]),
                "evaluated": np.array([self._evaluated]),
            },
            generator=run.generator,
        )

    def restore(self, state: EngineState) -> None:
        """Continue from a state."""
        width = self._before.shape[1]
        self._kept_rows = state.rows("kept_rows", self._space)
        self._kept_objectives = state.array(
            "kept_objectives", np.int64, (len(self._kept_rows), width)
        )
        self._before = state.array("before", np.int64, (None, width))
        self._restarts = int(state.array("restarts", np.int64, (1,), least=0)[0])
        self._evaluated = int(state.array("evaluated", np.int64, (1,), least=0)[0])
        self._run.restore(state)


def _grew(before: IntArray, now: IntArray) -> bool:
    """Return whether the hypervolume grew, with one reference point for both fronts."""
    reference: FloatArray = reference_point(np.concatenate((before, now)))
    return hypervolume(now, reference) > hypervolume(before, reference) * (1.0 + MIN_GROWTH)

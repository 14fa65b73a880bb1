"""Simulated annealing with an archive, for several objectives.

After AMOSA (Bandyopadhyay, Saha, Maulik, Deb: A simulated annealing-based multiobjective
optimization algorithm, IEEE TEVC 12(3), 2008): a worse row is accepted with a probability that
falls with the *amount of domination* and rises with the temperature. AMOSA walks alone and clusters
its archive. Here many walkers go side by side, so that rows are evaluated together, and the archive
is complete.
"""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import BoolArray, FloatArray, IntArray
from paretosoc.dse.search.archive import Archive
from paretosoc.dse.search.base import EngineState, Violation, generator_from, state_of
from paretosoc.dse.search.optimizers.initial_population import initial_population
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes
from paretosoc.results.problem.limits import constraints_of

WALKERS = 200
HOT, COLD = 0.1, 1e-4
"""Temperatures, as amounts of domination: products of shares of the front's ranges."""
CYCLE = 100
"""Steps from hot to cold. Then it is hot again, so that no budget need be known."""
RETURNING = 0.05
"""Probability that a walker restarts from a member of the front instead."""


class AnnealingEngine:
    """Walkers that each propose one mutation a step.

    All random numbers come from one generator seeded with ``seed``, so a seed gives the same rows
    in any process.
    """

    name = "annealing"

    def __init__(self, space: DesignSpace, *, seed: int, walkers: int = WALKERS) -> None:
        self._space = space
        self._walkers = walkers
        self._rng = np.random.default_rng(seed)
        self._violation_of = Violation(space.problem)
        self._width = len(space.problem.objectives)
        self._archive = Archive(space.width, self._width, len(constraints_of(space.problem)))
        self._rows: IntArray = np.zeros((0, space.width), dtype=np.int64)
        self._objectives: FloatArray = np.zeros((0, self._width))
        self._violation: FloatArray = np.zeros(0)
        self._steps = 0

    def ask(self) -> IntArray:
        """Return one mutation for each walker, or first the walkers themselves."""
        if len(self._rows) == 0:
            return initial_population(self._space, self._rng, self._walkers)
        awake = self._space.domains_used(self._rows)
        return self._space.repair(self._rng, self._space.mutate(self._rng, self._rows), awake)

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Move each walker to its mutation, or let it stay."""
        self._archive.add(rows, outcomes)
        objectives = outcomes.objectives.astype(np.float64)
        violation = self._violation_of(outcomes)
        if len(self._rows) == 0:
            self._rows, self._objectives, self._violation = rows, objectives, violation
            return
        accepted = self._accepted(objectives, violation)
        self._rows = np.where(accepted[:, None], rows, self._rows)
        self._objectives = np.where(accepted[:, None], objectives, self._objectives)
        self._violation = np.where(accepted, violation, self._violation)
        self._steps += 1
        if len(self._archive.rows):
            home = np.flatnonzero(self._rng.random(len(self._rows)) < RETURNING)
            member = self._rng.integers(0, len(self._archive.rows), len(home))
            self._rows[home] = self._archive.rows[member]
            self._objectives[home] = self._archive.objectives[member]
            self._violation[home] = 0.0

    def _accepted(self, objectives: FloatArray, violation: FloatArray) -> BoolArray:
        """Return [walkers]: whether each moves. Breaking constraints less is better, breaking more
        is worse by the difference."""
        temperature = HOT * (COLD / HOT) ** (self._steps % CYCLE / (CYCLE - 1))
        now = self._objectives
        loss = _domination(now, objectives, self._ranges(now, objectives))
        either = (violation > 0.0) | (self._violation > 0.0)
        loss = np.where(either, violation - self._violation, loss)
        chance = np.exp(-np.maximum(loss, 0.0) / temperature)
        accepted: BoolArray = self._rng.random(len(loss)) < chance
        return accepted

    def _ranges(self, now: FloatArray, objectives: FloatArray) -> FloatArray:
        """Return [objectives]: the front's extent, or if it has none that of all walkers."""
        known = self._archive.objectives.astype(np.float64)
        for values in (known, np.concatenate((now, objectives))):
            if len(values) > 1 and (np.ptp(values, axis=0) > 0).all():
                extent: FloatArray = np.ptp(values, axis=0)
                return extent
        return np.ones(self._width)

    def state(self) -> EngineState:
        """Return walkers and archive."""
        return EngineState(
            arrays={
                "walkers": self._rows,
                "objectives": self._objectives,
                "violation": self._violation,
                "steps": np.array([self._steps]),
                **self._archive.arrays("archive_"),
            },
            generator=state_of(self._rng),
        )

    def restore(self, state: EngineState) -> None:
        """Continue from a state."""
        self._rows = state.rows("walkers", self._space)
        count = len(self._rows)
        self._objectives = state.array("objectives", np.float64, (count, self._width))
        self._violation = state.array("violation", np.float64, (count,))
        self._steps = int(state.array("steps", np.int64, (1,), least=0)[0])
        self._archive.restore(state, "archive_", self._space)
        self._rng = generator_from(state.generator)


def _domination(now: FloatArray, new: FloatArray, ranges: FloatArray) -> FloatArray:
    """Return [n]: by how much ``now`` dominates ``new`` [n, m], the product of the nonzero
    differences as shares of ``ranges``, or 0."""
    difference = (new - now) / ranges
    product: FloatArray = np.where(difference == 0.0, 1.0, np.abs(difference)).prod(axis=1)
    dominated = (difference >= 0.0).all(axis=1) & (difference > 0.0).any(axis=1)
    return np.where(dominated, product, 0.0)

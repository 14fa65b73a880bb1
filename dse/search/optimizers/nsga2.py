"""Vectorised NSGA-II with a local search on the front."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import BoolArray, FloatArray, IntArray
from paretosoc.dse.search.archive import Archive
from paretosoc.dse.search.base import (
    EngineState,
    Violation,
    generator_from,
    state_of,
    surrogate_search,
)
from paretosoc.dse.search.optimizers.generation_jit import MAX_MUTATIONS, Generation, approach, mate
from paretosoc.dse.search.optimizers.initial_population import initial_population
from paretosoc.dse.search.optimizers.selection import SeenRows, survive
from paretosoc.dse.search.surrogate.load_balancing import make_balance
from paretosoc.dse.search.surrogate.lower_bounds import (
    has_lower_bounds,
    make_filter,
    make_lower_bounds,
)
from paretosoc.dse.space.design_space import DesignSpace, drawn_seed
from paretosoc.fitness.objectives import Outcomes
from paretosoc.results.problem.limits import constraints_of

POPULATION = 200
NEIGHBOURS = 200
"""Neighbours of members of the front in a local search, at most."""
VISITED = 8
"""Members whose neighbours these are."""
REBALANCED = 60
"""Members of the front with one network remapped, per local search."""
MIN_PAUSE, MAX_PAUSE = 1, 15
"""Matings without a local search after one. The pause grows while the local search hardly finds
new rows, and a new member ends it."""
PATIENCE, MAX_BARREN = 3, 15
"""A generation has one mating, and one more for each three generations in a row that brought no new
member of the front, up to fifteen: a converged population gains little from selections, which cost
time."""
MIN_SHARE = 4
"""At least a quarter as many of the children as were bred stay if they are new: else ever more work
would go into proposals once the front is almost found."""
SURROGATE_EVALUATIONS = 4_000
"""Rows that are searched by their bounds before the first evaluation."""


class Nsga2Engine:
    """NSGA-II with neighbours of the front and a search on bounds.

    After Deb et al. 2002, with selection, ranking and crowding as in pymoo, no object per
    individual, and the operators of :class:`~dse.space.design_space.DesignSpace`. Rows that were
    proposed before are left out.

    Generations come with neighbours of the front's least visited members, and with members that
    have a network remapped. Those that reach the front join the population.

    If design points have known bounds (:mod:`dse.search.surrogate.lower_bounds`), rows whose bounds
    a member beats are left out, and the first population holds the front of a search on these
    bounds alone.

    All random numbers come from one generator seeded with ``seed``, so a seed gives the same rows
    in any process.
    """

    name = "nsga2"

    def __init__(
        self,
        space: DesignSpace,
        *,
        seed: int,
        population: int = POPULATION,
        neighbours: int = NEIGHBOURS,
        rebalanced: int = REBALANCED,
        surrogate_evaluations: int = SURROGATE_EVALUATIONS,
        first: IntArray | None = None,
    ) -> None:
        """Begin without a population.

        ``surrogate_evaluations`` 0: no search by bounds. ``first``: rows [n, width] to begin with
        instead of :func:`dse.search.optimizers.initial_population.initial_population`.
        """
        self._space = space
        self._first = first
        self._surrogate_evaluations = (
            surrogate_evaluations if has_lower_bounds(space.problem) else 0
        )
        self._cannot_join = make_filter(space.problem) if self._surrogate_evaluations else None
        self._size = population
        self._searches_near = neighbours > 0
        self._rng = np.random.default_rng(seed)
        self._violation_of = Violation(space.problem)
        self._seen = SeenRows(space.width)
        self._rows: IntArray = np.zeros((0, space.width), dtype=np.int64)
        self._objectives: FloatArray = np.zeros((0, len(space.problem.objectives)))
        self._violation: FloatArray = np.zeros(0)
        self._crowding: FloatArray = np.zeros(0)
        constraints = len(constraints_of(space.problem))
        self._archive = Archive(space.width, len(space.problem.objectives), constraints)
        self._visits: IntArray = np.zeros(0, dtype=np.int64)
        near = rebalanced + neighbours
        self._generation = Generation(
            size=population,
            remapped=rebalanced,
            drawn=np.zeros(4 * -(-population // 2), dtype=np.int64),
            effort=np.ones(2, dtype=np.int64),
            is_new=np.zeros(max(population, near), dtype=np.int64),
            factors=self._seen.factors,
            seen=self._seen.table,
            at=np.zeros(2, dtype=np.int64),
            source=np.zeros(neighbours, dtype=np.int64),
            awake=np.zeros((near, len(space.points)), dtype=np.int64),
        )
        self._visited: IntArray = np.zeros((VISITED, space.width), dtype=np.int64)
        self._wanted: IntArray = np.zeros(neighbours, dtype=np.int64)
        self._balance = make_balance(space, 1)
        most = (1 + MAX_BARREN // PATIENCE) * population + 1 + near
        self._buffer: IntArray = np.zeros((most, space.width), dtype=np.int64)
        """Rows of the next generation."""
        self._pause = 0
        self._waits = 0
        self._barren = 0
        self._offspring = 0

    @property
    def front(self) -> Archive:
        """Return all feasible rows so far that no other row dominates."""
        return self._archive

    def ask(self) -> IntArray:
        """Return the next generation, then neighbours, or none if no new row could be made."""
        if len(self._rows) == 0:
            first = self._first_rows()
            rows = first[self._seen.first_seen(first)]
            self._offspring = len(rows)
            return rows
        space, made = self._space, self._generation
        bred = mate(
            space.tables,
            space.plan,
            made,
            drawn_seed(self._rng),
            self._rows,
            self._objectives,
            self._violation,
            self._crowding,
            self._buffer,
        )
        rows = self._buffer[: bred + self._approach(bred)]
        stays = self._promising(rows, bred, least=int(made.effort[1]) * self._size // MIN_SHARE)
        self._offspring = int(np.count_nonzero(stays[:bred]))
        return rows[stays]

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Let the fittest survive. A violated limit counts by the share beyond it."""
        if self._archive.add(rows, outcomes):
            stayed = self._visits[self._archive.stayed]
            new = len(self._archive.numbers) - len(stayed)
            self._visits = np.concatenate((stayed, np.zeros(new, dtype=np.int64)))
            self._waits = min(self._waits, MIN_PAUSE)
            self._barren = 0
        elif len(self._archive.rows):
            self._barren = min(self._barren + 1, MAX_BARREN)
        self._generation.effort[1] = 1 + self._barren // PATIENCE
        entered = self._archive.joined(len(rows))
        entered[: self._offspring] = True
        merged = np.concatenate((self._rows, rows[entered]))
        values = outcomes.objectives[entered].astype(np.float64)
        objectives = np.concatenate((self._objectives, values))
        violation = np.concatenate((self._violation, self._violation_of(outcomes)[entered]))
        survivors = survive(objectives, violation, self._size)
        self._rows = merged[survivors.chosen]
        self._objectives = objectives[survivors.chosen]
        self._violation = violation[survivors.chosen]
        self._crowding = survivors.crowding

    def _first_rows(self) -> IntArray:
        """Return the first population, its second half from a search on bounds if there are any."""
        space, rng = self._space, self._rng
        if self._first is not None:
            return self._first
        first = initial_population(space, rng, self._size)
        if not self._surrogate_evaluations:
            return first
        engine = Nsga2Engine(
            space, seed=int(rng.integers(1 << 32)), surrogate_evaluations=0, first=first
        )
        surrogate_search(engine, make_lower_bounds(space.problem), self._surrogate_evaluations)
        front = engine.front.rows
        front = front[rng.permutation(len(front))]
        return np.concatenate((first[: self._size // 2], front, engine._rows))[: 2 * self._size]

    def _promising(self, rows: IntArray, bred: int, *, least: int) -> BoolArray:
        """Return [n]: whether its bounds allow a row to join the front, and the first of other
        children, the first ``bred`` rows, if there are less than ``least``."""
        front = self._archive.objectives
        if self._cannot_join is None or len(front) == 0 or len(rows) == 0:
            return np.ones(len(rows), dtype=np.bool_)
        hopeless = self._cannot_join(front, rows)
        others = np.flatnonzero(hopeless[:bred])
        hopeless[others[: max(0, least - (bred - len(others)))]] = False
        return ~hopeless

    def _approach(self, begin: int) -> int:
        """Put neighbours of the least visited members, and members with one network remapped, after
        the first rows. Count them."""
        front, made = self._archive.rows, self._generation
        if len(front) == 0 or not self._searches_near:
            return 0
        if self._waits:
            self._waits = max(self._waits - int(made.effort[1]), 0)
            return 0
        new: int = approach(
            self._space.tables,
            self._space.plan,
            self._balance,
            made,
            drawn_seed(self._rng),
            self._buffer[begin:],
            front,
            self._visits,
            self._visited,
            self._wanted,
        )
        rich = new > (made.remapped + int(made.at[1])) // 10
        self._pause = MIN_PAUSE if rich else min(2 * self._pause + 1, MAX_PAUSE)
        self._waits = self._pause
        return new

    def state(self) -> EngineState:
        """Return population, archive, visits, and hashes of the proposed rows."""
        return EngineState(
            arrays={
                "population": self._rows,
                "objectives": self._objectives,
                "violation": self._violation,
                "crowding": self._crowding,
                **self._archive.arrays("archive_"),
                "visits": self._visits,
                "mutations": self._generation.effort[:1],
                "pause": np.array([self._pause, self._waits, self._barren]),
                "offspring": np.array([self._offspring]),
                "seen": self._seen.entries,
            },
            generator=state_of(self._rng),
        )

    def restore(self, state: EngineState) -> None:
        """Continue from a state."""
        self._rows = state.rows("population", self._space)
        count = len(self._rows)
        width = self._objectives.shape[1]
        self._objectives = state.array("objectives", np.float64, (count, width))
        self._violation = state.array("violation", np.float64, (count,))
        self._crowding = state.array("crowding", np.float64, (count,))
        self._archive.restore(state, "archive_", self._space)
        self._visits = state.array("visits", np.int64, (len(self._archive.rows),))
        self._generation.effort[0] = state.array(
            "mutations", np.int64, (1,), least=1, most=MAX_MUTATIONS
        )[0]
        pause = state.array("pause", np.int64, (3,), least=0, most=max(MAX_PAUSE, MAX_BARREN))
        self._pause, self._waits, self._barren = pause.tolist()
        self._generation.effort[1] = 1 + self._barren // PATIENCE
        self._offspring = int(state.array("offspring", np.int64, (1,), least=0)[0])
        self._seen.entries = state.array("seen", np.uint64, (None,), least=1)
        self._rng = generator_from(state.generator)

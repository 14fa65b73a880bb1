"""Vectorised NSGA-II with a local search on the front."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.search.archive import Archive
from paretosoc.dse.search.base import (
    EngineState,
    Violation,
    generator_from,
    state_of,
    surrogate_search,
)
from paretosoc.dse.search.optimizers.initial_population import initial_population
from paretosoc.dse.search.optimizers.selection import SeenRows, survive, tournament
from paretosoc.dse.search.surrogate.load_balancing import rebalanced_rows
from paretosoc.dse.search.surrogate.lower_bounds import (
    has_lower_bounds,
    make_filter,
    make_lower_bounds,
)
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.operators import breed, neighbours
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
"""Generations without a local search after one. The pause grows while the local search hardly finds
new rows, and a new member ends it."""
CROSSOVER_RATE = 0.9
ATTEMPTS = 4
"""Matings in a row that give no new child before the search gives up."""
MIN_SHARE = 4
"""A generation has at least a quarter of the population's size if there are new rows: else ever
more work would go into proposals once the front is almost found."""
MAX_MUTATIONS = 8
SURROGATE_EVALUATIONS = 4_000
"""Rows that are searched by their bounds before the first evaluation."""


class Nsga2Engine:
    """NSGA-II with neighbours of the front and a search on bounds.

    After Deb et al. 2002, with selection, ranking and crowding as in pymoo, no object per
    individual, and the operators of :mod:`dse.space.operators`. Rows that were proposed before are
    left out.

    Every other generation comes with neighbours of the front's least visited members, and with
    members that have a network remapped. Those that reach the front join the population.

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
        self._max_neighbours = neighbours
        self._rebalanced = rebalanced
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
        self._mutations = 1
        self._pause = 0
        self._waits = 0
        self._offspring = 0

    @property
    def front(self) -> Archive:
        """Return all feasible rows so far that no other row dominates."""
        return self._archive

    def ask(self) -> IntArray:
        """Return the next generation, then neighbours, or none if no new row could be made."""
        if len(self._rows) == 0:
            first = self._first_rows()
            rows = [first[self._seen.first_seen(first)]]
        else:
            rows = [self._children()]
        self._offspring = len(rows[0])
        rows.append(self._neighbours())
        return np.concatenate(rows)

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Let the fittest survive. A violated limit counts by the share beyond it."""
        before = self._archive.numbers
        if self._archive.add(rows, outcomes):
            self._visits = _carried(before, self._visits, self._archive.numbers)
            self._waits = min(self._waits, MIN_PAUSE)
        entered = self._archive.joined(len(rows))
        entered[: self._offspring] = True
        merged = np.concatenate((self._rows, rows[entered]))
        objectives = np.concatenate(
            (self._objectives, outcomes.objectives[entered].astype(np.float64))
        )
        violation = np.concatenate((self._violation, self._violation_of(outcomes)[entered]))
        survivors = survive(objectives, violation, self._size)
        self._rows = merged[survivors.chosen]
        self._objectives = objectives[survivors.chosen]
        self._violation = violation[survivors.chosen]
        self._crowding = survivors.crowding

    def _first_rows(self) -> IntArray:
        """Return the first population, with a second half from a search on bounds if there are
        any."""
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

    def _children(self) -> IntArray:
        """Return [at most the population's size]: new rows, with more mutations if few are new."""
        for _ in range(ATTEMPTS):
            children = self._mated()
            fresh = children[self._seen.first_seen(children)]
            if len(fresh) < self._size // 2:
                self._mutations = min(self._mutations + 1, MAX_MUTATIONS)
            elif len(fresh) > self._size * 3 // 4:
                self._mutations = max(self._mutations - 1, 1)
            if len(fresh):
                break
        return self._promising(fresh, least=self._size // MIN_SHARE)

    def _promising(self, rows: IntArray, *, least: int = 0) -> IntArray:
        """Return the rows whose bounds allow them to join the front, and others up to ``least``."""
        front = self._archive.objectives
        if self._cannot_join is None or len(front) == 0:
            return rows
        hopeless = self._cannot_join(front, rows)
        others = np.flatnonzero(hopeless)
        hopeless[others[: max(0, least - (len(rows) - len(others)))]] = False
        return rows[~hopeless]

    def _mated(self) -> IntArray:
        """Return children of parents that won tournaments, one for each place in the population."""
        places = self._size + self._size % 2
        parents = tournament(self._rng, self._objectives, self._violation, self._crowding, places)
        children = breed(
            self._space,
            self._rng,
            self._rows,
            parents,
            crossover_rate=CROSSOVER_RATE,
            mutations=self._mutations,
        )
        return children[: self._size]

    def _neighbours(self) -> IntArray:
        """Return new neighbours of the least visited members, and members with one network
        remapped."""
        if len(self._archive.rows) == 0 or self._max_neighbours == 0:
            return np.zeros((0, self._space.width), dtype=np.int64)
        if self._waits:
            self._waits -= 1
            return np.zeros((0, self._space.width), dtype=np.int64)
        front = self._archive.rows
        chosen = front[self._rng.integers(0, len(front), self._rebalanced)]
        anew = rebalanced_rows(self._space, self._rng, chosen)
        anew = self._space.repair(self._rng, anew, self._space.domains_used(chosen))
        turn = np.lexsort((self._rng.random(len(self._visits)), self._visits))[:VISITED]
        self._visits[turn] += 1
        near = neighbours(
            self._space, self._rng, self._archive.rows[turn], most=self._max_neighbours
        )
        rows = np.concatenate((anew, near))
        fresh = rows[self._seen.first_seen(rows)]
        rich = len(fresh) > len(rows) // 10
        self._pause = MIN_PAUSE if rich else min(2 * self._pause + 1, MAX_PAUSE)
        self._waits = self._pause
        return self._promising(fresh)

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
                "mutations": np.array([self._mutations]),
                "pause": np.array([self._pause, self._waits]),
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
        self._mutations = int(
            state.array("mutations", np.int64, (1,), least=1, most=MAX_MUTATIONS)[0]
        )
        pause = state.array("pause", np.int64, (2,), least=0, most=MAX_PAUSE)
        self._pause, self._waits = int(pause[0]), int(pause[1])
        self._offspring = int(state.array("offspring", np.int64, (1,), least=0)[0])
        self._seen.entries = state.array("seen", np.uint64, (None,), least=1)
        self._rng = generator_from(state.generator)


def _carried(before: IntArray, visits: IntArray, now: IntArray) -> IntArray:
    """Return the visits of members numbered ``now`` from those numbered ``before``, 0 if new."""
    result = np.zeros(len(now), dtype=np.int64)
    _, here, there = np.intersect1d(now, before, assume_unique=True, return_indices=True)
    result[here] = visits[there]
    return result

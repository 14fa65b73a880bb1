"""NSGA-II by pymoo, behind the engine protocol: the only file that knows pymoo."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.crossover import Crossover
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.evaluator import Evaluator
from pymoo.core.mutation import Mutation
from pymoo.core.population import Population
from pymoo.core.problem import Problem as PymooProblem
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling
from pymoo.core.termination import NoTermination
from pymoo.problems.static import StaticProblem

from dse.archive import Archive
from dse.design_space import DesignSpace, unique_rows
from dse.first_population import first_population
from dse.neighbours import neighbours
from dse.operators import mutate, segment_crossover
from fitness.outcomes import Outcomes, constraints_of
from results.problem import IntArray

POPULATION = 200
NEIGHBOURHOODS = 4
"""Members of the front whose neighbours go with each generation."""


class Nsga2Engine:
    """NSGA-II (Deb et al. 2002) with the operators of :mod:`dse.operators`, and a local search.

    With each generation go the neighbours of a few front members whose neighbourhood is new, and
    those of them that reach the front join the population.

    All random numbers come from generators seeded with ``seed``: pymoo's, which it hands to the
    operators, and one for the neighbours. So a seed gives the same rows in any process.
    """

    name = "nsga2"

    def __init__(
        self,
        space: DesignSpace,
        *,
        seed: int,
        population: int = POPULATION,
        neighbourhoods: int = NEIGHBOURHOODS,
    ) -> None:
        limits = [entry.limit for entry in constraints_of(space.problem)]
        self._limits = np.array(limits, dtype=np.float64)
        self._space = space
        self._problem = PymooProblem(
            n_var=space.width,
            n_obj=len(space.problem.objectives),
            n_ieq_constr=1 + len(limits),
            vtype=int,
        )
        self._algorithm: Any = NSGA2(
            pop_size=population,
            sampling=_FirstPopulation(space),
            crossover=_SegmentCrossover(space),
            mutation=_Mutation(space),
            repair=_Repair(space),
            eliminate_duplicates=_RowDuplicates(),
        )
        # Where hardly any new row is left, pymoo would try a hundred times to make one.
        self._algorithm.mating.n_max_iterations = 4
        self._algorithm.setup(self._problem, termination=NoTermination(), seed=seed)
        self._offspring: Any = None
        self._neighbourhoods = neighbourhoods
        self._rng = np.random.default_rng([seed, 1])
        self._archive = Archive(space.width, len(space.problem.objectives), len(limits))
        self._searched: set[bytes] = set()

    def ask(self) -> IntArray:
        """The next generation and the neighbours; none where no new row could be made."""
        self._offspring = self._algorithm.ask()
        rows = [self._neighbours()]
        if self._offspring is not None and len(self._offspring):
            rows.insert(0, self._offspring.get("X").astype(np.int64))
        else:
            self._offspring = None
        return np.concatenate(rows)

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Survival of the fittest; a violated limit counts by how many times it is passed."""
        known = 0 if self._offspring is None else len(self._offspring)
        before = {row.tobytes() for row in self._archive.rows}
        self._archive.add(rows, outcomes)
        fresh = {row.tobytes() for row in self._archive.rows} - before
        joining = [i for i in range(known, len(rows)) if rows[i].tobytes() in fresh]
        told = [*range(known), *joining]
        if not told:
            return
        population = Population.new("X", rows[joining])
        if self._offspring is not None:
            population = Population.merge(self._offspring, population)
        excess = (outcomes.figures[told] - self._limits) / np.maximum(self._limits, 1.0)
        impossible = (~outcomes.possible[told, None]).astype(np.float64)
        static = StaticProblem(
            self._problem,
            F=outcomes.objectives[told].astype(np.float64),
            G=np.concatenate((impossible, excess), axis=1),
        )
        Evaluator().eval(static, population)
        self._algorithm.tell(infills=population)

    def _neighbours(self) -> IntArray:
        """Neighbours of a few members of the front that have not had their turn."""
        rows = self._archive.rows
        waiting = [i for i, row in enumerate(rows) if row.tobytes() not in self._searched]
        if not waiting or self._neighbourhoods == 0:
            return np.zeros((0, self._space.width), dtype=np.int64)
        count = min(self._neighbourhoods, len(waiting))
        chosen = self._rng.choice(np.array(waiting), count, replace=False)
        self._searched |= {rows[i].tobytes() for i in chosen}
        return np.concatenate([neighbours(self._space, self._rng, rows[i]) for i in chosen])


class _FirstPopulation(Sampling):
    def __init__(self, space: DesignSpace) -> None:
        super().__init__()
        self.space = space

    def _do(self, problem: Any, n_samples: int, *args: Any, **kwargs: Any) -> IntArray:
        return first_population(self.space, kwargs["random_state"], n_samples)


class _SegmentCrossover(Crossover):
    def __init__(self, space: DesignSpace) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=0.9)
        self.space = space

    def _do(self, problem: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        rows = X.astype(np.int64)
        return np.stack(segment_crossover(self.space, kwargs["random_state"], rows[0], rows[1]))


class _Mutation(Mutation):
    def __init__(self, space: DesignSpace) -> None:
        super().__init__(prob=1.0)
        self.space = space

    def _do(self, problem: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        return mutate(self.space, kwargs["random_state"], X.astype(np.int64))


class _Repair(Repair):
    def __init__(self, space: DesignSpace) -> None:
        super().__init__()
        self.space = space

    def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
        rng = kwargs.get("random_state") or np.random.default_rng(0)
        return self.space.repair(rng, X.astype(np.int64))


class _RowDuplicates(DuplicateElimination):
    """Equal rows by a set of their bytes: pymoo's own compares all pairs."""

    def _do(self, pop: Any, other: Any, is_duplicate: Any) -> Any:
        rows = pop.get("X").astype(np.int64)
        seen = None
        if other is not None:
            seen = {row.tobytes() for row in other.get("X").astype(np.int64)}
        is_duplicate[~unique_rows(rows, seen)] = True
        return is_duplicate

"""NSGA-II by pymoo, behind the engine protocol: the only file that knows pymoo."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.crossover import Crossover
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.evaluator import Evaluator
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem as PymooProblem
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling
from pymoo.core.termination import NoTermination
from pymoo.problems.static import StaticProblem

from dse.design_space import DesignSpace, unique_rows
from dse.first_population import first_population
from dse.operators import mutate, segment_crossover
from fitness.outcomes import Outcomes, constraints_of
from results.problem import IntArray

POPULATION = 200


class Nsga2Engine:
    """NSGA-II (Deb et al. 2002) with the operators of :mod:`dse.operators`.

    All random numbers come from the generator that pymoo seeds and hands to the operators, so a
    seed gives the same rows in any process.
    """

    name = "nsga2"

    def __init__(self, space: DesignSpace, *, seed: int, population: int = POPULATION) -> None:
        self._limits = np.array(
            [entry.limit for entry in constraints_of(space.problem)], dtype=np.float64
        )
        self._problem = PymooProblem(
            n_var=space.width,
            n_obj=len(space.problem.objectives),
            n_ieq_constr=1 + len(self._limits),
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
        self._algorithm.setup(self._problem, termination=NoTermination(), seed=seed)
        self._asked: Any = None

    def ask(self) -> IntArray:
        """The next generation; none where no new row could be made."""
        self._asked = self._algorithm.ask()
        if self._asked is None or len(self._asked) == 0:
            return np.zeros((0, self._problem.n_var), dtype=np.int64)
        rows: IntArray = self._asked.get("X").astype(np.int64)
        return rows

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Survival of the fittest; a violated limit counts by how many times it is passed."""
        excess = (outcomes.figures - self._limits) / np.maximum(self._limits, 1.0)
        violations = np.concatenate(((~outcomes.possible[:, None]).astype(float), excess), axis=1)
        static = StaticProblem(
            self._problem, F=outcomes.objectives.astype(np.float64), G=violations
        )
        Evaluator().eval(static, self._asked)
        self._algorithm.tell(infills=self._asked)


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

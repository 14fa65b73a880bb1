"""Searches by pymoo, behind the engine protocol: the only file that knows pymoo."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.algorithms.moo.sms import SMSEMOA
from pymoo.core.crossover import Crossover
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.evaluator import Evaluator
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem as PymooProblem
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling
from pymoo.core.termination import NoTermination
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.operators.repair.rounding import RoundingRepair
from pymoo.operators.sampling.rnd import IntegerRandomSampling
from pymoo.problems.static import StaticProblem
from pymoo.util.ref_dirs import get_reference_directions

from dse.search.base import Violation
from dse.search.optimizers.initial_population import first_population
from dse.space.design_space import DesignSpace, unique_rows
from dse.space.operators import mutate, segment_crossover
from fitness.objectives import Outcomes
from results.problem.problem import IntArray

POPULATION = 200
SMS_POPULATION = 100
"""Smaller, as each survivor costs a hypervolume."""


def stock_nsga2(space: DesignSpace, *, seed: int, population: int = POPULATION) -> PymooEngine:
    """NSGA-II as pymoo advises for integers: random sampling, simulated binary crossover and
    polynomial mutation, rounded; nothing of ours but the repair of rows that are not allowed."""
    algorithm = NSGA2(
        pop_size=population,
        sampling=IntegerRandomSampling(),
        crossover=SBX(prob=1.0, eta=3.0, vtype=float, repair=RoundingRepair()),
        mutation=PM(prob=1.0, eta=3.0, vtype=float, repair=RoundingRepair()),
        repair=_Repair(space),
    )
    return PymooEngine("pymoo-nsga2", space, algorithm, seed=seed)


def nsga2(space: DesignSpace, *, seed: int, population: int = POPULATION) -> PymooEngine:
    """pymoo's NSGA-II with our first population and operators: what its loop alone makes of
    them."""
    algorithm = NSGA2(pop_size=population, **_own_operators(space))
    return PymooEngine("pymoo-nsga2-own", space, algorithm, seed=seed)


def nsga3(space: DesignSpace, *, seed: int, population: int = POPULATION) -> PymooEngine:
    """NSGA-III (Deb, Jain 2014) with our operators: about as many reference directions, evenly
    spaced (Das, Dennis 1998), as there are places in the population."""
    width = len(space.problem.objectives)
    parts = 1
    while comb(parts + width, width - 1) <= population:
        parts += 1
    directions = get_reference_directions("das-dennis", width, n_partitions=parts)
    algorithm = NSGA3(ref_dirs=directions, pop_size=len(directions), **_own_operators(space))
    return PymooEngine("nsga3", space, algorithm, seed=seed)


def sms_emoa(space: DesignSpace, *, seed: int, population: int = SMS_POPULATION) -> PymooEngine:
    """SMS-EMOA (Beume, Naujoks, Emmerich 2007) with our operators: who adds least hypervolume
    goes."""
    algorithm = SMSEMOA(pop_size=population, **_own_operators(space))
    return PymooEngine("sms-emoa", space, algorithm, seed=seed)


class PymooEngine:
    """Drives one of pymoo's algorithms by ask and tell.

    All random numbers come from the generator that pymoo seeds with ``seed`` and hands to the
    operators, so a seed gives the same rows in any process.
    """

    def __init__(self, name: str, space: DesignSpace, algorithm: Any, *, seed: int) -> None:
        self._name = name
        self._violation_of = Violation(space.problem)
        self._problem = PymooProblem(
            n_var=space.width,
            n_obj=len(space.problem.objectives),
            n_ieq_constr=1,
            xl=np.zeros(space.width),
            xu=_most(space),
            vtype=int,
        )
        self._algorithm = algorithm
        # Where hardly any new row is left, pymoo would try a hundred times to make one.
        if hasattr(algorithm, "mating"):
            algorithm.mating.n_max_iterations = 4
        algorithm.setup(self._problem, termination=NoTermination(), seed=seed)
        self._asked: Any = None

    @property
    def name(self) -> str:
        """Name in results and on the command line."""
        return self._name

    def ask(self) -> IntArray:
        """The next generation; none where no new row could be made."""
        self._asked = self._algorithm.ask()
        if self._asked is None or len(self._asked) == 0:
            return np.zeros((0, self._problem.n_var), dtype=np.int64)
        rows: IntArray = self._asked.get("X").astype(np.int64)
        return rows

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Survival by pymoo; a violated limit counts by how many times it is passed."""
        static = StaticProblem(
            self._problem,
            F=outcomes.objectives.astype(np.float64),
            G=self._violation_of(outcomes)[:, None],
        )
        Evaluator().eval(static, self._asked)
        self._algorithm.tell(infills=self._asked)


def _most(space: DesignSpace) -> IntArray:
    """[width]: the largest value of each gene."""
    units = np.full(space.groups, len(space.problem.units) - 1)
    points = [int(points[-1]) for points in space.points]
    return np.concatenate((units, points)).astype(np.int64)


def _own_operators(space: DesignSpace) -> dict[str, Any]:
    return {
        "sampling": _FirstPopulation(space),
        "crossover": _SegmentCrossover(space),
        "mutation": _Mutation(space),
        "eliminate_duplicates": _RowDuplicates(),
    }


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
    """Mutates and repairs: only before the mutation it is known which clocks were chosen."""

    def __init__(self, space: DesignSpace) -> None:
        super().__init__(prob=1.0)
        self.space = space

    def _do(self, problem: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        rows, rng = X.astype(np.int64), kwargs["random_state"]
        return self.space.repair(rng, mutate(self.space, rng, rows), self.space.domains_used(rows))


class _Repair(Repair):
    """Rows that are allowed: of clocks that are not, the next faster one that is."""

    def __init__(self, space: DesignSpace) -> None:
        super().__init__()
        self.space = space

    def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
        rows = X.astype(np.int64)
        rng = kwargs.get("random_state") or np.random.default_rng(0)
        return self.space.repair(rng, self.space.nearest_points(rows))


class _RowDuplicates(DuplicateElimination):
    """Equal rows by a set of their bytes: pymoo's own compares all pairs."""

    def _do(self, pop: Any, other: Any, is_duplicate: Any) -> Any:
        rows = pop.get("X").astype(np.int64)
        seen = None
        if other is not None:
            seen = {row.tobytes() for row in other.get("X").astype(np.int64)}
        is_duplicate[~unique_rows(rows, seen)] = True
        return is_duplicate

"""pymoo behind our protocol, and our problem and optimizer behind pymoo's: the only file that
imports pymoo."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.algorithms.moo.sms import SMSEMOA
from pymoo.core.algorithm import Algorithm
from pymoo.core.crossover import Crossover
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.evaluator import Evaluator
from pymoo.core.mutation import Mutation
from pymoo.core.population import Population
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

from paretosoc.common.arrays import IntArray
from paretosoc.dse.search.base import Engine, Violation
from paretosoc.dse.search.optimizers.initial_population import initial_population
from paretosoc.dse.search.optimizers.nsga2 import POPULATION
from paretosoc.dse.space.design_space import DesignSpace, unique_rows
from paretosoc.fitness.objectives import Outcomes, make_outcomes
from paretosoc.results.problem.limits import constraints_of

SMS_POPULATION = 100
"""Smaller, as each survivor costs a hypervolume."""


def stock_nsga2(space: DesignSpace, *, seed: int, population: int = POPULATION) -> PymooEngine:
    """Return NSGA-II as pymoo advises for integers.

    It has random sampling, simulated binary crossover and polynomial mutation, rounded, and nothing
    of ours but the repair of rows that are not allowed.
    """
    algorithm = NSGA2(
        pop_size=population,
        sampling=IntegerRandomSampling(),
        crossover=SBX(prob=1.0, eta=3.0, vtype=float, repair=RoundingRepair()),
        mutation=PM(prob=1.0, eta=3.0, vtype=float, repair=RoundingRepair()),
        repair=_Repair(space),
    )
    return PymooEngine("pymoo-nsga2", space, algorithm, seed=seed)


def nsga2(space: DesignSpace, *, seed: int, population: int = POPULATION) -> PymooEngine:
    """Return pymoo's NSGA-II with our first population and operators, to judge its loop alone."""
    algorithm = NSGA2(pop_size=population, **_own_operators(space))
    return PymooEngine("pymoo-nsga2-own", space, algorithm, seed=seed)


def nsga3(space: DesignSpace, *, seed: int) -> PymooEngine:
    """Return NSGA-III (Deb, Jain 2014) with our operators.

    It has about as many reference directions, evenly spaced (Das, Dennis 1998), as places in the
    population.
    """
    width = len(space.problem.objectives)
    parts = 1
    while comb(parts + width, width - 1) <= POPULATION:
        parts += 1
    directions = get_reference_directions("das-dennis", width, n_partitions=parts)
    algorithm = NSGA3(ref_dirs=directions, pop_size=len(directions), **_own_operators(space))
    return PymooEngine("nsga3", space, algorithm, seed=seed)


def sms_emoa(space: DesignSpace, *, seed: int) -> PymooEngine:
    """Return SMS-EMOA (Beume, Naujoks, Emmerich 2007) with our operators.

    The row that adds the least hypervolume leaves.
    """
    algorithm = SMSEMOA(pop_size=SMS_POPULATION, **_own_operators(space))
    return PymooEngine("sms-emoa", space, algorithm, seed=seed)


class PymooEngine:
    """Run one of pymoo's algorithms by ask and tell.

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
            xu=_upper_limits(space),
            vtype=int,
        )
        self._algorithm = algorithm
        # If hardly any new row is left, pymoo would try a hundred times to make one.
        if hasattr(algorithm, "mating"):
            algorithm.mating.n_max_iterations = 4
        algorithm.setup(self._problem, termination=NoTermination(), seed=seed)
        self._asked: Any = None

    @property
    def name(self) -> str:
        """Name in results and on the command line."""
        return self._name

    def ask(self) -> IntArray:
        """Return the next generation, or none if no new row could be made."""
        self._asked = self._algorithm.ask()
        if self._asked is None or len(self._asked) == 0:
            return np.zeros((0, self._problem.n_var), dtype=np.int64)
        rows: IntArray = self._asked.get("X").astype(np.int64)
        return rows

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Let pymoo choose the survivors. A violated limit counts by the share beyond it."""
        static = StaticProblem(
            self._problem,
            F=outcomes.objectives.astype(np.float64),
            G=self._violation_of(outcomes)[:, None],
        )
        Evaluator().eval(static, self._asked)
        self._algorithm.tell(infills=self._asked)


class DesignProblem(PymooProblem):
    """A design space as a vectorised pymoo problem of integers. All objectives are minimised.

    ``F`` [n, objectives]: the objectives in their integer units, as floats. ``G`` [n, constraints +
    1]: the excess over each constraint, as a share of its limit. The last column is 1 if a group
    cannot run on its unit, else -1.
    """

    def __init__(self, space: DesignSpace) -> None:
        self.space = space
        self._limits = np.array(
            [entry.limit for entry in constraints_of(space.problem)], dtype=np.float64
        )
        self._outcomes = make_outcomes(space.problem)
        super().__init__(
            n_var=space.width,
            n_obj=len(space.problem.objectives),
            n_ieq_constr=len(self._limits) + 1,
            xl=np.zeros(space.width),
            xu=_upper_limits(space),
            vtype=int,
        )

    def _evaluate(self, x: Any, out: Any, *args: Any, **kwargs: Any) -> None:
        outcomes = self.outcomes(np.asarray(x, dtype=np.int64))
        excess = (outcomes.constraint_values - self._limits) / np.maximum(self._limits, 1.0)
        impossible = np.where(outcomes.possible, -1.0, 1.0)[:, None]
        out["F"] = outcomes.objectives.astype(np.float64)
        out["G"] = np.concatenate((excess, impossible), axis=1)

    def outcomes(self, rows: IntArray) -> Outcomes:
        """Return objectives and constraints of rows [n, groups + domains]."""
        return self._outcomes(rows)

    def operators(self) -> dict[str, Any]:
        """Return sampling, crossover, mutation and duplicate elimination for a pymoo algorithm.

        They are our first population and our operators, which keep rows inside the space.
        """
        return _own_operators(self.space)


class EngineAlgorithm(Algorithm):
    """One of our optimizers as a pymoo algorithm, for a :class:`DesignProblem`."""

    def __init__(self, start: Callable[[DesignSpace, int], Engine], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._start = start
        self._engine: Engine | None = None

    def _infill(self) -> Any:
        if self._engine is None:
            self._engine = self._start(self.problem.space, int(self.seed or 0))
        rows = self._engine.ask()
        if len(rows) == 0:
            self.termination.terminate()
            return None
        return Population.new(X=rows)

    def _initialize_infill(self) -> Any:
        return self._infill()

    def _initialize_advance(self, infills: Any = None, **kwargs: Any) -> None:
        self._tell(infills)
        self.pop = infills

    def _advance(self, infills: Any = None, **kwargs: Any) -> None:
        self._tell(infills)
        self.pop = Population.merge(self.pop, infills)

    def _tell(self, infills: Any) -> None:
        assert self._engine is not None, "infills come from the engine"
        rows = infills.get("X").astype(np.int64)
        self._engine.tell(rows, self.problem.outcomes(rows))

    def _set_optimum(self) -> None:
        # All non-dominated points so far, as pymoo's own algorithms report them.
        super()._set_optimum()
        if self.opt is not None:
            self.pop = self.opt


def _upper_limits(space: DesignSpace) -> IntArray:
    """Return [width]: the largest value of each gene."""
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
        return initial_population(self.space, kwargs["random_state"], n_samples)


class _SegmentCrossover(Crossover):
    def __init__(self, space: DesignSpace) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=0.9)
        self.space = space

    def _do(self, problem: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        rows = X.astype(np.int64)
        return np.stack(self.space.cross(kwargs["random_state"], rows[0], rows[1]))


class _Mutation(Mutation):
    """Mutates and repairs: only before the mutation it is known which clocks were chosen."""

    def __init__(self, space: DesignSpace) -> None:
        super().__init__(prob=1.0)
        self.space = space

    def _do(self, problem: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        rows, rng = X.astype(np.int64), kwargs["random_state"]
        return self.space.repair(rng, self.space.mutate(rng, rows), self.space.domains_used(rows))


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

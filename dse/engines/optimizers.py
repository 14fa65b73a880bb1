"""Optimizers as objects with settings. Pass one to :func:`dse.explore`, or one of your own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from dse.certificate.preconditions import Goal
from dse.papers.managers.mapformer.settings import ManagerSettings
from dse.search.base import Engine
from dse.search.names import SINGLE_DECISION, EngineName
from dse.space.design_space import DesignSpace

if TYPE_CHECKING:
    from pymoo.core.algorithm import Algorithm


@runtime_checkable
class Optimizer(Protocol):
    """The interface of an optimizer to :func:`dse.explore`.

    Optional attributes: ``goal``, what is proved of the front afterwards (the fastest member by
    default), and ``single_decision``, true where its own decision is the result and baselines are
    not merged into the front.

    Example:
        >>> class Mine:
        ...     def start(self, space, seed):
        ...         return MyEngine(space, np.random.default_rng(seed))
    """

    def start(self, space: DesignSpace, seed: int) -> Engine:
        """Return an engine at its first generation; the same seed gives the same rows.

        An engine has ``name``, ``ask()``, which returns rows [n, groups + domains], and
        ``tell(rows, outcomes)``. Rows must lie in the space: ``space.random(rng, n)`` draws some,
        ``space.repair(rng, rows)`` moves others inside.
        """
        ...


def goal_of(optimizer: Optimizer) -> Goal:
    """What is proved of the front of an optimizer."""
    goal: Goal = getattr(optimizer, "goal", Goal.FASTEST)
    return goal


def is_single_decision(optimizer: Optimizer) -> bool:
    """Whether an optimizer's own decision is the result, without baselines."""
    return bool(getattr(optimizer, "single_decision", False))


@dataclass(frozen=True, kw_only=True)
class NSGA2:
    """NSGA-II (Deb et al. 2002) on whole arrays, with a local search on the front; it begins anew
    where the front stops growing.

    ``population``: survivors of a generation. ``neighbours``: neighbours per local search, 0 for
    none. ``rebalanced``: members with one network remapped per local search.
    ``surrogate_evaluations``: rows compared by their lower bounds before the first evaluation.
    """

    population: int = 200
    neighbours: int = 200
    rebalanced: int = 60
    surrogate_evaluations: int = 4_000
    goal: Goal = Goal.WHOLE_FRONT

    def start(self, space: DesignSpace, seed: int) -> Engine:
        """The search at its first generation."""
        from dse.search.optimizers.restarts import RestartingNsga2

        return RestartingNsga2(
            space,
            seed=seed,
            population=self.population,
            neighbours=self.neighbours,
            rebalanced=self.rebalanced,
            surrogate_evaluations=self.surrogate_evaluations,
        )

    def as_pymoo(self) -> Algorithm:
        """The same as a pymoo algorithm, for :func:`pymoo.optimize.minimize` with a problem of
        :meth:`dse.Problem.as_pymoo`; pymoo's callbacks and terminations apply.

        Example:
            >>> minimize(problem.as_pymoo(), dse.NSGA2().as_pymoo(), ("n_evals", 20_000), seed=1)
        """
        from dse.search.optimizers.pymoo_adapters import EngineAlgorithm

        return EngineAlgorithm(self.start)


@dataclass(frozen=True, kw_only=True)
class Named:
    """An optimizer of the command line by its name: see ``dse explore --help``."""

    name: EngineName
    manager: ManagerSettings | None = None

    @property
    def goal(self) -> Goal:
        """What is proved of the front afterwards."""
        from dse.engines.optimizer_registry import ENGINES

        return ENGINES[self.name].goal

    @property
    def single_decision(self) -> bool:
        """Whether baselines are left out of the front."""
        return self.name in SINGLE_DECISION

    def start(self, space: DesignSpace, seed: int) -> Engine:
        """The search at its first generation.

        Raises:
            WorkloadError: where it is not made for the problem.
        """
        from dse.engines.optimizer_registry import make_engine

        return make_engine(self.name, space, seed, self.manager)


@dataclass(frozen=True, kw_only=True)
class Pymoo:
    """Any pymoo algorithm as it is, with its operators; rows are repaired to lie in the space.

    ``make``: a function without arguments that returns a new algorithm.

    Example:
        >>> from pymoo.algorithms.moo.rvea import RVEA
        >>> dse.explore(problem, dse.Pymoo(make=lambda: RVEA(directions)))
    """

    make: Any
    name: str = "pymoo"
    goal: Goal = Goal.FASTEST

    def start(self, space: DesignSpace, seed: int) -> Engine:
        """The search at its first generation."""
        from dse.search.optimizers.pymoo_adapters import PymooEngine

        return PymooEngine(self.name, space, self.make(), seed=seed)


def annealing() -> Named:
    """Simulated annealing."""
    return Named(name=EngineName.ANNEALING)


def random_search() -> Named:
    """Random mappings and clocks."""
    return Named(name=EngineName.RANDOM)


def exhaustive() -> Named:
    """All design points, where these are few."""
    return Named(name=EngineName.EXHAUSTIVE)


def exact() -> Named:
    """The exact search alone: it finds the front by proving it."""
    return Named(name=EngineName.EXACT)

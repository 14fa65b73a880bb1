"""Optimizers as objects with settings. Pass one to :func:`dse.explore`, or one of your own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, runtime_checkable

from paretosoc.common.options import as_engine
from paretosoc.common.plugins import Registry
from paretosoc.dse.certificate.preconditions import Goal
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.arguments import check_arguments
from paretosoc.dse.search.base import Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.problem.objectives import ObjectiveKind

if TYPE_CHECKING:
    from pymoo.core.algorithm import Algorithm


@runtime_checkable
class Optimizer(Protocol):
    """The interface of an optimizer to :func:`dse.explore`.

    Optional attributes: ``goal``, the claim that is proved about the front afterwards (the fastest
    member by default), ``needs_proof``, true if it finds its front by proving it, and
    ``single_decision``, true if its own decision is the result and baselines are not merged into
    the front. Under the entry point ``paretosoc.optimizers`` a package offers one to ``dse explore
    --engine``.

    Examples:
        >>> class Mine:
        ...     def start(self, space, seed):
        ...         return MyEngine(space, np.random.default_rng(seed))
        >>> class MyEngine:
        ...     name, best = "mine", None
        ...     def __init__(self, space, rng):
        ...         self.space, self.rng = space, rng
        ...     def ask(self):
        ...         rows = self.space.random(self.rng, 50)
        ...         if self.best is not None:
        ...             rows = np.where(self.rng.random(rows.shape) < 0.1, rows, self.best)
        ...         return self.space.repair(self.rng, rows)
        ...     def tell(self, rows, outcomes):
        ...         kept, first = outcomes.feasible, outcomes.objectives[:, 0]
        ...         if kept.any():
        ...             self.best = rows[kept][first[kept].argmin()]
        >>> front = dse.explore(problem, Mine(), max_evaluations=1_000)
    """

    def start(self, space: DesignSpace, seed: int) -> Engine:
        """Return an engine at its first generation. The same seed gives the same rows.

        An engine has ``name``, ``ask()`` and ``tell(rows, outcomes)``.

        ``ask()`` returns rows to evaluate next, int64 [n, ``space.width``]. None end the search. A
        row has a unit for each group (``space.groups`` columns), then an operating point for each
        clock domain and, if priorities are searched, a level for each network. Each is an index
        from 0 to ``space.gene_sizes[column] - 1``, in the order of ``space.problem.units`` and
        ``.domains``. Not all are allowed: ``space.random(rng, n)`` draws rows that are,
        ``space.repair(rng, rows)`` makes others so. Other rows are refused.

        ``tell`` receives them with ``outcomes.objectives``, int64 [n, objectives], all to be
        minimised, ``outcomes.constraint_values`` [n, constraints], ``outcomes.feasible`` [n], true
        if all constraints are kept, and ``outcomes.possible`` [n]. Figures of rows that are not
        possible mean nothing.
        """
        ...


def is_optimizer(found: object) -> TypeGuard[Optimizer]:
    """Return whether an object is an optimizer. A class of optimizers is none."""
    return isinstance(found, Optimizer) and not isinstance(found, type)


def goal_of(optimizer: Optimizer) -> Goal:
    """Return the claim that is proved about the front of an optimizer."""
    return getattr(optimizer, "goal", Goal.FASTEST)


def is_single_decision(optimizer: Optimizer) -> bool:
    """Return whether an optimizer's own decision is the result, without baselines."""
    return bool(getattr(optimizer, "single_decision", False))


def needs_proof(optimizer: Optimizer) -> bool:
    """Return whether an optimizer finds its front by proving it."""
    return bool(getattr(optimizer, "needs_proof", False))


@dataclass(frozen=True, kw_only=True)
class NSGA2:
    """NSGA-II (Deb et al. 2002) on whole arrays, with a local search on the front. It begins anew
    once the front stops growing.

    ``population``: survivors of a generation. ``neighbours``: neighbours per local search, 0 for
    none. ``rebalanced``: members with one network remapped per local search.
    ``surrogate_evaluations``: rows compared by their lower bounds before the first evaluation.
    """

    population: int = 200
    neighbours: int = 200
    rebalanced: int = 60
    surrogate_evaluations: int = 4_000
    goal: Goal = Goal.WHOLE_FRONT

    def __post_init__(self) -> None:
        check_arguments(**self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "goal"}

    def start(self, space: DesignSpace, seed: int) -> Engine:
        """Return the search at its first generation."""
        from paretosoc.dse.search.optimizers.restarts import RestartingNsga2

        return RestartingNsga2(space, seed=seed, **self._settings)

    def as_pymoo(self) -> Algorithm:
        """Return the same search as a pymoo algorithm.

        It is for :func:`pymoo.optimize.minimize` with a problem of :meth:`dse.Problem.as_pymoo`.
        pymoo's callbacks and terminations apply.

        Examples:
            >>> minimize(problem.as_pymoo(), dse.NSGA2().as_pymoo(), ("n_evals", 20_000), seed=1)
        """
        from paretosoc.dse.search.optimizers.pymoo_adapters import EngineAlgorithm

        return EngineAlgorithm(self.start)


@dataclass(frozen=True)
class Named:
    """An optimizer with a name, its needs and its abilities.

    ``make``: returns its engine for a space and ``seed=``, or the place of such a function or class
    that is imported when it starts, ``MODULE:NAME``. ``goal``: the claim that is proved about its
    front afterwards. ``needs_proof``: it finds a front by proving it, so the proof cannot be left
    out. ``least_objectives``: the minimum number that it is made for. ``required``: objectives that
    it needs. ``resumable``: its state can be kept in a checkpoint. ``single_decision``: its own
    decision is the result, so baselines are not merged into the front, which one may dominate.
    """

    name: str
    make: Callable[..., Engine] | str
    goal: Goal = Goal.FASTEST
    needs_proof: bool = False
    least_objectives: int = 1
    required: tuple[ObjectiveKind, ...] = ()
    resumable: bool = True
    single_decision: bool = False

    def start(self, space: DesignSpace, seed: int) -> Engine:
        """Return the search at its first generation.

        Raises:
            WorkloadError: if it is not made for the objectives of the problem.
        """
        kinds = [objective.kind for objective in space.problem.objectives]
        label = as_engine(self.name)
        if len(kinds) < self.least_objectives:
            raise WorkloadError(
                f"{label}: {self.least_objectives} or more objectives are required, "
                f"got {len(kinds)}"
            )
        for kind in self.required:
            if kind not in kinds:
                raise WorkloadError(
                    f"{label}: the objective {kind.value} is required, got "
                    + ", ".join(entry.value for entry in kinds)
                )
        make = resolve_name(self.make) if isinstance(self.make, str) else self.make
        return make(space, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Pymoo:
    """Any pymoo algorithm as it is, with its operators. Rows are repaired to lie in the space.

    ``make``: a function without arguments that returns a new algorithm.

    Examples:
        >>> from pymoo.algorithms.moo.rvea import RVEA
        >>> dse.explore(problem, dse.Pymoo(make=lambda: RVEA(directions)))
    """

    make: Any
    name: str = "pymoo"
    goal: Goal = Goal.FASTEST

    def __post_init__(self) -> None:
        check_arguments(make=self.make)

    def start(self, space: DesignSpace, seed: int) -> Engine:
        """Return the search at its first generation."""
        from paretosoc.dse.search.optimizers.pymoo_adapters import PymooEngine

        return PymooEngine(self.name, space, self.make(), seed=seed)


def is_own(optimizer: Optimizer) -> bool:
    """Return whether the code of the search is the program's own, not a package's or a caller's."""
    made_by = getattr(optimizer, "make", type(optimizer))
    module: str = made_by if isinstance(made_by, str) else made_by.__module__
    return module.startswith("paretosoc.")


def annealing() -> Optimizer:
    """Return simulated annealing."""
    return optimizer_named("annealing")


def random_search() -> Optimizer:
    """Return a search that draws mappings and clocks at random."""
    return optimizer_named("random")


def exhaustive() -> Optimizer:
    """Return a search that tries all design points, for spaces that have few."""
    return optimizer_named("exhaustive")


def exact() -> Optimizer:
    """Return the exact search alone: it finds the front by proving it."""
    return optimizer_named("exact")


_SEARCH = "paretosoc.dse.search.optimizers"

# The optimizers of the papers in dse.papers are registered as those of an installed package are.
OPTIMIZERS: Registry[Optimizer] = Registry(
    "paretosoc.optimizers",
    "an optimizer",
    is_optimizer,
    "an object with start(space, seed)",
    {
        optimizer.name: optimizer
        for optimizer in (
            # NSGA-II with a local search and the exact search by turns.
            Named(
                "auto", "paretosoc.dse.engines.auto_engine:nsga2_and_exact", goal=Goal.WHOLE_FRONT
            ),
            # The exact search, from the obvious answers.
            Named(
                "exact",
                "paretosoc.dse.engines.auto_engine:ExactEngine",
                goal=Goal.WHOLE_FRONT,
                needs_proof=True,
                resumable=False,
            ),
            Named("nsga2", f"{_SEARCH}.restarts:RestartingNsga2"),
            Named("pymoo-nsga2", f"{_SEARCH}.pymoo_adapters:stock_nsga2", resumable=False),
            Named("nsga3", f"{_SEARCH}.pymoo_adapters:nsga3", least_objectives=3, resumable=False),
            Named(
                "sms-emoa",
                f"{_SEARCH}.pymoo_adapters:sms_emoa",
                least_objectives=3,
                resumable=False,
            ),
            Named("annealing", f"{_SEARCH}.annealing:AnnealingEngine"),
            Named("random", f"{_SEARCH}.plain:RandomEngine"),
            # All design points, if these are few.
            Named("exhaustive", f"{_SEARCH}.plain:ExhaustiveEngine"),
        )
    },
    WorkloadError,
)


def optimizer_named(name: str) -> Optimizer:
    """Return the optimizer of a name.

    Raises:
        WorkloadError: on a name that is neither built in nor registered, or if the registered
            object is no optimizer.
    """
    return OPTIMIZERS.get(name, as_engine())

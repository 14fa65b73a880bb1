"""Optimizers by name: built in, or registered by an installed package.

A package registers an optimizer under the entry point ``paretosoc.optimizers``: the name is that of
``dse explore --engine NAME``, the object is an :class:`dse.Optimizer`. The optimizers of the papers
in :mod:`dse.papers` are found in this way, too.
"""

from __future__ import annotations

from paretosoc.common.options import as_engine
from paretosoc.common.plugins import Registry
from paretosoc.dse.certificate.preconditions import Goal
from paretosoc.dse.engines.optimizers import Named, Optimizer, is_optimizer
from paretosoc.dse.errors import WorkloadError

_SEARCH = "paretosoc.dse.search.optimizers"

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
                "auto",
                "paretosoc.dse.engines.auto_engine:nsga2_and_exact",
                goal=Goal.WHOLE_FRONT,
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

"""Optimizers by name: built in, or registered by an installed package.

A package registers an optimizer under the entry point ``paretosoc.optimizers``: the name is that of
``dse explore --engine NAME``, the object is an :class:`dse.Optimizer`. The optimizers of the papers
in :mod:`dse.papers` are found in this way, too.
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from paretosoc.dse.certificate.preconditions import Goal
from paretosoc.dse.engines.optimizers import Named, Optimizer
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.search.base import Engine
from paretosoc.dse.space.design_space import DesignSpace

ENTRY_POINTS = "paretosoc.optimizers"


def optimizer_named(name: str) -> Optimizer:
    """Return the optimizer of a name.

    Raises:
        WorkloadError: on a name that is neither built in nor registered, or if what is registered
            is no optimizer.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    registered = _registered()
    if name not in registered:
        names = optimizer_names()
        near = difflib.get_close_matches(name, names, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names)}"
        raise WorkloadError(f"--engine: the name of an optimizer is required, got {name!r}; {hint}")
    try:
        found = registered[name].load()
    except Exception as error:
        raise WorkloadError(
            f"--engine {name}: {registered[name].value} of another package cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(found, Optimizer):
        raise WorkloadError(
            f"--engine {name}: an object with start(space, seed) is required, "
            f"{registered[name].value} is {found!r}"
        )
    return found


def optimizer_names() -> list[str]:
    """Return all names, built in ones first."""
    return [*BUILT_IN, *sorted(_registered().keys() - BUILT_IN.keys())]


@cache
def _registered() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}


def _nsga2(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.search.optimizers.restarts import RestartingNsga2

    return RestartingNsga2(space, seed=seed)


def _pymoo_nsga2(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.search.optimizers.pymoo_adapters import stock_nsga2

    return stock_nsga2(space, seed=seed)


def _nsga3(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.search.optimizers.pymoo_adapters import nsga3

    return nsga3(space, seed=seed)


def _sms_emoa(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.search.optimizers.pymoo_adapters import sms_emoa

    return sms_emoa(space, seed=seed)


def _annealing(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.search.optimizers.annealing import AnnealingEngine

    return AnnealingEngine(space, seed=seed)


def _random(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.search.optimizers.random_search import RandomEngine

    return RandomEngine(space, seed=seed)


def _exhaustive(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.search.optimizers.exhaustive import ExhaustiveEngine

    return ExhaustiveEngine(space, seed=seed)


def _exact(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.engines.exact_engine import ExactEngine

    return ExactEngine(space, seed=seed)


BUILT_IN = {
    optimizer.name: optimizer
    for optimizer in (
        # NSGA-II with a local search, then the exact search from its front.
        Named("auto", _nsga2, goal=Goal.WHOLE_FRONT),
        # The exact search, from the obvious answers.
        Named("exact", _exact, goal=Goal.WHOLE_FRONT, needs_proof=True, resumable=False),
        Named("nsga2", _nsga2),
        Named("pymoo-nsga2", _pymoo_nsga2, resumable=False),
        Named("nsga3", _nsga3, least_objectives=3, resumable=False),
        Named("sms-emoa", _sms_emoa, least_objectives=3, resumable=False),
        Named("annealing", _annealing),
        Named("random", _random),
        # All design points, where these are few.
        Named("exhaustive", _exhaustive),
    )
}

"""The engines by their names on the command line, and what each can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dse.design_space import DesignSpace
from dse.engine import Engine
from dse.engine_names import EngineName
from dse.errors import WorkloadError
from dse.front_proof import Goal


@dataclass(frozen=True)
class EngineInfo:
    """What an engine can do.

    ``least_objectives``: it is made for so many and more. ``resumable``: its state can be kept in
    a checkpoint.
    ``goal``: what is proved of its front afterwards. ``needs_proof``: it finds a front by proving
    it, so the proof cannot be left out.
    """

    summary: str
    make: Callable[[DesignSpace, int], Engine]
    goal: Goal = Goal.FASTEST
    needs_proof: bool = False
    least_objectives: int = 1
    resumable: bool = True


def make_engine(name: EngineName, space: DesignSpace, seed: int) -> Engine:
    """The engine of that name, ready for its first :meth:`Engine.ask`.

    Raises:
        WorkloadError: where it is not made for the problem.
    """
    info = ENGINES[name]
    objectives = len(space.problem.objectives)
    if objectives < info.least_objectives:
        raise WorkloadError(
            f"--engine {name.value}: {info.least_objectives} or more objectives are required, "
            f"got {objectives}"
        )
    return info.make(space, seed)


def _nsga2(space: DesignSpace, seed: int) -> Engine:
    from dse.nsga2 import Nsga2Engine

    return Nsga2Engine(space, seed=seed)


def _pymoo_nsga2(space: DesignSpace, seed: int) -> Engine:
    from dse.pymoo_engines import stock_nsga2

    return stock_nsga2(space, seed=seed)


def _nsga3(space: DesignSpace, seed: int) -> Engine:
    from dse.pymoo_engines import nsga3

    return nsga3(space, seed=seed)


def _sms_emoa(space: DesignSpace, seed: int) -> Engine:
    from dse.pymoo_engines import sms_emoa

    return sms_emoa(space, seed=seed)


def _annealing(space: DesignSpace, seed: int) -> Engine:
    from dse.annealing import AnnealingEngine

    return AnnealingEngine(space, seed=seed)


def _random(space: DesignSpace, seed: int) -> Engine:
    from dse.random_search import RandomEngine

    return RandomEngine(space, seed=seed)


def _exhaustive(space: DesignSpace, seed: int) -> Engine:
    from dse.exhaustive_search import ExhaustiveEngine

    return ExhaustiveEngine(space, seed=seed)


def _exact(space: DesignSpace, seed: int) -> Engine:
    from dse.exact_engine import ExactEngine

    return ExactEngine(space, seed=seed)


ENGINES = {
    EngineName.AUTO: EngineInfo(
        "NSGA-II with a local search, then the exact search from its front",
        _nsga2,
        Goal.WHOLE_FRONT,
    ),
    EngineName.EXACT: EngineInfo(
        "the exact search, from the obvious answers",
        _exact,
        Goal.WHOLE_FRONT,
        needs_proof=True,
        resumable=False,
    ),
    EngineName.NSGA2: EngineInfo("NSGA-II with a local search", _nsga2),
    EngineName.PYMOO_NSGA2: EngineInfo("NSGA-II as pymoo has it", _pymoo_nsga2, resumable=False),
    EngineName.NSGA3: EngineInfo(
        "NSGA-III by pymoo, for three and more objectives",
        _nsga3,
        least_objectives=3,
        resumable=False,
    ),
    EngineName.SMS_EMOA: EngineInfo(
        "SMS-EMOA by pymoo, for three and more objectives",
        _sms_emoa,
        least_objectives=3,
        resumable=False,
    ),
    EngineName.ANNEALING: EngineInfo("simulated annealing", _annealing),
    EngineName.RANDOM: EngineInfo("random mappings and clocks", _random),
    EngineName.EXHAUSTIVE: EngineInfo("all there are, where these are few", _exhaustive),
}

"""The engines by their names on the command line, and what each can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dse.certificate.preconditions import Goal
from dse.errors import WorkloadError
from dse.papers.managers.mapformer.settings import DEFAULT_MODE, ManagerSettings
from dse.search.base import Engine
from dse.search.names import EngineName
from dse.space.design_space import DesignSpace
from results.problem.objectives import ObjectiveKind


@dataclass(frozen=True)
class EngineInfo:
    """What an engine can do.

    ``least_objectives``: the minimum number it is made for. ``resumable``: its state can be kept in
    a checkpoint.
    ``goal``: what is proved of its front afterwards. ``needs_proof``: it finds a front by proving
    it, so the proof cannot be left out.
    ``required``: objectives that it needs. ``settings``: those of ``ManagerSettings`` that it
    takes.
    """

    summary: str
    make: Callable[[DesignSpace, int, ManagerSettings], Engine]
    goal: Goal = Goal.FASTEST
    needs_proof: bool = False
    least_objectives: int = 1
    resumable: bool = True
    required: tuple[ObjectiveKind, ...] = ()
    settings: tuple[str, ...] = ()


def make_engine(
    name: EngineName, space: DesignSpace, seed: int, settings: ManagerSettings | None = None
) -> Engine:
    """The engine of that name, ready for its first :meth:`Engine.ask`.

    Raises:
        WorkloadError: where it is not made for the problem, or does not take one of the settings.
    """
    settings = settings or ManagerSettings()
    info = ENGINES[name]
    objectives = len(space.problem.objectives)
    if objectives < info.least_objectives:
        raise WorkloadError(
            f"--engine {name.value}: {info.least_objectives} or more objectives are required, "
            f"got {objectives}"
        )
    kinds = [objective.kind for objective in space.problem.objectives]
    for kind in info.required:
        if kind not in kinds:
            raise WorkloadError(
                f"--engine {name.value}: --objective {kind.value} is required, got "
                + ", ".join(entry.value for entry in kinds)
            )
    for option, value in (("mode", settings.mode), ("predictor", settings.predictor)):
        if value is not None and option not in info.settings:
            takers = " or ".join(
                other.value for other, about in ENGINES.items() if option in about.settings
            )
            raise WorkloadError(
                f"--{option}: an engine that takes it is required ({takers}), "
                f"got --engine {name.value}"
            )
    return info.make(space, seed, settings)


def _nsga2(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.search.optimizers.restarts import RestartingNsga2

    return RestartingNsga2(space, seed=seed)


def _pymoo_nsga2(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.search.optimizers.pymoo_adapters import stock_nsga2

    return stock_nsga2(space, seed=seed)


def _nsga3(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.search.optimizers.pymoo_adapters import nsga3

    return nsga3(space, seed=seed)


def _sms_emoa(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.search.optimizers.pymoo_adapters import sms_emoa

    return sms_emoa(space, seed=seed)


def _annealing(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.search.optimizers.annealing import AnnealingEngine

    return AnnealingEngine(space, seed=seed)


def _mobile_i(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.papers.mobile_i.pipeline_engine import MobileIEngine

    return MobileIEngine(space, seed=seed)


def _random(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.search.optimizers.random_search import RandomEngine

    return RandomEngine(space, seed=seed)


def _exhaustive(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.search.optimizers.exhaustive import ExhaustiveEngine

    return ExhaustiveEngine(space, seed=seed)


def _exact(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.engines.exact_engine import ExactEngine

    return ExactEngine(space, seed=seed)


def _la_mcts(space: DesignSpace, seed: int, settings: ManagerSettings) -> Engine:
    from dse.papers.managers.mapformer.la_mcts import LaMctsEngine
    from dse.papers.managers.mapformer.predictors import default_predictor, make_predictor

    chosen = settings.predictor
    predictor = default_predictor(space.problem) if chosen is None else make_predictor(chosen)
    return LaMctsEngine(space, predictor, seed=seed, mode=settings.mode or DEFAULT_MODE)


def _mosaic(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.papers.managers.mosaic import Mosaic

    return Mosaic(space)


def _odmdef(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.papers.managers.odmdef import Odmdef

    return Odmdef(space)


def _kang_ga(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.papers.managers.kang_ga import KangGa

    return KangGa(space, seed=seed)


def _omniboost(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.papers.managers.omniboost.omniboost import OmniBoost

    return OmniBoost(space, seed=seed)


def _omniboost_star(space: DesignSpace, seed: int, _: ManagerSettings) -> Engine:
    from dse.papers.managers.omniboost.omniboost import OmniBoostStar

    return OmniBoostStar(space, seed=seed)


THROUGHPUT_AND_POWER = (ObjectiveKind.THROUGHPUT, ObjectiveKind.POWER)

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
    EngineName.MOBILE_I: EngineInfo(
        "loads balanced over units for a pipeline, as Mobile-I does",
        _mobile_i,
        required=(ObjectiveKind.THROUGHPUT,),
    ),
    EngineName.RANDOM: EngineInfo("random mappings and clocks", _random),
    EngineName.EXHAUSTIVE: EngineInfo("all there are, where these are few", _exhaustive),
    EngineName.LA_MCTS: EngineInfo(
        "MapFormer's tree search over a predictor, for throughput and power",
        _la_mcts,
        resumable=False,
        required=THROUGHPUT_AND_POWER,
        settings=("mode", "predictor"),
    ),
    EngineName.MOSAIC: EngineInfo(
        "MOSAIC: each network cut for itself, on CPU and GPU",
        _mosaic,
        required=THROUGHPUT_AND_POWER,
        resumable=False,
    ),
    EngineName.ODMDEF: EngineInfo(
        "ODMDEF: layer by layer, on CPU and GPU",
        _odmdef,
        required=THROUGHPUT_AND_POWER,
        resumable=False,
    ),
    EngineName.KANG_GA: EngineInfo(
        "the genetic algorithm of Kang et al., on CPU and GPU",
        _kang_ga,
        required=THROUGHPUT_AND_POWER,
        resumable=False,
    ),
    EngineName.OMNIBOOST: EngineInfo(
        "OmniBoost: tree search for throughput, on CPU and GPU",
        _omniboost,
        required=THROUGHPUT_AND_POWER,
        resumable=False,
    ),
    EngineName.OMNIBOOST_STAR: EngineInfo(
        "OmniBoost with the estimator of the power cap: 10, 15 or 30 W",
        _omniboost_star,
        required=THROUGHPUT_AND_POWER,
        resumable=False,
    ),
}

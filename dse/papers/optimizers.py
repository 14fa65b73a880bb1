"""The papers' schedulers as optimizers, registered under ``paretosoc.optimizers``."""

from __future__ import annotations

from collections.abc import Callable

from paretosoc.dse.engines.optimizers import Named
from paretosoc.dse.papers.managers.mapformer.settings import DEFAULT_MODE, ManagerSettings
from paretosoc.dse.search.base import Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.problem.objectives import ObjectiveKind

_THROUGHPUT_AND_POWER = (ObjectiveKind.THROUGHPUT, ObjectiveKind.POWER)


def la_mcts(settings: ManagerSettings | None = None) -> Named:
    """Return MapFormer's tree search over a predictor, for throughput and power.

    Args:
        settings: weights of Eq. 1 and the predictor; the paper's by default.
    """
    chosen = settings or ManagerSettings()

    def make(space: DesignSpace, seed: int) -> Engine:
        from paretosoc.dse.papers.managers.mapformer.la_mcts import LaMctsEngine
        from paretosoc.dse.papers.managers.mapformer.predictors import (
            default_predictor,
            make_predictor,
        )

        predictor = (
            default_predictor(space.problem)
            if chosen.predictor is None
            else make_predictor(chosen.predictor)
        )
        return LaMctsEngine(space, predictor, seed=seed, mode=chosen.mode or DEFAULT_MODE)

    return _manager("la-mcts", make)


def _mobile_i(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.papers.mobile_i.pipeline_engine import MobileIEngine

    return MobileIEngine(space, seed=seed)


def _mosaic(space: DesignSpace, _: int) -> Engine:
    from paretosoc.dse.papers.managers.mosaic import Mosaic

    return Mosaic(space)


def _odmdef(space: DesignSpace, _: int) -> Engine:
    from paretosoc.dse.papers.managers.odmdef import Odmdef

    return Odmdef(space)


def _kang_ga(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.papers.managers.kang_ga import KangGa

    return KangGa(space, seed=seed)


def _omniboost(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.papers.managers.omniboost.omniboost import OmniBoost

    return OmniBoost(space, seed=seed)


def _omniboost_star(space: DesignSpace, seed: int) -> Engine:
    from paretosoc.dse.papers.managers.omniboost.omniboost import OmniBoostStar

    return OmniBoostStar(space, seed=seed)


def _manager(name: str, make: Callable[[DesignSpace, int], Engine]) -> Named:
    return Named(name, make, required=_THROUGHPUT_AND_POWER, resumable=False, single_decision=True)


MOBILE_I = Named("mobile-i", _mobile_i, required=(ObjectiveKind.THROUGHPUT,))
"""Loads balanced over units for a pipeline, as Mobile-I does."""
LA_MCTS = la_mcts()
MOSAIC = _manager("mosaic", _mosaic)
"""Each network cut for itself, on CPU and GPU."""
ODMDEF = _manager("odmdef", _odmdef)
"""Layer by layer, on CPU and GPU."""
KANG_GA = _manager("kang-ga", _kang_ga)
"""The genetic algorithm of Kang et al., on CPU and GPU."""
OMNIBOOST = _manager("omniboost", _omniboost)
"""Tree search for throughput, on CPU and GPU."""
OMNIBOOST_STAR = _manager("omniboost-star", _omniboost_star)
"""The same with the estimator of the power cap: 10, 15 or 30 W."""

"""The papers' schedulers as optimizers, registered under ``paretosoc.optimizers``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from paretosoc.dse.engines.optimizers import Named
from paretosoc.results.problem.objectives import ObjectiveKind

if TYPE_CHECKING:
    from paretosoc.dse.papers.estimator.predictor import PredictorName
    from paretosoc.dse.papers.managers.mapformer.la_mcts import Mode


def _manager(name: str, place: str) -> Named:
    return Named(
        name,
        f"paretosoc.dse.papers.managers.{place}",
        required=(ObjectiveKind.THROUGHPUT, ObjectiveKind.POWER),
        resumable=False,
        single_decision=True,
    )


MOBILE_I = Named(
    "mobile-i",
    "paretosoc.dse.papers.mobile_i.pipeline_engine:MobileIEngine",
    required=(ObjectiveKind.THROUGHPUT,),
)
"""Loads balanced over units for a pipeline, as Mobile-I does."""
LA_MCTS = _manager("la-mcts", "mapformer.la_mcts:LaMctsEngine")
"""MapFormer's tree search over a predictor."""
MOSAIC = _manager("mosaic", "mosaic:Mosaic")
"""Each network cut for itself, on CPU and GPU."""
ODMDEF = _manager("odmdef", "odmdef:Odmdef")
"""Layer by layer, on CPU and GPU."""
KANG_GA = _manager("kang-ga", "kang_ga:KangGa")
"""The genetic algorithm of Kang et al., on CPU and GPU."""
OMNIBOOST = _manager("omniboost", "omniboost.omniboost:OmniBoost")
"""Tree search for throughput, on CPU and GPU."""
OMNIBOOST_STAR = _manager("omniboost-star", "omniboost.omniboost:OmniBoostStar")
"""The same with the estimator of the power cap: 10, 15 or 30 W."""


def la_mcts(mode: Mode | None = None, predictor: PredictorName | None = None) -> Named:
    """Return MapFormer's tree search with other weights of Eq. 1, or another predictor.

    Args:
        mode: weights of throughput and power. None: those of the paper.
        predictor: None: one that fits the problem.
    """
    from paretosoc.dse.papers.estimator.predictor import make_predictor
    from paretosoc.dse.papers.managers.mapformer.la_mcts import DEFAULT_MODE, LaMctsEngine

    chosen = None if predictor is None else make_predictor(predictor)
    return replace(LA_MCTS, make=partial(LaMctsEngine, predictor=chosen, mode=mode or DEFAULT_MODE))

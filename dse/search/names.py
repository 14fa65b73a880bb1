"""Names of engines on the command line; :mod:`dse.engines.optimizer_registry` says what each can
do.
"""

from __future__ import annotations

from enum import Enum


class EngineName(Enum):
    """Names for ``--engine``."""

    AUTO = "auto"
    EXACT = "exact"
    NSGA2 = "nsga2"
    PYMOO_NSGA2 = "pymoo-nsga2"
    NSGA3 = "nsga3"
    SMS_EMOA = "sms-emoa"
    ANNEALING = "annealing"
    MOBILE_I = "mobile-i"
    RANDOM = "random"
    EXHAUSTIVE = "exhaustive"
    LA_MCTS = "la-mcts"
    MOSAIC = "mosaic"
    ODMDEF = "odmdef"
    KANG_GA = "kang-ga"
    OMNIBOOST = "omniboost"
    OMNIBOOST_STAR = "omniboost-star"


SINGLE_DECISION = frozenset(
    {
        EngineName.LA_MCTS,
        EngineName.MOSAIC,
        EngineName.ODMDEF,
        EngineName.KANG_GA,
        EngineName.OMNIBOOST,
        EngineName.OMNIBOOST_STAR,
    }
)
"""Engines whose own decision is the result. Baselines are not merged into their front, which may
therefore be dominated by one."""

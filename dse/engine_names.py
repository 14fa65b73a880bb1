"""Names of engines on the command line; :mod:`dse.engines` says what each can do."""

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
    RANDOM = "random"
    EXHAUSTIVE = "exhaustive"

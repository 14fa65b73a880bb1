"""Settings of managers besides the problem and the seed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from paretosoc.dse.papers.managers.mapformer.modes import Mode


class PredictorName(Enum):
    """Names for ``--predictor``."""

    TIMELINE = "timeline"
    LEARNED = "learned"
    LEARNED_STATIC = "learned-static"


DEFAULT_MODE = Mode.PERFORMANCE_BOOST
"""The default of the paper after 5.2."""


@dataclass(frozen=True)
class ManagerSettings:
    """None: the default."""

    mode: Mode | None = None
    predictor: PredictorName | None = None

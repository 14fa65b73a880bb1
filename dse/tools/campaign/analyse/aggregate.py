"""What a cell of several runs shows; apart, for the command line to load nothing heavy."""

from __future__ import annotations

from enum import Enum


class Over(Enum):
    """The best of their numbers, the worst, or between."""

    BEST = "best"
    WORST = "worst"
    MEDIAN = "median"
    MEAN = "mean"

"""Aggregation of several runs in one cell. A file of its own, so that the command line starts
fast."""

from __future__ import annotations

from enum import Enum


class Aggregation(Enum):
    """The best of their numbers, the worst, or between."""

    BEST = "best"
    WORST = "worst"
    MEDIAN = "median"
    MEAN = "mean"

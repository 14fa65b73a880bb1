"""Scores of predictions beside measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from paretosoc.common.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Comparison:
    """Predictions of one law under one protocol with the measurements, both [n], held out only.

    ``fitted``: the part of the set that the prediction has seen.
    """

    data: str
    fitted: str
    law: str
    unit: str
    predicted: FloatArray
    measured: FloatArray


@dataclass(frozen=True)
class Score:
    """The score of one comparison. Errors are shares of the measurement. ``rank``: Spearman's
    correlation, None if fewer than three points are held out or all predictions are equal.
    """

    data: str
    fitted: str
    law: str
    points: int
    median: float
    p90: float
    worst: float
    rank: float | None


def score(comparison: Comparison) -> Score:
    """Return the figures of a comparison.

    Raises:
        ValueError: without a point that is held out.
    """
    if not len(comparison.measured):
        raise ValueError(f"{comparison.data}: nothing is held out")
    errors = np.abs(comparison.predicted / comparison.measured - 1)
    ranked = len(errors) > 2 and np.ptp(comparison.predicted) > 0
    return Score(
        data=comparison.data,
        fitted=comparison.fitted,
        law=comparison.law,
        points=len(errors),
        median=float(np.median(errors)),
        p90=float(np.quantile(errors, 0.9)),
        worst=float(errors.max()),
        rank=float(spearmanr(comparison.predicted, comparison.measured).statistic)
        if ranked
        else None,
    )


def joined(parts: Sequence[Comparison]) -> Comparison:
    """Return one comparison of the points of several, of one law and protocol."""
    first = parts[0]
    return Comparison(
        first.data,
        first.fitted,
        first.law,
        first.unit,
        np.concatenate([part.predicted for part in parts]),
        np.concatenate([part.measured for part in parts]),
    )

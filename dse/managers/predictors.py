"""Predictors by their names on the command line."""

from __future__ import annotations

from dse.managers.predictor import Predictor, TimelinePredictor
from dse.managers.settings import PredictorName


def make_predictor(name: PredictorName) -> Predictor:
    """The predictor of that name."""
    match name:
        case PredictorName.TIMELINE:
            return TimelinePredictor()
        case PredictorName.LEARNED:
            from dse.learn.estimator_file import shipped_estimator

            return shipped_estimator().predictor

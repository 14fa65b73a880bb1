"""Predictors by their names on the command line."""

from __future__ import annotations

from paretosoc.dse.papers.estimator.predictor import Predictor, TimelinePredictor
from paretosoc.dse.papers.managers.mapformer.settings import PredictorName
from paretosoc.results.problem.problem import Problem


def make_predictor(name: PredictorName) -> Predictor:
    """The predictor of that name."""
    match name:
        case PredictorName.TIMELINE:
            return TimelinePredictor()
        case PredictorName.LEARNED | PredictorName.LEARNED_STATIC:
            from paretosoc.dse.papers.estimator.estimator_file import shipped_estimator

            return shipped_estimator(short_play=name is PredictorName.LEARNED).predictor


def default_predictor(problem: Problem) -> Predictor:
    """The learned one on what it was trained for, networks that run freely on its board; the
    timeline elsewhere.

    Simulation is more accurate, but takes far longer where slow networks run beside fast ones
    (``python -m examples.mapformer.equal_terms`` has the seconds of both).
    """
    if not problem.execution.has_frame:
        from paretosoc.dse.papers.estimator.estimator_file import shipped_estimator
        from paretosoc.dse.papers.estimator.settings import BoardShape

        estimator = shipped_estimator()
        if estimator.settings.board == BoardShape.of(problem):
            return estimator.predictor
    return TimelinePredictor()

"""Predictions of a mapping's throughput and power, their classes, and predictors by name."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.fitness.objectives import OutcomeFunction, make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem

CLASSES = 16
"""Classes of throughput and of power (MapFormer 5.1)."""


class PredictorName(Enum):
    """Names for ``--predictor``."""

    TIMELINE = "timeline"
    LEARNED = "learned"
    LEARNED_STATIC = "learned-static"


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predictions for n rows. A row that cannot run has throughput 0 and infinite power."""

    throughput_hz: FloatArray
    """[n]: mean over the networks, inferences per second. A predictor that classifies gives a
    class's centre."""
    power_w: FloatArray
    """[n]"""
    throughput_class: IntArray
    """[n]: 0 to 15, 15 the fastest."""
    power_class: IntArray
    """[n]: 0 to 15, 15 the hungriest."""


class Predictor(Protocol):
    """A predictor of the throughput and power of a problem's rows."""

    @property
    def name(self) -> str:
        """Name in results and on the command line."""
        ...

    def predict(self, problem: Problem, rows: IntArray) -> Prediction:
        """Predict throughput and power of canonical rows [n, groups + domains]."""
        ...


@dataclass(frozen=True, eq=False)
class Bins:
    """Sixteen bins of one quantity that hold equally many samples (MapFormer 4.2)."""

    edges: FloatArray
    """[15]: inner edges, ascending; a value on an edge belongs to the bin above."""
    centres: FloatArray
    """[16]: medians of the samples in each bin."""

    def __post_init__(self) -> None:
        for name, array, size in (
            ("edges", self.edges, CLASSES - 1),
            ("centres", self.centres, CLASSES),
        ):
            if array.shape != (size,):
                raise ResultError(f"bins: {name}: {size} values are required, got {array.shape}")
            if not np.isfinite(array).all() or (np.diff(array) < 0).any():
                raise ResultError(f"bins: {name}: finite values, ascending, are required")

    @classmethod
    def of(cls, values: FloatArray) -> Bins:
        """Return bins with equally many of the values [n] in each, if ties allow.

        Raises:
            ResultError: if there are fewer values than bins, or one is not finite.
        """
        values = np.sort(np.asarray(values, dtype=np.float64))
        if len(values) < CLASSES or not np.isfinite(values).all():
            raise ResultError(f"bins: at least {CLASSES} finite values are required")
        at = [len(values) * k // CLASSES for k in range(CLASSES + 1)]
        edges = [(values[i - 1] + values[i]) / 2 for i in at[1:-1]]
        centres = [np.median(values[a:b]) for a, b in itertools.pairwise(at)]
        return cls(np.array(edges), np.array(centres))

    def class_of(self, values: FloatArray) -> IntArray:
        """Return [n]: the bin of each value."""
        return np.searchsorted(self.edges, values, side="right").astype(np.int64)

    def centre_of(self, classes: IntArray) -> FloatArray:
        """Return [n]: the middle of each bin."""
        return self.centres[classes]


class TimelinePredictor:
    """The reference predictor: simulates every row.

    Classes are those of ``throughput`` and ``power`` if these are given. Otherwise they are bins of
    the first rows it predicts (of one problem and at least 16 that can run; all 0 before).
    """

    name = "timeline"

    def __init__(
        self, throughput: Bins | None = None, power: Bins | None = None, *, jobs: int = 1
    ) -> None:
        self._throughput = throughput
        self._power = power
        self._jobs = jobs
        self._problem: Problem | None = None
        self._evaluate: OutcomeFunction | None = None

    def predict(self, problem: Problem, rows: IntArray) -> Prediction:
        """Return throughput and power of the rows by simulation. Constraints are ignored.

        Raises:
            ResultError: if throughput or power is not among the problem's objectives.
        """
        throughput, power = throughput_and_power(problem)
        if self._evaluate is None or self._problem is not problem:
            self._evaluate = make_outcomes(problem, jobs=self._jobs)
            self._problem = problem
        outcomes = self._evaluate(rows)
        hertz, watts = (
            np.array([problem.objectives[k].shown(int(value)) for value in column])
            for k, column in (
                (throughput, outcomes.objectives[:, throughput]),
                (power, outcomes.objectives[:, power]),
            )
        )
        hertz = np.where(outcomes.possible, hertz, 0.0)
        watts = np.where(outcomes.possible, watts, np.inf)
        self._throughput = self._throughput or _bins(hertz[outcomes.possible])
        self._power = self._power or _bins(watts[outcomes.possible])
        return Prediction(
            hertz, watts, _classes(self._throughput, hertz), _classes(self._power, watts)
        )


def throughput_and_power(problem: Problem) -> tuple[int, int]:
    """Return the positions of throughput and power among the problem's objectives.

    Raises:
        ResultError: if one of them is missing.
    """
    kinds = [objective.kind for objective in problem.objectives]
    for kind in (ObjectiveKind.THROUGHPUT, ObjectiveKind.POWER):
        if kind not in kinds:
            names = ", ".join(entry.value for entry in kinds)
            raise ResultError(f"objectives: {kind.value} is required, got {names}")
    return kinds.index(ObjectiveKind.THROUGHPUT), kinds.index(ObjectiveKind.POWER)


def _bins(values: FloatArray) -> Bins | None:
    return Bins.of(values) if len(values) >= CLASSES else None


def _classes(bins: Bins | None, values: FloatArray) -> IntArray:
    return np.zeros(len(values), np.int64) if bins is None else bins.class_of(values)


def make_predictor(name: PredictorName) -> Predictor:
    """Return the predictor of that name."""
    match name:
        case PredictorName.TIMELINE:
            return TimelinePredictor()
        case PredictorName.LEARNED | PredictorName.LEARNED_STATIC:
            from paretosoc.dse.papers.estimator.estimator_file import shipped_estimator

            return shipped_estimator(short_play=name is PredictorName.LEARNED).predictor


def default_predictor(problem: Problem) -> Predictor:
    """Return the learned predictor for free-running networks on its board, else the timeline.

    Simulation is more accurate, but takes far longer if slow networks run beside fast ones
    (``python -m examples.mapformer.equal_terms`` has the seconds of both).
    """
    if not problem.execution.has_frame:
        from paretosoc.dse.papers.estimator.estimator_file import shipped_estimator
        from paretosoc.dse.papers.estimator.settings import BoardShape

        estimator = shipped_estimator()
        if estimator.settings.board == BoardShape.of(problem):
            return estimator.predictor
    return TimelinePredictor()

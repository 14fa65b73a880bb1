"""Everybody who maps a mix: the managers, MapFormer, and our explorer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from examples.mapformer.mixes import OBJECTIVES
from examples.mapformer.predicted_outcomes import predicted_outcomes
from paretosoc.common.arrays import IntArray
from paretosoc.dse.papers.estimator.predictor import Predictor, PredictorName, make_predictor
from paretosoc.dse.papers.managers.kang_ga import KangGa
from paretosoc.dse.papers.managers.mapformer.la_mcts import LaMctsEngine, Mode, tie_break, value_of
from paretosoc.dse.papers.managers.mosaic import Mosaic
from paretosoc.dse.papers.managers.odmdef import Odmdef
from paretosoc.dse.papers.managers.omniboost.omniboost import OmniBoost, OmniBoostStar
from paretosoc.dse.search.base import Engine
from paretosoc.dse.search.driver import Budget, SearchResult, search
from paretosoc.dse.search.optimizers.nsga2 import POPULATION, Nsga2Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.limits import RATE, constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

OURS = "paretosoc"
MIN_RATE_HZ = 1
"""Every network's least rate in the second view."""
OURS_WITH_RATES = f"{OURS}, {MIN_RATE_HZ} Hz each"
MAPFORMER = "MapFormer"
UNLIMITED = 10**9
SEARCHING = 0.75
"""Our share of the time that is given; the rest is for preparing, and for what is under way when
the time is up."""
SOUGHT = (ObjectiveKind.EFFICIENCY, ObjectiveKind.THROUGHPUT)
"""What our explorer looks for; of its front the most efficient member is its answer."""
SOUGHT_BY_MAPFORMER = (ObjectiveKind.THROUGHPUT, ObjectiveKind.POWER)
"""What Eq. 1 weighs. It rises with throughput and falls with power, so its best design point is on
their front."""


class DecidingEngine(Engine, Protocol):
    """An engine that ends with one decision."""

    @property
    def answer(self) -> IntArray | None:
        """Return [groups + domains]: the decision, or None if the engine found nothing."""
        ...


MANAGERS: dict[str, Callable[..., DecidingEngine]] = {
    "MOSAIC": Mosaic,
    "ODMDEF": Odmdef,
    "GA": KangGa,
    "OmniBoost": OmniBoost,
    "OmniBoost*": OmniBoostStar,
}
"""Engines by the names that the paper prints."""


@dataclass(frozen=True)
class Answer:
    """What one of them put on the board, as the timeline judges it; all 0 where it gave nothing."""

    throughput_hz: float
    """Mean over the networks."""
    power_w: float
    efficiency_per_j: float
    """Inferences per joule."""
    slowest_hz: float
    """Rate of the slowest network."""
    within_cap: bool
    seconds: float
    """Until it answered."""


def manager(name: str, problem: Problem, seed: int) -> Answer:
    """One of ``MANAGERS`` on a mix."""
    return _run(lambda space: MANAGERS[name](space, seed=seed), problem)


def mapformer(
    problem: Problem,
    seed: int,
    mode: Mode = Mode.PERFORMANCE_BOOST,
    predictor: Predictor | None = None,
) -> Answer:
    """MapFormer in a mode: its tree search over its estimator, or over another predictor."""
    asked = predictor or make_predictor(PredictorName.LEARNED)
    return _run(lambda space: LaMctsEngine(space, asked, seed=seed, mode=mode), problem)


def ours(problem: Problem, seed: int, seconds: float) -> Answer:
    """Our explorer for a given time, on the timeline that judges its answer."""
    began = time.perf_counter()
    looking = _seeking(problem, SOUGHT)
    engine = Nsga2Engine(DesignSpace(looking), seed=seed)
    budget = Budget(evaluations=UNLIMITED, seconds=SEARCHING * seconds)
    found = search(engine, make_outcomes(looking, jobs=2), budget)
    return _answer(problem, _most_efficient(found), began)


def ours_with_rates(problem: Problem, seed: int, seconds: float) -> Answer:
    """The same with a least rate of every network."""
    return ours(_with_min_rates(problem, MIN_RATE_HZ * 10**6), seed, seconds)


def _with_min_rates(problem: Problem, rate_uhz: int) -> Problem:
    networks = tuple(replace(network, min_rate_uhz=rate_uhz) for network in problem.networks)
    return replace(problem, networks=networks)


def ours_predicted(problem: Problem, seed: int, predictor: Predictor, predictions: int) -> Answer:
    """Our explorer on the terms of MapFormer's tree search: it begins with random rows and asks
    ``predictor`` for so many; the timeline judges its answer and simulates nothing before.

    Its usual first population does not serve here: some rows of that are chosen by the timeline.
    """
    began = time.perf_counter()
    found = _predicted_search(problem, seed, predictor, predictions, SOUGHT)
    return _answer(problem, _most_efficient(found), began)


def ours_by_value(
    problem: Problem, seed: int, predictor: Predictor, predictions: int, mode: Mode
) -> Answer:
    """Search on the same terms for the goal of MapFormer: of a front of throughput and power the
    answer is the member with the largest predicted value of Eq. 1 in ``mode``."""
    began = time.perf_counter()
    rows = _predicted_search(problem, seed, predictor, predictions, SOUGHT_BY_MAPFORMER).rows
    best: IntArray | None = None
    if len(rows):
        predicted = predictor.predict(problem, rows)
        best = rows[np.lexsort((tie_break(mode, predicted), value_of(mode, predicted)))[-1]]
    return _answer(problem, best, began)


def _predicted_search(
    problem: Problem,
    seed: int,
    predictor: Predictor,
    predictions: int,
    sought: tuple[ObjectiveKind, ...],
) -> SearchResult:
    space = DesignSpace(_seeking(problem, sought))
    first = space.random(np.random.default_rng(seed), POPULATION)
    engine = Nsga2Engine(space, seed=seed, first=first)
    evaluate = predicted_outcomes(problem, predictor, sought)
    return search(engine, evaluate, Budget(evaluations=predictions))


def _seeking(problem: Problem, sought: tuple[ObjectiveKind, ...]) -> Problem:
    return replace(problem, objectives=tuple(Objective(kind) for kind in sought))


def _most_efficient(found: SearchResult) -> IntArray | None:
    if len(found.rows) == 0:
        return None
    best: IntArray = found.rows[
        found.objectives[:, SOUGHT.index(ObjectiveKind.EFFICIENCY)].argmin()
    ]
    return best


def _answer(problem: Problem, row: IntArray | None, began: float) -> Answer:
    """Return the answer that ``row`` is, or none, with the seconds since ``began``."""
    seconds = time.perf_counter() - began
    if row is None:
        return Answer(0.0, 0.0, 0.0, 0.0, True, seconds)
    return _judged(problem, row, seconds)


def _run(make: Callable[[DesignSpace], DecidingEngine], problem: Problem) -> Answer:
    """Lets an engine go on until it has ended; the board is run only for the one that looks."""
    began = time.perf_counter()
    engine = make(DesignSpace(problem))
    evaluate = make_outcomes(problem)
    while len(rows := engine.ask()):
        if isinstance(engine, KangGa):
            engine.tell(rows, evaluate(rows))
    return _answer(problem, engine.answer, began)


def _judged(problem: Problem, row: IntArray, seconds: float) -> Answer:
    """What the timeline says of a row."""
    judged = _with_min_rates(_seeking(problem, OBJECTIVES), 1)
    outcomes = make_outcomes(judged)(row[None])
    values = outcomes.objectives[0].tolist()
    throughput, power, efficiency = (
        objective.shown(value) for objective, value in zip(judged.objectives, values, strict=True)
    )
    # Of a rate that is at least something the figure is negative.
    slowest_uhz = min(
        -int(figure)
        for limit, figure in zip(constraints_of(judged), outcomes.constraint_values[0], strict=True)
        if limit.kind is RATE
    )
    return Answer(
        throughput, power, efficiency, slowest_uhz / 10**6, bool(outcomes.feasible[0]), seconds
    )

"""Everybody who maps a mix: the managers, MapFormer, and our explorer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from dse.papers.managers.base import DecidingEngine
from dse.papers.managers.kang_ga import KangGa
from dse.papers.managers.mapformer.la_mcts import LaMctsEngine
from dse.papers.managers.mapformer.modes import Mode
from dse.papers.managers.mapformer.predictors import make_predictor
from dse.papers.managers.mapformer.settings import PredictorName
from dse.papers.managers.mosaic import Mosaic
from dse.papers.managers.odmdef import Odmdef
from dse.papers.managers.omniboost.omniboost import OmniBoost, OmniBoostStar
from dse.search.driver import Budget, search
from dse.search.optimizers.nsga2 import Nsga2Engine
from dse.space.design_space import DesignSpace
from fitness.objectives import make_outcomes
from results.problem.objectives import objective_value
from results.problem.problem import IntArray, Objective, ObjectiveKind, Problem

OURS = "paretosoc"
MAPFORMER = "MapFormer"
MANAGERS = ("MOSAIC", "ODMDEF", "GA", "OmniBoost", "OmniBoost*")
UNLIMITED = 10**9
SEARCHING = 0.75
"""Our share of the time that is given; the rest is for preparing, and for what is under way when
the time is up."""
JUDGED = (ObjectiveKind.THROUGHPUT, ObjectiveKind.POWER, ObjectiveKind.EFFICIENCY)


@dataclass(frozen=True)
class Answer:
    """What one of them put on the board, as the timeline judges it; all 0 where it gave nothing."""

    throughput_hz: float
    """Mean over the networks."""
    power_w: float
    efficiency_per_j: float
    """Inferences per joule."""
    within_cap: bool
    seconds: float
    """Until it answered."""


def manager(name: str, problem: Problem, seed: int) -> Answer:
    """One of ``MANAGERS`` on a mix."""
    makers: dict[str, Callable[[DesignSpace], DecidingEngine]] = {
        "MOSAIC": Mosaic,
        "ODMDEF": Odmdef,
        "GA": lambda space: KangGa(space, seed=seed),
        "OmniBoost": lambda space: OmniBoost(space, seed=seed),
        "OmniBoost*": lambda space: OmniBoostStar(space, seed=seed),
    }
    return _run(makers[name], problem)


def mapformer(
    problem: Problem,
    seed: int,
    mode: Mode = Mode.PERFORMANCE_BOOST,
    predictor: PredictorName = PredictorName.LEARNED,
) -> Answer:
    """MapFormer in a mode: its tree search over its estimator, or over another predictor."""
    asked = make_predictor(predictor)
    return _run(lambda space: LaMctsEngine(space, asked, seed=seed, mode=mode), problem)


def ours(problem: Problem, seed: int, seconds: float) -> Answer:
    """Our explorer for a given time, looking for efficiency and throughput; of its front the most
    efficient member counts."""
    began = time.perf_counter()
    kinds = (ObjectiveKind.EFFICIENCY, ObjectiveKind.THROUGHPUT)
    looking = replace(problem, objectives=tuple(Objective(kind) for kind in kinds))
    space = DesignSpace(looking)
    budget = Budget(evaluations=UNLIMITED, seconds=SEARCHING * seconds)
    found = search(Nsga2Engine(space, seed=seed), make_outcomes(looking, jobs=2), budget)
    if len(found.rows) == 0:
        return _nothing(time.perf_counter() - began)
    best = found.rows[int(found.objectives[:, 0].argmin())]
    return _judged(problem, best, time.perf_counter() - began)


def _run(make: Callable[[DesignSpace], DecidingEngine], problem: Problem) -> Answer:
    """Lets an engine go on until it has ended; the board is run only for the one that looks."""
    began = time.perf_counter()
    engine = make(DesignSpace(problem))
    evaluate = make_outcomes(problem)
    while len(rows := engine.ask()):
        if isinstance(engine, KangGa):
            engine.tell(rows, evaluate(rows))
    seconds = time.perf_counter() - began
    answer = engine.answer
    return _nothing(seconds) if answer is None else _judged(problem, answer, seconds)


def _nothing(seconds: float) -> Answer:
    return Answer(0.0, 0.0, 0.0, True, seconds)


def _judged(problem: Problem, row: IntArray, seconds: float) -> Answer:
    """What the timeline says of a row."""
    judged = replace(problem, objectives=tuple(Objective(kind) for kind in JUDGED))
    outcomes = make_outcomes(judged)(row[None])
    values = outcomes.objectives[0].tolist()
    throughput, power, efficiency = (
        objective_value(objective, value)
        for objective, value in zip(judged.objectives, values, strict=True)
    )
    return Answer(throughput, power, efficiency, bool(outcomes.feasible[0]), seconds)

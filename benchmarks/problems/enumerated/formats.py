"""Random small problems whose groups choose among number formats, with losses of accuracy and
memory as objectives and limits, and all their design points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.problems.enumerated.space import Enumerated, all_designs
from benchmarks.problems.memory import with_memory
from benchmarks.problems.number_formats import with_formats
from benchmarks.problems.random_problem import (
    RandomShape,
    random_problem,
    with_batches,
    with_dispatch,
    with_rates,
)
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.execution import FreeRunning, Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem

SHAPE = RandomShape(
    networks=(1, 2), groups=(1, 3), units=(1, 2), points=(1, 2), phases=True, any_slopes=True
)
MAX_DESIGNS = 4000
MAX_RUNS = 200
"""Most design points of pipelines and the like, whose simulation takes longer."""


def enumerated_formats(seed: int) -> Enumerated | None:
    """Draw a frame, pipeline, free run or networks with rates, or None if it is too large.

    It has some of the objectives that its model permits, losses and memory among them if it can.
    Limits on these, on segments and transitions, deadlines, and an energy budget are there
    sometimes.
    """
    rng = np.random.default_rng((29, seed))
    problem = with_memory(rng, with_formats(rng, _problem(rng), most=3 if seed % 3 else 2))
    problem = with_batches(rng.spawn(1)[0], problem)
    problem = with_dispatch(np.random.default_rng((37, seed)), problem)
    rows = all_designs(problem)
    one_frame = not problem.execution.frames_overlap and not problem.has_rates
    if len(rows) > (MAX_DESIGNS if one_frame else MAX_RUNS):
        return None
    first = ObjectiveKind.LATENCY
    if not one_frame:
        first = ObjectiveKind.RESPONSE if problem.has_rates else ObjectiveKind.THROUGHPUT
    pool = [Objective(first), Objective(ObjectiveKind.ENERGY)]
    if problem.execution.has_frame:
        last = len(problem.networks) - 1
        pool += [Objective(ObjectiveKind.ACCURACY_LOSS), Objective(ObjectiveKind.MEMORY)]
        pool += [Objective(ObjectiveKind.ACCURACY_LOSS, last)]
    count = min(len(pool), int(rng.integers(1, 4)))
    chosen = [pool[i] for i in sorted(rng.choice(len(pool), count, replace=False))]
    problem = replace(problem, objectives=tuple(chosen))
    both = replace(problem, objectives=(Objective(first), Objective(ObjectiveKind.ENERGY)))
    time, energy = make_outcomes(both)(rows).objectives.T

    def drawn(values: np.ndarray) -> int:
        return max(1, int(np.quantile(values, rng.random())))

    if rng.integers(4) == 0:
        problem = replace(problem, energy_budget_fj=drawn(energy))
    if rng.integers(3) == 0:
        networks = [
            replace(
                network,
                deadline_ps=drawn(time) if one_frame and rng.integers(2) else network.deadline_ps,
                max_transitions=int(rng.integers(3)) if rng.integers(2) else None,
            )
            for network in problem.networks
        ]
        units = [
            replace(unit, max_segments=int(rng.integers(1, 4)) if u == first_entry else None)
            for u, (unit, first_entry) in enumerate(
                zip(problem.units, problem.unit_of, strict=True)
            )
        ]
        problem = replace(problem, networks=tuple(networks), units=tuple(units))
    check_problem(problem)
    outcomes = make_outcomes(problem)(rows)
    return Enumerated(problem, outcomes.objectives[outcomes.feasible], outcomes.objectives)


def enumerated_losses(seed: int) -> Enumerated | None:
    """Draw one frame with losses of accuracy, many of them 0, as objectives, or None if it is too
    large.

    Latency or energy is beside them sometimes. There are no limits but on segments and transitions.
    """
    rng = np.random.default_rng((78, seed))
    problem = with_formats(rng, random_problem(rng, replace(SHAPE, networks=(1, 3))))
    networks = tuple(
        replace(
            network,
            max_loss_ppm=None,
            max_transitions=int(rng.integers(3)) if rng.integers(3) == 0 else None,
        )
        for network in problem.networks
    )
    units = tuple(
        replace(
            unit,
            max_segments=int(rng.integers(1, 4)) if u == first and rng.integers(2) else None,
            loss_ppm=None if unit.loss_ppm is None else unit.loss_ppm // 1000 * rng.integers(2),
        )
        for u, (unit, first) in enumerate(zip(problem.units, problem.unit_of, strict=True))
    )
    kind = ObjectiveKind.ACCURACY_LOSS
    pool = [Objective(kind, n) for n in range(len(networks))]
    pool += [Objective(kind), Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)]
    count = int(rng.integers(1, 4))
    chosen = tuple(pool[i] for i in sorted(rng.choice(len(pool), count, replace=False)))
    problem = replace(problem, networks=networks, units=units, objectives=chosen)
    problem = with_dispatch(np.random.default_rng((37, seed)), problem)
    rows = all_designs(problem)
    if len(rows) > MAX_DESIGNS:
        return None
    outcomes = make_outcomes(problem)(rows)
    return Enumerated(problem, outcomes.objectives[outcomes.feasible], outcomes.objectives)


def _problem(rng: np.random.Generator) -> Problem:
    model = int(rng.integers(8))
    problem = random_problem(rng, replace(SHAPE, ties=bool(rng.integers(2))))
    match model:
        case 0:
            plain = random_problem(rng, replace(SHAPE, phases=False))
            return with_rates(rng, plain)
        case 1:
            return replace(problem, execution=Pipeline(int(rng.integers(1, 5))))
        case 2:
            networks = tuple(replace(n, waits_for=(), arrival_ps=0) for n in problem.networks)
            free = FreeRunning(int(rng.integers(1, 5)))
            return replace(
                problem, networks=networks, execution=free, handovers=(), handover_ps=None
            )
        case _:
            return problem

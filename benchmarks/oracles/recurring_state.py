"""The rates of a recurring state: the exact values of the long run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from benchmarks.problems.random_problem import RandomShape, random_design, random_problem
from paretosoc.fitness.check.members.frames import Account, Simulation
from paretosoc.results.problem.execution import FreeRunning, Pipeline
from paretosoc.results.problem.problem import DesignPoint, Problem

MAX_ROUNDS = 2000
FAR_APART = 64
"""Frames of two streams whose numbers differ by more are in the same order for good, as long as
they draw further apart: numbers decide only between frames that are ready at the same instant."""


def recurring_periods(
    problem: Problem, design: DesignPoint, *, most: int = MAX_ROUNDS
) -> tuple[Fraction, ...] | None:
    """Return the frame period of each stream, or None if no state recurs within ``most`` rounds.

    Every state at the end of a round is kept, so the first that recurs is found.
    """
    simulation = Simulation(problem, design, compiled=True)
    seen: dict[object, tuple[tuple[int, ...], Account]] = {}
    while simulation.rounds < most:
        before = simulation.rounds
        simulation.advance()
        if simulation.rounds == before:
            continue
        oldest = simulation.oldest_frames()
        apart = tuple(frame - oldest[0] for frame in oldest)
        near = tuple(max(-FAR_APART, min(FAR_APART, gap)) for gap in apart)
        state = simulation.form(), near
        if state not in seen:
            seen[state] = apart, simulation.account()
            continue
        then, begin = seen[state]
        if all(abs(b) >= abs(a) for a, b in zip(then, apart, strict=True)):
            return exact_periods(simulation, begin, simulation.account())
        seen[state] = apart, simulation.account()
    return None


def exact_periods(simulation: Simulation, begin: Account, end: Account) -> tuple[Fraction, ...]:
    """Return the exact frame periods of the streams between two equal states.

    Every unit executes the same number of frames of a stream there.
    """
    found: list[set[Fraction]] = [set() for _ in simulation.streams]
    for (stream, unit), load in simulation.loads().items():
        done = end.executed_ps[stream, unit] - begin.executed_ps[stream, unit]
        found[stream].add(Fraction(load * (end.now_ps - begin.now_ps), done))
    assert all(len(values) == 1 for values in found)
    return tuple(values.pop() for values in found)


def random_stream(seed: int, *, free_running: bool) -> tuple[Problem, DesignPoint]:
    """Draw a random pipeline, or networks that run freely, with 1 to 8 frames in flight."""
    rng = np.random.default_rng(seed)
    shape = RandomShape(ties=seed % 4 == 0, contention=seed % 8 not in (0, 1), copies=seed % 3 == 0)
    problem = random_problem(rng, shape)
    model = FreeRunning if free_running else Pipeline
    problem = replace(problem, execution=model(frames_in_flight=seed % 8 + 1))
    if free_running:
        alone = tuple(replace(n, waits_for=(), arrival_ps=0) for n in problem.networks)
        problem = replace(problem, networks=alone)
    return problem, random_design(rng, problem)

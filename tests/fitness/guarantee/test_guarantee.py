"""Guaranteed latencies: no run in planned order is later, and two programs agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.oracles.planned_play import Run, play, stand_alone_ps
from benchmarks.problems.number_formats import with_formats
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_dispatch,
    with_rates,
    with_waiting_releases,
)
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.fitness.check.members.guarantee import plain_guarantee
from paretosoc.fitness.guarantee.layout import make_guarantees
from paretosoc.results.front.schedule import Schedule
from paretosoc.results.problem.problem import DesignPoint, Problem

SHAPES = (
    RandomShape(),
    RandomShape(networks=(2, 3), groups=(3, 6), units=(2, 3), waiting=False, unsupported=0.0),
    RandomShape(networks=(2, 4), units=(2, 4), phases=True, any_slopes=True),
    RandomShape(networks=(2, 4), units=(2, 3), ties=True, copies=True),
)
TOLERANCES = ((700, 1000), (700, 1100), (950, 1050), (0, 2000), (1000, 1000))


def drawn(seed: int) -> tuple[np.random.Generator, Problem, DesignPoint, tuple[int, int]]:
    """Return a random problem of any dispatch, with a design point and a tolerance."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, SHAPES[seed % len(SHAPES)])
    if seed % 3 == 1:
        problem = with_formats(rng, problem)
    problem = with_dispatch(rng, problem)
    return rng, problem, random_design(rng, problem), TOLERANCES[seed % len(TOLERANCES)]


def ends_of(schedule: Schedule) -> dict[Run, int]:
    """Return the ends of the executions of a frame."""
    return {(run.repeat, run.group): run.end_ps for run in schedule.groups}


def times_within(
    rng: np.random.Generator, alone: dict[Run, int], tolerance: tuple[int, int]
) -> dict[Run, int]:
    """Return times within the tolerance: half of the draws at its ends."""
    ends = bool(rng.integers(2))
    times = {}
    for run, time in alone.items():
        least, most = time * tolerance[0] // 1000, -(-time * tolerance[1] // 1000)
        place = int(rng.integers(2)) if ends else float(rng.random())
        times[run] = least + int((most - least) * place)
    return times


@pytest.mark.parametrize("seed", range(20))
def test_no_run_in_planned_order_is_later(seed: int) -> None:
    rng, problem, design, tolerance = drawn(seed)
    alone = stand_alone_ps(problem, design)
    nominal = play(problem, design, alone)
    schedule = simulate(problem, design).schedule
    bound = plain_guarantee(problem, design, schedule, tolerance)
    assert nominal.end == ends_of(schedule)
    assert bound.makespan_ps >= max(nominal.end.values())
    if tolerance == (1000, 1000):
        assert bound.end_ps == nominal.end
    for _ in range(25):
        times = times_within(rng, alone, tolerance)
        played = play(problem, design, times, nominal.order)
        assert all(end <= bound.end_ps[run] for run, end in played.end.items())


@pytest.mark.parametrize("seed", range(100, 120))
def test_the_compiled_analysis_agrees_with_the_plain_one(seed: int) -> None:
    _, problem, design, tolerance = drawn(seed)
    found = make_guarantees(problem, tolerance)(design.row[np.newaxis])
    plain = plain_guarantee(problem, design, simulate(problem, design).schedule, tolerance)
    assert found.possible.all()
    assert found.makespan_ps.tolist() == [plain.makespan_ps]
    assert found.latency_ps.tolist() == [list(plain.latency_ps)]


def with_jitter(rng: np.random.Generator, problem: Problem) -> Problem:
    """Let releases of some networks with rates come late, by up to half a period of all."""
    most = (problem.execution.period_ps or 0) // 2
    networks = tuple(
        replace(network, jitter_ps=int(rng.integers(most + 1)) * int(rng.integers(2)))
        if network.paced
        else network
        for network in problem.networks
    )
    return replace(problem, networks=networks)


def late_releases(rng: np.random.Generator, problem: Problem) -> dict[tuple[int, int], int]:
    """Draw how late releases are, half of the time at the ends of what is possible."""
    ends = bool(rng.integers(2))
    return {
        (n, repeat): network.jitter_ps * int(rng.integers(2))
        if ends
        else int(rng.integers(network.jitter_ps + 1))
        for n, network in enumerate(problem.networks)
        for repeat in range(1, network.repeats + 1)
    }


@pytest.mark.parametrize("seed", range(600, 620))
def test_releases_of_a_period_are_bounded(seed: int) -> None:
    rng, problem, design, tolerance = drawn(seed)
    units = tuple(replace(unit, step_ps=None) for unit in problem.units)
    problem = with_rates(rng, replace(problem, units=units, handovers=(), handover_ps=None))
    if seed % 2:
        problem = with_waiting_releases(rng, problem)
    if seed % 4 > 1:
        problem = with_jitter(rng, problem)
    alone = stand_alone_ps(problem, design)
    nominal = play(problem, design, alone)
    schedule = simulate(problem, design).schedule
    plain = plain_guarantee(problem, design, schedule, tolerance)
    found = make_guarantees(problem, tolerance)(design.row[np.newaxis])
    assert found.makespan_ps.tolist() == [plain.makespan_ps]
    assert found.latency_ps.tolist() == [list(plain.latency_ps)]
    assert nominal.end == ends_of(schedule)
    for _ in range(5 if seed % 4 < 2 else 20):
        times, late = times_within(rng, alone, tolerance), late_releases(rng, problem)
        played = play(problem, design, times, nominal.order, late)
        assert all(end <= plain.end_ps[run] for run, end in played.end.items())


def test_exact_times_give_the_latency_itself() -> None:
    for seed in range(200, 215):
        _, problem, design, _ = drawn(seed)
        found = make_guarantees(problem, (1000, 1000))(design.row[np.newaxis])
        timeline = simulate(problem, design)
        assert found.makespan_ps.tolist() == list(timeline.frame_end_ps)
        assert found.latency_ps.tolist() == [list(timeline.latency_ps[0])]


def test_a_wider_tolerance_guarantees_no_less() -> None:
    for seed in range(300, 315):
        _, problem, design, _ = drawn(seed)
        row = design.row[np.newaxis]
        bounds = [
            int(make_guarantees(problem, tolerance)(row).makespan_ps[0])
            for tolerance in ((1000, 1000), (950, 1020), (700, 1100), (0, 1100))
        ]
        assert bounds == sorted(bounds)

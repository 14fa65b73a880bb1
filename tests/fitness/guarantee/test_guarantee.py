"""Guaranteed latencies: no run in planned order is later, and two programs agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_rates,
    with_waiting_releases,
)
from paretosoc.fitness.check.frames import simulate
from paretosoc.fitness.check.guarantee import plain_guarantee
from paretosoc.fitness.guarantee.evaluate import make_guarantees
from paretosoc.fitness.guarantee.kernel import bound
from paretosoc.fitness.guarantee.layout import LATE, make_order_rules, make_tracks
from paretosoc.fitness.simulate import chosen_of, row_of
from paretosoc.fitness.simulator.layout import make_plan
from paretosoc.fitness.simulator.state import make_state
from paretosoc.results.front.schedule import Schedule, ScheduledGroup
from paretosoc.results.problem.parts import DISPATCHES, ENGINE, SHARED
from paretosoc.results.problem.problem import DesignPoint, Problem
from tests.support.planned_play import Played, Run, play, stand_alone_ps

SHAPES = (
    RandomShape(),
    RandomShape(networks=(2, 3), groups=(3, 6), units=(2, 3), waiting=False, unsupported=0.0),
    RandomShape(networks=(2, 4), units=(2, 4), phases=True, any_slopes=True),
    RandomShape(networks=(2, 4), units=(2, 3), ties=True, copies=True),
)
TOLERANCES = ((700, 1000), (700, 1100), (950, 1050), (0, 2000), (1000, 1000))


def drawn(seed: int) -> tuple[np.random.Generator, Problem, DesignPoint, tuple[int, int]]:
    """Return a random problem with a design point and a tolerance."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, SHAPES[seed % len(SHAPES)])
    return rng, problem, random_design(rng, problem), TOLERANCES[seed % len(TOLERANCES)]


def with_dispatch(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with a drawn dispatch of each unit."""
    units = []
    for unit in problem.units:
        dispatch = DISPATCHES[int(rng.integers(len(DISPATCHES)))]
        permille = int(rng.integers(0, 300)) if dispatch == SHARED else 0
        units.append(replace(unit, dispatch=dispatch, sharing_permille=permille))
    return replace(problem, units=tuple(units))


def schedule_of(problem: Problem, design: DesignPoint, played: Played) -> Schedule:
    """Return what was played as a schedule."""
    alone = stand_alone_ps(problem, design)
    return Schedule(
        tuple(
            ScheduledGroup(
                *(1, problem.network_of[run[1]], *run, int(design.units[run[1]])),
                *(start, start, played.end[run], alone[run]),
            )
            for run, start in played.start.items()
        )
    )


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


@pytest.mark.parametrize("seed", range(40))
def test_no_run_in_planned_order_is_later(seed: int) -> None:
    rng, problem, design, tolerance = drawn(seed)
    if seed % 2:
        problem = with_dispatch(rng, problem)
    alone = stand_alone_ps(problem, design)
    nominal = play(problem, design, alone)
    schedule = schedule_of(problem, design, nominal)
    bound = plain_guarantee(problem, design, schedule, tolerance)
    assert bound.makespan_ps >= max(nominal.end.values())
    if tolerance == (1000, 1000):
        assert bound.end_ps == nominal.end
    for _ in range(25):
        times = times_within(rng, alone, tolerance)
        played = play(problem, design, times, nominal.order)
        assert all(end <= bound.end_ps[run] for run, end in played.end.items())


@pytest.mark.parametrize("seed", range(100, 160))
def test_the_compiled_analysis_agrees_with_the_plain_one(seed: int) -> None:
    _, problem, design, tolerance = drawn(seed)
    found = make_guarantees(problem, tolerance)(row_of(design)[np.newaxis])
    plain = plain_guarantee(problem, design, simulate(problem, design).schedule, tolerance)
    assert found.possible.all()
    assert found.makespan_ps.tolist() == [plain.makespan_ps]
    assert found.latency_ps.tolist() == [list(plain.latency_ps)]


@pytest.mark.parametrize("seed", range(400, 430))
def test_both_agree_on_engines_and_shared_units(seed: int) -> None:
    rng, problem, design, tolerance = drawn(seed)
    problem = with_dispatch(rng, problem)
    played = play(problem, design, stand_alone_ps(problem, design))
    schedule = schedule_of(problem, design, played)
    plain = plain_guarantee(problem, design, schedule, tolerance)
    plan = make_plan(problem)
    rules = make_order_rules(problem, plan, tolerance)
    tracks = make_tracks(plan, rules)
    state = make_state(plan, frames=1, in_flight=1, log=True, stops=True)
    repeats = (plan.instance["repeat"] + 1).tolist()
    runs = list(zip(repeats, plan.instance.group.tolist(), strict=True))
    for row, run in enumerate(runs):
        state.log["start"][row], state.log["end"][row] = played.start[run], played.end[run]
    bound(plan, rules, chosen_of(problem, plan, row_of(design)), state, tracks)
    assert tracks.end[LATE].tolist() == [plain.end_ps[run] for run in runs]


@pytest.mark.parametrize("seed", range(600, 620))
def test_releases_of_a_period_are_bounded(seed: int) -> None:
    rng, problem, design, tolerance = drawn(seed)
    units = tuple(replace(unit, step_ps=None) for unit in problem.units)
    problem = with_rates(rng, replace(problem, units=units, handovers=(), handover_ps=None))
    if seed % 2:
        problem = with_waiting_releases(rng, problem)
    alone = stand_alone_ps(problem, design)
    nominal = play(problem, design, alone)
    schedule = simulate(problem, design).schedule
    plain = plain_guarantee(problem, design, schedule, tolerance)
    found = make_guarantees(problem, tolerance)(row_of(design)[np.newaxis])
    assert found.makespan_ps.tolist() == [plain.makespan_ps]
    assert found.latency_ps.tolist() == [list(plain.latency_ps)]
    assert nominal.end == {(run.repeat, run.group): run.end_ps for run in schedule.groups}
    for _ in range(5):
        played = play(problem, design, times_within(rng, alone, tolerance), nominal.order)
        assert all(end <= plain.end_ps[run] for run, end in played.end.items())


def test_exact_times_give_the_latency_itself() -> None:
    for seed in range(200, 230):
        _, problem, design, _ = drawn(seed)
        found = make_guarantees(problem, (1000, 1000))(row_of(design)[np.newaxis])
        timeline = simulate(problem, design)
        assert found.makespan_ps.tolist() == list(timeline.frame_end_ps)
        assert found.latency_ps.tolist() == [list(timeline.latency_ps[0])]


def test_a_wider_tolerance_guarantees_no_less() -> None:
    for seed in range(300, 315):
        _, problem, design, _ = drawn(seed)
        row = row_of(design)[np.newaxis]
        bounds = [
            int(make_guarantees(problem, tolerance)(row).makespan_ps[0])
            for tolerance in ((1000, 1000), (950, 1020), (700, 1100), (0, 1100))
        ]
        assert bounds == sorted(bounds)


def test_an_engine_is_bounded_as_a_whole() -> None:
    rng, problem, _, _ = drawn(1)
    units = tuple(replace(unit, dispatch=ENGINE) for unit in problem.units)
    problem = replace(problem, units=units)
    design = random_design(rng, problem)
    played = play(problem, design, stand_alone_ps(problem, design))
    schedule = schedule_of(problem, design, played)
    assert plain_guarantee(problem, design, schedule, (1000, 1000)).end_ps == played.end

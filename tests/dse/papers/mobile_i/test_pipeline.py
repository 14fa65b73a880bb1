"""Retimed pipelines on unlike units: rules, bounds, and what the timeline says of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_pipeline,
    random_problem,
)
from examples.mobile_i.period_problem import least_largest_load, period_problem
from examples.mobile_i.pipeline import (
    PeriodSimulator,
    frame_graph,
    periodic_pipeline,
)
from paretosoc.dse.papers.mobile_i.check import broken_rule
from paretosoc.dse.papers.mobile_i.pipeline_engine import MobileIEngine
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.execution import ChannelUse, IdleTime
from paretosoc.results.problem.problem import DesignPoint
from paretosoc.results.problem.problem_check import check_problem
from tests.support.problems.pipeline_spaces import with_throughput
from tests.support.problems.small_spaces import enumerated, small_space

SHAPE = RandomShape(networks=(1, 3), groups=(1, 5), units=(1, 4))


def test_periodic_schedules_keep_their_rules_and_their_bounds() -> None:
    rng = np.random.default_rng(0)
    met: Counter[str] = Counter()
    for seed in range(200):
        problem = random_problem(rng, replace(SHAPE, contention=seed % 4 > 0))
        design = random_design(rng, problem)
        pipeline = periodic_pipeline(problem, design, orders=20, seed=seed)
        schedule = pipeline.schedule
        assert broken_rule(schedule) is None, seed
        assert schedule.period_ps >= max(pipeline.load_ps)
        assert pipeline.frames_in_flight > schedule.prologue_periods
        if seed % 4 == 0:
            assert schedule.period_ps == max(pipeline.load_ps)
        plain = periodic_pipeline(problem, design, orders=0)
        assert (schedule.period_ps, pipeline.frames_in_flight) <= (
            plain.schedule.period_ps,
            plain.frames_in_flight,
        )
        met["shorter"] += schedule.period_ps < plain.schedule.period_ps
        met["several frames"] += pipeline.frames_in_flight > 1
        met["arrivals"] += any(network.arrival_ps for network in problem.networks)
        met["repeats"] += any(network.repeats > 1 for network in problem.networks)
        met["waiting"] += any(network.waits_for for network in problem.networks)
    assert len(met) == 5
    assert min(met.values()) >= 10, met


def test_every_wait_of_the_timeline_is_in_the_frame_graph() -> None:
    """What one frame of the plain timeline does first comes first in the graph, too, and nothing
    that the graph says to wait for ends later there."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        problem = random_problem(rng, SHAPE)
        design = random_design(rng, problem)
        rows = {
            (row.network, row.repeat, row.group): row
            for row in simulate(problem, design).schedule.groups
        }
        graph = frame_graph(problem)
        names = [(at.network, at.repeat, at.group) for at in graph.executions]
        assert set(names) == set(rows)
        arrives = [0] * len(graph.executions)
        for entry in graph.dependences:
            assert entry.source < entry.target
            source, target = (rows[names[n]] for n in (entry.source, entry.target))
            delay = (
                0
                if entry.edge is None
                else int(problem.transition_ps[entry.edge, source.unit, target.unit])
            )
            arrives[entry.target] = max(arrives[entry.target], source.end_ps + delay)
        for name, instant in zip(names, arrives, strict=True):
            first = name[1] == 1 and instant < problem.networks[name[0]].arrival_ps
            if not first:
                assert rows[name].ready_ps == instant


def test_the_problem_of_a_period_has_it_as_its_makespan() -> None:
    rng = np.random.default_rng(2)
    once = 0
    while once < 60:
        problem = random_problem(rng, SHAPE)
        design = random_design(rng, problem)
        if any(network.repeats > 1 for network in problem.networks):
            continue
        once += 1
        lists = [np.flatnonzero(design.units == u).tolist() for u in range(len(problem.units))]
        (makespan,) = simulate(period_problem(problem), design).frame_end_ps
        assert PeriodSimulator(problem, design).simulate(lists).period_ps == makespan


@pytest.mark.parametrize("channels", [None, *ChannelUse])
def test_the_problem_of_a_period_is_sound(channels: ChannelUse | None) -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        problem = random_problem(rng, SHAPE)
        if channels is not None:
            problem = random_pipeline(rng, problem, channels, IdleTime.SUM_OF_LOADS)
        check_problem(problem)
        check_problem(period_problem(problem))


@pytest.mark.parametrize("seed", range(4))
def test_no_mapping_has_a_smaller_largest_load_than_the_bound(seed: int) -> None:
    space = small_space(seed)
    least = min(
        max(periodic_pipeline(space.problem, _design(space, row), orders=0).load_ps)
        for row in enumerated(space)[:: max(1, len(enumerated(space)) // 400)]
    )
    assert least_largest_load(space.problem) <= least * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_engine_finds_short_periods(seed: int) -> None:
    """Among all mappings of a small problem, the largest load found is near the least."""
    space = small_space(seed + 10)
    least = period_problem(space.problem)
    every = make_outcomes(least)(enumerated(DesignSpace(least)))
    best = every.objectives[every.possible, 0].min()
    engine = MobileIEngine(DesignSpace(least), seed=0)
    found = search(engine, make_outcomes(least), Budget(2000)).objectives[:, 0].min()
    assert best <= found <= 1.1 * best


def test_the_engine_proposes_no_row_twice_and_ends() -> None:
    space = with_throughput(small_space(4))
    engine = MobileIEngine(space, seed=1)
    evaluate = make_outcomes(space.problem)
    seen: set[bytes] = set()
    while len(rows := engine.ask()):
        assert np.array_equal(space.canonical(rows), rows)
        for row in rows:
            assert row.tobytes() not in seen
            seen.add(row.tobytes())
        engine.tell(rows, evaluate(rows))
    assert len(seen) > 3


def _design(space: DesignSpace, row: np.ndarray) -> DesignPoint:
    return DesignPoint(row[: space.groups], row[space.groups :])

"""The whole formulation against plain enumeration, and its three settings against each other."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.random_problem import RandomShape, random_problem
from dse.design_space import DesignSpace
from dse.whole_formulation import Setting, WholeStatus, solve_whole
from fitness import plain_timeline
from fitness.outcomes import make_outcomes
from fitness.timeline import design_of
from results.errors import ResultError
from results.schedule import ScheduledGroup

CHAINS = RandomShape(
    networks=(1, 2), groups=(1, 3), units=(2, 2), points=(1, 1), graphs=False, waiting=False
)


def best_rows(problem):
    """Every feasible row and its makespan."""
    space = DesignSpace(problem)
    choices = [np.flatnonzero(row).tolist() for row in problem.allowed]
    choices += [points.tolist() for points in space.points]
    rows = np.array(list(itertools.product(*choices)), dtype=np.int64)
    rows = np.unique(space.canonical(rows), axis=0)
    outcomes = make_outcomes(problem)(rows)
    return rows[outcomes.feasible], outcomes.objectives[outcomes.feasible, 0]


def small_problem(seed, shape, most=2_000):
    rng = np.random.default_rng(seed)
    while True:
        problem = random_problem(rng, shape)
        space = DesignSpace(problem)
        executions = sum(len(n.group_names) * n.repeats for n in problem.networks)
        if space.combinations <= most and executions <= 6:
            return problem


def check_schedule(problem, solution, *, waiting):
    """Ready times, exclusive units and the work done, replayed picosecond by interval."""
    rows = solution.schedule.groups
    assert max(row.end_ps for row in rows) == solution.makespan_ps
    for row in rows:
        assert row.start_ps >= row.ready_ps
        assert waiting or row.start_ps == row.ready_ps
    for one, other in itertools.combinations(rows, 2):
        if one.unit == other.unit:
            assert one.end_ps <= other.start_ps or other.end_ps <= one.start_ps
    alone, demand = plain_timeline._chosen_costs(problem, solution.design)
    memory = problem.memory_domain
    point = 0 if memory is None else int(solution.design.operating_points[memory])
    for row in rows:
        instants = {t for r in rows for t in (r.start_ps, r.end_ps, row.end_ps - 1)}
        inside = sorted(t for t in instants if row.start_ps <= t <= row.end_ps)
        done, before_last = 0, 0
        for t0, t1 in itertools.pairwise(inside):
            beside = [r for r in rows if r != row and r.start_ps <= t0 < r.end_ps]
            table = problem.units[row.unit].contention
            lost = 0
            if table is not None:
                others = sum(demand[r.group] for r in beside)
                lost = plain_timeline.lost_rate(table, point, demand[row.group], others)
            before_last = done
            done += (65536 - lost) * (t1 - t0)
        assert row.alone_ps == alone[row.group]
        assert before_last < 65536 * alone[row.group] <= done


def check_settings(problem):
    rows, makespans = best_rows(problem)
    dispatch = solve_whole(problem, Setting.DISPATCH)
    if not len(rows):
        assert dispatch.status is WholeStatus.INFEASIBLE
        assert dispatch.makespan_ps is None
        return None
    optimum = int(makespans.min())
    assert dispatch.status is WholeStatus.OPTIMAL
    assert dispatch.makespan_ps == dispatch.bound_ps == optimum
    replayed = plain_timeline.play(problem, dispatch.design)
    assert replayed.frame_end_ps == (optimum,)
    assert dispatch.schedule == replayed.schedule

    paper = solve_whole(problem, Setting.PAPER)
    nothing_waits = [
        makespan
        for row, makespan in zip(rows, makespans.tolist(), strict=True)
        if all(
            group.start_ps == group.ready_ps
            for group in plain_timeline.play(problem, design_of(problem, row)).schedule.groups
        )
    ]
    assert paper.makespan_ps == min(nothing_waits, default=None)
    if paper.makespan_ps is not None:
        assert paper.makespan_ps >= optimum
        check_schedule(problem, paper, waiting=False)
    free = solve_whole(problem, Setting.FREE, time_limit_s=20)
    assert free.bound_ps <= optimum
    if free.status is WholeStatus.OPTIMAL:
        assert free.makespan_ps == free.bound_ps
    if free.makespan_ps is not None:
        check_schedule(problem, free, waiting=True)
    return optimum, dispatch, paper, free


@pytest.mark.parametrize("contention", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_two_chains(seed, contention):
    shape = replace(CHAINS, contention=contention, ties=seed % 2 == 1)
    check_settings(small_problem(seed, shape))


@pytest.mark.parametrize("seed", range(6))
def test_graphs_waiting_and_clocks(seed):
    shape = RandomShape(
        networks=(1, 2), groups=(1, 2), units=(2, 2), points=(1, 2), ties=seed % 2 == 1
    )
    check_settings(small_problem(100 + seed, shape, most=300))


@pytest.mark.parametrize("seed", range(3))
def test_three_units_take_more_together(seed):
    shape = replace(CHAINS, networks=(3, 3), groups=(1, 1), units=(3, 3), unsupported=0.0)
    check_settings(small_problem(200 + seed, shape))

"""The SMT formulation against plain enumeration, and its three settings against each other."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.memory import with_memory
from benchmarks.problems.number_formats import with_formats
from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.contention import lost_rate
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.execution import Periodic
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from tests.support.formulation.solve import Setting, WholeStatus, solve_whole

CHAINS = RandomShape(
    networks=(1, 2), groups=(1, 3), units=(2, 2), points=(1, 1), graphs=False, waiting=False
)


FREE_EFFORT = 1_000_000
"""Enough for most; where it is not, the bound still holds."""


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


def latencies(problem, rows):
    return [
        max(row.end_ps for row in rows if row.network == n) - network.arrival_ps
        for n, network in enumerate(problem.networks)
    ]


def costs_of(problem, design, group):
    """Stand-alone time and demand of a group at its clocks."""
    unit = problem.units[design.units[group]]
    at = (group, *(design.operating_points[clock] for clock in unit.clocks))
    return int(unit.time_ps[at]), int(unit.demand_kbps[at])


def rate_of(problem, design, row, own, others):
    """Work in a picosecond beside these demands."""
    memory, table = problem.memory_domain, problem.units[row.unit].contention
    point = 0 if memory is None else int(design.operating_points[memory])
    return 65536 - (0 if table is None else lost_rate(table, point, own, others))


def check_schedule(problem, solution, *, waiting):
    """Ready times, exclusive units and the work done in every contention interval."""
    rows = solution.schedule.groups
    if problem.objectives[0].kind is ObjectiveKind.INVERSE_LATENCY:
        assert -sum(10**18 // latency for latency in latencies(problem, rows)) == solution.value
    else:
        assert max(row.end_ps for row in rows) == solution.value
    for row in rows:
        assert row.start_ps >= row.ready_ps
        assert waiting or row.start_ps == row.ready_ps
    for one, other in itertools.combinations(rows, 2):
        if problem.unit_of[one.unit] == problem.unit_of[other.unit]:
            assert one.end_ps <= other.start_ps or other.end_ps <= one.start_ps
    costs = [costs_of(problem, solution.design, g) for g in range(problem.group_count)]
    for row in rows:
        instants = {t for r in rows for t in (r.start_ps, r.end_ps, row.end_ps - 1)}
        inside = sorted(t for t in instants if row.start_ps <= t <= row.end_ps)
        done, before_last = 0, 0
        for t0, t1 in itertools.pairwise(inside):
            others = [r for r in rows if r is not row and r.start_ps <= t0 < r.end_ps]
            demand = sum(costs[r.group][1] for r in others)
            before_last = done
            done += rate_of(problem, solution.design, row, costs[row.group][1], demand) * (t1 - t0)
        assert row.alone_ps == costs[row.group][0]
        assert before_last < 65536 * row.alone_ps <= done


def check_settings(problem):
    """Makespan or Eq. 10, as the problem's first objective says."""
    sums_rates = problem.objectives[0].kind is ObjectiveKind.INVERSE_LATENCY
    rows, makespans = best_rows(problem)
    dispatch = solve_whole(problem, Setting.DISPATCH, sums_rates=sums_rates)
    if not len(rows):
        assert dispatch.status is WholeStatus.INFEASIBLE
        assert dispatch.value is None
        return None
    optimum = int(makespans.min())
    assert dispatch.status is WholeStatus.OPTIMAL
    assert dispatch.value == dispatch.bound == optimum
    replayed = plain_timeline.simulate(problem, dispatch.design)
    assert sums_rates or replayed.frame_end_ps == (optimum,)
    assert dispatch.schedule == replayed.schedule

    paper = solve_whole(problem, Setting.PAPER, sums_rates=sums_rates)
    nothing_waits = [
        makespan
        for row, makespan in zip(rows, makespans.tolist(), strict=True)
        if all(
            group.start_ps == group.ready_ps
            for group in plain_timeline.simulate(problem, problem.design_of(row)).schedule.groups
        )
    ]
    assert paper.value == min(nothing_waits, default=None)
    if paper.value is not None:
        assert paper.value >= optimum
        check_schedule(problem, paper, waiting=False)
    free = solve_whole(problem, Setting.FREE, sums_rates=sums_rates, effort=FREE_EFFORT)
    assert free.bound <= optimum
    if free.status is WholeStatus.OPTIMAL:
        assert free.value == free.bound
    if free.value is not None:
        check_schedule(problem, free, waiting=True)
    return optimum, dispatch, paper, free


@pytest.mark.parametrize("contention", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_two_chains(seed, contention):
    shape = replace(CHAINS, contention=contention, ties=seed % 2 == 1)
    check_settings(small_problem(seed, shape))


@pytest.mark.parametrize("contention", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_sum_of_rates(seed, contention):
    """Eq. 10, where the fastest network may be worth more than the makespan."""
    shape = replace(CHAINS, networks=(2, 2), contention=contention, ties=seed % 2 == 1)
    problem = small_problem(400 + seed, shape)
    check_settings(replace(problem, objectives=(Objective(ObjectiveKind.INVERSE_LATENCY),)))


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


@pytest.mark.parametrize("seed", range(12))
def test_priorities(seed):
    """Networks on few units that overtake each other, in the best design or not."""
    shape = RandomShape(
        networks=(2, 3), groups=(1, 2), units=(1, 2), points=(1, 1), ties=seed % 2 == 1
    )
    problem = small_problem(500 + seed, shape, most=100)
    priorities = [2, 0, 1] if seed % 3 else [1, 1, 0]
    networks = zip(problem.networks, priorities, strict=False)
    check_settings(replace(problem, networks=tuple(replace(n, priority=p) for n, p in networks)))


def limited(seed):
    return small_problem(300 + seed, replace(CHAINS, networks=(2, 2), groups=(2, 3)))


@pytest.mark.parametrize("seed", range(3))
def test_limits(seed):
    """Transitions, segments and a deadline, each tight enough to change what is feasible."""
    problem = limited(seed)
    rows, makespans = best_rows(problem)
    networks = tuple(replace(network, max_transitions=seed % 2) for network in problem.networks)
    deadline = replace(networks[0], deadline_ps=int(np.quantile(makespans, 0.3)))
    problem = replace(
        problem,
        networks=(deadline, *networks[1:]),
        units=(replace(problem.units[0], max_segments=1), *problem.units[1:]),
    )
    assert len(best_rows(problem)[0]) < len(rows)
    check_settings(problem)


@pytest.mark.parametrize("seed", range(12))
def test_number_formats(seed):
    """Conversions take time and are no transitions; losses and memory are limited, too."""
    rng = np.random.default_rng([31, seed])
    shape = replace(CHAINS, groups=(1, 2), units=(1, 2), graphs=seed % 3 == 0)
    problem = small_problem(600 + seed, shape, most=60)
    problem = with_memory(rng, with_formats(rng, problem, most=2))
    networks = tuple(replace(network, max_transitions=seed % 3) for network in problem.networks)
    units = (replace(problem.units[0], max_segments=1 + seed % 2), *problem.units[1:])
    check_settings(replace(problem, networks=networks, units=units))


def test_nothing_meets_the_period():
    problem = limited(0)
    optimum = int(best_rows(problem)[1].min())
    kept = solve_whole(replace(problem, execution=Periodic(optimum)), Setting.DISPATCH)
    assert kept.value == optimum
    missed = solve_whole(replace(problem, execution=Periodic(optimum - 1)), Setting.DISPATCH)
    assert missed.status is WholeStatus.INFEASIBLE
    assert missed.schedule is None


def test_little_effort_claims_little():
    problem = limited(1)
    optimum = int(best_rows(problem)[1].min())
    stopped = solve_whole(problem, Setting.DISPATCH, effort=5_000)
    assert stopped.status is WholeStatus.STOPPED
    assert stopped.bound <= optimum
    assert stopped.value is None or stopped.value >= optimum


@pytest.mark.parametrize("field", ["power_cap_mw", "energy_budget_fj"])
def test_energy_is_refused_by_name(field):
    problem = replace(limited(0), **{field: 1000})
    with pytest.raises(ResultError, match=rf"\$\.{field}: must be null .* got 1000"):
        solve_whole(problem, Setting.DISPATCH)


def one_unit(times, arrivals):
    """Networks of one group each on one unit, without contention."""
    problem = small_problem(0, replace(CHAINS, networks=(1, 1), groups=(1, 1), contention=False))
    unit = problem.units[0]

    def rows(table, values=None):
        grown = np.repeat(table[:1], len(times), axis=0)
        if values is not None:
            grown[:] = np.array(values).reshape(-1, *[1] * (table.ndim - 1))
        return grown

    return replace(
        problem,
        networks=tuple(
            replace(problem.networks[0], name=f"n{n}", first_group=n, arrival_ps=arrival)
            for n, arrival in enumerate(arrivals)
        ),
        units=(
            replace(
                unit,
                clocks=(0, problem.memory_domain),
                time_ps=rows(unit.time_ps, times),
                demand_kbps=rows(unit.demand_kbps),
                dynamic_mw=rows(unit.dynamic_mw),
            ),
        ),
        transition_ps=np.zeros((0, 1, 1), dtype=np.int64),
        allowed=np.ones((len(times), 1), dtype=np.bool_),
    )


def test_idling_and_order_gain_what_the_dispatch_rule_cannot():
    """By hand: the long one is ready first, the short one a picosecond later, with a deadline.

    The rule runs the long one first, so the short one ends at 110; idling for it lets it end at 11.
    """
    problem = one_unit([100, 10], [0, 1])
    hurried = replace(problem.networks[1], deadline_ps=50)
    tight = replace(problem, networks=(problem.networks[0], hurried))
    assert solve_whole(problem, Setting.DISPATCH).value == 110
    assert solve_whole(tight, Setting.DISPATCH).status is WholeStatus.INFEASIBLE
    assert solve_whole(tight, Setting.PAPER).status is WholeStatus.INFEASIBLE
    assert solve_whole(tight, Setting.FREE).value == 111

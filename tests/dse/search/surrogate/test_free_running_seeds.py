"""Networks that run freely on paper: rates by hand and beside the timeline; rows made by them."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.search.optimizers.initial_population import initial_population
from paretosoc.dse.search.surrogate.free_running_seeds import free_running_seeds, network_options
from paretosoc.dse.search.surrogate.mean_value_analysis import (
    ClockTables,
    Work,
    estimate_rows,
    rates_of,
    work_of_rows,
)
from paretosoc.dse.space.design_space import DesignSpace, unique_rows
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator
from paretosoc.results.problem.execution import FreeRunning
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from tests.support.problems.small_spaces import enumerated

EFFICIENCY = (Objective(ObjectiveKind.EFFICIENCY), Objective(ObjectiveKind.POWER))


def free_space(seed, *, contention=False, repeats=1, **shape):
    """Two to four networks that run freely, the first ``repeats`` times, on two to four units."""
    shape = {"networks": (2, 4), "groups": (3, 6), "units": (2, 4), "unsupported": 0.2, **shape}
    problem = random_problem(np.random.default_rng(seed), RandomShape(**shape))
    networks = tuple(
        replace(
            network,
            repeats=1 if n else repeats,
            waits_for=(),
            arrival_ps=0,
            deadline_ps=None,
        )
        for n, network in enumerate(problem.networks)
    )
    units = problem.units
    if not contention:
        units = tuple(replace(unit, contention=None) for unit in units)
    return DesignSpace(
        replace(
            problem,
            networks=networks,
            units=units,
            objectives=EFFICIENCY,
            execution=FreeRunning(2),
        )
    )


def work(time, visits, moving=None):
    time, visits = np.array([time], float), np.array([visits], float)
    none = np.zeros(time.shape[:2])
    return Work(time, visits, visits > 0, none if moving is None else np.array([moving]), none)


def test_rates_of_closed_networks_by_hand():
    alone = work([[12.0, 0.0]], [[3, 0]], [4.0])
    assert rates_of(alone, 1)[0] == pytest.approx([1 / 16])
    full = work([[12.0, 0.0]], [[3, 0]])
    assert rates_of(full, 2)[0] == pytest.approx([1 / 12]), "one unit is busy all the time"
    shared = work([[5.0], [5.0]], [[1], [1]])
    assert rates_of(shared, 1)[0] == pytest.approx([1 / 10, 1 / 10])
    # In turn: for each of its four groups the second network waits for one of the first.
    turns = rates_of(work([[2.0], [8.0]], [[1], [4]]), 2)[0]
    assert turns == pytest.approx([1 / 4, 1 / 16])
    apart = work([[5.0, 0.0], [0.0, 8.0]], [[1, 0], [0, 2]])
    assert rates_of(apart, 2)[0] == pytest.approx([1 / 5, 1 / 8])


@pytest.mark.parametrize(("seed", "repeats"), [(0, 1), (1, 1), (2, 1), (3, 1), (4, 3)])
def test_work_and_idle_power_are_the_problems(seed, repeats):
    space = free_space(seed, repeats=repeats)
    problem = space.problem
    rows = space.random(np.random.default_rng(seed), 40)
    tables = ClockTables(space, rows[:, space.groups :])
    done = work_of_rows(space, rows, tables)
    for r, row in enumerate(rows[:5]):
        for n, network in enumerate(problem.networks):
            time, energy = np.zeros(len(problem.units)), 0
            for g in network.groups:
                unit = problem.units[row[g]]
                at = (g, *(row[space.groups + clock] for clock in unit.clocks))
                time[row[g]] += network.repeats * unit.time_ps[at]
                energy += network.repeats * int(unit.time_ps[at]) * int(unit.dynamic_mw[at])
            assert done.time[r, n].tolist() == time.tolist()
            assert done.energy[r, n] == energy
    free = replace(
        problem, units=tuple(replace(u, dynamic_mw=u.dynamic_mw * 0) for u in problem.units)
    )
    idle = make_long_run_evaluator(free)(rows).idle_mw
    assert np.array_equal(estimate_rows(DesignSpace(free), rows).power, idle)


@pytest.mark.parametrize("repeats", [1, 3])
def test_rates_are_near_the_timelines_where_nobody_contends(repeats):
    ratios = []
    for seed in range(12):
        space = free_space(seed, repeats=repeats)
        rows = space.random(np.random.default_rng(seed), 25)
        runs = make_long_run_evaluator(space.problem)(rows)
        pluralize = (1 / runs.stream_period_ps).sum(axis=1)
        expected = estimate_rows(space, rows).rate.sum(axis=1)
        ratios.append((expected / pluralize)[runs.possible])
    ratio = np.concatenate(ratios)
    assert len(ratio) > 200
    assert 0.9 < np.median(ratio) < 1.1
    assert ((ratio > 0.6) & (ratio < 1.6)).mean() > 0.9


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_canonical_and_better_than_random_ones(seed):
    space = free_space(seed, contention=True)
    power = make_outcomes(space.problem)(space.random(np.random.default_rng(9), 200)).objectives
    cap = int(np.quantile(power[:, 1], 0.5)) // 1000
    space = DesignSpace(replace(space.problem, power_cap_mw=cap))
    evaluate = make_outcomes(space.problem)
    rows = free_running_seeds(space, np.random.default_rng(seed))
    assert np.array_equal(rows, space.canonical(rows))
    assert unique_rows(rows).all()
    assert np.array_equal(rows, free_running_seeds(space, np.random.default_rng(seed)))
    found, drawn = (
        evaluate(some) for some in (rows, space.random(np.random.default_rng(seed), 200))
    )
    assert found.possible.all()
    best = found.objectives[found.feasible, 0].min()
    assert best <= drawn.objectives[drawn.feasible, 0].min() * 1.02
    population = initial_population(space, np.random.default_rng(seed), 60)
    assert {row.tobytes() for row in population} >= {row.tobytes() for row in rows}


def test_where_all_mappings_are_options_the_best_on_paper_is_found():
    hits = 0
    for seed in range(6):
        space = free_space(seed, networks=(3, 3), groups=(1, 1), units=(2, 3))
        every = enumerated(space)
        best = estimate_rows(space, every).efficiency.max()
        rows = free_running_seeds(space, np.random.default_rng(0))
        hits += estimate_rows(space, rows).efficiency.max() >= best * (1 - 1e-9)
    assert hits >= 5


def test_a_network_that_repeats_is_moved_by_what_all_its_repeats_cost():
    # What a move expects must be what the row that comes of it is expected to give.
    hits = 0
    for seed in range(6):
        space = free_space(seed, networks=(3, 3), groups=(1, 1), units=(2, 3), repeats=9)
        best = estimate_rows(space, enumerated(space)).efficiency.max()
        rows = free_running_seeds(space, np.random.default_rng(0))
        hits += estimate_rows(space, rows).efficiency.max() >= best * (1 - 1e-9)
    assert hits >= 5


def test_a_chip_that_is_said_to_draw_nothing_has_rows_too():
    problem = free_space(1).problem
    units = (
        replace(unit, dynamic_mw=0 * unit.dynamic_mw, idle_mw=0 * unit.idle_mw)
        for unit in problem.units
    )
    domains = (replace(domain, static_mw=0 * domain.static_mw) for domain in problem.domains)
    free = replace(problem, units=tuple(units), domains=tuple(domains), board_mw=0)
    rows = free_running_seeds(DesignSpace(free), np.random.default_rng(0))
    assert make_outcomes(free)(rows).possible.all()


def test_options_keep_the_limit_on_transitions():
    space = free_space(3, groups=(6, 6), units=(3, 3), unsupported=0.0)
    network = space.problem.networks[0]
    assert len(network_options(space, 0)) > 3
    strict = replace(network, max_transitions=0)
    problem = replace(space.problem, networks=(strict, *space.problem.networks[1:]))
    options = network_options(DesignSpace(problem), 0)
    assert sorted(options.tolist()) == [[u] * 6 for u in range(3)]


def test_a_unit_of_few_segments_is_not_overfilled():
    space = free_space(1, networks=(4, 4), units=(2, 2), unsupported=0.0)
    units = (replace(space.problem.units[0], max_segments=1), space.problem.units[1])
    limited = DesignSpace(replace(space.problem, units=units))
    rows = free_running_seeds(limited, np.random.default_rng(0))
    assert make_outcomes(limited.problem)(rows).feasible.any()

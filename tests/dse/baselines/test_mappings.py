"""Other methods' mappings, against enumeration and against the plain timeline."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape
from paretosoc.dse.baselines.evaluate_all import BASELINES, baseline_points
from paretosoc.dse.baselines.group_by_group import H2h, Herald, Mensa
from paretosoc.dse.baselines.whole_networks import GpuAndDsa, GpuOnly
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from tests.support.problems.baseline_problems import CHAINS, mapping_of, plain_makespan, problems
from tests.support.problems.random_spaces import (
    assert_inside,
    narrowed_problem,
    random_limited_problem,
    space_of,
)


@pytest.mark.parametrize("method", BASELINES)
def test_methods_are_engines_that_propose_once_at_the_fastest_clocks(method):
    rng = np.random.default_rng(9)
    drawn = problems(CHAINS, 20, 1)
    for problem in [*drawn, *(narrowed_problem(rng, problem) for problem in drawn)]:
        space = DesignSpace(problem)
        engine = method(space)
        rows = engine.ask()
        assert len(engine.ask()) == 0
        assert_inside(problem, rows)
        for row in rows:
            used = np.zeros((1, len(problem.units)), dtype=np.bool_)
            used[0, row[: space.groups]] = True
            for d, on in enumerate(space.domains_on(used)[0]):
                assert row[space.groups + d] == space.points[d][-1 if on else 0]
        if len(rows):
            result = search(method(space), make_outcomes(problem), Budget(100_000))
            assert result.evaluations == len(rows)
            assert result.stopped_by.value == "exhausted"


def test_no_method_is_faster_than_the_best_of_all_design_points():
    rng = np.random.default_rng(2)
    compared = 0
    for _ in range(40):
        problem = random_limited_problem(rng)
        best = space_of(replace(problem, objectives=(Objective(ObjectiveKind.LATENCY),))).best
        for point in baseline_points(DesignSpace(problem)):
            if not point.breaks:
                assert best is not None
                assert point.member.makespan_ps >= best
                compared += 1
    assert compared > 50


def test_gpu_only_has_one_unit_but_for_what_that_cannot_run():
    for problem in problems(CHAINS, 20, 3):
        names = (*("dsp", "gpu", "cpu")[: len(problem.units)],)
        units = tuple(
            replace(unit, name=name) for unit, name in zip(problem.units, names, strict=True)
        )
        space = DesignSpace(replace(problem, units=units))
        for g, unit in enumerate(mapping_of(GpuOnly, space)):
            assert unit == 1 or not problem.allowed[g, 1]


def test_gpu_and_dsa_is_the_best_assignment_of_whole_networks():
    tried = 0
    for problem in problems(replace(CHAINS, unsupported=0.0), 30, 4):
        space = DesignSpace(problem)
        networks = len(problem.networks)
        choices = itertools.product(range(len(problem.units)), repeat=networks)
        spans = [
            plain_makespan(problem, space, np.array(choice)[space.owner], contention=True)
            for choice in choices
            if len(set(choice)) > 1
        ]
        if networks > 1:
            points = {point.name: point for point in baseline_points(space)}
            assert points[GpuAndDsa.name].member.makespan_ps == min(spans)
            tried += 1
    assert tried > 10


def test_gpu_and_dsa_of_very_many_networks_balances_whole_networks():
    (problem,) = problems(
        RandomShape(networks=(9, 9), groups=(1, 2), units=(3, 3), unsupported=0.0), 1, 5
    )
    space = DesignSpace(problem)
    rows = GpuAndDsa(space).ask()
    assert len(rows) == 1
    for network in problem.networks:
        assert len(set(rows[0, list(network.groups)].tolist())) == 1
    assert len(set(rows[0, : space.groups].tolist())) == 3


def test_gpu_and_dsa_uses_two_units_even_where_one_is_far_faster():
    (problem,) = problems(
        RandomShape(networks=(9, 9), groups=(1, 2), units=(3, 3), unsupported=0.0), 1, 5
    )
    fast, *others = problem.units
    slow = tuple(replace(unit, time_ps=1000 * unit.time_ps) for unit in others)
    space = DesignSpace(replace(problem, units=(fast, *slow)))
    (row,) = GpuAndDsa(space).ask()
    whole = [set(row[list(network.groups)].tolist()) for network in problem.networks]
    assert all(len(units) == 1 for units in whole)
    assert sum(units != {0} for units in whole) == 1


def test_mensa_takes_the_unit_on_which_a_group_ends_soonest():
    for problem in problems(replace(CHAINS, graphs=True), 30, 6):
        space = DesignSpace(problem)
        mapping = mapping_of(Mensa, space)
        for g in range(space.groups):
            into = [(e, mapping[source]) for e, (source, to) in enumerate(problem.edges) if to == g]
            cost = [
                int(space.fastest_time[g, u])
                + max([int(problem.transition_ps[e, before, u]) for e, before in into], default=0)
                for u in np.flatnonzero(problem.allowed[g]).tolist()
            ]
            there = np.flatnonzero(problem.allowed[g]).tolist().index(mapping[g])
            assert cost[there] == min(cost)


def test_herald_balances_loads_in_turns_and_looks_at_nothing_else():
    for problem in problems(CHAINS, 30, 7):
        space = DesignSpace(problem)
        mapping = mapping_of(Herald, space)
        free = replace(
            problem,
            transition_ps=7 * problem.transition_ps,
            units=tuple(replace(unit, contention=None) for unit in problem.units),
        )
        assert mapping_of(Herald, DesignSpace(free)) == mapping
        turns = sorted(
            range(space.groups), key=lambda g: (g - space.first[space.owner[g]], space.owner[g])
        )
        load = np.zeros(len(problem.units))
        for g in turns:
            repeats = problem.networks[space.owner[g]].repeats
            after = np.where(problem.allowed[g], load + repeats * space.fastest_time[g], np.inf)
            assert after[mapping[g]] == after.min()
            load[mapping[g]] = after[mapping[g]]


def test_h2h_is_at_least_as_good_as_herald_without_contention_and_no_move_helps():
    better = 0
    for problem in problems(CHAINS, 25, 8):
        space = DesignSpace(problem)
        mapping = mapping_of(H2h, space)
        end = plain_makespan(problem, space, mapping, contention=False)
        herald = plain_makespan(problem, space, mapping_of(Herald, space), contention=False)
        assert end <= herald
        better += end < herald
        for source, target in problem.edges:
            for g, unit in ((source, mapping[target]), (target, mapping[source])):
                if problem.allowed[g, unit]:
                    moved = [*mapping[:g], unit, *mapping[g + 1 :]]
                    assert plain_makespan(problem, space, moved, contention=False) >= end
    assert better > 3

"""Rows: canonical form, repair, random draws, operators and neighbours stay within the space."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.search.optimizers.initial_population import heuristic_seeds, initial_population
from paretosoc.dse.space.design_space import DesignSpace, unique_rows
from paretosoc.fitness.simulate import make_evaluator
from tests.support.neighbours import neighbours
from tests.support.problems.random_spaces import assert_inside, narrowed_problem

SHAPE = RandomShape(networks=(1, 3), groups=(1, 7), units=(1, 4), points=(1, 4))


def spaces(count, **limits):
    """Every second one has clocks fixed or capped, and groups pinned."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, SHAPE)
        if seed % 2:
            problem = narrowed_problem(rng, problem)
        if limits:
            networks = tuple(replace(network, **limits) for network in problem.networks)
            problem = replace(problem, networks=networks)
        yield rng, DesignSpace(problem)


def wild_rows(rng, space, n=50):
    units = len(space.problem.units)
    mapping = rng.integers(0, units, (n, space.groups))
    clocks = [points[rng.integers(0, len(points), n)] for points in space.points]
    return np.concatenate((mapping, np.stack(clocks, axis=1)), axis=1)


def test_repair_random_rows_and_first_population_stay_inside():
    for rng, space in spaces(60):
        repaired = space.repair(rng, wild_rows(rng, space))
        assert_inside(space.problem, repaired)
        assert np.array_equal(space.repair(rng, repaired), repaired)
        assert_inside(space.problem, space.random(rng, 20))
        population = initial_population(space, rng, 60)
        assert_inside(space.problem, population)
        assert unique_rows(population).all()


def test_repair_brings_transitions_below_the_limit_where_units_can_be_joined():
    met = 0
    shape = replace(SHAPE, graphs=False, unsupported=0.0, groups=(3, 9))
    for seed in range(40):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, shape)
        networks = tuple(replace(network, max_transitions=1) for network in problem.networks)
        space = DesignSpace(replace(problem, networks=networks))
        rows = space.repair(rng, wild_rows(rng, space))
        for network in networks:
            mapping = rows[:, network.first_group : network.first_group + network.groups.stop]
            mapping = rows[:, network.groups.start : network.groups.stop]
            assert ((mapping[:, 1:] != mapping[:, :-1]).sum(axis=1) <= 1).all()
            met += len(mapping)
    assert met > 1000


def test_children_have_their_parents_genes_and_lose_none_that_has_a_use():
    for rng, space in spaces(30):
        first, second = wild_rows(rng, space), wild_rows(rng, space)
        a, b = space.cross(rng, first, second)
        kept = (a == first) & (b == second)
        swapped = (a == second) & (b == first)
        mine, theirs = space.domains_used(first), space.domains_used(second)
        both = np.ones_like(kept)
        both[:, space.groups :] = mine == theirs
        assert (kept | swapped)[both].all()
        for child in (a, b):
            clocks = child[:, space.groups :]
            assert np.array_equal(clocks[mine & ~theirs], first[:, space.groups :][mine & ~theirs])
            assert np.array_equal(clocks[theirs & ~mine], second[:, space.groups :][theirs & ~mine])


def test_crossover_exchanges_one_stretch_per_network():
    rng = np.random.default_rng(1)
    problem = random_problem(rng, replace(SHAPE, networks=(2, 2), groups=(6, 6), units=(2, 2)))
    space = DesignSpace(problem)
    first = np.zeros((200, space.width), dtype=np.int64)
    second = first.copy()
    second[:, : space.groups] = 1
    child, _ = space.cross(rng, first, second)
    for n in range(2):
        part = child[:, space.first[n] : space.first[n] + space.size[n]]
        edges = (part[:, 1:] != part[:, :-1]).sum(axis=1)
        assert edges.max() <= 2
        assert edges.max() > 0


def test_mutation_stays_inside_changes_rows_and_repeats_with_its_seed():
    for rng, space in spaces(40):
        rows = space.repair(rng, wild_rows(rng, space, 100))
        before = rows.copy()
        mutated = space.mutate(np.random.default_rng(5), rows)
        assert np.array_equal(rows, before), "the parents are left alone"
        assert np.array_equal(space.mutate(np.random.default_rng(5), rows), mutated)
        assert_inside(space.problem, space.repair(rng, mutated))
        if space.combinations > 8:
            assert (mutated != rows).any()


def test_neighbours_are_inside_and_reach_every_group_on_every_unit():
    for rng, space in spaces(40):
        rows = space.random(rng, 3)
        near = neighbours(space, rng, rows)
        assert_inside(space.problem, near)
        mappings = {row[: space.groups].tobytes() for row in near}
        for row in rows:
            for g in range(space.groups):
                for u in np.flatnonzero(space.problem.allowed[g]):
                    changed = row[: space.groups].copy()
                    changed[g] = u
                    assert u == row[g] or changed.tobytes() in mappings


def test_neighbours_reach_every_single_step_of_a_clock_in_use():
    for rng, space in spaces(40):
        (row,) = space.random(rng, 1)
        near = {entry.tobytes() for entry in neighbours(space, rng, row[None])}
        used = space.domains_used(row[None])[0]
        for d in space.free_domains[used[space.free_domains]]:
            at = int(np.flatnonzero(space.points[d] == row[space.groups + d])[0])
            for place in (at - 1, at + 1):
                if 0 <= place < len(space.points[d]):
                    changed = row.copy()
                    changed[space.groups + d] = space.points[d][place]
                    if space.problem.memory_domain != d or not space.idle_powered_domains:
                        assert changed.tobytes() in near


def test_fewer_neighbours_are_some_of_all():
    for rng, space in spaces(20):
        rows = space.random(rng, 2)
        every = len(neighbours(space, rng, rows))
        assert len(neighbours(space, rng, rows, most=5)) == min(5, every)


def test_an_idle_clock_rests_where_least_power_is_drawn_and_nothing_else_changes():
    rested = 0
    for rng, space in spaces(80):
        rows = space.canonical(wild_rows(rng, space))
        rows = rows[space.problem.allowed[np.arange(space.groups), rows[:, : space.groups]].all(1)]
        if len(rows) == 0:
            continue
        after = space.repair(rng, rows)
        evaluate = make_evaluator(space.problem)
        before_, after_ = evaluate(rows), evaluate(after)
        assert np.array_equal(before_.makespan_ps, after_.makespan_ps)
        assert np.array_equal(before_.dynamic_fj, after_.dynamic_fj)
        assert (after_.idle_mw <= before_.idle_mw).all()
        rested += int((after_.idle_mw < before_.idle_mw).sum())
        used = space.domains_used(after)
        for d in space.idle_powered_domains:
            for point in space.points[d]:
                other = after[~used[:, d]].copy()
                other[:, space.groups + d] = point
                assert (evaluate(other).idle_mw >= after_.idle_mw[~used[:, d]]).all()
    assert rested > 50


def test_a_unit_that_is_woken_gets_a_clock_drawn_for_it():
    fastest = []
    for rng, space in spaces(60):
        rows = space.random(rng, 50)
        asleep = ~space.domains_used(rows)
        mutated = space.mutate(rng, rows)
        new = space.domains_used(mutated) & asleep
        after = space.repair(rng, mutated, ~asleep)
        assert np.array_equal(after[:, : space.groups], mutated[:, : space.groups]) or (
            not space.problem.allowed.all()
        )
        for d in space.free_domains:
            fastest += (after[new[:, d], space.groups + d] == space.points[d][-1]).tolist()
    assert len(fastest) > 100
    assert 0.4 < np.mean(fastest) < 0.9, "a third of the time, and by chance"


def test_a_woken_domain_gets_an_allowed_point_whatever_it_had_while_off():
    """A fixed clock of a domain that was off: issue 17, point 1."""
    woken = 0
    for rng, space in spaces(160):
        rows = space.random(rng, 50)
        asleep = ~space.domains_used(rows)
        mutated = space.repair(rng, space.mutate(rng, rows), ~asleep)
        assert_inside(space.problem, mutated)
        for d, domain in enumerate(space.problem.domains):
            if domain.allowed.sum() == 1 and not domain.allowed[0]:
                woken += int((asleep & space.domains_used(mutated))[:, d].sum())
    assert woken > 30


def test_a_space_holds_its_rows_and_no_others():
    for rng, space in spaces(30):
        rows = space.random(rng, 20)
        assert space.holds(rows).all()
        for gene in range(space.width):
            for value in (-1, 99):
                other = rows.copy()
                other[3, gene] = value
                assert np.flatnonzero(~space.holds(other)).tolist() == [3]
        wild = rng.integers(-1, 5, (300, space.width))
        for row, inside in zip(wild, space.holds(wild).tolist(), strict=True):
            units, points = row[: space.groups], row[space.groups :]
            here = all(
                0 <= u < len(allowed) and allowed[u]
                for u, allowed in zip(units, space.problem.allowed, strict=True)
            ) and all(
                0 <= k < len(domain.allowed) and domain.allowed[k]
                for k, domain in zip(points, space.problem.domains, strict=True)
            )
            assert inside == (here and (space.canonical(row[None]) == row).all())


def test_obvious_rows_hold_each_unit_alone_at_the_fastest_and_slowest_clocks():
    rng = np.random.default_rng(3)
    problem = random_problem(rng, replace(SHAPE, units=(3, 3), unsupported=0.0))
    space = DesignSpace(problem)
    rows = {row.tobytes() for row in heuristic_seeds(space)}
    for u in range(3):
        for at in (0, -1):
            clocks = [points[at] for points in space.points]
            row = np.array([*[u] * space.groups, *clocks], dtype=np.int64)
            assert row.tobytes() in rows


@pytest.mark.parametrize("seen", [None, set()])
def test_unique_rows_keeps_the_first(seen):
    rows = np.array([[1, 2], [3, 4], [1, 2], [3, 5]])
    assert unique_rows(rows, seen).tolist() == [True, True, False, True]


def test_a_fixed_seed_gives_the_same_repair():
    for rng, space in spaces(10, max_transitions=1):
        rows = wild_rows(rng, space)
        first = space.repair(np.random.default_rng(9), rows)
        assert np.array_equal(first, space.repair(np.random.default_rng(9), rows))

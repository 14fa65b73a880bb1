"""Verdicts on lemmas: what holds, what does not, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.enumerated.space import all_designs
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import NOT_NAMED, LemmaTable
from paretosoc.results.problem.parts import ContentionTable, ProblemDomain
from paretosoc.results.problem.problem import Problem
from tests.support.problems.small_problems import flat_loss, network, problem
from tests.support.proofs.lemma_tree import lemma_tree
from tests.support.proofs.lemmas import failing_lemmas, lemma_bound
from tests.support.proofs.random_lemmas import fastest, random_lemmas, small_problem, with_choices

ANY = NOT_NAMED
REFERENCE_OPTIMUM_PS = 7_325_701_235


def bound_of(chip: Problem, units: list[int], masks: list[int] | None = None) -> int:
    masks = masks or [1] * len(chip.domains)
    return lemma_bound(chip, np.array(units), np.array(masks, dtype=np.uint64))


def lemmas_of(*rows: list[int], masks: list[list[int]] | None = None) -> LemmaTable:
    masks = masks or [[1]] * len(rows)
    return LemmaTable(np.array(rows), np.array(masks, dtype=np.uint64))


def with_deadlines(chip: Problem, deadlines: dict[int, int]) -> Problem:
    return replace(
        chip,
        networks=tuple(
            replace(entry, deadline_ps=deadlines.get(n)) for n, entry in enumerate(chip.networks)
        ),
    )


def with_two_points(chip: Problem, factor: int) -> Problem:
    """Its clock gets a second operating point, at which all takes ``factor`` times as long."""
    clock = replace(
        chip.domains[0],
        frequencies_khz=(1000, 2000),
        voltages_mv=(None, None),
        static_mw=np.zeros(2, dtype=np.int64),
        allowed=np.ones(2, dtype=np.bool_),
    )
    return replace(
        chip,
        domains=(clock,),
        units=tuple(
            replace(
                unit,
                time_ps=np.where(unit.time_ps < 0, -1, unit.time_ps * [1, factor]),
                demand_kbps=np.repeat(unit.demand_kbps, 2, axis=1),
                dynamic_mw=np.repeat(unit.dynamic_mw, 2, axis=1),
                idle_mw=np.zeros(2, dtype=np.int64),
            )
            for unit in chip.units
        ),
    )


CHAIN = problem([network("a", 0, 3)], [[10, 40], [30, 20], [50, 60]], edges={(0, 1): 7, (1, 2): 7})


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([ANY, ANY, ANY], 10 + 20 + 50),
        ([1, ANY, ANY], 40 + 20 + 50),
        ([0, 1, ANY], 10 + 7 + 20 + 50),
        # A transition counts where both ends are named, also beyond the stop.
        ([ANY, 1, 0], 10 + 20 + 7 + 50),
        ([ANY, 1, ANY], 10 + 20 + 50),
        ([0, 1, 0], 10 + 7 + 20 + 7 + 50),
    ],
)
def test_longest_path(units: list[int], expected: int) -> None:
    assert bound_of(CHAIN, units) == expected


def test_total_work_over_the_units_is_rounded_up() -> None:
    chip = problem([network(name, n, 1) for n, name in enumerate("abc")], [[10, 10]] * 2 + [[5, 6]])
    assert bound_of(chip, [ANY, ANY, ANY]) == 13  # 25 / 2


def test_work_named_for_a_unit() -> None:
    chip = problem([network(name, n, 1) for n, name in enumerate("abcd")], [[10, 10]] * 4)
    assert bound_of(chip, [0, ANY, 0, 0]) == 30


def test_what_runs_counts_by_its_work_left() -> None:
    networks = [network("a", 0, 1), network("b", 1, 2)]
    times, edges = [[20, 20], [4, 4], [5, 5]], {(1, 2): 0}
    # b's second group becomes eligible at 4, when 16 of a's 20 are left.
    assert bound_of(problem(networks, times, edges=edges), [0, 1, ANY]) == 4 + 16
    # At half the rate that is so at 8.
    slow = problem(networks, times, edges=edges, demands_kbps=[100] * 3, contention=flat_loss("50"))
    assert bound_of(slow, [0, 1, ANY]) == 8 + 16


def test_an_unnamed_group_stops_the_timeline_before_it_arrives() -> None:
    # b arrives at 3, but its unit is open from 0 on: nothing has started, and a and c may share.
    chip = problem(
        [network("a", 0, 1), network("b", 1, 1, arrival_ps=3), network("c", 2, 1)],
        [[4, 4], [6, 8], [5, 5]],
    )
    assert bound_of(chip, [0, ANY, 1]) == 3 + 6
    assert bound_of(chip, [0, 0, 1]) == 4 + 6


def test_repeats_and_waiting() -> None:
    chip = problem(
        [network("a", 0, 1, repeats=3), network("b", 1, 1, waits_for=(0,), arrival_ps=2)],
        [[10, 12], [5, 4]],
    )
    assert bound_of(chip, [ANY, ANY]) == 3 * 10 + 4
    assert bound_of(chip, [1, ANY]) == 3 * 12 + 4


def test_a_dispatch_of_several_costs_stops_the_timeline() -> None:
    two = problem([network("a", 0, 1), network("b", 1, 1)], [[10, 10], [10, 10]])
    chip = with_two_points(two, 3)
    assert bound_of(chip, [0, 0], [0b11]) == 20
    assert bound_of(chip, [0, 0], [0b10]) == 60
    assert bound_of(chip, [0, 0], [0b01]) == 20


@pytest.mark.parametrize("losses", [(50, 0), (50, 50)])
def test_a_slowdown_of_several_values_stops_the_timeline(
    losses: tuple[int, int],
) -> None:
    """The memory's clock changes nothing but who slows whom."""
    rows = [flat_loss(str(loss)).columns for loss in losses]
    slowdown = ContentionTable(
        **{name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
    )
    chip = problem(
        [network("a", 0, 1), network("b", 1, 1)],
        [[20, 20], [20, 20]],
        demands_kbps=[100, 100],
        contention=slowdown,
    )
    memory = replace(
        chip.domains[0],
        name="memory",
        frequencies_khz=(1000, 2000),
        voltages_mv=(None, None),
        static_mw=np.zeros(2, dtype=np.int64),
        allowed=np.ones(2, dtype=np.bool_),
    )
    chip = replace(chip, domains=(*chip.domains, memory), memory_domain=1)
    assert bound_of(chip, [0, 1], [1, 0b01]) == 20 * 100 // (100 - losses[0])
    assert bound_of(chip, [0, 1], [1, 0b11]) == 20


def test_only_allowed_points_and_units_count() -> None:
    chip = with_two_points(CHAIN, 3)
    clock = replace(chip.domains[0], allowed=np.array([False, True]))
    chip = replace(chip, domains=(clock,))
    assert bound_of(chip, [ANY, ANY, ANY], [0b11]) == 3 * 80
    allowed = np.array([[False, True], [True, True], [True, True]])
    assert bound_of(replace(chip, allowed=allowed), [ANY, ANY, ANY], [2**64 - 1]) == 3 * 110


def test_verdicts_at_the_bound() -> None:
    lemmas = lemmas_of([ANY, ANY, ANY], [1, ANY, ANY], [0, 1, 0])
    assert failing_lemmas(CHAIN, lemmas, fastest(80)) == []
    assert failing_lemmas(CHAIN, lemmas, fastest(94)) == [0]
    assert failing_lemmas(CHAIN, lemmas, fastest(111)) == [0, 1, 2]


def test_a_broken_deadline_closes_a_lemma() -> None:
    lemmas = lemmas_of([0, 1, ANY])
    assert failing_lemmas(with_deadlines(CHAIN, {0: 86}), lemmas, fastest(1000)) == []
    assert len(failing_lemmas(with_deadlines(CHAIN, {0: 87}), lemmas, fastest(1000))) == 1
    # A deadline is on the latency: the arrival does not count.
    late = problem([network("a", 0, 1, arrival_ps=100)], [[10]])
    assert len(failing_lemmas(with_deadlines(late, {0: 10}), lemmas_of([0]), fastest(1000))) == 1
    assert failing_lemmas(with_deadlines(late, {0: 9}), lemmas_of([0]), fastest(1000)) == []


def test_long_ladders_are_refused() -> None:
    ladder = ProblemDomain(
        name="clock",
        frequencies_khz=tuple(range(1, 66)),
        voltages_mv=(None,) * 65,
        may_be_off=False,
        static_mw=np.zeros(65, dtype=np.int64),
        allowed=np.ones(65, dtype=np.bool_),
    )
    with pytest.raises(ResultError, match="at most 64 operating points, got 65"):
        failing_lemmas(replace(CHAIN, domains=(ladder,)), lemmas_of([ANY, ANY, ANY]), fastest(80))


def test_no_lemmas() -> None:
    empty = LemmaTable(np.zeros((0, 3), dtype=np.int64), np.zeros((0, 1), dtype=np.uint64))
    assert failing_lemmas(CHAIN, empty, fastest(80)) == []


@pytest.mark.parametrize("seed", range(60))
def test_leaves_of_a_search_hold_and_cover(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chip = small_problem(seed)
    rows = all_designs(chip)
    result = make_evaluator(chip)(rows)
    if seed % 3 == 0:
        limit = int(np.quantile(result.latency_ps[:, 0], 0.4))
        chip = with_deadlines(chip, {0: limit})
        feasible = result.latency_ps[:, 0] <= limit
    else:
        feasible = np.ones(len(rows), dtype=np.bool_)
    optimum = int(result.makespan_ps[feasible].min())
    lemmas = lemma_tree(chip, optimum)
    covered = np.zeros(len(rows), dtype=np.bool_)
    for units, masks in zip(lemmas.units, lemmas.points, strict=True):
        covered |= with_choices(rows, units, masks)
    assert covered.all()
    assert failing_lemmas(chip, lemmas, fastest(optimum)) == []
    # Nothing can prove more than what is true.
    assert failing_lemmas(chip, lemmas, fastest(optimum + 1)) != []

    # Leaves with one choice changed: those that let in a better design point than claimed fail.
    claimed = int(np.quantile(result.makespan_ps[feasible], 0.6)) + 1
    better = feasible & (result.makespan_ps < claimed)
    false = 0
    for _ in range(5):
        units, masks = lemmas.units.copy(), lemmas.points.copy()
        for index in range(len(lemmas)):
            if rng.integers(2):
                units[index, rng.integers(chip.group_count)] = rng.integers(-1, len(chip.units))
            else:
                d = rng.integers(len(chip.domains))
                masks[index, d] |= np.uint64(1 << int(rng.integers(len(chip.domains[d].allowed))))
        failed = set(failing_lemmas(chip, LemmaTable(units, masks), fastest(claimed)))
        for index in range(len(lemmas)):
            if (with_choices(rows, units[index], masks[index]) & better).any():
                false += 1
                assert index in failed
    assert false > 0


def test_false_lemmas_fail() -> None:
    false = 0
    for seed in range(100):
        chip = small_problem(seed)
        rows = all_designs(chip)
        makespan = make_evaluator(chip)(rows).makespan_ps
        lemmas = random_lemmas(np.random.default_rng(seed), chip, 15)
        claimed = int(np.quantile(makespan, 0.3))
        failed = set(failing_lemmas(chip, lemmas, fastest(claimed)))
        for index in range(len(lemmas)):
            fitting = with_choices(rows, lemmas.units[index], lemmas.points[index])
            if makespan[fitting].min() < claimed:
                false += 1
                assert index in failed, f"seed {seed}, lemma {index}"
    assert false > 300


def test_reference_problem() -> None:
    chip = reference_problem(points=False)
    lemmas = lemma_tree(chip, REFERENCE_OPTIMUM_PS)
    # As many leaves as another implementation of this search has.
    assert len(lemmas) == 2326
    assert failing_lemmas(chip, lemmas, fastest(REFERENCE_OPTIMUM_PS)) == []
    assert len(failing_lemmas(chip, lemmas, fastest(REFERENCE_OPTIMUM_PS + 1))) == 1

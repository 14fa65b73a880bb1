"""Lemmas about rates, periods, power caps and energy budgets."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.enumerated.space import all_designs
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import NOT_NAMED, LemmaTable
from paretosoc.results.problem.execution import OneFrame, Periodic, Pipeline
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ProblemDomain
from paretosoc.results.problem.problem import Problem
from tests.support.problems.small_problems import network, problem
from tests.support.proofs.lemmas import failing_lemmas, lemma_bounds
from tests.support.proofs.random_lemmas import (
    fastest,
    of_rates,
    random_lemmas,
    small_problem,
    with_choices,
)
from tests.support.sample import SAMPLE

ANY = NOT_NAMED
CHUNKS, CHUNK = SAMPLE, 30
LEMMAS = 20
MIN_OF_CHUNK = {"period": 3, "cap": 20, "budget": 20, "sum of rates": 50, "makespan": 50}
"""How many lemmas of a chunk must hold for the sake of a limit, or of an objective's bound."""


def limited_problem(rng: np.random.Generator, seed: int, objective: ObjectiveKind) -> Problem:
    """A problem with limits that some design points keep, most often."""
    chip = replace(
        small_problem(seed),
        objectives=tuple(
            Objective(kind)
            for kind in (
                objective,
                ObjectiveKind.ENERGY,
                ObjectiveKind.POWER,
                ObjectiveKind.LATENCY,
            )
        ),
    )
    rows = all_designs(chip)

    def drawn(column: int) -> int:
        figures = make_outcomes(chip)(rows).objectives[:, column]
        return max(1, int(np.quantile(figures, rng.random())))

    if rng.integers(2) == 0:
        chip = replace(chip, execution=Periodic(drawn(3)))
    if rng.integers(2):
        chip = replace(chip, power_cap_mw=max(1, drawn(2) // 1000))
    if rng.integers(2):
        chip = replace(chip, energy_budget_fj=drawn(1))
    return chip


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_nothing_feasible_is_better_where_a_lemma_holds(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        rng = np.random.default_rng([11, seed])
        sums_rates = bool(rng.integers(2))
        kind = ObjectiveKind.INVERSE_LATENCY if sums_rates else ObjectiveKind.LATENCY
        chip = limited_problem(rng, seed, kind)
        rows = all_designs(chip)
        outcomes = make_outcomes(chip)(rows)
        values = outcomes.objectives[:, 0]
        lemmas = random_lemmas(rng, chip, LEMMAS)
        # Certified values that are wrong, too: a lemma must hold on its own.
        for share in (0.05, rng.random(), 1.0):
            optimum = int(np.quantile(values, share, method="nearest"))
            failed = failing(chip, lemmas, optimum, sums_rates)
            for name, without in without_each_limit(chip).items():
                seen[name] += len(failing(without, lemmas, optimum, sums_rates) - failed)
            seen["sum of rates" if sums_rates else "makespan"] += LEMMAS - len(failed)
            for index in set(range(LEMMAS)) - failed:
                fitting = with_choices(rows, lemmas.units[index], lemmas.points[index])
                better = outcomes.feasible & (values < optimum)
                assert not (fitting & better).any(), f"seed {seed}, lemma {index}, {optimum}"
    missing = {name: seen[name] for name, least in MIN_OF_CHUNK.items() if seen[name] < least}
    assert not missing, f"too few lemmas of chunk {chunk} hold for the sake of: {missing}"


def without_each_limit(chip: Problem) -> dict[str, Problem]:
    """The problem without one of its limits, by the name of that limit."""
    without = {}
    if (chip.power_cap_mw, chip.energy_budget_fj) == (None, None):
        without["period"] = replace(chip, execution=OneFrame())
    if chip.power_cap_mw is not None:
        without["cap"] = replace(chip, power_cap_mw=None)
    if chip.energy_budget_fj is not None:
        without["budget"] = replace(chip, energy_budget_fj=None)
    return without


def failing(chip: Problem, lemmas: LemmaTable, optimum: int, sums_rates: bool) -> set[int]:
    return set(failing_lemmas(of_rates(chip, sums_rates=sums_rates), lemmas, fastest(optimum)))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_power_and_energy_of_all_design_points_are_above_their_bounds(chunk: int) -> None:
    """And equal to them where all is chosen."""
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        rng = np.random.default_rng([12, seed])
        chip = replace(small_problem(seed), power_cap_mw=1)
        rows = all_designs(chip)
        result = make_evaluator(chip)(rows)
        lemmas = random_lemmas(rng, chip, LEMMAS)
        for index, bound in enumerate(lemma_bounds(chip, lemmas)):
            fitting = with_choices(rows, lemmas.units[index], lemmas.points[index])
            assert (result.idle_mw[fitting] >= bound.idle_mw).all()
            assert (result.dynamic_fj[fitting] >= bound.dynamic_fj).all()
            if bound.is_complete:
                assert (result.makespan_ps[fitting] == bound.makespan_ps).all()
        some = rng.choice(len(rows), min(len(rows), 10), replace=False)
        groups = chip.group_count
        masks = np.uint64(1) << rows[some, groups:].astype(np.uint64)
        for row, bound in zip(
            some, lemma_bounds(chip, LemmaTable(rows[some, :groups], masks)), strict=True
        ):
            assert bound.is_complete
            assert bound.idle_mw == result.idle_mw[row]
            assert bound.dynamic_fj == result.dynamic_fj[row]


def domain(name: str, static_mw: int, *, may_be_off: bool) -> ProblemDomain:
    return ProblemDomain(
        name=name,
        frequencies_khz=(1000,),
        voltages_mv=(None,),
        may_be_off=may_be_off,
        static_mw=np.array([static_mw]),
        allowed=np.ones(1, dtype=np.bool_),
    )


def powered() -> Problem:
    """Two groups in a chain, 10 ps each on either of two units, dynamic power 3 and 5 mW.

    Board 1 mW. Unit 0 idles at 20 mW and is always on (static 100 mW); unit 1, at 40 mW, may be off
    (static 200 mW).
    """
    chip = problem([network("a", 0, 2)], [[10, 10], [10, 10]], edges={(0, 1): 0})
    units = tuple(
        replace(
            unit,
            clocks=(u,),
            dynamic_mw=np.array([[3], [3]]) if u == 0 else np.array([[5], [5]]),
            idle_mw=np.array([20 * (u + 1)]),
        )
        for u, unit in enumerate(chip.units)
    )
    domains = (domain("first", 100, may_be_off=False), domain("second", 200, may_be_off=True))
    return replace(chip, domains=domains, units=units, board_mw=1)


def holds(chip: Problem, units: list[int], optimum: int, *, sums_rates: bool = False) -> bool:
    masks = np.ones((1, len(chip.domains)), dtype=np.uint64)
    lemmas = LemmaTable(np.array([units]), masks)
    return not failing_lemmas(of_rates(chip, sums_rates=sums_rates), lemmas, fastest(optimum))


@pytest.mark.parametrize(
    ("units", "idle", "dynamic", "complete"),
    [
        ([ANY, ANY], 1 + 100 + 20, 30 + 30, False),
        ([0, ANY], 121, 30 + 30, False),
        ([1, ANY], 121 + 200 + 40, 50 + 30, False),
        ([ANY, 1], 361, 30 + 50, False),
        ([1, 0], 361, 80, True),
    ],
)
def test_least_power(units: list[int], idle: int, dynamic: int, complete: bool) -> None:
    chip = replace(powered(), power_cap_mw=1)
    lemmas = LemmaTable(np.array([units]), np.ones((1, 2), dtype=np.uint64))
    [bound] = lemma_bounds(chip, lemmas)
    assert (bound.idle_mw, bound.dynamic_fj) == (idle, dynamic)
    assert bound.is_complete == complete


def test_energy_of_what_runs_when_the_timeline_stops() -> None:
    # b's second group is open from 4 on; a then has 16 of 20 left.
    chip = problem(
        [network("a", 0, 1), network("b", 1, 2)], [[20, 20], [4, 4], [5, 5]], edges={(1, 2): 0}
    )
    dynamic = np.array([[7], [2], [3]])
    units = tuple(replace(unit, dynamic_mw=dynamic) for unit in chip.units)
    chip = replace(chip, units=units, energy_budget_fj=1)
    lemmas = LemmaTable(np.array([[0, 1, ANY]]), np.ones((1, 1), dtype=np.uint64))
    [bound] = lemma_bounds(chip, lemmas)
    assert bound.dynamic_fj == 7 * 20 + 2 * 4 + 3 * 5


def test_cap_of_one_frame() -> None:
    # Complete: 60 fJ in 20 ps above 121 mW of idle power make 124 mW.
    assert not holds(replace(powered(), power_cap_mw=124), [0, 0], 1000)
    assert holds(replace(powered(), power_cap_mw=123), [0, 0], 1000)
    # Open: 60 fJ are 3 mW over 20 ps, but as little as one likes over a longer time.
    assert holds(replace(powered(), power_cap_mw=123), [0, ANY], 30)
    assert not holds(replace(powered(), power_cap_mw=123), [0, ANY], 31)
    assert holds(replace(powered(), power_cap_mw=121), [0, ANY], 1 << 62)
    assert holds(replace(powered(), power_cap_mw=120), [0, ANY], 1 << 62)


def test_sums_of_rates_do_not_bound_the_makespan_for_the_cap() -> None:
    chip = replace(powered(), power_cap_mw=122)
    assert holds(chip, [0, ANY], 60)
    assert not holds(chip, [0, ANY], 60, sums_rates=True)


def test_idle_power_alone_above_the_cap_needs_energy() -> None:
    """A frame that takes no energy at all may take no time either."""
    chip = powered()
    units = tuple(replace(unit, dynamic_mw=0 * unit.dynamic_mw) for unit in chip.units)
    assert not holds(replace(chip, units=units, power_cap_mw=121), [0, ANY], 1000)
    assert not holds(replace(chip, units=units, power_cap_mw=120), [0, ANY], 1000)


def test_cap_and_budget_in_a_period() -> None:
    periodic = replace(powered(), execution=Periodic(60))
    # 60 fJ in 60 ps above 121 mW, and 80 above 361.
    assert not holds(replace(periodic, power_cap_mw=122), [ANY, ANY], 1000)
    assert holds(replace(periodic, power_cap_mw=121), [ANY, ANY], 1000)
    assert holds(replace(periodic, power_cap_mw=362), [1, ANY], 1000)
    assert not holds(replace(periodic, power_cap_mw=363), [1, ANY], 1000)
    least = 121 * 60 + 60
    assert not holds(replace(periodic, energy_budget_fj=least), [ANY, ANY], 1000)
    assert holds(replace(periodic, energy_budget_fj=least - 1), [ANY, ANY], 1000)
    assert holds(replace(periodic, energy_budget_fj=least - 1), [ANY, ANY], 0, sums_rates=True)


def test_budget_of_one_frame() -> None:
    least = 361 * 20 + 80
    assert not holds(replace(powered(), energy_budget_fj=least), [1, ANY], 1000)
    assert holds(replace(powered(), energy_budget_fj=least - 1), [1, ANY], 1000)


def test_period() -> None:
    assert not holds(replace(powered(), execution=Periodic(20)), [ANY, ANY], 1000)
    assert holds(replace(powered(), execution=Periodic(19)), [ANY, ANY], 1000)


def test_sums_of_rates() -> None:
    chip = problem([network("a", 0, 1), network("b", 1, 1, arrival_ps=2)], [[3, 3], [7, 7]])
    best = -(10**18 // 3 + 10**18 // 7)
    assert holds(chip, [0, 1], best, sums_rates=True)
    assert not holds(chip, [0, 1], best + 1, sums_rates=True)
    # On one unit b waits until 3, and takes 8 from its arrival on.
    assert holds(chip, [0, 0], -(10**18 // 3 + 10**18 // 8), sums_rates=True)
    assert not holds(chip, [0, ANY], best + 1, sums_rates=True)


def test_energies_above_64_bits() -> None:
    chip = powered()
    units = tuple(
        replace(unit, time_ps=unit.time_ps + (1 << 46), dynamic_mw=unit.dynamic_mw << 30)
        for unit in chip.units
    )
    cap = (3 << 30) + 121
    assert not holds(replace(chip, units=units, power_cap_mw=cap), [ANY, ANY], 1 << 62)
    assert not holds(replace(chip, units=units, power_cap_mw=cap), [0, 0], 1 << 62)
    assert holds(replace(chip, units=units, power_cap_mw=cap - 1), [0, 0], 1 << 62)


@pytest.mark.parametrize("name", ["power_cap_mw", "energy_budget_fj"])
def test_pipelines_with_limits_are_refused(name: str) -> None:
    chip = replace(powered(), execution=Pipeline(1), **{name: 1000})
    with pytest.raises(ResultError, match=f"{name}: .* do not overlap .*got 1000"):
        holds(chip, [ANY, ANY], 20)

"""Prices of units' and networks' time: which the search takes, and which the check refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

import paretosoc as dse
from paretosoc.dse.certificate.improve import find_fastest
from paretosoc.dse.problem.int64_bounds import fits_int64
from paretosoc.fitness.branch_and_bound.prices import load_prices
from paretosoc.fitness.check.lemmas import Lemma, Lemmas
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import NOT_NAMED
from paretosoc.results.problem.problem import Problem
from tests.support.proofs.lemmas import faults


def made(*networks: str) -> Problem:
    return dse.Problem(
        list(networks), "jetson-agx-xavier", groups=4, objectives=["latency"], fixed={"emc": "max"}
    ).numeric


@pytest.fixture(scope="module")
def three() -> Problem:
    """Three networks on a GPU and two DLAs that are alike."""
    return made("resnet50", "mobilenet_v2", "googlenet")


def at_the_root(problem: Problem, prices: tuple[tuple[int, ...], ...]) -> int:
    lemma = Lemma((NOT_NAMED,) * problem.group_count, tuple(problem.allowed_points))
    return Lemmas(problem, LemmaTarget((), (), prices=prices)).bound(lemma).makespan_ps


def test_prices_raise_the_bound_of_the_whole_space(three: Problem) -> None:
    prices, best = load_prices(three, (0,)), find_fastest(three).best_value
    assert best is not None
    assert 1.05 * at_the_root(three, ()) < at_the_root(three, prices) <= best


def test_units_that_are_alike_cost_the_same(three: Problem) -> None:
    names = [unit.name for unit in three.units]
    assert load_prices(three, (0,))
    for row in load_prices(three, (0,)):
        assert row[1 + names.index("dla0")] == row[1 + names.index("dla1")]


def test_equal_prices_of_units_are_the_work_spread_evenly(three: Problem) -> None:
    even = ((0,) + (1,) * len(three.units) + (0,) * len(three.networks),)
    assert at_the_root(three, even) == at_the_root(three, ())


def test_one_chain_needs_no_prices() -> None:
    assert load_prices(made("resnet50"), (0,)) == ()


def test_a_tree_does_not_hold_without_the_prices_that_it_needs(three: Problem) -> None:
    found = find_fastest(three)
    assert found.best_value is not None
    claim = LemmaTarget((0,), ((found.best_value,),), prices=found.prices)
    assert faults(three, found.tree, claim) == (None, None)
    assert None not in faults(three, found.tree, replace(claim, prices=()))


@pytest.mark.parametrize(
    "row", [(1,), (0, 1, 1, 1, 1, 1, -1), (2, 1, 1, 1, 1, 1, 1), (1, 0, 0, 0, 0, 0, 0)]
)
def test_other_rows_are_refused(three: Problem, row: tuple[int, ...]) -> None:
    with pytest.raises(ResultError, match="prices: rows of 7 numbers are required"):
        LemmaTarget((0,), (), prices=(row,)).require_bounds(three)


def test_more_rows_than_a_vector_has_lanes_are_refused(three: Problem) -> None:
    row = (0, 1, 1, 1, 1, 1, 1)
    LemmaTarget((0,), (), prices=(row,) * 16).require_bounds(three)
    with pytest.raises(ResultError, match="at most 16 rows that begin with 0 are allowed, got 17"):
        LemmaTarget((0,), (), prices=(row,) * 17).require_bounds(three)
    # The choice of a checker comes before the check, which tells the number.
    assert not fits_int64(three, LemmaTarget((0,), (), prices=(row,) * 17))

"""Transitions as work: the times of a small problem, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.accuracy.transitions import occupying
from paretosoc.fitness.simulate import make_evaluator
from tests.support.problems.small_problems import network, problem

ROW = np.array([0, 1, 1, 0])
"""Network a changes from unit 0 to unit 1, where b runs for 30 ps."""


@pytest.fixture(scope="module")
def small():
    stated = problem(
        [network("a", 0, 2), network("b", 2, 1)],
        [[10, 10], [5, 5], [30, 30]],
        edges={(0, 1): 10},
    )
    return replace(stated, edge_tokens=np.array([1]))


def makespan_ps(small, row) -> int:
    return int(make_evaluator(small)(row[None]).makespan_ps[0])


@pytest.mark.parametrize(
    ("unit", "delay_ps", "expected_ps"),
    [
        pytest.param(None, 0, 30 + 5, id="a core copies while b runs, as a delay does"),
        pytest.param(1, 0, 30 + 10 + 5, id="unit 1 begins the transition after b"),
        pytest.param(1, 4, 30 + 6 + 5, id="4 ps of it pass while b runs"),
        pytest.param(0, 4, 30 + 5, id="unit 0 has nothing else to do"),
    ],
)
def test_a_hand_over_waits_for_its_unit(small, unit, delay_ps, expected_ps) -> None:
    assert makespan_ps(small, ROW) == 35
    delays = np.full((2, 2), delay_ps)
    assert makespan_ps(*occupying(small, ROW, unit, delays)) == expected_ps


def test_a_design_point_without_hand_overs_is_unchanged(small) -> None:
    row = np.array([0, 0, 1, 0])
    changed, mapped = occupying(small, row, 1)
    assert changed.group_count == 3
    assert makespan_ps(changed, mapped) == makespan_ps(small, row) == 30


def test_a_hand_over_moves_its_elements_twice(small) -> None:
    """One element of two bytes, read and written in 10 ps: 0.4 B/ps are 400,000,000 kB/s."""
    changed, mapped = occupying(small, ROW, 1)
    assert mapped[:4].tolist() == [0, 1, 1, 1]
    assert changed.units[1].demand_kbps[1].tolist() == [400_000_000]

"""Transitions as work of a unit, on problems small enough to be played by hand: network a goes from
unit 0 to unit 1 in 10 ps, and b wants one of them for 30."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretosoc.results.problem.problem import Problem
from tests.support.both_timelines import simulate, spans
from tests.support.problems.small_problems import network, problem


def moving(stated: Problem, *units: int) -> Problem:
    """Return the problem with transitions as work of these units."""
    changed = (replace(unit, moves_tensors=u in units) for u, unit in enumerate(stated.units))
    return replace(stated, units=tuple(changed))


def chip(unit_of_b: int) -> tuple[Problem, list[int]]:
    networks = [network("a", 0, 2), network("b", 2, 1, arrival_ps=1)]
    stated = problem(networks, [[5, 5], [5, 5], [30, 30]], edges={(0, 1): 10})
    return stated, [0, 1, unit_of_b]


def test_a_delay_occupies_nothing() -> None:
    stated, units = chip(0)
    assert spans(simulate(stated, units)) == [(0, 5), (15, 20), (5, 35)]


def test_the_source_works_before_it_takes_another_group() -> None:
    stated, units = chip(0)
    assert spans(simulate(moving(stated, 0), units)) == [(0, 15), (15, 20), (15, 45)]


def test_the_target_works_after_it_has_ended_another_group() -> None:
    stated, units = chip(1)
    played = simulate(moving(stated, 1), units)
    assert spans(played) == [(0, 5), (31, 46), (1, 31)]
    assert [group.ready_ps for group in played.schedule.groups] == [0, 5, 1]


def test_of_two_that_can_the_target_does_it() -> None:
    stated, units = chip(1)
    assert simulate(moving(stated, 0, 1), units).schedule == (
        simulate(moving(stated, 1), units).schedule
    )


def test_it_takes_its_time_in_every_repeat() -> None:
    stated = problem([network("a", 0, 2, repeats=2)], [[5, 5], [5, 5]], edges={(0, 1): 10})
    played = simulate(moving(stated, 0), [0, 1])
    assert spans(played) == [(0, 15), (15, 20), (20, 35), (35, 40)]
    assert [group.alone_ps for group in played.schedule.groups] == [15, 5, 15, 5]


def test_groups_that_stay_move_nothing() -> None:
    stated, _ = chip(1)
    played = simulate(moving(stated, 0, 1), [0, 0, 1])
    assert spans(played) == [(0, 5), (5, 10), (1, 31)]


def test_a_hand_over_to_another_network_is_a_delay() -> None:
    stated = problem([network("a", 0, 1), network("b", 1, 1, waits_for=(0,))], [[5, 5], [5, 5]])
    delays = np.full((1, 2, 2), 10)
    stated = replace(stated, handovers=((0, 1),), handover_ps=delays)
    assert spans(simulate(moving(stated, 0, 1), [0, 1])) == [(0, 5), (15, 20)]

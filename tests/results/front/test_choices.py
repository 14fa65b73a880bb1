"""Choices stand for all members, are few, and of equals the simplest."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from paretosoc.results.errors import ResultError
from paretosoc.results.front.choices import (
    DEFAULT_RESOLUTION,
    MOST,
    RESOLUTIONS,
    choose,
    from_governor,
)
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.epsilon import epsilon_ppm
from paretosoc.results.front.front import Front
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint

KINDS = (ObjectiveKind.LATENCY, ObjectiveKind.ENERGY, ObjectiveKind.INVERSE_LATENCY)


def with_values(front: Front, values: np.ndarray) -> Front:
    """Return a front with these objectives [n, 2 or 3], the third a rate: not sound otherwise."""
    objectives = tuple(map(Objective, KINDS[: values.shape[1]]))
    rows = values[non_dominated(values)]
    rows = rows[np.lexsort(rows.T[::-1])]
    members = tuple(
        dataclasses.replace(front.members[0], objectives=tuple(row)) for row in rows.tolist()
    )
    problem = dataclasses.replace(front.problem, objectives=objectives)
    return dataclasses.replace(front, problem=problem, members=members)


def random_front(front: Front, seed: int, count: int) -> Front:
    rng = np.random.default_rng(seed)
    values = rng.integers(1_000, 1_200, (count, 2 + seed % 2))
    values[:, 2:] *= -1
    return with_values(front, values)


def covers(front: Front, chosen: list[int], ppm: int) -> bool:
    values = np.array([member.objectives for member in front.members])
    within = epsilon_ppm(values[chosen], values)
    return within is not None and within <= ppm


@pytest.mark.parametrize("seed", range(12))
def test_every_member_is_within_the_resolution_of_a_choice_and_none_can_be_spared(front, seed):
    some = random_front(front, seed, 60)
    for resolution in (0.002, 0.01, 0.05):
        ppm = round(1e6 * resolution)
        choices = choose(some, resolution)
        named = set(mark_members(some))
        assert named <= set(choices.members)
        assert covers(some, choices.members, ppm)
        others = [member for member in choices.members if member not in named]
        for spared in others:
            assert not covers(some, [m for m in choices.members if m != spared], ppm)
        everyone = sorted(itertools.chain(*(entry.stands_for for entry in choices.entries)))
        assert everyone == list(range(len(some.members)))
        for entry in choices.entries:
            assert entry.member in entry.stands_for
        if len(others) in (1, 2, 3) and len(some.members) < 24:
            rest = set(range(len(some.members))) - named
            assert not any(
                covers(some, [*named, *fewer], ppm)
                for fewer in itertools.combinations(rest, len(others) - 1)
            )


def test_all_members_at_no_resolution_and_few_by_default(front):
    some = random_front(front, 1, 400)
    assert choose(some, 0).members == list(range(len(some.members)))
    usual = choose(some)
    assert usual.resolution >= DEFAULT_RESOLUTION
    assert len(usual.entries) <= MOST or len(usual.entries) == len(mark_members(some))
    few = with_values(front, np.array([[1000, 2000], [1500, 1500], [2000, 1000]]))
    assert choose(few).resolution == DEFAULT_RESOLUTION
    assert len(choose(few).entries) == 3


@pytest.mark.parametrize("seed", range(6))
def test_the_default_is_the_finest_resolution_with_few_choices(front, seed):
    """Resolutions that cannot have few are not tried: the answer is as if they were."""
    some = random_front(front, seed, 30 * 3**seed)
    most = max(MOST, len(mark_members(some)))
    coarser = (share for share in RESOLUTIONS if share >= DEFAULT_RESOLUTION)
    few = next(share for share in coarser if len(choose(some, share).entries) <= most)
    assert choose(some) == choose(some, few)


def test_the_first_of_the_worst_values_does_not_overflow(front):
    most = 2**63 - 1
    some = with_values(front, np.array([[1, most], [2, most - 1], [most, 0]]))
    assert choose(some, 0.5).members == [0, 2]


@pytest.mark.parametrize("resolution", [-0.01, 1.0, float("nan")])
def test_a_resolution_is_a_share(front, resolution):
    with pytest.raises(ResultError, match="resolution: a number from 0 to below 1"):
        choose(front, resolution)


def test_of_members_that_serve_as_well_the_simplest_is_taken(front):
    """Fewer transitions, then fewer units, then the clocks of a governor."""
    problem = front.problem
    first = front.members[0]
    units, width = first.design.units, len(problem.domains)
    fastest = np.array([np.flatnonzero(domain.allowed)[-1] for domain in problem.domains])
    slower = fastest.copy()
    slower[list(problem.units[0].clocks)] -= 1
    one_unit, two_units = np.zeros_like(units), np.zeros_like(units)
    two_units[0] = 1
    designs = [(two_units, fastest), (one_unit, slower), (one_unit, fastest)]
    ends = [(1_000_000, 9_000_000), (9_000_000, 1_000_000), (4_000_000, 4_000_000)]
    for order in itertools.permutations(range(3)):
        members = [
            dataclasses.replace(
                first,
                objectives=(3_000_000 + place, 6_000_000 - place),
                design=DesignPoint(*designs[kind]),
                domain_on=(True,) * width,
            )
            for place, kind in enumerate(order)
        ]
        members += [dataclasses.replace(first, objectives=values) for values in ends]
        some = dataclasses.replace(
            front, members=tuple(sorted(members, key=lambda member: member.objectives))
        )
        (chosen,) = set(choose(some).members) - set(mark_members(some))
        assert some.members[chosen].objectives[0] == 3_000_000 + order.index(2)


def test_a_governor_raises_clocks_in_use_and_lowers_others(front):
    problem, first = front.problem, front.members[0]
    used = {d for u in set(first.design.units.tolist()) for d in problem.units[u].clocks}
    points = np.array(
        [np.flatnonzero(d.allowed)[-1 if k in used else 0] for k, d in enumerate(problem.domains)]
    )
    on = (True,) * len(points)
    calm = dataclasses.replace(first, design=DesignPoint(first.design.units, points), domain_on=on)
    assert from_governor(problem, calm) == 0
    domain = min(used)
    moved = points.copy()
    moved[domain] -= 2
    away = dataclasses.replace(calm, design=DesignPoint(first.design.units, moved))
    assert (
        from_governor(problem, away) == problem.domains[domain].allowed[moved[domain] + 1 :].sum()
    )
    off = dataclasses.replace(away, domain_on=tuple(k != domain for k in range(len(points))))
    assert from_governor(problem, off) == 0

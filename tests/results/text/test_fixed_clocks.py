"""Which clocks a search leaves alone, in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.space_description import describe_fixed_clocks
from tests.support.problems.small_problems import network, problem


def with_points(stated: Problem, *, points: int, kept: list[int], extra: bool = False) -> Problem:
    """The unit's domain with so many operating points, of which some may be chosen; with ``extra``
    one more domain like it, which no unit runs on."""
    ladder = np.zeros(points, dtype=np.bool_)
    ladder[kept] = True
    domain = replace(
        stated.domains[0],
        name="gpu",
        frequencies_khz=tuple(100_000 + 50_500 * k for k in range(points)),
        voltages_mv=(None,) * points,
        static_mw=np.zeros(points, dtype=np.int64),
        allowed=ladder,
    )
    more = (replace(domain, name="cpu"),) if extra else ()
    units = tuple(replace(unit, name=f"u{u}") for u, unit in enumerate(stated.units))
    return replace(stated, units=units, domains=(domain, *stated.domains[1:], *more))


STATED = problem([network("a", 0, 1)], [[70]])


def test_nothing_is_held_where_all_may_be_chosen_or_there_is_one_point_only() -> None:
    assert describe_fixed_clocks(with_points(STATED, points=3, kept=[0, 2])) is None
    assert describe_fixed_clocks(with_points(STATED, points=1, kept=[0])) is None


def test_what_is_fixed_and_what_is_parked_are_told_apart() -> None:
    assert (
        describe_fixed_clocks(with_points(STATED, points=3, kept=[1])) == "gpu at 150.5 MHz (fixed)"
    )
    both = with_points(STATED, points=3, kept=[2], extra=True)
    assert describe_fixed_clocks(both) == (
        "cpu at 201 MHz (no unit of u0 runs on it, and it is never off); gpu at 201 MHz (fixed)"
    )
    two = replace(both, domains=(*both.domains, replace(both.domains[-1], name="isp")))
    words = describe_fixed_clocks(two)
    assert words is not None
    assert words.startswith(
        "cpu at 201 MHz, isp at 201 MHz (no unit of u0 runs on it, and they are"
    )

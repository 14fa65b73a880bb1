"""Sensitivity of a front's members to errors in the costs.

An error of e % multiplies the stand-alone time of a group on a unit, at all operating points alike,
by a factor between 1 - e/100 and 1 + e/100. Its traffic in bytes stays, so its bandwidth demand is
divided by the same factor. Its power stays, so its energy grows with its time. Every perturbed
problem is simulated afresh by the timeline, in integers.

Members are compared by their makespan. If networks have rates, they are compared by their relative
response, in the window that recurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.common.units import PPM
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.analysis.cost_errors import at_clocks_of, check_errors, with_cost_errors
from paretosoc.fitness.objectives import Outcomes, make_outcomes
from paretosoc.results.io.canonical_json import INT64_MAX
from paretosoc.results.problem.limits import OVERLOAD, constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

ERRORS_PERCENT = (5, 10, 20)
MAX_ERROR_PERCENT = 90
WORST_GROUPS = 3
NEAR_PPM = PPM // 100

_TIME, _ENERGY = 0, 1
OVERLOADED = INT64_MAX
"""The time of what is overloaded: responses grow for ever."""


@dataclass(frozen=True)
class Spread:
    """Distribution of integers, with quantiles by the nearest rank."""

    least: int
    median: int
    percentile_95: int
    largest: int


@dataclass(frozen=True)
class GroupError:
    """The time when the costs of one group alone are off, on all units by ``factor_ppm``."""

    group: int
    factor_ppm: int
    time: int


@dataclass(frozen=True)
class ErrorLevel:
    """Effect of errors of up to ``percent`` %."""

    percent: int
    time: Spread
    """Of the member."""
    energy_fj: Spread
    """Of the member, per frame, over the problem's energy use."""
    feasible_ppm: int
    """Share of the samples in which the member meets all constraints."""
    still_fastest_ppm: int
    """Share of the samples in which no other member beats the one that is fastest without
    errors."""
    near_fastest_ppm: int
    """Share of the samples in which its time is at most 1 % above that of the best member."""
    regret_ppm: Spread
    """By how much the time of the fastest without errors passes that of the best member;
    ``OVERLOADED`` if only it is overloaded."""
    worst_groups: tuple[GroupError, ...]
    """Groups whose error, alone and at its full size, makes the member slowest; worst first."""


@dataclass(frozen=True)
class Robustness:
    """Response of a member, and of the choice of the fastest one, to errors in the costs.

    A *time* is the value of the ``objective``, an integer in its unit: a makespan or, with rates of
    networks, a relative response.
    """

    objective: Objective
    member: int
    fastest: int
    """The member with the least time without errors."""
    time: int
    energy_fj: int
    samples: int
    seed: int
    levels: tuple[ErrorLevel, ...]


def robustness(
    problem: Problem,
    rows: IntArray,
    member: int,
    *,
    samples: int = 500,
    seed: int = 0,
    errors_percent: Sequence[int] = ERRORS_PERCENT,
) -> Robustness:
    """Simulate the members of a front with errors in the costs.

    In a sample every group has a factor of its own on every unit, drawn evenly between the bounds.
    All members are compared under the same errors.

    Args:
        problem: the problem without errors.
        rows: [members, groups + domains], canonical.
        member: the member to examine.
        samples: number of samples per error size.
        seed: the same seed gives the same result.
        errors_percent: sizes of errors, each from 1 to 90.

    Raises:
        WorkloadError: if there is no member or no sample, an error is out of bounds, or networks
            run freely and so have no makespan.
        ResultError: if figures with errors would leave int64.
    """
    if not problem.execution.has_frame:
        raise WorkloadError(
            "networks with frames in common are required, got free-running ones, which have no "
            "makespan"
        )
    if not 0 <= member < len(rows):
        raise WorkloadError(f"member: one of {len(rows)} is required, got {member}")
    if samples < 1:
        raise WorkloadError(f"samples: at least 1 is required, got {samples}")
    for percent in errors_percent:
        if not 1 <= percent <= MAX_ERROR_PERCENT:
            raise WorkloadError(
                f"error: a percentage from 1 to {MAX_ERROR_PERCENT} is required, got {percent}"
            )
    kind = ObjectiveKind.RELATIVE_RESPONSE if problem.has_rates else ObjectiveKind.LATENCY
    problem = replace(problem, objectives=(Objective(kind), Objective(ObjectiveKind.ENERGY)))
    front, front_rows = at_clocks_of(problem, rows)
    alone, alone_rows = at_clocks_of(problem, rows[member : member + 1])
    exact = _played(front, front_rows).objectives
    fastest = int(exact[:, _TIME].argmin())
    levels = []
    for percent in errors_percent:
        check_errors(front, percent)
        levels.append(
            _level(
                front,
                front_rows,
                member,
                fastest,
                percent,
                np.random.default_rng([seed, percent]),
                samples,
                _worst_groups(alone, alone_rows, percent),
            )
        )
    return Robustness(
        objective=problem.objectives[_TIME],
        member=member,
        fastest=fastest,
        time=int(exact[member, _TIME]),
        energy_fj=int(exact[member, _ENERGY]),
        samples=samples,
        seed=seed,
        levels=tuple(levels),
    )


def _played(problem: Problem, rows: IntArray) -> Outcomes:
    """Return the outcomes, with ``OVERLOADED`` as the time of overloaded members."""
    outcomes = make_outcomes(problem)(rows)
    for column, constraint in enumerate(constraints_of(problem)):
        if constraint.kind is OVERLOAD:
            overloaded = outcomes.constraint_values[:, column] > constraint.limit
            outcomes.objectives[overloaded, _TIME] = OVERLOADED
    return outcomes


def _level(
    problem: Problem,
    rows: IntArray,
    member: int,
    fastest: int,
    percent: int,
    rng: np.random.Generator,
    samples: int,
    worst: tuple[GroupError, ...],
) -> ErrorLevel:
    shape = (problem.group_count, len(problem.units))
    bound = percent * PPM // 100
    time, energy, regret = (np.zeros(samples, dtype=np.int64) for _ in range(3))
    feasible = 0
    for sample in range(samples):
        factors = PPM + rng.integers(-bound, bound, shape, endpoint=True)
        outcomes = _played(with_cost_errors(problem, factors), rows)
        times = outcomes.objectives[:, _TIME]
        time[sample] = times[member]
        energy[sample] = outcomes.objectives[member, _ENERGY]
        feasible += bool(outcomes.feasible[member])
        best, own = int(times.min()), int(times[fastest])
        if own > best:
            # A millionth is the least that differs from none.
            passed = max(1, (own - best) * PPM // max(1, best))
            regret[sample] = OVERLOADED if own == OVERLOADED else passed
    return ErrorLevel(
        percent=percent,
        time=_spread(time),
        energy_fj=_spread(energy),
        feasible_ppm=feasible * PPM // samples,
        still_fastest_ppm=int((regret == 0).sum()) * PPM // samples,
        near_fastest_ppm=int((regret <= NEAR_PPM).sum()) * PPM // samples,
        regret_ppm=_spread(regret),
        worst_groups=worst,
    )


def _spread(values: IntArray) -> Spread:
    ordered = np.sort(values)

    def rank(percent: int) -> int:
        """Return the smallest value that at least so many percent of all do not pass."""
        return int(ordered[-(-percent * len(ordered) // 100) - 1])

    return Spread(int(ordered[0]), rank(50), rank(95), int(ordered[-1]))


def _worst_groups(problem: Problem, rows: IntArray, percent: int) -> tuple[GroupError, ...]:
    """Return each group's error alone, both ways: the timeline is not monotone, so a shorter time
    can do the harm."""
    found = []
    for group in range(problem.group_count):
        for sign in (1, -1):
            factor = PPM + sign * percent * PPM // 100
            factors = np.full((problem.group_count, len(problem.units)), PPM, dtype=np.int64)
            factors[group] = factor
            outcomes = _played(with_cost_errors(problem, factors), rows)
            found.append(GroupError(group, factor, int(outcomes.objectives[0, _TIME])))
    found.sort(key=lambda error: (-error.time, error.group, -error.factor_ppm))
    worst: dict[int, GroupError] = {}
    for error in found:
        worst.setdefault(error.group, error)
    return tuple(worst.values())[:WORST_GROUPS]

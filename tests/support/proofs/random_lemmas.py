"""Random problems that can be enumerated, random lemmas, and all design points of a lemma."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.problems.random_problem import (
    RandomShape,
    random_problem,
    with_dispatch,
    with_fixed_priorities,
)
from paretosoc.common.arrays import IntArray
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.results.front.certificate import NOT_NAMED, LemmaTable
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ProblemUnit
from paretosoc.results.problem.problem import Problem

MAX_DESIGNS = 10_000


def small_problem(seed: int) -> Problem:
    """A problem with at most ``MAX_DESIGNS`` design points; some allow less than they support."""
    rng = np.random.default_rng(seed)
    shape = RandomShape(
        networks=(1, 3),
        groups=(1, 4),
        units=(1, 3),
        points=(1, 1 if seed % 3 == 0 else 3),
        contention=seed % 4 != 0,
        ties=seed % 2 == 0,
        copies=True,
        phases=seed % 5 < 2,
    )
    while True:
        problem = _narrowed(rng, random_problem(rng, shape))
        if seed % 7 < 3:
            problem = with_fixed_priorities(np.random.default_rng(seed), problem)
        problem = with_dispatch(np.random.default_rng([seed, 3]), problem)
        if design_count(problem) <= MAX_DESIGNS:
            return problem


def _narrowed(rng: np.random.Generator, problem: Problem) -> Problem:
    allowed = problem.allowed.copy()
    for row in allowed:
        if row.sum() > 1 and rng.integers(6) == 0:
            row[rng.choice(np.flatnonzero(row))] = False
    domains = []
    for domain in problem.domains:
        points = domain.allowed.copy()
        if len(points) > 1 and rng.integers(4) == 0:
            points[rng.integers(len(points))] = False
        domains.append(replace(domain, allowed=points))
    units = tuple(_on_one_clock(unit) if rng.integers(3) == 0 else unit for unit in problem.units)
    return replace(problem, allowed=allowed, domains=tuple(domains), units=units)


def _on_one_clock(unit: ProblemUnit) -> ProblemUnit:
    """Times and demands depend on the unit's own clock alone; what the memory's clock still
    changes is the slowdown."""

    def at_first(table: IntArray) -> IntArray:
        own = table.reshape(*table.shape[:2], -1)[..., :1]
        return np.broadcast_to(
            own.reshape(*table.shape[:2], *[1] * (table.ndim - 2)), table.shape
        ).copy()

    return replace(unit, time_ps=at_first(unit.time_ps), demand_kbps=at_first(unit.demand_kbps))


def design_count(problem: Problem) -> int:
    """How many design points the problem allows."""
    count = 1
    for row in [*problem.allowed, *(domain.allowed for domain in problem.domains)]:
        count *= int(row.sum())
    return count


def with_choices(rows: IntArray, units: IntArray, masks: np.ndarray) -> np.ndarray:
    """[n]: which design points have a lemma's choices."""
    groups = len(units)
    named = units != NOT_NAMED
    fitting = (rows[:, :groups][:, named] == units[named]).all(axis=1)
    bits = np.uint64(1) << rows[:, groups:].astype(np.uint64)
    return fitting & ((bits & masks) != 0).all(axis=1)


def random_lemmas(rng: np.random.Generator, problem: Problem, count: int) -> LemmaTable:
    """Lemmas that name beginnings of networks, or any groups, and any operating points."""
    units = np.full((count, problem.group_count), NOT_NAMED, dtype=np.int64)
    masks = np.zeros((count, len(problem.domains)), dtype=np.uint64)
    for row, mask in zip(units, masks, strict=True):
        for group in _named(rng, problem):
            row[group] = rng.choice(np.flatnonzero(problem.allowed[group]))
        some_points = rng.random()
        for d, domain in enumerate(problem.domains):
            points = np.flatnonzero(domain.allowed)
            chosen = points[rng.random(len(points)) < some_points]
            if len(chosen) == 0:
                chosen = rng.choice(points, 1)
            mask[d] = sum(1 << int(point) for point in chosen)
            if rng.integers(8) == 0:
                # Points that are not allowed, or do not exist, change nothing.
                forbidden = [k for k in range(64) if k not in points]
                mask[d] |= np.uint64(1 << int(rng.choice(forbidden)))
    return LemmaTable(units, masks)


def _named(rng: np.random.Generator, problem: Problem) -> Iterator[int]:
    kind = rng.integers(4)
    share = rng.random()
    for network in problem.networks:
        beginning = rng.integers(len(network.groups) + 1)
        for group in network.groups:
            if (
                kind == 0
                or (kind <= 2 and group - network.first_group < beginning)
                or (kind == 3 and rng.random() < share)
            ):
                yield group


def fastest(optimum: int) -> LemmaTarget:
    """That no design point is below this value of the first objective."""
    return LemmaTarget((0,), ((optimum,),))


def of_rates(chip: Problem, *, sums_rates: bool) -> Problem:
    """The problem with the makespan, or the sum of rates, as its first objective."""
    kind = ObjectiveKind.INVERSE_LATENCY if sums_rates else ObjectiveKind.LATENCY
    return replace(chip, objectives=(Objective(kind),))

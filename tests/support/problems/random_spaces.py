"""Random problems with limits, and their whole spaces, for tests of the exact search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from benchmarks.problems.random_problem import (
    RandomShape,
    random_problem,
    with_dispatch,
    with_fixed_priorities,
)
from paretosoc.common.arrays import IntArray
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.certificate import LemmaTable
from paretosoc.results.problem.execution import Periodic
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

MAX_ROWS = 60_000
NOTHING = np.iinfo(np.int64).max
"""The value of what is not feasible."""


@dataclass(frozen=True, eq=False)
class Space:
    """All design points of a problem: an axis for every group, then one for every domain.

    ``choices`` [axes]: the allowed units or operating points; arrays over the space have one cell
    for every combination.
    """

    problem: Problem
    choices: tuple[IntArray, ...]

    @cached_property
    def rows(self) -> IntArray:
        """[cells, groups + domains]"""
        return np.stack([axis.reshape(-1) for axis in np.meshgrid(*self.choices, indexing="ij")], 1)

    @cached_property
    def value(self) -> IntArray:
        """The first objective of what is feasible, elsewhere ``NOTHING``."""
        outcomes = make_outcomes(self.problem)(self.rows)
        value = np.where(outcomes.feasible, outcomes.objectives[:, 0], NOTHING)
        return value.reshape(self._shape)

    @cached_property
    def obeys_mapping_rules(self) -> np.ndarray:
        """Where transitions and segments are within their limits."""
        problem, rows = self.problem, self.rows
        obeys = np.ones(len(rows), dtype=np.bool_)
        for network in problem.networks:
            if network.max_transitions is not None:
                inside = [edge for edge in problem.edges if edge[0] in network.groups]
                changes = sum((rows[:, a] != rows[:, b] for a, b in inside), np.zeros(len(rows)))
                obeys &= changes <= network.max_transitions
        for u, unit in enumerate(problem.units):
            if unit.max_segments is not None:
                begun = np.zeros(len(rows), dtype=np.int64)
                for g in range(problem.group_count):
                    begins = rows[:, g] == u
                    if all(network.first_group != g for network in problem.networks):
                        begins = begins & (rows[:, g - 1] != u)
                    begun += begins
                obeys &= begun <= unit.max_segments
        return obeys.reshape(self._shape)

    @property
    def best(self) -> int | None:
        """The smallest value; None where nothing is feasible."""
        best = int(self.value.min())
        return None if best == NOTHING else best

    def cells(self, lemmas: LemmaTable, index: int) -> tuple[np.ndarray, ...]:
        """What selects the design points that have the choices of a lemma."""
        groups = self.problem.group_count
        axes = []
        for axis, options in enumerate(self.choices):
            if axis < groups:
                unit = int(lemmas.units[index, axis])
                chosen = options == unit if unit >= 0 else np.ones(len(options), dtype=np.bool_)
            else:
                mask = int(lemmas.points[index, axis - groups])
                chosen = np.array([bool(mask >> int(k) & 1) for k in options])
            axes.append(chosen)
        return np.ix_(*axes)

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(options) for options in self.choices)


def space_of(problem: Problem) -> Space:
    """The whole space of a problem; nothing is computed yet."""
    units = [np.flatnonzero(row) for row in problem.allowed]
    points = [np.flatnonzero(domain.allowed) for domain in problem.domains]
    return Space(problem, (*units, *points))


def size_of(problem: Problem) -> int:
    """How many design points it has."""
    size = 1
    for options in space_of(problem).choices:
        size *= len(options)
    return size


def random_limited_problem(rng: np.random.Generator, *, engines: bool = True) -> Problem:
    """At most ``MAX_ROWS`` design points; some transitions, segments, operating points and
    latencies limited. Without ``engines`` units take one group at a time."""
    while True:
        problem = random_problem(
            rng,
            RandomShape(
                networks=(1, 4),
                groups=(1, 4),
                units=(1, 3),
                points=(1, 3),
                ties=bool(rng.integers(2)),
                contention=bool(rng.integers(4)),
                copies=bool(rng.integers(2)),
                phases=bool(rng.spawn(1)[0].integers(2)),
            ),
        )
        problem = _with_mapping_limits(rng, problem)
        # With numbers of their own: everything else is drawn as without.
        if problem.board_mw % 2:
            problem = with_fixed_priorities(np.random.default_rng(problem.board_mw), problem)
        if engines:
            problem = with_dispatch(np.random.default_rng([problem.board_mw, 3]), problem)
        if size_of(problem) <= MAX_ROWS:
            return _with_deadline(rng, problem) if rng.integers(3) == 0 else problem


def random_power_problem(rng: np.random.Generator, objective: ObjectiveKind) -> Problem:
    """The same with limits on power, energy and the period, drawn from figures that occur."""
    problem = random_limited_problem(rng)
    objectives = (objective, ObjectiveKind.ENERGY, ObjectiveKind.POWER, ObjectiveKind.LATENCY)
    problem = replace(problem, objectives=tuple(Objective(kind) for kind in objectives))
    rows = space_of(problem).rows

    def drawn(column: int) -> int:
        figures = make_outcomes(problem)(rows).objectives[:, column]
        return max(1, int(np.quantile(figures, rng.random())))

    if rng.integers(3) == 0:
        problem = replace(problem, execution=Periodic(drawn(3)))
    if rng.integers(2):
        problem = replace(problem, power_cap_mw=max(1, drawn(2) // 1000))
    if rng.integers(2):
        problem = replace(problem, energy_budget_fj=drawn(1))
    return problem


def narrowed_problem(rng: np.random.Generator, problem: Problem) -> Problem:
    """The problem with clocks fixed, capped, kept from the slow ones or left as any set of points,
    and groups pinned to a unit."""
    domains = []
    for domain in problem.domains:
        count = len(domain.allowed)
        low, high = np.sort(rng.integers(0, count, 2))
        places = np.arange(count)
        allowed = (
            domain.allowed,
            places == high,
            places <= high,
            places >= low,
            (rng.random(count) < 0.5) | (places == low),
        )[rng.integers(5)]
        domains.append(replace(domain, allowed=allowed))
    pinned = problem.allowed.copy()
    for g in np.flatnonzero(rng.random(len(pinned)) < 0.15):
        pinned[g] = np.arange(len(problem.units)) == rng.choice(np.flatnonzero(pinned[g]))
    return replace(problem, domains=tuple(domains), allowed=pinned)


def assert_inside(problem: Problem, rows: IntArray) -> None:
    """Rows [n, groups + domains]: units that the groups may have, operating points that may be
    chosen, and the first of these where a domain is off."""
    assert DesignSpace(problem).holds(rows).all()
    for row in rows.tolist():
        units, points = row[: problem.group_count], row[problem.group_count :]
        assert all(problem.allowed[g, u] for g, u in enumerate(units))
        needed = {clock for u in units for clock in problem.units[u].clocks}
        for d, (domain, point) in enumerate(zip(problem.domains, points, strict=True)):
            assert domain.allowed[point], f"{domain.name} at {point}"
            is_off = domain.may_be_off and d not in needed
            assert not is_off or not domain.allowed[:point].any()


def _with_mapping_limits(rng: np.random.Generator, problem: Problem) -> Problem:
    networks = tuple(
        replace(network, max_transitions=int(rng.integers(0, 3)))
        if rng.integers(3) == 0
        else network
        for network in problem.networks
    )
    units = tuple(
        replace(unit, max_segments=int(rng.integers(1, 4))) if rng.integers(4) == 0 else unit
        for unit in problem.units
    )
    domains = []
    for domain in problem.domains:
        allowed = domain.allowed.copy()
        if len(allowed) > 1 and rng.integers(4) == 0:
            allowed[rng.integers(len(allowed))] = False
        domains.append(replace(domain, allowed=allowed))
    return replace(problem, networks=networks, units=units, domains=tuple(domains))


def _with_deadline(rng: np.random.Generator, problem: Problem) -> Problem:
    """A latency limit that some design points keep, or none."""
    n = int(rng.integers(len(problem.networks)))
    timed = replace(problem, objectives=(Objective(ObjectiveKind.LATENCY, n),))
    value = space_of(timed).value
    kept = value[value < NOTHING]
    limit = 1 if len(kept) == 0 else max(1, int(np.quantile(kept, 0.3 * rng.random())))
    networks = list(problem.networks)
    networks[n] = replace(networks[n], deadline_ps=limit - int(rng.integers(10) == 0))
    return replace(problem, networks=tuple(networks))

"""The rows that a search may propose: encoding, canonical form, repair, random draws.

A row [groups + domains] is a chromosome: a unit per group, then an operating point per domain and,
if priorities are searched, one per network or group. A *setting* is a gene of the last two kinds:
the operators treat priorities of networks as clocks that no unit depends on, and those of groups
as parts of the mapping. All functions take and return arrays of rows, int64.

A network's mapping is a sequence of segments on one unit each, and good mappings have few. So
parents exchange segments, and mutations move a transition point, run a segment on another unit, or
step a clock, rather than change single genes at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.fitness.simulator.layout import Plan, make_plan
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS
from paretosoc.results.problem.execution import SearchedOrder
from paretosoc.results.problem.limits import TRANSITIONS, limits_by_owner
from paretosoc.results.problem.problem import Problem

if TYPE_CHECKING:
    from paretosoc.dse.space.operators_jit import SpaceTables

Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class DesignSpace:
    """All rows that a problem allows, and rows [n, width] that a search may begin with."""

    problem: Problem
    start: IntArray | None = None

    @cached_property
    def groups(self) -> int:
        """Return the number of genes that choose units."""
        return self.problem.group_count

    @cached_property
    def width(self) -> int:
        """Return the number of all genes."""
        return self.groups + len(self.points)

    @cached_property
    def owner(self) -> IntArray:
        """Return [groups]: the network of each group."""
        return np.array(self.problem.network_of, dtype=np.int64)

    @cached_property
    def first(self) -> IntArray:
        """Return [networks]: the first group of each."""
        return np.array([n.first_group for n in self.problem.networks], dtype=np.int64)

    @cached_property
    def size(self) -> IntArray:
        """Return [networks]: the number of groups of each."""
        return np.array([len(n.group_names) for n in self.problem.networks], dtype=np.int64)

    @cached_property
    def points(self) -> tuple[IntArray, ...]:
        """Return the operating points, or the priorities, that may be chosen for each setting."""
        points = [np.flatnonzero(domain.allowed) for domain in self.problem.domains]
        points += [np.arange(PRIORITY_LEVELS)] * self.problem.priority_count
        return tuple(points)

    @cached_property
    def fastest(self) -> IntArray:
        """Return [settings]: the fastest clocks that may be chosen, and the last priorities."""
        return np.array([points[-1] for points in self.points], dtype=np.int64)

    @cached_property
    def free_settings(self) -> IntArray:
        """Return the settings with a choice."""
        return np.array([d for d, points in enumerate(self.points) if len(points) > 1], np.int64)

    @cached_property
    def free_domains(self) -> IntArray:
        """Return the domains with a choice."""
        return self.free_settings[self.free_settings < len(self.problem.domains)]

    @cached_property
    def point_count(self) -> IntArray:
        """Return [settings]: the number of points that may be chosen."""
        return np.array([len(points) for points in self.points], dtype=np.int64)

    @cached_property
    def point_at(self) -> IntArray:
        """Return [settings, places]: the points that may be chosen, slowest first, the last
        repeated."""
        places = np.minimum(np.arange(int(self.point_count.max())), self.point_count[:, None] - 1)
        return np.stack([self.points[d][row] for d, row in enumerate(places)])

    @cached_property
    def place_of_point(self) -> IntArray:
        """Return [settings, points]: the place of a point in ``point_at``, or of the next faster
        one."""
        most = int(self.gene_sizes[self.groups :].max())
        places = [np.searchsorted(points, np.arange(most)) for points in self.points]
        return np.minimum(np.stack(places), self.point_count[:, None] - 1).astype(np.int64)

    @cached_property
    def fastest_time(self) -> IntArray:
        """Return [groups, units]: the mean time over repeats alone at the fastest clocks, in ps.

        Units that are not allowed have the largest integer.
        """
        times = np.empty((self.groups, len(self.problem.units)), dtype=np.int64)
        for u, unit in enumerate(self.problem.units):
            table = self.problem.frame_ps(u)
            for clock in unit.clocks:
                table = table[:, self.points[clock][-1]]
            times[:, u] = table // self.problem.repeats
        return np.where(self.problem.allowed, times, np.iinfo(np.int64).max)

    @cached_property
    def best_unit(self) -> IntArray:
        """Return [groups]: the unit that is fastest alone."""
        best: IntArray = self.fastest_time.argmin(axis=1).astype(np.int64)
        return best

    @cached_property
    def transition_before(self) -> IntArray:
        """Return [groups, units, units]: ps from the group before if that feeds it, else 0."""
        units = len(self.problem.units)
        table = np.zeros((self.groups, units, units), dtype=np.int64)
        for edge, (source, target) in enumerate(self.problem.edges):
            if source == target - 1:
                table[target] = self.problem.transition_ps[edge]
        return table

    @cached_property
    def gene_sizes(self) -> IntArray:
        """Return [width]: the number of units, operating points or priorities of a gene, allowed or
        not."""
        sizes = [len(domain.allowed) for domain in self.problem.domains]
        sizes += [PRIORITY_LEVELS] * (len(self.points) - len(sizes))
        return np.array([len(self.problem.units)] * self.groups + sizes, dtype=np.int64)

    @cached_property
    def combinations(self) -> int:
        """Return the number of rows, with rows of the same effect counted apart."""
        return prod([*self.problem.allowed.sum(axis=1).tolist(), *map(len, self.points)])

    @cached_property
    def drives(self) -> BoolArray:
        """Return [domains, units]: whether the unit's costs depend on the domain."""
        table = np.zeros((len(self.problem.domains), len(self.problem.units)), dtype=np.bool_)
        for u, unit in enumerate(self.problem.units):
            table[list(unit.clocks), u] = True
        return table

    @cached_property
    def plan(self) -> Plan:
        """Return the problem as compiled code reads it."""
        return make_plan(self.problem)

    @cached_property
    def tables(self) -> SpaceTables:
        """Return the space as compiled operators read it, and arrays that they write to. Because of
        these only one thread proposes rows."""
        from paretosoc.dse.space.operators_jit import SpaceTables

        problem = self.problem
        domains, settings = len(problem.domains), len(self.points)
        orders_groups = problem.searched_order is SearchedOrder.GROUPS
        rests, may_be_off = np.zeros((2, settings), dtype=np.int64)
        rests[list(self.idle_powered_domains)] = 1
        may_be_off[:domains] = [domain.may_be_off for domain in problem.domains]
        drives = np.zeros((settings, len(problem.units)), dtype=np.int64)
        drives[:domains] = self.drives
        return SpaceTables(
            groups=self.groups,
            units=len(problem.units),
            settings=settings,
            priorities=settings - domains,
            orders_groups=int(orders_groups),
            networks=len(problem.networks),
            first=self.first,
            size=self.size,
            limit=limits_by_owner(problem, TRANSITIONS),
            owner=self.owner,
            allowed=problem.allowed.astype(np.int64),
            best_unit=self.best_unit,
            unit_of=np.array(problem.unit_of, dtype=np.int64),
            drives=drives,
            may_be_off=may_be_off,
            rests=rests,
            free=self.free_domains if orders_groups else self.free_settings,
            point_count=self.point_count,
            point_at=self.point_at,
            place_of_point=self.place_of_point,
            used=np.zeros((2, settings), dtype=np.int64),
            stream=np.zeros(1, dtype=np.uint64),
        )

    @cached_property
    def idle_powered_domains(self) -> tuple[int, ...]:
        """Return the domains with a choice that draw power even if nothing mapped needs them."""
        return tuple(
            d
            for d in self.free_domains.tolist()
            if not self.problem.domains[d].may_be_off and d != self.problem.memory_domain
        )

    def units_used(self, rows: IntArray) -> BoolArray:
        """Return [n, units]: whether a group is mapped on the unit."""
        mapping = rows[:, : self.groups]
        units = range(len(self.problem.units))
        return np.stack([(mapping == u).any(axis=1) for u in units], axis=1)

    def domains_used(self, rows: IntArray) -> BoolArray:
        """Return [n, settings]: whether a used unit depends on the domain. None depends on a
        priority."""
        from paretosoc.dse.space.operators_jit import mark_used

        used = np.zeros((len(rows), len(self.points)), dtype=np.int64)
        mark_used(self.tables, np.ascontiguousarray(rows), used)
        return used.astype(np.bool_)

    def domains_on(self, used: BoolArray) -> BoolArray:
        """Return [n, domains]: whether each domain is on, from the units used [n, units]."""
        always = np.array([not domain.may_be_off for domain in self.problem.domains])
        return always | (used @ self.drives.T)

    def static_mw(self, points: IntArray) -> IntArray:
        """Return [n, domains]: power of each domain, and of the units that are on with it, at
        operating points [n, domains] while nothing runs."""
        domains = enumerate(self.problem.domains)
        power = np.stack([domain.static_mw[points[:, d]] for d, domain in domains], axis=1)
        for unit in self.problem.units:
            power[:, unit.clocks[0]] += unit.idle_mw[tuple(points[:, d] for d in unit.clocks)]
        return power

    def idle_mw(self, on: BoolArray, points: IntArray) -> IntArray:
        """Return [n]: power of the board with domains ``on`` [n, domains] while nothing runs."""
        power: IntArray = np.where(on, self.static_mw(points), 0).sum(axis=1)
        return self.problem.board_mw + power

    def canonical(self, rows: IntArray) -> IntArray:
        """Return the rows in canonical form.

        Every domain that is off has its ``point_when_off``. Priorities have no gaps from 0 on,
        those of groups within each queue, and all groups of an engine have that of the first.
        """
        result, used = np.ascontiguousarray(rows, dtype=np.int64).copy(), self.domains_used(rows)
        for d, domain in enumerate(self.problem.domains):
            if domain.may_be_off:
                result[~used[:, d], self.groups + d] = domain.point_when_off
        if self.problem.priority_count:
            from paretosoc.dse.space.operators_jit import rank_rows

            rank_rows(self.tables, self.plan, result)
        return result

    def holds(self, rows: IntArray) -> BoolArray:
        """Return [n]: whether each of any rows [n, width] is in this space.

        Its groups must have allowed units, its domains points that may be chosen, and it must be
        canonical.
        """
        inside: BoolArray = np.asarray(((rows >= 0) & (rows < self.gene_sizes)).all(axis=1))
        rows = rows[inside]
        fits = self.problem.allowed[np.arange(self.groups), rows[:, : self.groups]].all(axis=1)
        for d, domain in enumerate(self.problem.domains):
            fits &= domain.allowed[rows[:, self.groups + d]]
        inside[inside] = fits & (self.canonical(rows) == rows).all(axis=1)
        return inside

    def nearest_points(self, rows: IntArray) -> IntArray:
        """Return the rows with operating points that may be chosen.

        Others are replaced by the next faster one that may be chosen, or the fastest.
        """
        result = rows.copy()
        settings = np.arange(len(self.points))
        places = self.place_of_point[settings, rows[:, self.groups :]]
        result[:, self.groups :] = self.point_at[settings, places]
        return result

    def random(self, rng: Random, n: int) -> IntArray:
        """Draw [n, width] rows: each network on one to three units in turn, any clocks."""
        position = np.arange(self.groups) - self.first[self.owner]
        units = len(self.problem.units)
        networks = len(self.problem.networks)
        cuts = np.sort(rng.integers(0, self.size[:, None] + 1, (n, networks, 2)), axis=2)
        unit = rng.integers(0, units, (n, networks, 3))
        unit[:, :, 1] = np.where(rng.random((n, networks)) < 0.3, unit[:, :, 0], unit[:, :, 1])
        part = (position >= cuts[:, self.owner, 0]).astype(np.int64)
        part += position >= cuts[:, self.owner, 1]
        mapping = np.take_along_axis(unit[:, self.owner], part[:, :, None], axis=2)[:, :, 0]
        clocks = [points[rng.integers(0, len(points), n)] for points in self.points]
        rows = np.concatenate((mapping, np.stack(clocks, axis=1)), axis=1)
        return self.repair(rng, rows)

    def cross(self, rng: Random, first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
        """Return two children for each pair of parents [n, width].

        In every network a random segment of groups (often none or all of it) changes sides, and so
        does each clock with even odds. A clock that only one parent has a use for comes from that
        parent.
        """
        from paretosoc.dse.space.operators_jit import cross_rows

        a, b = np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)
        cross_rows(self.tables, drawn_seed(rng), a, b)
        return a, b

    def mutate(self, rng: Random, rows: IntArray) -> IntArray:
        """Return rows [n, width] with one or two mutations each.

        A mutation moves a transition point, puts a segment or a single group on another unit, steps
        a clock, or redraws one.
        """
        from paretosoc.dse.space.operators_jit import mutate_rows

        result = np.array(rows, dtype=np.int64)
        mutate_rows(self.tables, drawn_seed(rng), result)
        return result

    def repair(self, rng: Random, rows: IntArray, awake: BoolArray | None = None) -> IntArray:
        """Return canonical rows of this space near ``rows``, with idle clocks at rest.

        Groups are moved off units that they may not have, and segments are joined if a network has
        more transitions than it may. Excess transitions that cannot be joined stay.

        ``awake`` [n, settings]: whether the row's operating point was chosen for a mapping that
        used it. If it was not, and the mapping uses it now, another one is drawn, the fastest a
        third of the time. None: all were.
        """
        from paretosoc.dse.space.operators_jit import repair_rows

        result = np.array(rows, dtype=np.int64, order="C")
        if awake is None:
            awake = np.ones((len(rows), len(self.points)), dtype=np.bool_)
        repair_rows(self.tables, self.plan, drawn_seed(rng), result, awake)
        return result


def drawn_seed(rng: Random) -> int:
    """Draw a seed for the random numbers of compiled code."""
    return int(rng.integers(1 << 63))


def unique_rows(rows: IntArray, seen: set[bytes] | None = None) -> NDArray[np.bool_]:
    """Return [n]: True for the first of equal rows that is not in ``seen`` either."""
    known = set(seen or ())
    fresh = np.zeros(len(rows), dtype=np.bool_)
    for index, row in enumerate(np.ascontiguousarray(rows)):
        key = row.tobytes()
        if key not in known:
            known.add(key)
            fresh[index] = True
    return fresh


def starting_rows(space: DesignSpace, rows: IntArray) -> IntArray:
    """Return the rows [n, width] as this space allows them, none twice.

    Groups are moved off units that they may not have, and clocks to the next one that may be
    chosen. The same rows give the same result.

    Raises:
        WorkloadError: on rows of another width, or beyond the units or operating points.
    """
    fits = rows.ndim == 2 and rows.shape[1] == space.width
    if not fits or (rows < 0).any() or (rows >= space.gene_sizes).any():
        raise WorkloadError(
            f"rows to start from: {space.groups} units and {space.width - space.groups} operating "
            "points of this problem are required, got others"
        )
    allowed = space.nearest_points(rows)
    repaired = space.repair(np.random.default_rng(0), allowed)
    return repaired[unique_rows(repaired)]

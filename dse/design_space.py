"""The rows that a search may propose: encoding, canonical form, repair, random draws.

A row [groups + domains] is a chromosome: a unit per group, then an operating point per domain. All
functions take and return whole arrays of rows, int64.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from results.problem import BoolArray, IntArray, Problem

Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class DesignSpace:
    """All rows that a problem allows, and rows [n, width] that a search may begin with."""

    problem: Problem
    start: IntArray | None = None

    @cached_property
    def groups(self) -> int:
        """Genes that choose units."""
        return self.problem.group_count

    @cached_property
    def width(self) -> int:
        """Genes in all."""
        return self.groups + len(self.problem.domains)

    @cached_property
    def owner(self) -> IntArray:
        """[groups]: network of a group."""
        sizes = [len(network.group_names) for network in self.problem.networks]
        return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)

    @cached_property
    def first(self) -> IntArray:
        """[networks]: its first group."""
        return np.array([n.first_group for n in self.problem.networks], dtype=np.int64)

    @cached_property
    def size(self) -> IntArray:
        """[networks]: its groups."""
        return np.array([len(n.group_names) for n in self.problem.networks], dtype=np.int64)

    @cached_property
    def points(self) -> tuple[IntArray, ...]:
        """Per domain: the operating points that may be chosen."""
        return tuple(np.flatnonzero(domain.allowed) for domain in self.problem.domains)

    @cached_property
    def free_domains(self) -> IntArray:
        """Domains with a choice."""
        return np.array([d for d, points in enumerate(self.points) if len(points) > 1], np.int64)

    @cached_property
    def point_count(self) -> IntArray:
        """[domains]: how many points may be chosen."""
        return np.array([len(points) for points in self.points], dtype=np.int64)

    @cached_property
    def point_at(self) -> IntArray:
        """[domains, places]: the points that may be chosen, slowest first, the last repeated."""
        places = np.minimum(np.arange(int(self.point_count.max())), self.point_count[:, None] - 1)
        return np.stack([self.points[d][row] for d, row in enumerate(places)])

    @cached_property
    def place_of_point(self) -> IntArray:
        """[domains, points]: the place of a point in ``point_at``, or of the next faster one."""
        most = max(len(domain.allowed) for domain in self.problem.domains)
        places = [np.searchsorted(points, np.arange(most)) for points in self.points]
        return np.minimum(np.stack(places), self.point_count[:, None] - 1).astype(np.int64)

    @cached_property
    def all_allowed(self) -> bool:
        """Whether every group may be on every unit."""
        return bool(self.problem.allowed.all())

    @cached_property
    def allowed_on(self) -> BoolArray:
        """[units, groups]: the problem's ``allowed``, transposed."""
        return np.ascontiguousarray(self.problem.allowed.T)

    @cached_property
    def fastest_time(self) -> IntArray:
        """[groups, units]: stand-alone time at the fastest clocks; huge where not allowed."""
        times = np.empty((self.groups, len(self.problem.units)), dtype=np.int64)
        for u, unit in enumerate(self.problem.units):
            table = unit.time_ps
            for clock in unit.clocks:
                table = table[:, self.points[clock][-1]]
            times[:, u] = table
        return np.where(self.problem.allowed, times, np.iinfo(np.int64).max)

    @cached_property
    def best_unit(self) -> IntArray:
        """[groups]: the unit that is fastest alone."""
        best: IntArray = self.fastest_time.argmin(axis=1).astype(np.int64)
        return best

    @cached_property
    def transition_before(self) -> IntArray:
        """[groups, units, units]: ps from the group before, where that feeds it, else 0."""
        units = len(self.problem.units)
        table = np.zeros((self.groups, units, units), dtype=np.int64)
        for edge, (source, target) in enumerate(self.problem.edges):
            if source == target - 1:
                table[target] = self.problem.transition_ps[edge]
        return table

    @cached_property
    def combinations(self) -> int:
        """How many rows there are, those with the same effect counted apart."""
        count = 1
        for row in self.problem.allowed:
            count *= int(row.sum())
        for points in self.points:
            count *= len(points)
        return count

    @cached_property
    def drives(self) -> BoolArray:
        """[domains, units]: whether the unit's costs depend on the domain."""
        table = np.zeros((len(self.problem.domains), len(self.problem.units)), dtype=np.bool_)
        for u, unit in enumerate(self.problem.units):
            table[list(unit.clocks), u] = True
        return table

    @cached_property
    def resting_domains(self) -> tuple[int, ...]:
        """Domains with a choice that always draw power, also where nothing mapped needs them."""
        return tuple(
            d
            for d in self.free_domains.tolist()
            if not self.problem.domains[d].may_be_off and d != self.problem.memory_domain
        )

    def units_used(self, rows: IntArray) -> BoolArray:
        """[n, units]: whether something is mapped on the unit."""
        mapping = rows[:, : self.groups]
        units = range(len(self.problem.units))
        return np.stack([(mapping == u).any(axis=1) for u in units], axis=1)

    def domains_used(self, rows: IntArray) -> BoolArray:
        """[n, domains]: whether a unit that something is mapped on depends on the domain."""
        return self.units_used(rows) @ self.drives.T

    def domains_on(self, used: BoolArray) -> BoolArray:
        """[n, domains] from the units used [n, units]."""
        always = np.array([not domain.may_be_off for domain in self.problem.domains])
        return always | (used @ self.drives.T)

    def canonical(self, rows: IntArray) -> IntArray:
        """The same rows with 0 for the operating point of every domain that is off."""
        result = rows.copy()
        self._switch_off(result, self.domains_used(rows))
        return result

    def _switch_off(self, rows: IntArray, used: BoolArray) -> None:
        for d, domain in enumerate(self.problem.domains):
            if domain.may_be_off:
                rows[~used[:, d], self.groups + d] = 0

    def _rest(self, rows: IntArray, used: BoolArray) -> None:
        """Sets every domain that is on and not used to the point at which least power is drawn:
        nothing else depends on it, so the row can only gain."""
        for d in self.resting_domains:
            idle = np.flatnonzero(~used[:, d])
            if len(idle) == 0:
                continue
            points, domain = self.points[d], self.problem.domains[d]
            power = np.tile(domain.static_mw[points], (len(idle), 1))
            for u in np.flatnonzero(self.drives[d]).tolist():
                unit = self.problem.units[u]
                own = self.problem.domains[unit.clocks[0]]
                on = ~np.bool_(own.may_be_off) | used[idle, unit.clocks[0]]
                at = tuple(
                    points[None] if clock == d else rows[idle, self.groups + clock, None]
                    for clock in unit.clocks
                )
                power = power + np.where(on[:, None], unit.idle_mw[at], 0)
            rows[idle, self.groups + d] = points[power.argmin(axis=1)]

    def _wake(self, rng: Random, rows: IntArray, asleep: BoolArray) -> None:
        """Draws the operating points of domains ``asleep`` [n, domains]: the fastest with a
        probability of a third, else any."""
        for d in self.free_domains.tolist():
            chosen = np.flatnonzero(asleep[:, d])
            if len(chosen):
                points = self.points[d]
                at = rng.integers(0, len(points), len(chosen))
                at = np.where(rng.random(len(chosen)) < 1 / 3, len(points) - 1, at)
                rows[chosen, self.groups + d] = points[at]

    def nearest_points(self, rows: IntArray) -> IntArray:
        """The same rows with every operating point that may not be chosen replaced by the next
        faster one that may, or the fastest."""
        result = rows.copy()
        domains = np.arange(len(self.problem.domains))
        places = self.place_of_point[domains, rows[:, self.groups :]]
        result[:, self.groups :] = self.point_at[domains, places]
        return result

    def random(self, rng: Random, n: int) -> IntArray:
        """[n, width]: each network on one to three units in turn, any clocks."""
        position = np.arange(self.groups) - self.first[self.owner]
        mapping = np.empty((n, self.groups), dtype=np.int64)
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

    def repair(self, rng: Random, rows: IntArray, awake: BoolArray | None = None) -> IntArray:
        """Moves groups off units that they may not have, and joins stretches where a network has
        more transitions than it may; canonical, and idle clocks at rest. What cannot be joined
        stays.

        ``awake`` [n, domains]: whether the row's operating point was chosen for a mapping that
        used it; where it was not, and the mapping uses it now, another one is drawn.
        """
        mapping = self._supported(rows[:, : self.groups])
        for n, network in enumerate(self.problem.networks):
            if network.max_transitions is not None and self.size[n] > 1:
                block = slice(int(self.first[n]), int(self.first[n] + self.size[n]))
                mapping[:, block] = self._joined(
                    rng, mapping[:, block], self.problem.allowed[block], network.max_transitions
                )
        result = np.concatenate((mapping, rows[:, self.groups :]), axis=1)
        used = self.domains_used(result)
        if awake is not None:
            self._wake(rng, result, used & ~awake)
        self._switch_off(result, used)
        self._rest(result, used)
        return result

    def _supported(self, mapping: IntArray) -> IntArray:
        """A group that may not be where it is goes where the group before it is, if it may, else
        where the next one is, else to its fastest unit."""
        mapping = mapping.copy()
        if self.all_allowed:
            return mapping
        wrong = ~self.problem.allowed[np.arange(self.groups), mapping]
        for g in np.flatnonzero(wrong.any(axis=0)):
            bad = np.flatnonzero(wrong[:, g])
            chosen = np.full(len(bad), self.best_unit[g])
            for neighbour in (g + 1, g - 1):
                if 0 <= neighbour < self.groups and self.owner[neighbour] == self.owner[g]:
                    there = mapping[bad, neighbour]
                    chosen = np.where(self.problem.allowed[g, there], there, chosen)
            mapping[bad, g] = chosen
        return mapping

    def _joined(self, rng: Random, mapping: IntArray, allowed: BoolArray, limit: int) -> IntArray:
        """Joins random neighbouring stretches of one network [n, size] until ``limit`` holds."""
        mapping = mapping.copy()
        position = np.arange(mapping.shape[1])
        for _ in range(2 * mapping.shape[1]):
            change = mapping[:, 1:] != mapping[:, :-1]
            over = np.flatnonzero(change.sum(axis=1) > limit)
            if len(over) == 0:
                break
            change = change[over]
            cut = np.where(change, rng.random(change.shape), -1.0).argmax(axis=1) + 1
            edges = np.concatenate(
                (np.ones((len(over), 1), np.bool_), change, np.ones((len(over), 1), np.bool_)),
                axis=1,
            )
            places = np.arange(edges.shape[1])
            before = np.where(edges & (places < cut[:, None]), places, -1).max(axis=1)
            after = np.where(edges & (places > cut[:, None]), places, edges.shape[1]).min(axis=1)
            left = cut - before < after - cut
            begin, end = np.where(left, before, cut), np.where(left, cut, after)
            unit = mapping[over, np.where(left, cut, cut - 1)]
            inside = (position >= begin[:, None]) & (position < end[:, None])
            fits = (allowed[:, unit].T | ~inside).all(axis=1)
            take = inside & fits[:, None]
            mapping[over] = np.where(take, unit[:, None], mapping[over])
        return mapping


def unique_rows(rows: IntArray, seen: set[bytes] | None = None) -> NDArray[np.bool_]:
    """[n]: True for the first of equal rows that is not in ``seen`` either."""
    known = set() if seen is None else set(seen)
    fresh = np.zeros(len(rows), dtype=np.bool_)
    for index, row in enumerate(np.ascontiguousarray(rows)):
        key = row.tobytes()
        if key not in known:
            known.add(key)
            fresh[index] = True
    return fresh

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
    """All rows that a problem allows."""

    problem: Problem

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
    def combinations(self) -> int:
        """How many rows there are, those with the same effect counted apart."""
        count = 1
        for row in self.problem.allowed:
            count *= int(row.sum())
        for points in self.points:
            count *= len(points)
        return count

    def canonical(self, rows: IntArray) -> IntArray:
        """The same rows with 0 for the operating point of every domain that is off."""
        used = np.zeros((len(rows), len(self.problem.units)), dtype=np.bool_)
        np.put_along_axis(used, rows[:, : self.groups], True, axis=1)
        result = rows.copy()
        for d, on in enumerate(self.domains_on(used).T):
            result[~on, self.groups + d] = 0
        return result

    def domains_on(self, used: BoolArray) -> BoolArray:
        """[n, domains] from the units used [n, units]."""
        columns = []
        for d, domain in enumerate(self.problem.domains):
            users = [u for u, unit in enumerate(self.problem.units) if d in unit.clocks]
            always = np.full(len(used), not domain.may_be_off)
            columns.append(always | used[:, users].any(axis=1))
        return np.stack(columns, axis=1)

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

    def repair(self, rng: Random, rows: IntArray) -> IntArray:
        """Moves groups off units that they may not have, and joins stretches where a network has
        more transitions than it may; canonical. What cannot be joined stays."""
        mapping = self._supported(rows[:, : self.groups])
        for n, network in enumerate(self.problem.networks):
            if network.max_transitions is not None and self.size[n] > 1:
                block = slice(int(self.first[n]), int(self.first[n] + self.size[n]))
                mapping[:, block] = self._joined(
                    rng, mapping[:, block], self.problem.allowed[block], network.max_transitions
                )
        return self.canonical(np.concatenate((mapping, rows[:, self.groups :]), axis=1))

    def _supported(self, mapping: IntArray) -> IntArray:
        """A group that may not be where it is goes where the group before it is, if it may, else
        where the next one is, else to its fastest unit."""
        mapping = mapping.copy()
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

"""Neighbourhoods of design points for local search on the front, vectorised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common.arrays import IntArray
from dse.space.design_space import DesignSpace, Random

STEPS = (-2, -1, 1, 2)
"""Operating points that one clock is moved by, besides going to either end."""
MOVED_GROUPS = (2, 3)
"""Groups that a transition point moves by; by one it is a single group on another unit."""


@dataclass(frozen=True, eq=False)
class Changes:
    """One change each, as arrays over the changes: in row ``source`` the groups from ``begin`` up
    to ``end`` go to ``unit``, or units ``a`` and ``b`` are exchanged there, or up to two domains
    get another operating point. -1: nothing of that kind."""

    source: IntArray
    begin: IntArray
    end: IntArray
    unit: IntArray
    a: IntArray
    b: IntArray
    domains: IntArray
    """[changes, 2]"""
    points: IntArray
    """[changes, 2]"""

    def __len__(self) -> int:
        return len(self.source)

    def take(self, index: IntArray) -> Changes:
        """Those at ``index``."""
        return Changes(*(getattr(self, name)[index] for name in self.__dataclass_fields__))


def neighbours(
    space: DesignSpace, rng: Random, rows: IntArray, *, most: int | None = None
) -> IntArray:
    """Rows one change away from ``rows`` [n, width]: one group, or one segment, on
    another unit; a transition point moved by two or three groups; two units exchanged, in all
    networks or in one; one clock moved by one or two points or to an end; two clocks moved by one
    point each.

    Repaired, so some may be equal to each other or to what they came from. ``most``: of more
    changes this many are drawn.
    """
    changes = all_changes(space, rows)
    if most is not None and len(changes) > most:
        changes = changes.take(np.sort(rng.choice(len(changes), most, replace=False)))
    return space.repair(rng, apply(space, rows, changes), space.domains_used(rows)[changes.source])


def all_changes(space: DesignSpace, rows: IntArray) -> Changes:
    """All changes of all rows, those of a kind together."""
    mapping = rows[:, : space.groups]
    kinds = [
        _single_groups(space, mapping),
        _stretches(space, mapping),
        _exchanged_units(space, mapping),
        _single_clocks(space, rows),
        _two_clocks(space, rows),
    ]
    names = Changes.__dataclass_fields__
    return Changes(*(np.concatenate([getattr(kind, name) for kind in kinds]) for name in names))


def apply(space: DesignSpace, rows: IntArray, changes: Changes) -> IntArray:
    """[changes, width]: the changed rows, as yet unrepaired."""
    result = rows[changes.source]
    mapping = result[:, : space.groups]
    at, group = _inside(space, np.flatnonzero(changes.unit >= 0), changes)
    mapping[at, group] = changes.unit[at]
    at, group = _inside(space, np.flatnonzero(changes.a >= 0), changes)
    here, a, b = mapping[at, group], changes.a[at], changes.b[at]
    mapping[at, group] = np.where(here == a, b, np.where(here == b, a, here))
    for column in range(changes.domains.shape[1]):
        at = np.flatnonzero(changes.domains[:, column] >= 0)
        gene = space.groups + changes.domains[at, column]
        result[at, gene] = changes.points[at, column]
    return result


def _inside(space: DesignSpace, at: IntArray, changes: Changes) -> tuple[IntArray, IntArray]:
    """The changes ``at``, each as often as groups are in its segment, and these groups."""
    position = np.arange(space.groups)
    inside = (position >= changes.begin[at, None]) & (position < changes.end[at, None])
    which, group = np.nonzero(inside)
    return at[which], group


def _changes(
    source: IntArray,
    *,
    stretch: tuple[IntArray, IntArray] | None = None,
    unit: IntArray | None = None,
    exchanged: tuple[IntArray, IntArray] | None = None,
    domains: IntArray | None = None,
    points: IntArray | None = None,
) -> Changes:
    none = np.full(len(source), -1, dtype=np.int64)
    neither = np.full((len(source), 2), -1, dtype=np.int64)
    begin, end = (none, none) if stretch is None else stretch
    a, b = (none, none) if exchanged is None else exchanged
    return Changes(
        source=source,
        begin=begin,
        end=end,
        unit=none if unit is None else unit,
        a=a,
        b=b,
        domains=neither if domains is None else domains,
        points=neither if points is None else points,
    )


def _single_groups(space: DesignSpace, mapping: IntArray) -> Changes:
    units = np.arange(len(space.problem.units))
    other = space.problem.allowed & (mapping[:, :, None] != units)
    source, group, unit = np.nonzero(other)
    return _changes(source, stretch=(group, group + 1), unit=unit)


def _stretches(space: DesignSpace, mapping: IntArray) -> Changes:
    """Segments on other units, and transition points moved."""
    n, groups = mapping.shape
    starts = np.ones((n, groups), dtype=np.bool_)
    same_network = space.owner[1:] == space.owner[:-1]
    starts[:, 1:] = (mapping[:, 1:] != mapping[:, :-1]) | ~same_network
    source, begin = np.nonzero(starts)
    last = np.append(source[1:] != source[:-1], True)
    end = np.where(last, groups, np.append(begin[1:], groups))
    units = len(space.problem.units)
    longer = np.repeat(np.flatnonzero(end - begin > 1), units)
    unit = np.tile(np.arange(units), len(longer) // units)
    other = mapping[source[longer], begin[longer]] != unit
    longer, unit = longer[other], unit[other]
    parts = [(source[longer], begin[longer], end[longer], unit)]
    # Transition points: segments that follow another one of the same network.
    follows = np.flatnonzero((begin > 0) & (space.owner[begin] == space.owner[begin - 1]))
    row, cut = source[follows], begin[follows]
    left, right = mapping[row, cut - 1], mapping[row, cut]
    for distance in MOVED_GROUPS:
        ahead = cut + distance < end[follows]
        parts.append((row[ahead], cut[ahead], cut[ahead] + distance, left[ahead]))
        back = cut - distance > begin[follows - 1]
        parts.append((row[back], cut[back] - distance, cut[back], right[back]))
    row, begin, end, unit = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _changes(row, stretch=(begin, end), unit=unit)


def _exchanged_units(space: DesignSpace, mapping: IntArray) -> Changes:
    """Any two units exchanged, in all networks and, where there are several, in each alone."""
    a, b = np.triu_indices(len(space.problem.units), 1)
    begins, ends = [0], [space.groups]
    if len(space.first) > 1:
        begins += space.first.tolist()
        ends += (space.first + space.size).tolist()
    grid = np.meshgrid(np.arange(len(mapping)), np.arange(len(begins)), np.arange(len(a)))
    source, block, pair = (axis.reshape(-1).astype(np.int64) for axis in grid)
    return _changes(
        source,
        stretch=(np.array(begins)[block], np.array(ends)[block]),
        exchanged=(a[pair].astype(np.int64), b[pair].astype(np.int64)),
    )


def _single_clocks(space: DesignSpace, rows: IntArray) -> Changes:
    """One clock of each row moved by a step or to an end."""
    free = space.free_domains
    here = _places(space, rows)
    last = space.point_count[free] - 1
    ends = np.broadcast_to(np.stack((np.zeros_like(last), last), axis=1), (*here.shape, 2))
    there = np.concatenate((here[:, :, None] + np.array(STEPS), ends), axis=2)
    able = (there >= 0) & (there <= last[:, None]) & (there != here[:, :, None])
    source, which, way = np.nonzero(able)
    domain = free[which]
    point = space.point_at[domain, there[source, which, way]]
    none = np.full(len(source), -1, dtype=np.int64)
    return _changes(
        source, domains=np.stack((domain, none), axis=1), points=np.stack((point, none), axis=1)
    )


def _two_clocks(space: DesignSpace, rows: IntArray) -> Changes:
    """Any two clocks of each row, each a point up or down."""
    free = space.free_domains
    pairs = np.stack(np.triu_indices(len(free), 1), axis=1)
    ways = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])
    pair, way = np.repeat(pairs, len(ways), axis=0), np.tile(ways, (len(pairs), 1))
    there = _places(space, rows)[:, pair] + way
    able = ((there >= 0) & (there < space.point_count[free[pair]])).all(axis=2)
    source, which = np.nonzero(able)
    domains = free[pair[which]]
    return _changes(source, domains=domains, points=space.point_at[domains, there[source, which]])


def _places(space: DesignSpace, rows: IntArray) -> IntArray:
    """[n, free domains]: the place of each clock with a choice on its ladder."""
    free = space.free_domains
    return space.place_of_point[free, rows[:, space.groups + free]]

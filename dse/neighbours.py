"""The neighbourhood of a design point, for local search on the front."""

from __future__ import annotations

import numpy as np

from dse.design_space import DesignSpace, Random, unique_rows
from results.problem import IntArray

MOST_NEIGHBOURS = 300
"""Of a larger neighbourhood so many are drawn."""


def neighbours(space: DesignSpace, rng: Random, row: IntArray) -> IntArray:
    """[n, width]: ``row`` with one group on another unit, one stretch on another unit, one
    transition point moved by two or three groups, two units exchanged, or one clock moved by one
    or two points or to an end; repaired, none equal to ``row`` and none twice."""
    candidates = [
        _single_groups(space, row),
        _stretches(space, row),
        _exchanged_units(space, row),
        _clocks(space, row),
    ]
    rows = np.concatenate(candidates)
    if len(rows) > MOST_NEIGHBOURS:
        rows = rows[np.sort(rng.choice(len(rows), MOST_NEIGHBOURS, replace=False))]
    rows = space.repair(rng, rows)
    return rows[unique_rows(rows, {np.ascontiguousarray(row).tobytes()})]


def _single_groups(space: DesignSpace, row: IntArray) -> IntArray:
    group, unit = np.nonzero(space.problem.allowed)
    other = row[group] != unit
    group, unit = group[other], unit[other]
    rows = np.repeat(row[None], len(group), axis=0)
    rows[np.arange(len(group)), group] = unit
    return rows


def _stretches(space: DesignSpace, row: IntArray) -> IntArray:
    """Whole stretches on other units, and transition points moved by two or three groups."""
    mapping = row[: space.groups]
    same = (mapping[1:] == mapping[:-1]) & (space.owner[1:] == space.owner[:-1])
    begins = np.flatnonzero(np.concatenate(([True], ~same)))
    ends = np.append(begins[1:], space.groups)
    changes = []
    for index, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        if end - begin > 1:
            changes += [(begin, end, unit) for unit in range(len(space.problem.units))]
        if index and space.owner[begin] == space.owner[begin - 1]:
            left, right = int(mapping[begin - 1]), int(mapping[begin])
            for distance in (2, 3):
                if begin + distance < end:
                    changes.append((begin, begin + distance, left))
                if begin - distance > begins[index - 1]:
                    changes.append((begin - distance, begin, right))
    rows = np.repeat(row[None], len(changes), axis=0)
    for index, (begin, end, unit) in enumerate(changes):
        rows[index, begin:end] = unit
    return rows


def _exchanged_units(space: DesignSpace, row: IntArray) -> IntArray:
    """Any two units exchanged, in all networks and in each alone."""
    units = len(space.problem.units)
    pairs = [(a, b) for a in range(units) for b in range(a + 1, units)]
    networks = [slice(0, space.groups)] + [
        slice(int(begin), int(begin + size))
        for begin, size in zip(space.first, space.size, strict=True)
    ]
    rows = np.repeat(row[None], len(pairs) * len(networks), axis=0)
    index = 0
    for block in networks:
        for a, b in pairs:
            part = row[block]
            rows[index, block] = np.where(part == a, b, np.where(part == b, a, part))
            index += 1
    return rows


def _clocks(space: DesignSpace, row: IntArray) -> IntArray:
    rows = []
    for d in space.free_domains.tolist():
        points = space.points[d]
        gene = space.groups + d
        at = min(int(np.searchsorted(points, row[gene])), len(points) - 1)
        for choice in sorted({at - 2, at - 1, at + 1, at + 2, 0, len(points) - 1}):
            if 0 <= choice < len(points) and points[choice] != row[gene]:
                changed = row.copy()
                changed[gene] = points[choice]
                rows.append(changed)
    return np.array(rows, dtype=np.int64).reshape(-1, space.width)

"""Enumeration of neighbours, rows that are one change away. Compiled.

Each function goes through the changes of one kind in a fixed order and writes those with wanted
numbers. ``rows`` [n, width] are the rows that are changed, ``wanted`` rising numbers, ``at`` [2]
the number of the next change and the position of the next wanted one. The changed rows go to
``near`` [wanted, width], the numbers of their original rows to ``source`` [wanted].
"""

import numpy as np

from paretosoc.dse.space.operators_jit import below
from paretosoc.fitness.simulator.jit import jit, rare
from paretosoc.results.problem.arithmetic import PRIORITY_LEVELS

STEPS = (-2, -1, 1, 2)
"""Operating points that one clock is moved by, besides going to either end."""
WAYS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
"""Directions in which two clocks are moved at the same time."""
MOVED_GROUPS = (2, 3)
"""Groups that a transition point moves by. A move by one is a single group on another unit."""


@jit
def draw_neighbours(space, stream, rows, wanted, at, near, source):
    """Draw as many changes as ``wanted`` has room for, or all, and return how many that are.

    ``near`` and ``source`` have the same room.
    """
    drawn = np.int64(0)
    for _ in range(2):
        enumerate_neighbours(space, rows, wanted[:drawn], at, near, source)
        if drawn:
            break
        # Each change is drawn with the share of those that are still needed among those left.
        for change in range(at[0]):
            if below(stream, at[0] - change) < wanted.shape[0] - drawn:
                wanted[drawn] = change
                drawn += 1
    return drawn


@jit
def enumerate_neighbours(space, rows, wanted, at, near, source):
    """Enumerate all changes of all rows. Without wanted ones ``at[0]`` becomes their number."""
    at[0], at[1] = 0, 0
    _move_groups(space, rows, wanted, at, near, source)
    _move_segments(space, rows, wanted, at, near, source)
    for distance in MOVED_GROUPS:
        _move_transitions(space, rows, distance, wanted, at, near, source)
    _exchange_units(space, rows, wanted, at, near, source)
    _move_clocks(space, rows, wanted, at, near, source)
    _move_two_clocks(space, rows, wanted, at, near, source)
    if space.orders_groups:
        _change_priorities(space, rows, wanted, at, near, source)


@rare
def _is_wanted(rows, r, wanted, at, near, source):
    """Count a change of row ``r``. If it is wanted, copy the row to ``near[at[1]
    - 1]``, return True."""
    at[0] += 1
    k = at[1]
    if k == wanted.shape[0] or wanted[k] != at[0] - 1:
        return False
    at[1] += 1
    source[k] = r
    for g in range(rows.shape[1]):
        near[k, g] = rows[r, g]
    return True


@jit
def _segment_end(space, row, begin):
    """Return the end of the segment that begins with a group."""
    end = begin + 1
    while end < space.groups and row[end] == row[begin] and space.owner[end] == space.owner[begin]:
        end += 1
    return end


@jit
def _move_groups(space, rows, wanted, at, near, source):
    """Move a group to each other unit that it may have."""
    for r in range(rows.shape[0]):
        for g in range(space.groups):
            for u in range(space.units):
                if (
                    space.allowed[g, u]
                    and rows[r, g] != u
                    and _is_wanted(rows, r, wanted, at, near, source)
                ):
                    near[at[1] - 1, g] = u


@jit
def _move_segments(space, rows, wanted, at, near, source):
    """Move a segment of several groups to each other unit."""
    for r in range(rows.shape[0]):
        begin = np.int64(0)
        while begin < space.groups:
            end = _segment_end(space, rows[r], begin)
            for u in range(space.units):
                if (
                    end > begin + 1
                    and rows[r, begin] != u
                    and _is_wanted(rows, r, wanted, at, near, source)
                ):
                    near[at[1] - 1, begin:end] = u
            begin = end


@jit
def _move_transitions(space, rows, distance, wanted, at, near, source):
    """Move each transition point by ``distance`` groups: first to the back, then to the front."""
    for ahead in (True, False):
        for r in range(rows.shape[0]):
            before, begin = np.int64(0), _segment_end(space, rows[r], 0)
            while begin < space.groups:
                end = _segment_end(space, rows[r], begin)
                if space.owner[begin] == space.owner[begin - 1]:
                    low, high, unit = begin, begin + distance, rows[r, begin - 1]
                    fits = high < end
                    if not ahead:
                        low, high, unit = begin - distance, begin, rows[r, begin]
                        fits = low > before
                    if fits and _is_wanted(rows, r, wanted, at, near, source):
                        near[at[1] - 1, low:high] = unit
                before, begin = begin, end


@jit
def _exchange_units(space, rows, wanted, at, near, source):
    """Exchange any two units, in all networks and, if there are several, in each alone."""
    for block in range(-1, space.networks if space.networks > 1 else 0):
        low, high = np.int64(0), space.groups
        if block >= 0:
            low, high = space.first[block], space.first[block] + space.size[block]
        for r in range(rows.shape[0]):
            for a in range(space.units):
                for b in range(a + 1, space.units):
                    if _is_wanted(rows, r, wanted, at, near, source):
                        for g in range(low, high):
                            here = rows[r, g]
                            if here in (a, b):
                                near[at[1] - 1, g] = a + b - here


@jit
def _move_clocks(space, rows, wanted, at, near, source):
    """Move one clock by a step, or to an end."""
    for r in range(rows.shape[0]):
        for f in range(space.free.shape[0]):
            d = space.free[f]
            here, last = (
                space.place_of_point[d, rows[r, space.groups + d]],
                space.point_count[d] - 1,
            )
            for way in range(len(STEPS) + 2):
                there = np.int64(0) if way == len(STEPS) else last
                if way < len(STEPS):
                    there = here + STEPS[way]
                if (
                    0 <= there <= last
                    and there != here
                    and _is_wanted(rows, r, wanted, at, near, source)
                ):
                    near[at[1] - 1, space.groups + d] = space.point_at[d, there]


@jit
def _move_two_clocks(space, rows, wanted, at, near, source):
    """Move any two clocks, each a point up or down."""
    for r in range(rows.shape[0]):
        for f in range(space.free.shape[0]):
            for h in range(f + 1, space.free.shape[0]):
                a, b = space.free[f], space.free[h]
                here_a = space.place_of_point[a, rows[r, space.groups + a]]
                here_b = space.place_of_point[b, rows[r, space.groups + b]]
                for step_a, step_b in WAYS:
                    to_a, to_b = here_a + step_a, here_b + step_b
                    if (
                        0 <= to_a < space.point_count[a]
                        and 0 <= to_b < space.point_count[b]
                        and _is_wanted(rows, r, wanted, at, near, source)
                    ):
                        near[at[1] - 1, space.groups + a] = space.point_at[a, to_a]
                        near[at[1] - 1, space.groups + b] = space.point_at[b, to_b]


@jit
def _change_priorities(space, rows, wanted, at, near, source):
    """Give a segment, or a single group of several, another priority."""
    for r in range(rows.shape[0]):
        end = np.int64(0)
        for g in range(space.groups):
            begins = g == end
            if begins:
                end = _segment_end(space, rows[r], g)
            for level in range(PRIORITY_LEVELS):
                if level == rows[r, g + space.settings]:
                    continue
                if begins and _is_wanted(rows, r, wanted, at, near, source):
                    near[at[1] - 1, g + space.settings : end + space.settings] = level
                if (not begins or end > g + 1) and _is_wanted(rows, r, wanted, at, near, source):
                    near[at[1] - 1, g + space.settings] = level

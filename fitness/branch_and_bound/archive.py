"""The archive of a branch and bound: which bounds its members fathom, and how a member is inserted.
Compiled.

A bound vector is *fathomed* by a member that is at least as good: no design point below is better
in any objective. With a tolerance e, a member also fathoms bounds that are better than it by a
factor of at most 1 + e. With one objective there is one member. With two, members are kept in
order, as a staircase. With more they are a list.
"""

import numpy as np

from paretosoc.common.units import PPM
from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.state import NEVER


@jit
def fathoming_value(value, tolerance_ppm):
    """Return the smallest bound that ``value`` fathoms: ceil(value / (1 + e)) for a tolerance e, or
    ceil(value * (1 + e)) if the value is negative (a rate).
    """
    if tolerance_ppm == 0:
        return value
    if value >= 0:
        whole, rest = value // (PPM + tolerance_ppm), value % (PPM + tolerance_ppm)
        return value - (whole * tolerance_ppm + rest * tolerance_ppm // (PPM + tolerance_ppm))
    whole, rest = (-value) // PPM, (-value) % PPM
    return value - (whole * tolerance_ppm + rest * tolerance_ppm // PPM)


@jit
def _steps_up_to(values, count, value):
    """Return how many of the first ``count`` rows have a first objective of at most ``value``."""
    low, high = np.int64(0), count
    while low < high:
        middle = (low + high) >> 1
        if values[middle, 0] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _is_below(values, row, vector):
    below = True
    for j in range(vector.shape[0]):
        below &= values[row, j] <= vector[j]
    return below


@jit
def is_fathomed(tree, values, vector):
    """Return whether a row of ``values`` (``tree.closing`` or ``tree.objectives``) is at least as
    good as ``vector`` [objectives].
    """
    count = tree.progress.members
    if vector.shape[0] == 2:
        # Two objectives form a staircase: of the steps up to the first bound the last is lowest.
        at = _steps_up_to(values, count, vector[0])
        return at > 0 and values[at - 1, 1] <= vector[1]
    # The member that fathomed last often does so again.
    last = tree.progress.last_member
    if last < count and _is_below(values, last, vector):
        return True
    for row in range(count):
        if _is_below(values, row, vector):
            tree.progress.last_member = row
            return True
    return False


@jit
def fathoming_makespan(tree, vector, column):
    """Return the smallest makespan of a member that fathoms the bounds of all other objectives.

    ``column`` is the makespan's position in the vector, or -1 if it is no objective. Returns NEVER
    in that case, and if there is no such member.
    """
    smallest = NEVER
    if column >= 0:
        for row in range(tree.progress.members):
            closes = True
            for j in range(vector.shape[0]):
                closes &= j == column or tree.closing[row, j] <= vector[j]
            if closes:
                smallest = min(smallest, tree.closing[row, column])
    return smallest


@jit
def _copy_member(tree, source, target):
    for j in range(tree.objectives.shape[1]):
        tree.objectives[target, j] = tree.objectives[source, j]
        tree.closing[target, j] = tree.closing[source, j]
    for g in range(tree.member_units.shape[1]):
        tree.member_units[target, g] = tree.member_units[source, g]
    for d in range(tree.member_points.shape[1]):
        tree.member_points[target, d] = tree.member_points[source, d]


@jit
def insert_member(tree, vector, tolerance_ppm):
    """Make the present choice a member and remove the members that it dominates.

    ``vector`` has its objectives, which no member may fathom.
    """
    kept = np.int64(0)
    for row in range(tree.progress.members):
        dominated = True
        for j in range(vector.shape[0]):
            dominated &= vector[j] <= tree.objectives[row, j]
        if not dominated:
            if kept < row:
                _copy_member(tree, row, kept)
            kept += 1
    at = kept
    while vector.shape[0] == 2 and at > 0 and tree.objectives[at - 1, 0] > vector[0]:
        _copy_member(tree, at - 1, at)
        at -= 1
    for j in range(vector.shape[0]):
        tree.objectives[at, j] = vector[j]
        tree.closing[at, j] = fathoming_value(vector[j], tolerance_ppm)
    for g in range(tree.units.shape[0]):
        tree.member_units[at, g] = tree.units[g]
    for d in range(tree.points.shape[0]):
        tree.member_points[at, d] = tree.points[d]
    tree.progress.members = kept + 1
    tree.progress.members_found += 1

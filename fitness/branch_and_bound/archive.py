"""The members that a search knows: what they close, and how one joins; compiled.

A bound vector is *closed* by a member that is nowhere above it: whatever lies below is no better in
any objective. With a tolerance e, a member closes more: where it is above by a factor of 1 + e at
most. One objective has one member; two are kept in order, a staircase; more are a list.
"""

import numpy as np

from common.units import PPM
from fitness.simulator.jit import jit
from fitness.simulator.state import NEVER


@jit
def closing_value(value, tolerance_ppm):
    """The smallest bound that ``value`` closes: ceil(value / (1 + e)), e the tolerance. Where the
    value is negative (a rate), ceil(value * (1 + e))."""
    if tolerance_ppm == 0:
        return value
    if value >= 0:
        whole, rest = value // (PPM + tolerance_ppm), value % (PPM + tolerance_ppm)
        return value - (whole * tolerance_ppm + rest * tolerance_ppm // (PPM + tolerance_ppm))
    whole, rest = (-value) // PPM, (-value) % PPM
    return value - (whole * tolerance_ppm + rest * tolerance_ppm // PPM)


@jit
def _steps_up_to(values, count, value):
    """How many of the first ``count`` rows have a first objective of at most ``value``."""
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
def is_closed(b, values, vector):
    """Whether a row of ``values`` (``b.closing``, or ``b.objectives``) is nowhere above
    ``vector`` [objectives]."""
    count = b.progress.members
    if vector.shape[0] == 2:
        # The last step that begins at or before the first bound is the lowest one there.
        at = _steps_up_to(values, count, vector[0])
        return at > 0 and values[at - 1, 1] <= vector[1]
    # What has closed last often closes again.
    last = b.progress.last_member
    if last < count and _is_below(values, last, vector):
        return True
    for row in range(count):
        if _is_below(values, row, vector):
            b.progress.last_member = row
            return True
    return False


@jit
def closing_makespan(b, vector, column):
    """The smallest makespan, column ``column``, of a member that closes the bounds of all other
    objectives; NEVER where there is none, or the makespan is no objective (-1)."""
    smallest = NEVER
    if column >= 0:
        for row in range(b.progress.members):
            closes = True
            for j in range(vector.shape[0]):
                closes &= j == column or b.closing[row, j] <= vector[j]
            if closes:
                smallest = min(smallest, b.closing[row, column])
    return smallest


@jit
def _copy_member(b, source, target):
    for j in range(b.objectives.shape[1]):
        b.objectives[target, j] = b.objectives[source, j]
        b.closing[target, j] = b.closing[source, j]
    for g in range(b.member_units.shape[1]):
        b.member_units[target, g] = b.member_units[source, g]
    for d in range(b.member_points.shape[1]):
        b.member_points[target, d] = b.member_points[source, d]


@jit
def join(b, vector, tolerance_ppm):
    """The present choice, with the objectives ``vector`` that no member is nowhere above, becomes a
    member; what it dominates leaves."""
    kept = np.int64(0)
    for row in range(b.progress.members):
        dominated = True
        for j in range(vector.shape[0]):
            dominated &= vector[j] <= b.objectives[row, j]
        if not dominated:
            if kept < row:
                _copy_member(b, row, kept)
            kept += 1
    at = kept
    while vector.shape[0] == 2 and at > 0 and b.objectives[at - 1, 0] > vector[0]:
        _copy_member(b, at - 1, at)
        at -= 1
    for j in range(vector.shape[0]):
        b.objectives[at, j] = vector[j]
        b.closing[at, j] = closing_value(vector[j], tolerance_ppm)
    for g in range(b.units.shape[0]):
        b.member_units[at, g] = b.units[g]
    for d in range(b.points.shape[0]):
        b.member_points[at, d] = b.points[d]
    b.progress.members = kept + 1
    b.progress.members_found += 1

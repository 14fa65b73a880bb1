"""The state of an exact search, from which a later one can resume."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from common.arrays import IntArray
from dse.certificate.preconditions import MAX_POINTS
from fitness.branch_and_bound.search_space import SearchSpace
from fitness.branch_and_bound.search_state import (
    SLOWER_FIRST,
    UNIT_CHOICE,
    Branching,
)
from fitness.simulator.layout import Plan
from fitness.simulator.state import Chosen, State
from fitness.simulator.tables import RecordArray, words_of
from results.errors import ResultError
from results.front.certificate import LemmaTable
from results.io.canonical_json import INT64_MAX

MEMBER_FIELDS = ("objectives", "closing", "member_units", "member_points")
"""Fields of ``Branching`` that have a row for every member, and grow."""
STATE_FIELDS = (
    *("progress", "units", "points", "forced", "transitions", "segments", "named_on"),
    *("kind", "subject", "option", "saved", "bound"),
    *MEMBER_FIELDS,
)
"""Fields of ``Branching`` that a search needs to resume; the kernels recompute the others."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The choices that a search had made, by the names of the fields of ``Branching``, and what it
    had proved."""

    arrays: dict[str, list[int]]
    lemmas: LemmaTable
    lemma_count: int
    seconds: float


def kept_arrays(b: Branching) -> dict[str, list[int]]:
    """What a search needs to resume, flat; only existing members."""
    members = slice(0, int(b.progress.members))
    kept = {name: getattr(b, name) for name in STATE_FIELDS}
    for name in MEMBER_FIELDS:
        kept[name] = kept[name][members]
    return {name: _flat(array).tolist() for name, array in kept.items()}


def _flat(array: IntArray | RecordArray) -> IntArray:
    return words_of(array) if isinstance(array, np.recarray) else array.reshape(-1)


def with_more_room(b: Branching) -> Branching:
    """The same with room for twice as many members."""
    wider: dict[str, Any] = {name: np.concatenate([getattr(b, name)] * 2) for name in MEMBER_FIELDS}
    return replace(b, **wider)


def fill_in(b: Branching, arrays: dict[str, list[int]], plan: Plan) -> None:
    """Puts kept arrays back; ``b`` has room for their members. The kernels check no index, so all
    are checked here.

    Raises:
        ResultError: where an array is missing, has another length, or a value out of its range.
    """
    ranges = {
        "units": (-1, plan.units - 1),
        "points": (1, (1 << MAX_POINTS) - 1),
        "forced": (0, len(b.kind)),
        "kind": (-1, SLOWER_FIRST),
        "subject": (0, max(plan.groups, plan.domains) - 1),
        "option": (0, max(plan.units, 3)),
        "member_units": (-1, plan.units - 1),
    }
    for name in STATE_FIELDS:
        array, values = getattr(b, name), arrays.get(name)
        # The numbers of the progress come first: that of the members is known by now.
        required = _flat(array).size
        if name in MEMBER_FIELDS:
            required = int(b.progress.members) * math.prod(array.shape[1:])
        if values is None or len(values) != required:
            raise ResultError(f"$.search.{name}: {required} numbers are required to resume")
        low, high = ranges.get(name, (-INT64_MAX, INT64_MAX))
        if values and not low <= min(values) <= max(values) <= high:
            raise ResultError(f"$.search.{name}: numbers from {low} to {high} are required")
        _flat(array)[:required] = values
    depth = int(b.progress.depth)
    if not 0 <= depth < len(b.kind) or int(b.progress.lemmas) != 0:
        raise ResultError("$.search.progress: the number of levels is out of range")
    for level in range(depth):
        count = plan.groups if b.kind[level] == UNIT_CHOICE else plan.domains
        if b.kind[level] < 0 or b.subject[level] >= count:
            raise ResultError(f"$.search: level {level} is not a choice of this problem")


def play_levels(plan: Plan, space: SearchSpace, chosen: Chosen, state: State, b: Branching) -> None:
    """Simulate up to the snapshot of every level; snapshots are not stored."""
    from fitness.branch_and_bound.search import keep_stop

    depth = int(b.progress.depth)
    units, points = b.units.copy(), b.points.copy()
    named = [
        {int(b.subject[level]), *np.flatnonzero(b.forced == level + 1).tolist()}
        if b.kind[level] == UNIT_CHOICE
        else set()
        for level in range(depth)
    ]
    for level in range(depth):
        later = sorted(set().union(*named[level:]))
        b.units[:], b.points[:] = units, points
        b.units[later] = -1
        for after in range(depth - 1, level - 1, -1):
            if b.kind[after] != UNIT_CHOICE:
                b.points[b.subject[after]] = b.saved[after]
        b.network_known[:] = 0
        keep_stop(plan, space, chosen, state, b, level)
    b.units[:], b.points[:] = units, points
    b.clock_known[:] = 0
    b.progress.depth = depth

"""The state of an exact search, from which a later one can resume."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from common.arrays import IntArray
from dse.certificate.preconditions import MAX_POINTS
from fitness.branch_and_bound.branching_rules import BranchingRules
from fitness.branch_and_bound.search_tree import (
    SLOWER_FIRST,
    UNIT_CHOICE,
    SearchTree,
)
from fitness.simulator.layout import Plan
from fitness.simulator.state import Chosen, State
from fitness.simulator.tables import RecordArray, words_of
from results.errors import ResultError
from results.front.certificate import LemmaTable
from results.io.canonical_json import INT64_MAX

MEMBER_FIELDS = ("objectives", "closing", "member_units", "member_points")
"""Fields of ``SearchTree`` that have a row for every member, and grow."""
STATE_FIELDS = (
    *("progress", "units", "points", "forced", "transitions", "segments", "named_on"),
    *("kind", "subject", "option", "saved", "bound"),
    *MEMBER_FIELDS,
)
"""Fields of ``SearchTree`` that a search needs to resume; the kernels recompute the others."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The choices that a search had made, by the names of the fields of ``SearchTree``, and what it
    had proved."""

    arrays: dict[str, list[int]]
    lemmas: LemmaTable
    lemma_count: int
    seconds: float


def kept_arrays(tree: SearchTree) -> dict[str, list[int]]:
    """What a search needs to resume, flat; only existing members."""
    members = slice(0, int(tree.progress.members))
    kept = {name: getattr(tree, name) for name in STATE_FIELDS}
    for name in MEMBER_FIELDS:
        kept[name] = kept[name][members]
    return {name: _flat(array).tolist() for name, array in kept.items()}


def _flat(array: IntArray | RecordArray) -> IntArray:
    return words_of(array) if isinstance(array, np.recarray) else array.reshape(-1)


def with_more_room(tree: SearchTree) -> SearchTree:
    """The same with room for twice as many members."""
    wider: dict[str, Any] = {
        name: np.concatenate([getattr(tree, name)] * 2) for name in MEMBER_FIELDS
    }
    return replace(tree, **wider)


def fill_in(tree: SearchTree, arrays: dict[str, list[int]], plan: Plan) -> None:
    """Puts kept arrays back; ``tree`` has room for their members. The kernels check no index, so
    all are checked here.

    Raises:
        ResultError: where an array is missing, has another length, or a value out of its range.
    """
    ranges = {
        "units": (-1, plan.units - 1),
        "points": (1, (1 << MAX_POINTS) - 1),
        "forced": (0, len(tree.kind)),
        "kind": (-1, SLOWER_FIRST),
        "subject": (0, max(plan.groups, plan.domains) - 1),
        "option": (0, max(plan.units, 3)),
        "member_units": (-1, plan.units - 1),
    }
    for name in STATE_FIELDS:
        array, values = getattr(tree, name), arrays.get(name)
        # The numbers of the progress come first: that of the members is known by now.
        required = _flat(array).size
        if name in MEMBER_FIELDS:
            required = int(tree.progress.members) * math.prod(array.shape[1:])
        if values is None or len(values) != required:
            raise ResultError(f"$.search.{name}: {required} numbers are required to resume")
        low, high = ranges.get(name, (-INT64_MAX, INT64_MAX))
        if values and not low <= min(values) <= max(values) <= high:
            raise ResultError(f"$.search.{name}: numbers from {low} to {high} are required")
        _flat(array)[:required] = values
    depth = int(tree.progress.depth)
    if not 0 <= depth < len(tree.kind) or int(tree.progress.lemmas) != 0:
        raise ResultError("$.search.progress: the number of levels is out of range")
    for level in range(depth):
        count = plan.groups if tree.kind[level] == UNIT_CHOICE else plan.domains
        if tree.kind[level] < 0 or tree.subject[level] >= count:
            raise ResultError(f"$.search: level {level} is not a choice of this problem")


def rebuild_snapshots(
    plan: Plan, space: BranchingRules, chosen: Chosen, state: State, tree: SearchTree
) -> None:
    """Simulate up to the snapshot of every level; snapshots are not stored."""
    from fitness.branch_and_bound.search import rebuild_snapshot

    depth = int(tree.progress.depth)
    units, points = tree.units.copy(), tree.points.copy()
    named = [
        {int(tree.subject[level]), *np.flatnonzero(tree.forced == level + 1).tolist()}
        if tree.kind[level] == UNIT_CHOICE
        else set()
        for level in range(depth)
    ]
    for level in range(depth):
        later = sorted(set().union(*named[level:]))
        tree.units[:], tree.points[:] = units, points
        tree.units[later] = -1
        for after in range(depth - 1, level - 1, -1):
            if tree.kind[after] != UNIT_CHOICE:
                tree.points[tree.subject[after]] = tree.saved[after]
        tree.network_known[:] = 0
        rebuild_snapshot(plan, space, chosen, state, tree, level)
    tree.units[:], tree.points[:] = units, points
    tree.clock_known[:] = 0
    tree.progress.depth = depth

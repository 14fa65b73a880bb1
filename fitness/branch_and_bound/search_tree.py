"""The state of a branch and bound, as flat arrays for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.branch_and_bound.branching_rules import BLOCKS, BranchingRules
from paretosoc.fitness.simulator.layout import Plan
from paretosoc.fitness.simulator.state import JOB_STATE, RUN, UNIT
from paretosoc.fitness.simulator.types.tables import (
    LANES,
    RecordArray,
    Tables,
    record,
    records,
    zeros_for,
)

if TYPE_CHECKING:
    # Only for annotations: compiled code does not depend on the problem's classes.
    from paretosoc.results.problem.problem import Problem

PROGRESS = record(
    *("depth", "nodes", "logged", "parts", "backtracking", "ending"),
    *("members", "members_found", "last_member", "last_step"),
)
"""Levels; nodes so far; nodes in the log; choices in the buffer of parts; 1 if the present
choice is closed; 1 if all that is still open is handed over; members; how often one was
inserted; the member that fathomed last; the place, in the order of makespans,
of the member before which the trade-off was tried last."""
# Why a slice of the search ended.
DONE, NODE_LIMIT, LOG_FULL, MEMBERS_FULL = range(4)
# Choice of a level: a unit, or operating points with the faster or the slower half first.
UNIT_CHOICE, FASTER_FIRST, SLOWER_FIRST = range(3)
PARTS = 256
"""Choices that are handed over before the caller empties the buffer."""


@dataclass(frozen=True, eq=False)
class SearchTree(Tables):
    """The state of a branch and bound. A level is a choice that has been made."""

    progress: RecordArray
    """One ``PROGRESS``"""
    units: IntArray
    """[groups]: assigned units, or -1."""
    points: IntArray
    """[domains]: masks."""
    forced: Annotated[IntArray, "groups"]
    """1 + the level that assigned a group because no transition was left, or 0."""
    transitions: Annotated[IntArray, "networks"]
    segments: Annotated[IntArray, "units"]
    """At a unit's first entry."""
    loss: Annotated[IntArray, "networks"]
    """Accuracy that its groups cost at least, in ppm."""
    memory: Annotated[IntArray, "figures"]
    """Bytes that are taken at least, as in ``BranchingRules.more_bytes``."""
    held: Annotated[IntArray, "networks, places"]
    """Bytes that each network holds at least."""
    raised: Annotated[IntArray, "groups, places"]
    """Memory that an assigned group added to them."""
    named_on: Annotated[IntArray, "units"]
    """Assigned groups, in all number formats at a unit's first entry."""
    kind: Annotated[IntArray, "levels"]
    subject: Annotated[IntArray, "levels"]
    """The group or the domain chosen for."""
    option: Annotated[IntArray, "levels"]
    """The option to try next."""
    saved: Annotated[IntArray, "levels"]
    """The mask before the choice."""
    bound: Annotated[IntArray, "levels, objectives"]
    """Lower bounds of the subtree."""
    snapshot: Annotated[IntArray, "levels, words"]
    """The simulation's state at which the choice became open."""
    objectives: Annotated[IntArray, "members, objectives"]
    """The archive, non-dominated, sorted by the first objective if there are
    two."""
    closing: Annotated[IntArray, "members, objectives"]
    """The least bounds that are fathomed, which are ``objectives`` or near
    enough to them."""
    member_units: Annotated[IntArray, "members, groups"]
    """-1 if only the objectives are known."""
    member_points: Annotated[IntArray, "members, domains"]
    vector: Annotated[IntArray, "objectives"]
    """Bounds of the present choice."""
    fastest: Annotated[IntArray, "groups x units"]
    """Smallest stand-alone times over ``points``."""
    fastest_anywhere: Annotated[IntArray, "groups"]
    """The smallest of them."""
    step: Annotated[IntArray, "groups x units"]
    """By how much they grow at least from repeat to repeat."""
    step_anywhere: Annotated[IntArray, "groups"]
    min_energy: Annotated[IntArray, "groups x units"]
    """Smallest dynamic energies alone."""
    min_energy_anywhere: Annotated[IntArray, "groups"]
    energy_step: Annotated[IntArray, "groups x units"]
    """By how much they grow at least from repeat to repeat."""
    energy_step_anywhere: Annotated[IntArray, "groups"]
    priced_on: Annotated[IntArray, "blocks, groups x units, rows"]
    """Smallest priced times; :mod:`fitness.branch_and_bound.priced_times` has blocks and tables.
    Those of rows of energy are with the energy."""
    priced_anywhere: Annotated[IntArray, "tables, groups, rows"]
    """The smallest of them over the units, of a graph."""
    priced: Annotated[IntArray, "blocks, groups, rows"]
    """Those of ``units``. In a chain whose groups all have units: of all groups after each, without
    its own."""
    priced_from: Annotated[IntArray, "units, layers, rows"]
    """Work array: least priced time of a chain from a group on, by its unit."""
    rest: Annotated[IntArray, "tables, groups, units, layers, rows"]
    """Least priced time of a chain from an open group on, with all transitions: by the unit of the
    group before and by how many transitions are left, or NEVER."""
    rest_from: Annotated[IntArray, "networks, tables"]
    """From this group on ``rest`` belongs to ``points``, and so does ``open_chain`` if it is the
    first."""
    rest_left: Annotated[IntArray, "networks, tables"]
    """It is filled for up to so many transitions that are left."""
    open_chain: Annotated[IntArray, "networks, tables, rows"]
    """The same of a whole chain."""
    line: Annotated[IntArray, "rows"]
    """Work array: by how much the row of the trade-off raises the energy at a makespan of 0, or
    the priced time of all that is left."""
    spent: Annotated[IntArray, "1"]
    """Dynamic energy of what has started."""
    first_left: Annotated[IntArray, "networks"]
    """The first group of a chain that has not started in its repeat, or -1."""
    repeats_left: Annotated[IntArray, "networks"]
    """Repeats of which nothing has started."""
    begin_left: Annotated[IntArray, "networks"]
    """Least start of it, or -1 if the group before it is running."""
    min_idle: Annotated[IntArray, "units"]
    min_static: Annotated[IntArray, "domains"]
    least: Annotated[IntArray, "groups"]
    least_step: Annotated[IntArray, "groups"]
    tail: Annotated[IntArray, "groups"]
    tail_step: Annotated[IntArray, "groups"]
    path: Annotated[IntArray, "networks"]
    path_step: Annotated[IntArray, "networks"]
    end: Annotated[IntArray, "networks"]
    load: Annotated[IntArray, "units"]
    digit: Annotated[IntArray, "clocks"]
    """Work array."""
    clock_known: Annotated[IntArray, "domains"]
    """1 if the costs of units of this domain are those of ``points``."""
    network_known: Annotated[IntArray, "networks"]
    """1 if ``least``, ``tail``, ``path``, their steps and the costs chosen belong to
    ``units`` and ``points``."""
    log: Annotated[IntArray, "logged"]
    """Kinds of nodes."""
    part_units: Annotated[IntArray, "parts, groups"]
    """Choices that are handed over."""
    part_points: Annotated[IntArray, "parts, domains"]
    part_bound: Annotated[IntArray, "parts, objectives"]
    """Their lower bounds."""
    root_bound: Annotated[IntArray, "objectives"]
    """Lower bounds of the subtree."""


def make_search_tree(
    problem: Problem, plan: Plan, rules: BranchingRules, *, members: int, log: int
) -> SearchTree:
    """Return an empty search, with room for this many members and nodes in the log."""
    groups, places = plan.groups, rules.least_held_bytes.shape[1]
    return zeros_for(
        SearchTree,
        {
            "groups": groups,
            "units": plan.units,
            "groups x units": groups * plan.units,
            "domains": plan.domains,
            "networks": plan.networks,
            "clocks": plan.clock.shape[1],
            # A set of points can be halved until one is left: at most once for every point.
            "levels": groups + sum(int(domain.allowed.sum()) for domain in problem.domains) + 1,
            "words": _snapshot_words(plan),
            "members": members,
            "objectives": len(rules.objective),
            "blocks": BLOCKS,
            "rows": LANES,
            "tables": 1 + rules.set_count * bool(rules.price_rows[1]),
            "1": 1,
            "layers": max(1, int(rules.layers.max())),
            "figures": len(rules.memory_cap_bytes),
            "places": places,
            "parts": PARTS,
            "logged": log,
        },
        progress=records(PROGRESS),
        units=np.full(groups, -1, dtype=np.int64),
        points=np.array(problem.allowed_points, dtype=np.int64),
    )


def _snapshot_words(plan: Plan) -> int:
    """Return an upper bound of the words of
    :func:`~fitness.branch_and_bound.snapshots.save_snapshot`."""
    places = plan.instances
    words = {dtype: len(dtype.names or ()) for dtype in (RUN, UNIT, JOB_STATE)}
    fixed = words[RUN] + plan.queues * words[UNIT] + plan.jobs * words[JOB_STATE]
    return fixed + 4 + plan.networks + 7 * places

"""One part of a tree, walked in preorder.

The root is the whole space. A split node has a child for every way to make its next choice
(:mod:`fitness.check.choices`). A closed node must be a lemma that holds
(:mod:`fitness.check.bounds`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paretosoc.fitness.check.bounds import is_closed
from paretosoc.fitness.check.choices import next_child, open_choice, put_on
from paretosoc.fitness.check.costs import fill_costs
from paretosoc.fitness.check.timeline import begin_timeline, queue_eligible, resume_timeline
from paretosoc.fitness.simulator.jit import jit
from paretosoc.results.front.proof_tree import PART, SPLIT

if TYPE_CHECKING:
    from paretosoc.common.arrays import IntArray
    from paretosoc.fitness.check.facts import Facts
    from paretosoc.fitness.check.work import Work

FAULTS = (
    "",
    "is not closed by {kind}",
    "is split, but nothing is left to choose",
    "is one too many",
    "is missing",
)
SOUND, NOT_CLOSED, NOT_SPLIT, TOO_MANY, MISSING = range(len(FAULTS))


@jit
def begin_part(facts: Facts, work: Work, units: IntArray, points: IntArray) -> None:
    """Make the choices ``units`` [groups] and ``points`` [domains], from the beginning of the
    timeline on."""
    put_choices(facts, work, units, points)
    fill_costs(facts, work, 0, -1)
    begin_timeline(facts, work)


@jit
def put_choices(facts: Facts, work: Work, units: IntArray, points: IntArray) -> None:
    """Make choices, whose costs are in row 0."""
    for u in range(facts.units):
        work.groups_on[u] = 0
    for g in range(facts.groups):
        work.units[g] = -1
        work.follows[g] = 0
        if units[g] >= 0:
            put_on(facts, work, g, units[g])
    for d in range(facts.domains):
        work.points[d] = points[d]
    for g in range(facts.groups):
        work.priority[g] = facts.priority[g]
    work.costs_at[0] = 0


@jit
def begin_frames(
    facts: Facts, work: Work, units: IntArray, points: IntArray, priority: IntArray
) -> None:
    """Release the first frames of a design point with these priorities [groups]."""
    begin_part(facts, work, units, points)
    for g in range(facts.groups):
        work.priority[g] = priority[g]
    queue_eligible(facts, work, 0)


@jit
def check_part(
    facts: Facts,
    work: Work,
    nodes: IntArray,
    units: IntArray,
    points: IntArray,
    part_units: IntArray,
    part_points: IntArray,
    leaves: IntArray,
    where: IntArray,
) -> int:
    """Check that every node of a part that is marked closed is closed. Return one of ``FAULTS``.

    ``nodes`` [nodes] are their kinds, ``units`` and ``points`` the choices above the part. The
    choices above further parts are written to ``part_units`` and ``part_points`` [parts, ...], the
    position of a fault to ``where`` [1]. If ``leaves`` [leaves, groups + domains] has rows, the
    choices of all closed nodes are written there, and not checked.
    """
    begin_part(facts, work, units, points)
    depth, parts, closed = 0, 0, 0
    for at in range(nodes.shape[0]):
        where[0] = at
        if depth < 0:
            return TOO_MANY
        kind = nodes[at]
        if kind == PART:
            for g in range(facts.groups):
                part_units[parts, g] = work.units[g]
            for d in range(facts.domains):
                part_points[parts, d] = work.points[d]
            parts += 1
        elif kind != SPLIT and leaves.shape[0] > 0:
            for g in range(facts.groups):
                leaves[closed, g] = work.units[g]
            for d in range(facts.domains):
                leaves[closed, facts.groups + d] = work.points[d]
            closed += 1
        else:
            resume_timeline(facts, work, depth)
            if kind == SPLIT:
                if not open_choice(facts, work, depth):
                    return NOT_SPLIT
                depth += 1
            elif not is_closed(facts, work, depth, kind):
                return NOT_CLOSED
        # The next node: a child of the deepest node that has one left.
        depth -= 1
        while depth >= 0 and not next_child(facts, work, depth):
            depth -= 1
        if depth >= 0:
            depth += 1
    where[0] = nodes.shape[0]
    return SOUND if depth < 0 else MISSING

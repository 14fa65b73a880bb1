"""The state of a branch and bound, as flat arrays for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.fitness.branch_and_bound.branching_rules import BranchingRules
from paretosoc.fitness.simulator.layout import Plan
from paretosoc.fitness.simulator.state import JOB_STATE, RUN, UNIT
from paretosoc.fitness.simulator.types.tables import RecordArray, Tables, record, records

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
    forced: IntArray
    """[groups]: 1 + the level that assigned a group because no transition was left, or 0."""
    transitions: IntArray
    """[networks]"""
    segments: IntArray
    """[units]: at a unit's first entry."""
    loss: IntArray
    """[networks]: accuracy that its groups cost at least, in ppm."""
    memory: IntArray
    """[figures]: bytes that are taken at least, as in ``BranchingRules.more_bytes``."""
    held: IntArray
    """[networks, places]: bytes that each network holds at least."""
    raised: IntArray
    """[groups, places]: memory that an assigned group added to them."""
    named_on: IntArray
    """[units]: assigned groups, in all number formats at a unit's first entry."""
    kind: IntArray
    """[levels]"""
    subject: IntArray
    """[levels]: the group or the domain chosen for."""
    option: IntArray
    """[levels]: the option to try next."""
    saved: IntArray
    """[levels]: the mask before the choice."""
    bound: IntArray
    """[levels, objectives]: lower bounds of the subtree."""
    snapshot: IntArray
    """[levels, words]: the simulation's state at which the choice became open."""
    objectives: IntArray
    """[members, objectives]: the archive, non-dominated, sorted by the first objective if there are
    two."""
    closing: IntArray
    """[members, objectives]: the least bounds that are fathomed, which are ``objectives`` or near
    enough to them."""
    member_units: IntArray
    """[members, groups]: -1 if only the objectives are known."""
    member_points: IntArray
    """[members, domains]"""
    vector: IntArray
    """[objectives]: bounds of the present choice."""
    fastest: IntArray
    """[groups x units]: smallest stand-alone times over ``points``."""
    fastest_anywhere: IntArray
    """[groups]: the smallest of them."""
    step: IntArray
    """[groups x units]: by how much they grow at least from repeat to repeat."""
    step_anywhere: IntArray
    """[groups]"""
    min_energy: IntArray
    """[groups x units]: smallest dynamic energies alone."""
    min_energy_anywhere: IntArray
    """[groups]"""
    energy_step: IntArray
    """[groups x units]: by how much they grow at least from repeat to repeat."""
    energy_step_anywhere: IntArray
    """[groups]"""
    mixed: IntArray
    """[rates x groups x units]: smallest rate x time + energy."""
    priced_anywhere: IntArray
    """[groups, prices]: smallest priced times over the units."""
    priced: IntArray
    """[groups, prices]: those of ``units``."""
    priced_left: IntArray
    """[prices]: work array."""
    gain: IntArray
    """[groups, rates]: see :mod:`fitness.branch_and_bound.trade_off`."""
    gain_on: IntArray
    """[groups x units, rates]: of a group that is on the unit."""
    gain_tail: IntArray
    """[groups, rates]: of all groups from one on."""
    set_gain: IntArray
    """[sets of domains, groups, 1 + rates]"""
    has_set_gain: IntArray
    """[sets of domains]: 1 if ``set_gain`` belongs to ``points``."""
    left_gain: IntArray
    """[networks, 1 + rates]: work array."""
    first_left: IntArray
    """[networks]: the first group of a chain that has not started in its repeat, or -1."""
    repeats_left: IntArray
    """[networks]: repeats of which nothing has started."""
    first_open: IntArray
    """[networks]: the first open group of a chain, or -1."""
    min_idle: IntArray
    """[units]"""
    min_static: IntArray
    """[domains]"""
    least: IntArray
    least_step: IntArray
    tail: IntArray
    tail_step: IntArray
    path: IntArray
    path_step: IntArray
    end: IntArray
    load: IntArray
    digit: IntArray
    """[clocks]: work array."""
    clock_known: IntArray
    """[domains]: 1 if the costs of units of this domain are those of ``points``."""
    network_known: IntArray
    """[networks]: 1 if ``least``, ``tail``, ``path``, their steps and the costs chosen belong to
    ``units`` and ``points``."""
    log: IntArray
    """[buffer]: kinds of nodes."""
    part_units: IntArray
    """[buffer, groups]: choices that are handed over."""
    part_points: IntArray
    """[buffer, domains]"""
    part_bound: IntArray
    """[buffer, objectives]: their lower bounds."""
    root_bound: IntArray
    """[objectives]: lower bounds of the subtree."""


def make_search_tree(
    problem: Problem, plan: Plan, rules: BranchingRules, *, members: int, log: int
) -> SearchTree:
    """Return an empty search, with room for this many members and nodes in the log."""
    groups, domains = plan.groups, plan.domains
    objectives, rates, prices = (
        len(rules.objective),
        len(rules.rate_mw),
        len(rules.price_sum),
    )
    # A set of points can be halved until one is left: at most once for every point.
    levels = groups + sum(int(domain.allowed.sum()) for domain in problem.domains) + 1
    return SearchTree(
        progress=records(PROGRESS),
        units=np.full(groups, -1, dtype=np.int64),
        points=np.array(problem.allowed_points, dtype=np.int64),
        forced=_zeros(groups),
        transitions=_zeros(plan.networks),
        segments=_zeros(plan.units),
        loss=_zeros(plan.networks),
        memory=_zeros(len(rules.memory_cap_bytes)),
        held=_zeros(*rules.least_held_bytes.shape),
        raised=_zeros(groups, len(rules.place_figure)),
        named_on=_zeros(plan.units),
        kind=_zeros(levels),
        subject=_zeros(levels),
        option=_zeros(levels),
        saved=_zeros(levels),
        bound=_zeros(levels, objectives),
        snapshot=_zeros(levels, _snapshot_words(plan)),
        objectives=_zeros(members, objectives),
        closing=_zeros(members, objectives),
        member_units=_zeros(members, groups),
        member_points=_zeros(members, domains),
        vector=_zeros(objectives),
        fastest=_zeros(groups * plan.units),
        fastest_anywhere=_zeros(groups),
        step=_zeros(groups * plan.units),
        step_anywhere=_zeros(groups),
        min_energy=_zeros(groups * plan.units),
        min_energy_anywhere=_zeros(groups),
        energy_step=_zeros(groups * plan.units),
        energy_step_anywhere=_zeros(groups),
        mixed=_zeros(rates * groups * plan.units),
        priced_anywhere=_zeros(groups, prices),
        priced=_zeros(groups, prices),
        priced_left=_zeros(prices),
        gain=_zeros(groups, rates),
        gain_on=_zeros(groups * plan.units, rates),
        gain_tail=_zeros(groups, rates),
        set_gain=_zeros(rules.set_count, groups, 1 + rates),
        has_set_gain=_zeros(rules.set_count),
        left_gain=_zeros(plan.networks, 1 + rates),
        first_left=_zeros(plan.networks),
        repeats_left=_zeros(plan.networks),
        first_open=_zeros(plan.networks),
        min_idle=_zeros(plan.units),
        min_static=_zeros(domains),
        least=_zeros(groups),
        least_step=_zeros(groups),
        tail=_zeros(groups),
        tail_step=_zeros(groups),
        path=_zeros(plan.networks),
        path_step=_zeros(plan.networks),
        end=_zeros(plan.networks),
        load=_zeros(plan.units),
        digit=_zeros(plan.clock.shape[1]),
        clock_known=_zeros(domains),
        network_known=_zeros(plan.networks),
        log=_zeros(log),
        part_units=_zeros(PARTS, groups),
        part_points=_zeros(PARTS, domains),
        part_bound=_zeros(PARTS, objectives),
        root_bound=_zeros(objectives),
    )


def _snapshot_words(plan: Plan) -> int:
    """Return an upper bound of the words of
    :func:`~fitness.branch_and_bound.snapshots.save_snapshot`."""
    places = plan.instances
    words = {dtype: len(dtype.names or ()) for dtype in (RUN, UNIT, JOB_STATE)}
    fixed = words[RUN] + plan.queues * words[UNIT] + plan.jobs * words[JOB_STATE]
    return fixed + 4 + plan.networks + 7 * places


def _zeros(*shape: int) -> IntArray:
    return np.zeros(shape, dtype=np.int64)

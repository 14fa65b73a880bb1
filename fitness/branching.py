"""Where a branch and bound search stands, as flat arrays for the kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fitness.plan import IntArray, Plan
from results.problem import Problem

# Entries of Branching.scalar.
DEPTH, BEST, NODES, LEMMAS, FASTEST_KNOWN, BACKTRACKING = range(6)
BRANCH_SCALARS = 6
# Why a slice of the search ended.
DONE, NODE_LIMIT, LEMMAS_FULL, IMPROVED = range(4)
UNIT_CHOICE, POINT_CHOICE = range(2)


class Branching(NamedTuple):
    """Where a search stands; all int64. A level is a choice that has been made."""

    scalar: IntArray
    """Levels; the best makespan; nodes so far; lemmas in the buffer; 1 where ``fastest`` belongs to
    ``points``; 1 where the present choice is closed."""
    units: IntArray
    """[groups]: named units, or -1."""
    points: IntArray
    """[domains]: masks."""
    forced: IntArray
    """[groups]: 1 + the level that named a group because no transition was left, or 0."""
    transitions: IntArray
    """[networks]"""
    segments: IntArray
    """[units]"""
    kind: IntArray
    """[levels]"""
    subject: IntArray
    """[levels]: the group or the domain chosen for."""
    option: IntArray
    """[levels]: the option to try next."""
    saved: IntArray
    """[levels]: the mask before the choice."""
    bound: IntArray
    """[levels]: what no design point below the choice is faster than."""
    best_units: IntArray
    best_points: IntArray
    fastest: IntArray
    least_energy: IntArray
    least_idle: IntArray
    least_static: IntArray
    least: IntArray
    tail: IntArray
    path: IntArray
    end: IntArray
    load: IntArray
    network_known: IntArray
    """[networks]: 1 where ``least``, ``tail``, ``path`` and the costs chosen belong to ``units``
    and ``points``."""
    lemma_units: IntArray
    """[buffer, groups]"""
    lemma_points: IntArray
    """[buffer, domains]"""


def make_branching(problem: Problem, plan: Plan, *, lemmas: int) -> Branching:
    """A search that has not begun, with room for so many lemmas."""
    groups, domains = plan.groups, plan.domains
    # A set of points can be halved until one is left: at most once for every point.
    levels = groups + sum(int(domain.allowed.sum()) for domain in problem.domains) + 1
    masks = [sum(1 << int(k) for k in np.flatnonzero(d.allowed)) for d in problem.domains]
    return Branching(
        scalar=_zeros(BRANCH_SCALARS),
        units=np.full(groups, -1, dtype=np.int64),
        points=np.array(masks, dtype=np.int64),
        forced=_zeros(groups),
        transitions=_zeros(plan.networks),
        segments=_zeros(plan.units),
        kind=_zeros(levels),
        subject=_zeros(levels),
        option=_zeros(levels),
        saved=_zeros(levels),
        bound=_zeros(levels),
        best_units=np.full(groups, -1, dtype=np.int64),
        best_points=_zeros(domains),
        fastest=_zeros(groups * plan.units),
        least_energy=_zeros(groups * plan.units),
        least_idle=_zeros(plan.units),
        least_static=_zeros(domains),
        least=_zeros(groups),
        tail=_zeros(groups),
        path=_zeros(plan.networks),
        end=_zeros(plan.networks),
        load=_zeros(plan.units),
        network_known=_zeros(plan.networks),
        lemma_units=_zeros(lemmas, groups),
        lemma_points=_zeros(lemmas, domains),
    )


def _zeros(*shape: int) -> IntArray:
    return np.zeros(shape, dtype=np.int64)

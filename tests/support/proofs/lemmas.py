"""Lemmas by themselves, each by the plain checker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from common.arrays import IntArray
from fitness.lemma_checker.check import LemmaBound, LemmaChecker, is_closed
from fitness.lemma_checker.claim import LemmaTarget
from fitness.lemma_checker.tree import check_tree, leaf_table
from fitness.tree_checker import check_tree_fast
from results.front.certificate import LemmaTable, MaskArray
from results.front.node_kinds import MEMBERS, POWER_LIMIT, TIME_LIMIT, TRADE_OFF
from results.front.proof_tree import ProofTree
from results.problem.problem import Problem

NO_CLAIM = LemmaTarget((), ())


def lemma_bounds(
    problem: Problem, lemmas: LemmaTable, claim: LemmaTarget = NO_CLAIM
) -> list[LemmaBound]:
    """The lower bounds of all lemmas, in their order; each names an allowed operating point for
    every domain."""
    checker = LemmaChecker(problem, claim)
    bounds = []
    for units, masks in zip(lemmas.units.tolist(), lemmas.points.tolist(), strict=True):
        points = tuple(
            tuple(k for k in domain.allowed.nonzero()[0].tolist() if mask >> k & 1)
            for domain, mask in zip(problem.domains, masks, strict=True)
        )
        costs = checker.costs.over(points)
        state = checker.simulation.resume(checker.simulation.begin(), units, costs)
        bounds.append(checker.bound(state, units, points, costs))
    return bounds


def lemma_bound(problem: Problem, units: IntArray, masks: MaskArray) -> int:
    """The lower bound of the makespan, in ps, of every design point with these choices."""
    return lemma_bounds(problem, LemmaTable(units[None], masks[None]))[0].makespan_ps


def failing_lemmas(problem: Problem, lemmas: LemmaTable, claim: LemmaTarget) -> list[int]:
    """Indices of those that do not hold, for whatever reason they could. One that names a unit that
    its group may not use is none."""
    kinds = (MEMBERS, TRADE_OFF, TIME_LIMIT, POWER_LIMIT)
    may = np.append(problem.allowed, np.ones((problem.group_count, 1), dtype=np.bool_), axis=1)
    sound = may[np.arange(problem.group_count), lemmas.units].all(axis=1)
    kept = np.flatnonzero(sound)
    bounds = lemma_bounds(problem, LemmaTable(lemmas.units[kept], lemmas.points[kept]), claim)
    held = {
        int(index)
        for index, bound in zip(kept, bounds, strict=True)
        if any(is_closed(problem, bound, claim, kind) for kind in kinds)
    }
    return [index for index in range(len(lemmas)) if index not in held]


def leaves_of(
    problem: Problem, tree: ProofTree, columns: Sequence[int] | None = None
) -> LemmaTable:
    """What a tree closes, as lemmas; ``columns``: objectives that count, None: all."""
    chosen = range(len(problem.objectives)) if columns is None else columns
    return leaf_table(problem, tree, LemmaTarget(tuple(chosen), ()))


def faults(problem: Problem, tree: ProofTree, claim: LemmaTarget) -> tuple[str | None, str | None]:
    """What the plain and the fast checker say of a tree."""
    return check_tree(problem, tree, claim), check_tree_fast(problem, tree, claim, jobs=1).fault

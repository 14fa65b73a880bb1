"""Lemmas by themselves, each by the interpreted checker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.cover.leaves import leaf_table
from paretosoc.fitness.check.lemmas import Lemma, LemmaBound, Lemmas
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.results.front.certificate import LemmaTable, MaskArray
from paretosoc.results.front.proof_tree import (
    MEMBERS,
    POWER_LIMIT,
    TIME_LIMIT,
    TRADE_OFF,
    ProofTree,
)
from paretosoc.results.problem.problem import Problem

NO_CLAIM = LemmaTarget((), ())


def lemmas_in(problem: Problem, table: LemmaTable) -> list[Lemma]:
    """The lemmas of a table, each with its allowed operating points only."""
    allowed = problem.allowed_points
    return [
        Lemma(tuple(units), tuple(mask & may for mask, may in zip(masks, allowed, strict=True)))
        for units, masks in zip(table.units.tolist(), table.points.tolist(), strict=True)
    ]


def lemma_bounds(
    problem: Problem, lemmas: LemmaTable, claim: LemmaTarget = NO_CLAIM
) -> list[LemmaBound]:
    """The lower bounds of all lemmas, in their order; each names an allowed operating point for
    every domain."""
    checker = Lemmas(problem, claim)
    return [checker.bound(lemma) for lemma in lemmas_in(problem, lemmas)]


def lemma_bound(problem: Problem, units: IntArray, masks: MaskArray) -> int:
    """The lower bound of the makespan, in ps, of every design point with these choices."""
    return lemma_bounds(problem, LemmaTable(units[None], masks[None]))[0].makespan_ps


def failing_lemmas(problem: Problem, lemmas: LemmaTable, claim: LemmaTarget) -> list[int]:
    """Indices of those that do not hold, for whatever reason they could. One that names a unit that
    its group may not use is none."""
    kinds = (MEMBERS, TRADE_OFF, TIME_LIMIT, POWER_LIMIT)
    may = np.append(problem.allowed, np.ones((problem.group_count, 1), dtype=np.bool_), axis=1)
    sound = may[np.arange(problem.group_count), lemmas.units].all(axis=1)
    checker = Lemmas(problem, claim)
    held = {
        index
        for index, lemma in enumerate(lemmas_in(problem, lemmas))
        if sound[index] and any(checker.closes(lemma, kind) for kind in kinds)
    }
    return [index for index in range(len(lemmas)) if index not in held]


def leaves_of(
    problem: Problem, tree: ProofTree, columns: Sequence[int] | None = None
) -> LemmaTable:
    """What a tree closes, as lemmas; ``columns``: objectives that count, None: all."""
    chosen = range(len(problem.objectives)) if columns is None else columns
    return leaf_table(problem, tree, LemmaTarget(tuple(chosen), ()))


def faults(problem: Problem, tree: ProofTree, claim: LemmaTarget) -> tuple[str | None, str | None]:
    """What the checker says of a tree, interpreted and compiled."""
    plain = check_tree(problem, tree, claim, plain=True)
    return plain.fault, check_tree(problem, tree, claim, jobs=1).fault

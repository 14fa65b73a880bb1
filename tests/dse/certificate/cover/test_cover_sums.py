"""The cover where the loss of accuracy or memory is limited, against enumeration."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.memory import with_memory
from benchmarks.problems.number_formats import with_formats
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.dse.certificate.certify import prove
from paretosoc.dse.certificate.cover.leaves import leaf_table
from paretosoc.dse.certificate.cover.smtlib import confirm_cover, cover_smtlib, prove_cover
from paretosoc.dse.certificate.improve import seed_front
from paretosoc.dse.certificate.preconditions import certified_column
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.certificate import NOT_NAMED, LemmaTable
from paretosoc.results.problem.limits import (
    LOSS,
    MEMORY,
    POOL,
    SEGMENTS,
    TRANSITIONS,
    constraints_of,
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.support.problems.random_spaces import random_limited_problem, size_of, space_of

OF_MAPPINGS = {
    TRANSITIONS,
    SEGMENTS,
    LOSS,
    MEMORY,
    POOL,
}


def drawn(seed: int) -> Problem:
    rng = np.random.default_rng([28, seed])
    problem = with_memory(rng, with_formats(rng, random_limited_problem(rng), most=2))
    return replace(problem, objectives=(Objective(ObjectiveKind.LATENCY),))


def within_rules(problem: Problem, rows: np.ndarray) -> np.ndarray:
    values = make_outcomes(problem)(rows).constraint_values
    kept = np.ones(len(rows), dtype=np.bool_)
    for limit, value in zip(constraints_of(problem), values.T, strict=True):
        if limit.kind in OF_MAPPINGS:
            kept &= value <= limit.limit
    return rows[kept]


def left_over(problem: Problem, rows: np.ndarray, lemmas: LemmaTable) -> set[tuple[int, ...]]:
    units, points = np.split(rows, [problem.group_count], axis=1)
    caught = np.zeros(len(rows), dtype=np.bool_)
    for named, masks in zip(lemmas.units, lemmas.points.astype(np.int64), strict=True):
        fits = ((named == NOT_NAMED) | (units == named)).all(axis=1)
        caught |= fits & (((masks >> points) & 1) == 1).all(axis=1)
    return {tuple(row) for row in rows[~caught].tolist()}


def test_the_verdict_is_that_of_enumeration() -> None:
    seen: Counter[str] = Counter()
    for seed in range(50):
        problem = drawn(seed)
        if size_of(problem) > 3000:
            continue
        result = find_front(problem, jobs=1)
        members = tuple(map(tuple, result.objectives.tolist()))
        claim = LemmaTarget(objectives=(0,), members=members, prices=result.prices)
        lemmas = leaf_table(problem, result.tree, claim)
        rows = within_rules(problem, space_of(problem).rows)
        unlimited = replace(
            problem,
            memory_cap_bytes=None,
            networks=tuple(replace(n, max_loss_ppm=None) for n in problem.networks),
        )
        some = np.random.default_rng(seed).permutation(len(lemmas))[: len(lemmas) * 2 // 3]
        fewer = LemmaTable(lemmas.units[some], lemmas.points[some])
        for given, table, every in (
            (problem, lemmas, rows),
            (problem, fewer, rows),
            (unlimited, lemmas, within_rules(unlimited, space_of(problem).rows)),
        ):
            left = left_over(given, every, table)
            text = cover_smtlib(given, table)
            cover = prove_cover(text)
            assert cover.verdict == ("sat" if left else "unsat"), seed
            if left:
                assert cover.left_over is not None
                assert tuple(cover.left_over.row.tolist()) in left
            seen["sums" if "QF_LIA" in text else "clauses"] += 1
            seen[cover.verdict] += 1
            # What the limits alone rule out.
            seen["limits matter"] += given is unlimited and bool(left)
    assert min(seen.values()) > 3, seen


def test_cvc5_says_the_same() -> None:
    pytest.importorskip("cvc5")
    seen = 0
    for seed in range(20):
        problem = drawn(seed)
        if problem.memory_cap_bytes is None:
            continue
        none = LemmaTable(
            np.zeros((0, problem.group_count), np.int64),
            np.zeros((0, len(problem.domains)), np.uint64),
        )
        for cap in (problem.memory_cap_bytes, 0):
            text = cover_smtlib(replace(problem, memory_cap_bytes=cap), none)
            second = confirm_cover(text)
            assert second is not None
            assert second.verdict == prove_cover(text).verdict
            seen += second.verdict == "unsat"
    assert seen > 3


def test_a_certificate_under_a_limit_has_a_second_opinion() -> None:
    asked = 0
    for seed in range(20):
        problem = drawn(seed)
        limited = problem.memory_cap_bytes is not None or any(
            network.max_loss_ppm is not None for network in problem.networks
        )
        rows = space_of(problem).rows if limited and size_of(problem) <= 3000 else []
        if len(rows) and make_outcomes(problem)(rows).feasible.any():
            front = seed_front(problem, rows[:200], engine="search")
            column = certified_column(problem)
            assert column is not None
            assert prove(front, (column,), jobs=1).claim.solvers
            asked += 1
    assert asked > 3

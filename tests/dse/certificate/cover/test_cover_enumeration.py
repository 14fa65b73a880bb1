"""The cover of a space by lemmas against enumeration of every design point."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.certificate.cover.smtlib import confirm_cover, cover_smtlib, prove_cover
from paretosoc.dse.certificate.improve import find_fastest
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import NOT_NAMED, LemmaTable
from paretosoc.results.problem.problem import Problem
from tests.support.problems.random_spaces import Space, random_limited_problem, size_of, space_of
from tests.support.proofs.lemmas import leaves_of

MAX_DESIGNS = 3000
PROBLEMS = 30


@cache
def small_problems() -> list[Problem]:
    rng = np.random.default_rng(11)
    problems: list[Problem] = []
    while len(problems) < PROBLEMS:
        problem = random_limited_problem(rng)
        if size_of(problem) <= MAX_DESIGNS:
            problems.append(problem)
    return problems


def left_over(space: Space, lemmas: LemmaTable) -> np.ndarray:
    """Which design points obey the mapping rules and have no lemma's choices; an axis a choice."""
    left = space.obeys_mapping_rules.copy()
    for index in range(len(lemmas)):
        left[space.cells(lemmas, index)] = False
    return left


def rows_of(space: Space, cells: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(row) for row in space.rows[cells.reshape(-1)].tolist()}


def without(lemmas: LemmaTable, index: int) -> LemmaTable:
    return LemmaTable(
        np.delete(lemmas.units, index, axis=0), np.delete(lemmas.points, index, axis=0)
    )


def random_table(rng: np.random.Generator, problem: Problem) -> LemmaTable:
    """Lemmas that name few groups, so that some tables cover everything."""
    count, groups = int(rng.integers(0, 25)), problem.group_count
    units = np.full((count, groups), NOT_NAMED, dtype=np.int64)
    points = np.zeros((count, len(problem.domains)), dtype=np.uint64)
    share = rng.random() * 0.7
    for index in range(count):
        for group in np.flatnonzero(rng.random(groups) < share):
            units[index, group] = rng.choice(np.flatnonzero(problem.allowed[group]))
        for d, domain in enumerate(problem.domains):
            allowed = np.flatnonzero(domain.allowed)
            chosen = {int(rng.choice(allowed)), *allowed[rng.random(len(allowed)) < 0.8].tolist()}
            points[index, d] = sum(1 << k for k in chosen)
    return LemmaTable(units, points)


def with_another_choice(
    rng: np.random.Generator, problem: Problem, lemmas: LemmaTable
) -> LemmaTable:
    """One lemma names another unit, or one point less."""
    units, points = lemmas.units.copy(), lemmas.points.copy()
    index = int(rng.integers(len(lemmas)))
    named = np.flatnonzero(units[index] != NOT_NAMED)
    if len(named) and rng.integers(2):
        group = rng.choice(named)
        units[index, group] = rng.choice(np.flatnonzero(problem.allowed[group]))
    else:
        d = int(rng.integers(len(problem.domains)))
        allowed = np.flatnonzero(problem.domains[d].allowed).tolist()
        points[index, d] = 1 << int(rng.choice(allowed))
    return LemmaTable(units, points)


def test_the_verdict_is_that_of_enumeration() -> None:
    rng = np.random.default_rng(5)
    seen: Counter[tuple[str, str]] = Counter()
    for problem in small_problems():
        space = space_of(problem)
        complete = leaves_of(problem, find_fastest(problem).tree, (0,))
        tables = {
            "random": random_table(rng, problem),
            "complete": complete,
        }
        if len(complete):
            tables["one dropped"] = without(complete, int(rng.integers(len(complete))))
            tables["one changed"] = with_another_choice(rng, problem, complete)
        for kind, lemmas in tables.items():
            left = rows_of(space, left_over(space, lemmas))
            cover = prove_cover(cover_smtlib(problem, lemmas))
            assert cover.verdict == ("sat" if left else "unsat")
            assert cover.solver.startswith("z3 ")
            if left:
                assert cover.left_over is not None
                assert tuple(cover.left_over.row.tolist()) in left
            else:
                assert cover.left_over is None
            seen[kind, cover.verdict] += 1
    assert seen["complete", "unsat"] == PROBLEMS
    assert seen["one dropped", "sat"] >= 15, seen
    for kind in ("random", "one changed"):
        assert min(seen[kind, "sat"], seen[kind, "unsat"]) >= 3, seen


def test_each_rule_is_in_the_formula() -> None:
    """Without lemmas only the rules speak: a limit of transitions, of segments, or none."""
    rng = np.random.default_rng(2)
    shape = RandomShape(networks=(1, 1), groups=(4, 4), units=(2, 2), points=(1, 1), graphs=False)
    plain = replace(random_problem(rng, shape), allowed=np.ones((4, 2), dtype=np.bool_))
    nothing = LemmaTable(np.zeros((0, 4), np.int64), np.zeros((0, len(plain.domains)), np.uint64))

    def all_of(problem: Problem) -> set[tuple[int, ...]]:
        """Every model, each left out once it was found."""
        found: set[tuple[int, ...]] = set()
        lemmas = nothing
        while True:
            cover = prove_cover(cover_smtlib(problem, lemmas))
            if cover.left_over is None:
                return found
            units = cover.left_over.units
            found.add(tuple(units.tolist()))
            lemmas = LemmaTable(
                np.concatenate((lemmas.units, units[None])),
                np.ones((len(found), len(problem.domains)), dtype=np.uint64),
            )

    assert len(all_of(plain)) == 16
    chain = (0, 1, 2, 3)
    for limit in range(3):
        limited = replace(plain, networks=(replace(plain.networks[0], max_transitions=limit),))
        expected = {
            row
            for row in np.ndindex(2, 2, 2, 2)
            if sum(row[a] != row[a + 1] for a in chain[:-1]) <= limit
        }
        assert all_of(limited) == expected
    for limit in (0, 1):
        second = replace(plain.units[1], max_segments=limit)
        segments = replace(plain, units=(plain.units[0], second))
        expected = {
            row
            for row in np.ndindex(2, 2, 2, 2)
            if sum(row[g] == 1 and (g == 0 or row[g - 1] == 0) for g in chain) <= limit
        }
        assert all_of(segments) == expected


def test_cvc5_says_the_same_of_the_same_text() -> None:
    pytest.importorskip("cvc5")
    verdicts: Counter[str] = Counter()
    for problem in small_problems()[:6]:
        complete = leaves_of(problem, find_fastest(problem).tree, (0,))
        for lemmas in (complete, without(complete, 0)):
            text = cover_smtlib(problem, lemmas)
            second = confirm_cover(text)
            assert second is not None
            assert second.solver.startswith("cvc5 ")
            assert second.verdict == prove_cover(text).verdict
            verdicts[second.verdict] += 1
            if second.verdict == "sat":
                assert second.left_over is not None
                space = space_of(problem)
                left = rows_of(space, left_over(space, lemmas))
                assert tuple(second.left_over.row.tolist()) in left
    assert verdicts["unsat"] >= 6
    assert verdicts["sat"] >= 1


def test_the_text_follows_from_problem_and_lemmas_alone() -> None:
    problem = small_problems()[0]
    lemmas = leaves_of(problem, find_fastest(problem).tree, (0,))
    again = LemmaTable(lemmas.units.copy(order="F"), lemmas.points.copy())
    text = cover_smtlib(problem, lemmas)
    assert text == cover_smtlib(problem, again)
    assert text.isascii()
    declared = re.findall(r"^\(declare-const (\S+) Bool\)$", text, re.MULTILINE)
    assert len(set(declared)) == len(declared)
    used = set(re.findall(r"\b[a-z]_\d+(?:_\d+)*\b", text.split("QF_UF)")[1]))
    assert used == set(declared)


@pytest.mark.parametrize(
    "name",
    [
        "end\n(assert false)\n",
        "end\r(assert false)\r",
        "end\x0b(assert false)\x85\u2028(assert false)\u2029",
        "quoted\\n|\"';",
        "Übergröße \N{SNOWMAN} \udc80",
        "",
    ],
)
def test_a_name_cannot_end_its_comment(name: str) -> None:
    problem = next(p for p in small_problems() if len(p.networks) > 1)
    space = space_of(problem)
    none = LemmaTable(
        np.zeros((0, problem.group_count), np.int64), np.zeros((0, len(problem.domains)), np.uint64)
    )
    assert left_over(space, none).any()
    odd = replace(
        problem,
        networks=tuple(replace(network, name=name) for network in problem.networks),
        units=tuple(replace(unit, name=name) for unit in problem.units),
        domains=tuple(replace(domain, name=name) for domain in problem.domains),
    )
    text = cover_smtlib(odd, none)
    assert text.isascii()
    assert [line for line in text.splitlines() if not line.startswith(";")] == [
        line for line in cover_smtlib(problem, none).splitlines() if not line.startswith(";")
    ]
    assert prove_cover(text).verdict == "sat"


def test_what_no_solver_can_read_is_unknown() -> None:
    assert prove_cover("(assert nonsense)\n(check-sat)\n").verdict == "unknown"
    assert prove_cover("").verdict == "unknown"


def test_the_time_limit_ends_a_solver() -> None:
    problem = small_problems()[1]
    text = cover_smtlib(problem, leaves_of(problem, find_fastest(problem).tree, (0,)))
    assert prove_cover(text, timeout_s=0.0).verdict == "unknown"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("unit", "lemma 0: group 0 may not be on unit 99"),
        ("negative", "lemma 0: group 0 may not be on unit -2"),
        ("points", "lemma 0: must name an allowed operating point of clock0"),
        ("groups", r"lemmas: units must be \[\d+, \d+\]"),
        ("domains", r"lemmas: points must be \[\d+, \d+\]"),
    ],
)
def test_lemmas_that_do_not_fit_are_refused(change: str, message: str) -> None:
    problem = small_problems()[0]
    lemmas = leaves_of(problem, find_fastest(problem).tree, (0,))
    units, points = lemmas.units.copy(), lemmas.points.copy()
    match change:
        case "unit":
            units[0, 0] = 99
        case "negative":
            units[0, 0] = -2
        case "points":
            points[0, 0] = 1 << 60
        case "groups":
            units = units[:, 1:]
        case "domains":
            points = points[:, 1:]
    with pytest.raises(ResultError, match=message):
        cover_smtlib(problem, LemmaTable(units, points))

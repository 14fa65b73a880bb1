"""The formula that lemmas cover the space, against enumeration, by Z3 and cvc5."""

import re
from dataclasses import replace

import numpy as np
import pytest
import z3

from paretosoc.dse.certificate.cover.smtlib import confirm_cover, cover_smtlib, prove_cover
from paretosoc.results.front.certificate import NOT_NAMED
from tests.support.problems.cover_problems import (
    SOLVERS,
    all_rows,
    is_caught,
    left_over,
    lemma_leaves,
    needs_cvc5,
    obeys_rules,
    random_lemmas,
    small_problem,
    table,
    without,
)


class Formula:
    """The text in Z3, to be asked of single design points."""

    def __init__(self, text):
        self.solver = z3.Solver()
        self.solver.from_string(text)

    def holds_for(self, row):
        units, points = row
        names = [f"x_{g}_{u}" for g, u in enumerate(units)]
        names += [f"o_{d}_{k}" for d, k in enumerate(points)]
        return self.solver.check([z3.Bool(name) for name in names]) == z3.sat


@pytest.mark.parametrize("seed", range(60))
def test_models_are_exactly_the_rows_left_over(seed):
    rng = np.random.default_rng(seed)
    problem = small_problem(seed)
    lemmas = random_lemmas(rng, problem, int(rng.integers(0, 12)), share=rng.random())
    left = set(left_over(problem, lemmas))
    formula = Formula(cover_smtlib(problem, lemmas))
    for row in all_rows(problem):
        assert formula.holds_for(row) == (row in left), row


def test_the_small_problems_have_rows_of_all_kinds():
    """Limits that bind and limits that do not, lemmas that catch all and that leave some."""
    kinds = set()
    for seed in range(60):
        problem = small_problem(seed)
        rows = all_rows(problem)
        kinds |= {("rules", obeys_rules(problem, units)) for units, _ in rows}
        rng = np.random.default_rng(seed)
        lemmas = random_lemmas(rng, problem, int(rng.integers(0, 12)), share=rng.random())
        kinds.add(("left", bool(left_over(problem, lemmas))))
    assert kinds == {(kind, value) for kind in ("rules", "left") for value in (True, False)}


@pytest.mark.parametrize("seed", range(8))
def test_limits_are_exact_for_all_their_values(seed):
    problem = small_problem(seed, networks=(1, 2), groups=(2, 5), units=(2, 3), points=(1, 1))
    rows = all_rows(problem)
    nothing = table(problem, [])
    for limit in range(len(problem.edges) + 2):
        networks = tuple(replace(n, max_transitions=limit) for n in problem.networks)
        free = tuple(replace(unit, max_segments=None) for unit in problem.units)
        limited = replace(problem, networks=networks, units=free)
        formula = Formula(cover_smtlib(limited, nothing))
        assert [formula.holds_for(r) for r in rows] == [obeys_rules(limited, r[0]) for r in rows]
    for limit in range(problem.group_count + 2):
        networks = tuple(replace(n, max_transitions=None) for n in problem.networks)
        units = (replace(problem.units[0], max_segments=limit), *problem.units[1:])
        limited = replace(problem, networks=networks, units=units)
        formula = Formula(cover_smtlib(limited, nothing))
        assert [formula.holds_for(r) for r in rows] == [obeys_rules(limited, r[0]) for r in rows]


@pytest.mark.parametrize("seed", range(24))
def test_a_whole_tree_covers_and_a_needed_leaf_is_missed(seed):
    rng = np.random.default_rng(1000 + seed)
    problem = small_problem(1000 + seed)
    lemmas = lemma_leaves(rng, problem)
    whole = prove_cover(cover_smtlib(problem, lemmas))
    assert (whole.verdict, whole.left_over) == ("unsat", None)
    assert re.fullmatch(r"z3 \d+\.\d+\.\d+.*", whole.solver)
    for index in rng.permutation(len(lemmas))[:3].tolist():
        fewer = without(lemmas, index)
        left = left_over(problem, fewer)
        result = prove_cover(cover_smtlib(problem, fewer))
        assert result.verdict == ("sat" if left else "unsat")
        assert (result.left_over is None) == (not left)
        if result.left_over is not None:
            point = result.left_over
            row = tuple(point.units.tolist()), tuple(point.operating_points.tolist())
            assert row in left
            assert is_caught(row, lemmas.units[index].tolist(), lemmas.points[index].tolist())


@needs_cvc5
@pytest.mark.parametrize("seed", range(12))
def test_cvc5_says_the_same_of_the_same_text(seed):
    rng = np.random.default_rng(2000 + seed)
    problem = small_problem(2000 + seed)
    lemmas = lemma_leaves(rng, problem)
    if seed % 3:
        lemmas = without(lemmas, int(rng.integers(len(lemmas))))
    left = left_over(problem, lemmas)
    result = confirm_cover(cover_smtlib(problem, lemmas))
    assert result is not None
    assert result.verdict == ("sat" if left else "unsat")
    assert re.fullmatch(r"cvc5 \d+\.\d+\.\d+.*", result.solver)
    if result.left_over is not None:
        point = result.left_over
        assert (tuple(point.units.tolist()), tuple(point.operating_points.tolist())) in left
    assert (result.left_over is None) == (not left)


@pytest.mark.parametrize("solver", SOLVERS)
def test_lemmas_at_the_edge(solver):
    problem = small_problem(3)
    problem = replace(
        problem,
        networks=tuple(replace(network, max_transitions=None) for network in problem.networks),
        units=tuple(replace(unit, max_segments=None) for unit in problem.units),
    )
    full = [(1 << len(domain.allowed)) - 1 for domain in problem.domains]
    everything = table(problem, [([NOT_NAMED] * problem.group_count, full)])
    text = cover_smtlib(problem, everything)
    assert "(assert false)" in text
    assert solver(text).verdict == "unsat"
    assert solver(cover_smtlib(problem, table(problem, []))).verdict == "sat"
    # No unit has room for a segment, but all groups must be somewhere.
    units = tuple(replace(unit, max_segments=0) for unit in problem.units)
    crowded = replace(problem, units=units)
    assert solver(cover_smtlib(crowded, table(problem, []))).verdict == "unsat"

"""The clauses that are given to a SAT solver are those of the formula."""

from __future__ import annotations

import numpy as np
import z3

from benchmarks.speed import cover as benchmark
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.dse.certificate.cover.smtlib import cover_smtlib, prove_cover
from tests.support.problems.random_spaces import random_limited_problem
from tests.support.proofs.lemmas import leaves_of


def is_refuted(clauses: list[list[int]]) -> bool:
    solver = z3.Solver()
    for clause in clauses:
        literals = [z3.Bool(f"v{abs(k)}") for k in clause]
        signed = [v if k > 0 else z3.Not(v) for v, k in zip(literals, clause, strict=True)]
        solver.add(z3.Or(signed))
    return bool(solver.check() == z3.unsat)


def test_clauses_say_what_the_formula_says() -> None:
    rng = np.random.default_rng(3)
    verdicts = set()
    for _ in range(6):
        problem = random_limited_problem(rng)
        text = cover_smtlib(problem, leaves_of(problem, find_front(problem).tree))
        lines = text.splitlines()
        for some in (lines, [*lines[:-2], lines[-1]]):
            verdict = prove_cover("\n".join(some)).verdict
            clauses = benchmark.clauses_of("\n".join(some))
            assert len(clauses) == sum(line.startswith("(assert") for line in some)
            assert is_refuted(clauses) == (verdict == "unsat")
            verdicts.add(verdict)
    assert verdicts == {"sat", "unsat"}

"""Solvers that run out of time, are given errors, or are not there."""

import importlib.metadata
import importlib.util

import pytest

from paretosoc.dse.certificate.cover.smtlib import confirm_cover, prove_cover
from paretosoc.results.errors import ResultError
from tests.support.problems.cover_problems import SOLVERS


def pigeonholes(holes):
    """One pigeon more than holes: too hard for solvers without counting, beyond a dozen."""
    lines = ["(set-logic QF_UF)"]
    for p in range(holes + 1):
        lines += [f"(declare-const x_{p}_{h} Bool)" for h in range(holes)]
        lines.append(f"(assert (or {' '.join(f'x_{p}_{h}' for h in range(holes))}))")
        for q in range(p):
            lines += [f"(assert (or (not x_{p}_{h}) (not x_{q}_{h})))" for h in range(holes)]
    return "\n".join([*lines, "(check-sat)\n"])


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_time_limit_gives_unknown(solver):
    assert solver(pigeonholes(4)).verdict == "unsat"
    result = solver(pigeonholes(30), timeout_s=0.3)
    assert (result.verdict, result.left_over) == ("unknown", None)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "(set-logic QF_UF)\n",
        "(set-logic QF_UF)\n(assert x_0_0)\n(assert false)\n(check-sat)\n",
        "(set-logic QF_UF)\n(assert (or false\n(check-sat)\n",
        '(echo "unsat")\n(echo "unsat")\n',
    ],
)
def test_a_text_with_an_error_proves_nothing(solver, text):
    assert solver(text).verdict == "unknown"


def test_without_cvc5_there_is_no_second_opinion(monkeypatch):
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert confirm_cover("(check-sat)\n") is None


def test_without_its_program_z3_is_named(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "files", lambda name: [])
    with pytest.raises(ResultError, match="z3-solver is installed without its program"):
        prove_cover("(check-sat)\n")

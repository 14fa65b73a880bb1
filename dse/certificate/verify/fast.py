"""Whether the fast checker's int64 suffices."""

from __future__ import annotations

from paretosoc.dse.problem.int64_bounds import check_magnitudes
from paretosoc.fitness.check.facts import make_facts
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.problem import Problem


def fits_fast_checker(problem: Problem, target: LemmaTarget) -> bool:
    """Whether no sum or product of the problem's and the claim's figures can leave int64."""
    try:
        check_magnitudes(problem)
        make_facts(problem, target)
    except ResultError:
        return False
    return True

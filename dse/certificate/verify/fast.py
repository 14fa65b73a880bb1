"""Whether the fast checker's int64 suffices."""

from __future__ import annotations

from dse.problem.int64_bounds import check_magnitudes
from fitness.check.facts import make_facts
from fitness.check.target import LemmaTarget
from results.errors import ResultError
from results.problem.problem import Problem


def fits_fast_checker(problem: Problem, target: LemmaTarget) -> bool:
    """Whether no sum or product of the problem's and the claim's figures can leave int64."""
    try:
        check_magnitudes(problem)
        make_facts(problem, target)
    except ResultError:
        return False
    return True

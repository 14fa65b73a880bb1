"""Check the measures of a front that was searched for by draws of the costs.

The draws are made again from ``costs.json``. Members are simulated by the checker, which shares
nothing with the search, and measured in Python integers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from paretosoc.dse.certificate.verify.checks import Check, fails, holds, not_checked
from paretosoc.dse.space.members import rows_of
from paretosoc.dse.tools.analysis.cost_draws import (
    at_clocks_of,
    check_draws,
    stated_errors,
    with_factors,
)
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_costs
from paretosoc.results.front.front import Front, Robust
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.problem import DesignPoint, Problem

_INFINITE = (1 << 63) - 1
_Measures = tuple[tuple[int, ...], tuple[int, ...]]
"""Of objectives and of limited figures."""


def verify_measures(
    folder: Path, front: Front, robust: Robust, *, ignore_hashes: bool
) -> Iterator[Check]:
    """Check the measures of a front whose other claims hold."""
    costs = read_costs(folder, front.problem, check_hashes=not ignore_hashes)
    if costs is None:
        yield not_checked("measures", "costs.json is required, which says how far costs are off")
        return
    designs = [*front.members, *(point.member for point in front.baselines if not point.breaks)]
    if not designs:
        return
    small, rows = at_clocks_of(front.problem, rows_of(designs))
    # What was measured after the search says nothing of its draws.
    errors = replace(stated_errors(front.problem, costs), measured=())
    drawn = list(errors.draws(robust.draws, robust.seed))
    try:
        check_draws(small, drawn)
    except ResultError as error:
        yield fails("measures", str(error))
        return
    problems = [with_factors(small, factors) for factors in drawn]
    found = [_measures(problems, small.design_of(row), robust) for row in rows]
    wrong = _what_is_wrong(front, found)
    draws = f"{robust.measure} of {robust.draws} draws (seed {robust.seed})"
    yield fails("measures", wrong) if wrong else holds("measures", f"{draws}, simulated again")


def _measures(problems: Sequence[Problem], design: DesignPoint, robust: Robust) -> _Measures:
    """Return the measures of a design point over problems with drawn costs."""
    rows = []
    for problem in problems:
        outcome = plain_outcome(problem, design, compiled=True)
        overloaded = outcome.responses is not None and outcome.window_ps is None
        values = (*outcome.objectives, *outcome.limited)
        rows.append([_INFINITE if overloaded else value for value in values])
    found = [_measure(sorted(column), robust.measure) for column in zip(*rows, strict=True)]
    objectives = len(problems[0].objectives)
    return tuple(found[:objectives]), tuple(found[objectives:])


def _measure(rising: Sequence[int], measure: str) -> int:
    if measure == "mean":
        tail = rising
    else:
        percent = int(re.sub("[a-z]", "", measure))
        if measure[0] == "p":
            return rising[-(-len(rising) * percent // 100) - 1]
        tail = rising[len(rising) * percent // 100 :]
    return _INFINITE if tail[-1] == _INFINITE else sum(tail) // len(tail)


def _what_is_wrong(front: Front, found: Sequence[_Measures]) -> str | None:
    """Return why the measures of members, then of baselines without a broken limit, are not those
    of such a front, or None if they are."""
    assert front.robust is not None
    names, limits = front.problem.objective_names, constraints_of(front.problem)
    members = found[: len(front.members)]
    for index, (member, (objectives, limited)) in enumerate(
        zip(front.members, members, strict=True)
    ):
        for name, stated, value in zip(names, member.ranked, objectives, strict=True):
            if stated != value:
                return f"member {index}: {name} is {value}, not {stated}"
        for limit, value in zip(limits, limited, strict=True):
            if value > limit.limit:
                return f"member {index}: {limit.name} is not kept by {front.robust.measure}"
    kept = [point for point in front.baselines if not point.breaks]
    for point, (objectives, limited) in zip(kept, found[len(members) :], strict=True):
        if any(value > limit.limit for limit, value in zip(limits, limited, strict=True)):
            continue
        if not any(
            all(ours <= theirs for ours, theirs in zip(member.ranked, objectives, strict=True))
            for member in front.members
        ):
            return f"{point.name}: keeps all limits, but no member is as good"
    return None

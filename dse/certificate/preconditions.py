"""Which fronts the exact search can prove: for which objectives and limits bounds are known."""

from __future__ import annotations

from collections.abc import Sequence

from fitness.execution import RULES, rules_of
from results.errors import ResultError
from results.problem.objectives import objective_names
from results.problem.problem import Problem

MAX_POINTS = 62
"""Operating points of a domain that fit in the bits of a mask."""


def check_provable(problem: Problem, objectives: Sequence[int]) -> None:
    """Accepts a problem where every one of these objectives (positions) and every limit has bounds.

    Raises:
        ResultError: on an objective, a power cap or an energy budget that there are no bounds for
            under the execution model (:mod:`fitness.execution`); on too long a ladder.
    """
    rules, model = rules_of(problem), problem.execution.model
    if problem.is_paced:
        raise ResultError("nothing is proved where networks have rates of their own")
    if problem.searches_priorities:
        raise ResultError(
            "where priorities are searched only bounds over boxes can be proved: without "
            "--search-priorities they are those of the workload"
        )
    for column in objectives:
        kind = problem.objectives[column].kind
        if kind not in rules.provable:
            known = [entry.model for entry, other in RULES.items() if kind in other.provable]
            raise ResultError(
                f"objective {objective_names(problem)[column]!r}: the exact search has no bound on "
                f"{kind.value} under the execution model {model}"
                + (f" (there is one under {', '.join(known)})" if known else "")
            )
    limited = problem.power_cap_mw is not None or problem.energy_budget_fj is not None
    if limited and not rules.limits_provable:
        raise ResultError(
            "the exact search has no bound on power where a power cap or energy budget holds under "
            f"the execution model {model}"
        )
    for domain in problem.domains:
        if len(domain.frequencies_khz) > MAX_POINTS:
            raise ResultError(
                f"domain {domain.name!r}: at most {MAX_POINTS} operating points can be proved "
                f"over, got {len(domain.frequencies_khz)}"
            )

"""Check which proofs a problem permits: the objectives and limits with known bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from paretosoc.dse.workload.options import as_written
from paretosoc.fitness.execution import RULES, rules_of
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.limits import limits_power
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.own_objective import OwnObjective
from paretosoc.results.problem.problem import Problem

MAX_POINTS = 62
"""Operating points of a domain that fit in the bits of a mask."""


class Goal(Enum):
    """The claim to be proved."""

    FASTEST = "fastest"
    """Claim that no design point is faster than the fastest member."""
    WHOLE_FRONT = "whole front"
    """Claim that the front is complete. If that takes too long: a bound on its distance from
    completeness, and that no design point is faster."""


def check_provable(problem: Problem, objectives: Sequence[int]) -> None:
    """Check that every one of these objectives (positions) and every limit has bounds.

    Raises:
        ResultError: on an objective, a power cap or an energy budget without bounds under the
            execution model (:mod:`fitness.execution`), or on too long a ladder.
    """
    rules, model = rules_of(problem), problem.execution.words
    if problem.has_rates:
        raise ResultError(
            "if networks have rates of their own, only bounds over boxes can be proved"
        )
    if problem.searched_order is not None:
        raise ResultError(
            "if priorities are searched, only bounds over boxes can be proved: without "
            f"{as_written('search_order')} they are those of the workload"
        )
    if problem.guarantee:
        raise ResultError("if deadlines are guaranteed, only bounds over boxes can be proved")
    for column in objectives:
        kind = problem.objectives[column].kind
        if kind not in rules.provable:
            known = [entry.words for entry, other in RULES.items() if kind in other.provable]
            label = problem.objectives[column].label(problem)
            raise ResultError(
                f"the exact search has no bound on the objective {label} of {model}"
                + (f"; it has one of {' and of '.join(known)}" if known else "")
                + ("; it is not declared monotone" if isinstance(kind, OwnObjective) else "")
            )
    if limits_power(problem) and not rules.limits_provable:
        raise ResultError(
            f"the exact search has no bound on the power of {model}, which a power cap or an "
            "energy budget needs"
        )
    for domain in problem.domains:
        if len(domain.frequencies_khz) > MAX_POINTS:
            raise ResultError(
                f"domain {domain.name!r}: at most {MAX_POINTS} operating points can be proved "
                f"over, got {len(domain.frequencies_khz)}"
            )


def certified_column(problem: Problem) -> int | None:
    """Return the objective whose best member is certified, or None.

    It is the makespan if latency is an objective, else Eq. 10 if that is one. There is none if
    priorities are searched, networks have rates of their own, or deadlines are guaranteed.
    """
    if problem.searched_order is not None or problem.has_rates or problem.guarantee:
        return None
    kinds = [(objective.kind, objective.network) for objective in problem.objectives]
    for kind in (ObjectiveKind.LATENCY, ObjectiveKind.INVERSE_LATENCY):
        if (kind, None) in kinds:
            return kinds.index((kind, None))
    return None


@dataclass(frozen=True)
class Provable:
    """The possible proofs about a problem, as positions of the objectives of its ``of_parts``."""

    front: tuple[int, ...] | None
    """All objectives if the exact search can handle them."""
    fastest: int | None
    """The one that the fastest member is certified for."""
    bounded: tuple[int, ...]
    """The objectives that have bounds over boxes."""
    refused: str | None
    """Why the exact search is not for all of them."""
    unbounded: str | None
    """Why there are no bounds over boxes of all of them."""


def provable(problem: Problem, goal: Goal) -> Provable:
    """Return the proofs to attempt for a goal.

    Raises:
        ResultError: if there is none.
    """
    column = certified_column(problem)
    if goal is Goal.FASTEST and column is None:
        raise ResultError(
            "no member can be certified as the fastest: latency or inverse-latency must be an "
            "objective, with the priorities and rates of the workload, got "
            + ", ".join(objective.label(problem) for objective in problem.objectives)
        )
    parts = problem.of_parts
    if column is not None:
        column = parts.objectives.index(problem.objectives[column])
        if goal is Goal.FASTEST:
            return Provable(None, column, (column,), None, None)
    problem = parts
    columns = tuple(range(len(problem.objectives)))
    refused, unbounded = _refusal(problem, columns), _no_bounds(problem, columns)
    if refused is not None and column is not None and _refusal(problem, (column,)) is not None:
        column = None
    bounded = columns
    if unbounded is not None:
        bounded = () if column is None else (column,)
    if refused is not None and not bounded:
        raise ResultError(refused if unbounded is None else f"{refused}; {unbounded}")
    return Provable(columns if refused is None else None, column, bounded, refused, unbounded)


def is_searchable(problem: Problem) -> bool:
    """Return whether the exact search can prove all objectives, those of a user's own by their
    parts."""
    problem = problem.of_parts
    return _refusal(problem, tuple(range(len(problem.objectives)))) is None


def _refusal(problem: Problem, columns: tuple[int, ...]) -> str | None:
    """Return why no search can prove these objectives, or None if one can."""
    try:
        check_provable(problem, columns)
    except ResultError as error:
        return str(error)
    return None


def _no_bounds(problem: Problem, columns: tuple[int, ...]) -> str | None:
    """Return why these objectives have no bounds over boxes, or None if they have."""
    # Imported here: many searches have no proof.
    from paretosoc.fitness.check.boxes.check import bounded_columns

    names = problem.objective_names
    if any(len(domain.frequencies_khz) > MAX_POINTS for domain in problem.domains):
        return f"no bound over boxes is known with more than {MAX_POINTS} operating points"
    try:
        bounded_columns(problem, [names[column] for column in columns])
    except ResultError as error:
        return str(error)
    return None

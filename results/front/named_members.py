"""Names of a front's members, the best at each objective and the knee, and a member by its number
or its name: ``3``, ``fastest``, ``lowest-energy``, ``knee``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from operator import mul

from paretosoc.common.text import did_you_mean
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.dominance import knee
from paretosoc.results.front.front import Front
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

FASTEST, LOWEST_ENERGY, KNEE = "fastest", "lowest-energy", "knee"
_OF_TIME = (
    ObjectiveKind.LATENCY,
    ObjectiveKind.INVERSE_LATENCY,
    ObjectiveKind.THROUGHPUT,
    ObjectiveKind.TOKEN_RATE,
    ObjectiveKind.RELATIVE_RESPONSE,
    ObjectiveKind.RESPONSE,
    ObjectiveKind.RESPONSE_95,
)


def mark_of_best(problem: Problem, objective: Objective) -> str:
    """Name of the member that is best at ``objective``: ``fastest``, ``lowest energy``, ..."""
    name = objective.kind.spec.best
    if objective.network is None:
        return name
    return f"{name} {problem.networks[objective.network].name}"


def mark_members(front: Front) -> dict[int, tuple[str, ...]]:
    """Return marks by member index, rising. Of several members that are best, the first has the
    mark."""
    return dict(_marks(front))


@lru_cache(maxsize=4)
def _marks(front: Front) -> dict[int, tuple[str, ...]]:
    """Return the marks. They are cached for the last fronts, since a page needs them for each of
    its members."""
    marks: dict[int, list[str]] = {}
    if front.members:
        values = front.ranked_array
        for column, objective in enumerate(front.problem.objectives):
            best = int(values[:, column].argmin())
            marks.setdefault(best, []).append(mark_of_best(front.problem, objective))
        if len(front.members) > 1:
            marks.setdefault(knee(values), []).append(KNEE)
    return {index: tuple(marks[index]) for index in sorted(marks)}


def marked_member(front: Front, mark: str) -> int | None:
    """Return the index of the member with this mark, or None."""
    return next((index for index, marks in mark_members(front).items() if mark in marks), None)


def choose_member(front: Front, which: int | str) -> int:
    """Return the index of the member that is named: by a number from 0, or a mark of the front.

    ``fastest`` and ``lowest-energy`` exist for all objectives. A front of one member has it as its
    knee, too. The fastest is best at the first objective of time (a latency, a response, a rate),
    preferably one of all networks. Without any it has the least makespan, with rates of networks
    the least relative response. The first of equals counts.

    Raises:
        ResultError: if the front is empty or there is no such member. The message lists the
            members.
    """
    front.require_members("choose")
    text, count = str(which), len(front.members)
    if (index := member_number(text, count)) is not None:
        return index
    by_name = {
        FASTEST: by_speed(front)[0],
        LOWEST_ENERGY: min(range(count), key=lambda i: front.members[i].energy_fj),
    }
    if count == 1:
        by_name[KNEE] = 0
    for index, marks in mark_members(front).items():
        by_name |= dict.fromkeys((typed_mark(mark) for mark in marks), index)
    if typed_mark(text) in by_name:
        return by_name[typed_mark(text)]
    hint = did_you_mean(typed_mark(text), by_name, f"names: {', '.join(by_name)}")
    numbers = f"a number from 0 to {count - 1}" if count > 1 else "0"
    raise ResultError(f"member: {numbers} or a name is required, got {text!r} ({hint})")


def member_number(text: str, count: int) -> int | None:
    """Return the index that a text names by its number, None if it is no number.

    Raises:
        ResultError: if there are fewer members.
    """
    if not re.fullmatch(r"[0-9]{1,9}", text):
        return None
    if int(text) >= count:
        raise ResultError(f"member {text}: there are members 0 to {count - 1}")
    return int(text)


def by_speed(front: Front) -> list[int]:
    """Return indices of all members, the fastest first, in the sense of :func:`choose_member`."""
    return sorted(range(len(front.members)), key=_slowness(front))


def typed_mark(mark: str) -> str:
    """Return a mark in a form that needs no quotes in a shell."""
    return mark.replace(" ", "-")


def _slowness(front: Front) -> Callable[[int], int]:
    """Return a measure of a member, by its index, that is smaller for faster members. It uses the
    values of the table, so that no other member is the fastest there."""
    column = speed_column(front.problem)
    if column is not None:
        return lambda index: front.members[index].ranked[column]
    if front.problem.has_rates:
        releases = [front.problem.releases(n) for n in range(len(front.problem.networks))]
        return lambda index: max(map(mul, front.members[index].latencies_ps, releases))
    return lambda index: front.members[index].makespan_ps


def speed_column(problem: Problem) -> int | None:
    """Return the position of the objective that the fastest member is best at, None if there is
    none of time."""
    objectives = problem.objectives
    columns = [k for k, objective in enumerate(objectives) if objective.kind in _OF_TIME]
    return min(columns, key=lambda k: objectives[k].network is not None, default=None)


def is_fastest_certified(front: Front) -> bool:
    """Return whether a checkable proof shows that nothing is faster than the fastest member."""
    claim, column = front.certificate, speed_column(front.problem)
    if claim is None or column is None or claim.epsilon_ppm != 0:
        return False
    is_about_speed = front.problem.objective_names[column] in claim.objectives
    return is_about_speed and claim.status is CertificateStatus.CERTIFIED


def time_of_all(problem: Problem) -> Objective:
    """Return the objective of time of all networks that a workload like this has."""
    kind = ObjectiveKind.RELATIVE_RESPONSE if problem.has_rates else ObjectiveKind.LATENCY
    return Objective(kind if problem.execution.has_frame else ObjectiveKind.THROUGHPUT)


def member_title(front: Front, index: int) -> str:
    """Return ``member 3`` or ``member 0 (fastest)``."""
    marks = mark_members(front).get(index)
    return f"member {index}" + (f" ({', '.join(marks)})" if marks else "")

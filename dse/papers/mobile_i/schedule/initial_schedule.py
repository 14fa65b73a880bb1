"""Algorithm III.1: copies of the graph, longest task first, until the engines are busy enough."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from paretosoc.dse.papers.mobile_i.periodic import TaskGraph
from paretosoc.dse.papers.mobile_i.schedule.placement import Placement, place_in_order
from paretosoc.results.errors import ResultError

UTILISATION_LIMIT = Fraction(92, 100)
"""U_lim (IV.B.3)."""


@dataclass(frozen=True)
class InitialSchedule:
    """X_p copies and where their tasks run."""

    copies: int
    placement: Placement


def longest_first(graph: TaskGraph, copies: int = 1) -> list[int]:
    """Line 1: by execution time, longest first; equal ones in topological order, copy by copy."""
    size = len(graph.tasks)
    order = sorted(range(size), key=lambda number: -graph.tasks[number].time_ps)
    return [
        copy * size + number
        for _, equal in groupby(order, key=lambda number: graph.tasks[number].time_ps)
        for members in (list(equal),)
        for copy in range(copies)
        for number in members
    ]


def initial_schedule(
    graph: TaskGraph,
    engines: int,
    *,
    utilisation_limit: Fraction = UTILISATION_LIMIT,
    max_copies: int | None = None,
) -> InitialSchedule:
    """Algorithm III.1.

    The pseudo-code puts each copy, longest task first, on top of the copies before it. That cannot
    keep what the text promises, the least period and a utilisation above the limit: where one task
    is most of the work (AgeNet: two thirds), each copy begins with it on engines that are evenly
    loaded, and U_p stays near 0.7 for any number of copies. So line 1 sorts the tasks of all X_p
    copies, as its result is "an initial schedule for X_p groups", for each X_p separately.

    Line 11: where X_lim is reached below the limit, the copies with the largest U_p, the fewest of
    them. The paper gives no X_lim; here it is the number of engines. With so many, a copy on each
    engine has U_p = 1, so there is a schedule that meets any limit.

    Args:
        max_copies: X_lim; None: the number of engines.

    Raises:
        ResultError: where there is no engine, or X_lim is below 1.
    """
    limit = engines if max_copies is None else max_copies
    if engines < 1 or limit < 1:
        raise ResultError(
            f"at least one engine and one copy are required, got {engines} and {limit}"
        )
    best: InitialSchedule | None = None
    reached = Fraction(0)
    for copies in range(1, limit + 1):
        if best is not None and _utilisation_bound(graph, engines, copies) <= reached:
            continue
        placement = place_in_order(graph, engines, longest_first(graph, copies))
        utilisation = Fraction(graph.work_ps * copies, engines * placement.period_ps)
        if utilisation > reached:
            best, reached = InitialSchedule(copies, placement), utilisation
        if utilisation >= utilisation_limit:
            break
    assert best is not None, "the first number of copies is always placed"
    return best


def _utilisation_bound(graph: TaskGraph, engines: int, copies: int) -> Fraction:
    """No schedule of this many copies has a larger U_p: its period is at least the longest task."""
    work = Fraction(graph.work_ps * copies, engines)
    return min(Fraction(1), work / graph.longest_ps)

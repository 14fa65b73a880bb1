"""Algorithm III.1: copies of the graph, longest task first, until the engines are busy enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dse.mobile_i.placement import EngineLoads, Placement
from results.errors import ResultError
from results.task_graph import TaskGraph

UTILISATION_LIMIT = Fraction(92, 100)
"""U_lim (IV.B.3)."""


@dataclass(frozen=True)
class InitialSchedule:
    """X_p copies and where their tasks run."""

    copies: int
    placement: Placement


def longest_first(graph: TaskGraph) -> list[int]:
    """Line 1: by execution time, longest first; equal ones in topological order."""
    return sorted(range(len(graph.tasks)), key=lambda number: -graph.tasks[number].time_ps)


def initial_schedule(
    graph: TaskGraph,
    engines: int,
    *,
    utilisation_limit: Fraction = UTILISATION_LIMIT,
    most_copies: int | None = None,
) -> InitialSchedule:
    """Algorithm III.1.

    Line 3 walks through the tasks of one copy in the order of line 1; the copies are put one after
    the other onto the same engines ("concatenated"), each on top of the loads before it. Line 11:
    where X_lim is reached below the limit, the copies with the largest U_p, the fewest of them.

    The paper gives no X_lim; here it is the number of engines. With so many, a copy on each engine
    has U_p = 1, so the limit of the paper can always be met.

    Args:
        most_copies: X_lim; None: the number of engines.

    Raises:
        ResultError: where there is no engine, or X_lim is below 1.
    """
    limit = engines if most_copies is None else most_copies
    if engines < 1 or limit < 1:
        raise ResultError(
            f"at least one engine and one copy are required, got {engines} and {limit}"
        )
    order = longest_first(graph)
    loads = EngineLoads(engines)
    best_copies, best = 0, Fraction(0)
    for copies in range(1, limit + 1):
        loads.add(graph, order)
        utilisation = Fraction(graph.work_ps * copies, engines * loads.period_ps)
        if utilisation > best:
            best_copies, best = copies, utilisation
        if utilisation >= utilisation_limit:
            break
    return InitialSchedule(best_copies, place_copies(graph, engines, order, best_copies))


def place_copies(
    graph: TaskGraph, engines: int, order: Sequence[int], copies: int
) -> Placement:
    """So many copies, each in ``order``, onto the least loaded engines."""
    loads = EngineLoads(engines)
    for _ in range(copies):
        loads.add(graph, order)
    return loads.placement()

"""The engine and time of every task in the period, and its number of periods ahead.

Algorithm III.1 places copies of the graph, longest task first, until the engines are busy enough.
Retiming (Eq. 2) keeps the dependences across periods.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from paretosoc.dse.papers.mobile_i.periodic import TaskGraph
from paretosoc.results.errors import ResultError

UTILISATION_LIMIT = Fraction(92, 100)
"""U_lim (IV.B.3)."""


@dataclass(frozen=True)
class Placement:
    """An engine and a start for every task of all copies. Ends never pass the period."""

    period_ps: int
    engine: tuple[int, ...]
    start_ps: tuple[int, ...]


def place_in_order(graph: TaskGraph, engines: int, order: Sequence[int]) -> Placement:
    """Place one task after the other onto the engine with the least load (III.1, lines 4 and 5).

    Equal loads: the engine with the lower number. Dependences are left to retiming.

    Args:
        order: every task of all copies once: task i of copy k of n tasks is k n + i.
    """
    size = len(graph.tasks)
    heap = [(0, engine) for engine in range(engines)]
    engine, start = [0] * len(order), [0] * len(order)
    for number in order:
        load, place = heap[0]
        engine[number], start[number] = place, load
        heapq.heapreplace(heap, (load + graph.tasks[number % size].time_ps, place))
    return Placement(max(load for load, _ in heap), tuple(engine), tuple(start))


def distances(graph: TaskGraph, placement: Placement, cached: Collection[int]) -> list[int]:
    """Return the least r(i) - r(j) of each transfer, by Eq. 2 with r = -R.

    d_i + c_ij <= s_j + (r(i) - r(j)) c_p, so it is ceil((d_i + c_ij - s_j) / c_p).
    """
    start, period = placement.start_ps, placement.period_ps
    result = []
    for number, edge in enumerate(graph.transfers):
        time = edge.cache_ps if number in cached else edge.memory_ps
        end = start[edge.source] + graph.tasks[edge.source].time_ps
        result.append(-((start[edge.target] - end - time) // period))
    return result


def least_ahead(graph: TaskGraph, needed: list[int]) -> list[int]:
    """Return the least r >= 0 that keeps all distances, from the last task to the first.

    It is the longest path to any task without successors (Leiserson and Saxe): one pass, since
    transfers go from lower to higher tasks.
    """
    ahead = [0] * len(graph.tasks)
    order = sorted(
        range(len(graph.transfers)), key=lambda n: graph.transfers[n].source, reverse=True
    )
    for number in order:
        edge = graph.transfers[number]
        ahead[edge.source] = max(ahead[edge.source], ahead[edge.target] + needed[number])
    return ahead


def longest_first(graph: TaskGraph, copies: int = 1) -> list[int]:
    """Sort tasks by execution time, longest first (line 1).

    Equal ones are in topological order, copy by copy.
    """
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
    graph: TaskGraph, engines: int, *, max_copies: int | None = None
) -> tuple[int, Placement]:
    """Return the number of copies, X_p, and the placement of their tasks (Algorithm III.1).

    The pseudo-code puts each copy, longest task first, on top of the copies before it. That cannot
    keep the text's promises, the least period and a utilisation above the limit: if one task is
    most of the work (AgeNet: two thirds), each copy begins with it on engines that are evenly
    loaded, and U_p stays near 0.7 for any number of copies. So line 1 sorts the tasks of all X_p
    copies, as its result is "an initial schedule for X_p groups", for each X_p separately.

    Line 11: if X_lim is reached below the limit, the copies with the largest U_p are taken, the
    fewest of them. The paper gives no X_lim. Here it is the number of engines. With so many, a copy
    on each engine has U_p = 1, so there is a schedule that meets any limit.

    Args:
        max_copies: X_lim. None: the number of engines.

    Raises:
        ResultError: if there is no engine, or X_lim is below 1.
    """
    limit = engines if max_copies is None else max_copies
    if engines < 1 or limit < 1:
        raise ResultError(
            f"at least one engine and one copy are required, got {engines} and {limit}"
        )
    best: tuple[int, Placement] | None = None
    reached = Fraction(0)
    for copies in range(1, limit + 1):
        # A period is at least the longest task.
        most = min(Fraction(1), Fraction(graph.work_ps * copies, engines) / graph.longest_ps)
        if best is not None and most <= reached:
            continue
        placement = place_in_order(graph, engines, longest_first(graph, copies))
        utilisation = Fraction(graph.work_ps * copies, engines * placement.period_ps)
        if utilisation > reached:
            best, reached = (copies, placement), utilisation
        if utilisation >= UTILISATION_LIMIT:
            break
    assert best is not None, "the first number of copies is always placed"
    return best

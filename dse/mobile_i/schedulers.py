"""Mobile-I, Memolution and SPARTA: from a task graph and engines to a periodic schedule."""

from __future__ import annotations

from fractions import Fraction

from dse.mobile_i.cache_allocation import Allocation, allocate_in_order, allocate_transfers
from dse.mobile_i.initial_schedule import UTILISATION_LIMIT, initial_schedule
from dse.mobile_i.placement import Placement, place_in_order
from dse.mobile_i.reallocation import ALPHA, reallocate
from dse.mobile_i.sparta import dependent_schedule
from results.periodic import EngineArray, PeriodicSchedule
from results.task_graph import TaskGraph, repeated

MOBILE_I = "mobile-i"
MEMOLUTION = "memolution"
SPARTA = "sparta"
METHODS = (SPARTA, MEMOLUTION, MOBILE_I)


def mobile_i(
    graph: TaskGraph,
    array: EngineArray,
    *,
    utilisation_limit: Fraction = UTILISATION_LIMIT,
    most_copies: int | None = None,
    alpha: Fraction = ALPHA,
) -> PeriodicSchedule:
    """Mobile-I whole: Algorithm III.1, Algorithm III.2, caches.

    The paper always takes the order of Algorithm III.2. It is a heuristic, and on some graphs the
    initial order needs a shorter prologue: the better of the two is kept.
    """
    initial = initial_schedule(
        graph, array.engines, utilisation_limit=utilisation_limit, most_copies=most_copies
    )
    tasks = repeated(graph, initial.copies)
    moved = reallocate(tasks, initial.placement, alpha)
    choices = [
        (placement, allocate_transfers(tasks, placement, array.cache_bytes))
        for placement in (moved, initial.placement)
    ]
    placement, allocation = min(choices, key=lambda choice: choice[1].prologue)
    return _schedule(MOBILE_I, graph, array, initial.copies, placement, allocation)


def memolution(graph: TaskGraph, array: EngineArray, copies: int) -> PeriodicSchedule:
    """Memolution as the Mobile-I paper describes it: retiming, blind to critical tasks.

    IV.B: it "does not consider the timing differences among tasks". So tasks go to the least loaded
    engine in topological order, a task of all copies before the next one, and stay there; caches
    are filled in topological order, too. (Copy by copy instead, utilisation is 0.63 in the mean of
    Table II's graphs, further from the published 0.80 than the 0.84 of this reading.) The paper
    does not say how often a period runs the graph: as often as with Mobile-I (``copies``).
    """
    size = len(graph.tasks)
    order = [copy * size + number for number in range(size) for copy in range(copies)]
    placement = place_in_order(graph, array.engines, order)
    tasks = repeated(graph, copies)
    allocation = allocate_in_order(tasks, placement, array.cache_bytes)
    return _schedule(MEMOLUTION, graph, array, copies, placement, allocation)


def sparta(graph: TaskGraph, array: EngineArray, copies: int) -> PeriodicSchedule:
    """SPARTA as the Mobile-I paper describes it: every dependence is kept inside the period.

    IV.B: it "does not change data dependency relationships across multiple periods"; data passes
    through the memory. Copies as for :func:`memolution`.
    """
    tasks = repeated(graph, copies)
    placement = dependent_schedule(tasks, array.engines)
    nothing = Allocation(frozenset(), (0,) * len(tasks.tasks), False)
    return _schedule(SPARTA, graph, array, copies, placement, nothing)


def _schedule(
    method: str,
    graph: TaskGraph,
    array: EngineArray,
    copies: int,
    placement: Placement,
    allocation: Allocation,
) -> PeriodicSchedule:
    return PeriodicSchedule(
        method=method,
        graph=graph,
        array=array,
        copies=copies,
        period_ps=placement.period_ps,
        engine=placement.engine,
        start_ps=placement.start_ps,
        ahead=allocation.ahead,
        cached=tuple(sorted(allocation.cached)),
    )

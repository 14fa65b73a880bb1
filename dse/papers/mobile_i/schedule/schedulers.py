"""Mobile-I, Memolution and SPARTA: from a task graph and engines to a periodic schedule."""

from __future__ import annotations

from paretosoc.dse.papers.mobile_i.periodic import (
    EngineArray,
    PeriodicSchedule,
    TaskGraph,
    repeated,
)
from paretosoc.dse.papers.mobile_i.schedule.cache_allocation import (
    Allocation,
    allocate_in_order,
    allocate_transfers,
)
from paretosoc.dse.papers.mobile_i.schedule.placement import (
    UTILISATION_LIMIT,
    Placement,
    distances,
    initial_schedule,
    least_ahead,
    place_in_order,
)
from paretosoc.dse.papers.mobile_i.schedule.reallocation import reallocate
from paretosoc.dse.papers.mobile_i.schedule.stages import staged_placements

MOBILE_I = "mobile-i"
MEMOLUTION = "memolution"
SPARTA = "sparta"
METHODS = (SPARTA, MEMOLUTION, MOBILE_I)


DEFAULT_INFERENCES = 5000
"""A number of ours: some hundred periods of ten or so copies. The paper does not say how many
inferences its latencies are for, only that there are "several hundreds of task sets";
``python -m examples.mobile_i.table2`` has 300, 1,000 and 5,000."""


def mobile_i(
    graph: TaskGraph,
    array: EngineArray,
    *,
    max_copies: int | None = None,
    inferences: int = DEFAULT_INFERENCES,
    paper_only: bool = False,
) -> PeriodicSchedule:
    """Run the complete Mobile-I: Algorithm III.1, Algorithm III.2, caches, and a step of ours.

    The paper always takes the order of Algorithm III.2. It is a heuristic, and on some graphs the
    initial order needs a shorter prologue. Both placements leave long prologues. Unless they are at
    the bound, those of :mod:`dse.papers.mobile_i.schedule.stages` are tried, too. The schedule with
    the least latency (Eq. 3) of ``inferences`` is kept, if it has the utilisation that Algorithm
    III.1 reached or was to reach.

    Args:
        paper_only: without the step of ours.
    """
    copies, initial = initial_schedule(graph, array.engines, max_copies=max_copies)
    tasks = repeated(graph, copies)
    moved = reallocate(tasks, initial)

    def finished(placement: Placement) -> PeriodicSchedule:
        allocation = allocate_transfers(tasks, placement, array.cache_bytes)
        return _schedule(MOBILE_I, graph, array, copies, placement, allocation)

    best = min(map(finished, (moved, initial)), key=lambda s: s.prologue_periods)
    if paper_only or best.prologue_periods <= best.least_prologue_periods:
        return best
    periods = -(-inferences // copies)

    def uncached_latency(placement: Placement) -> int:
        ahead = least_ahead(tasks, distances(tasks, placement, ()))
        return (max(ahead) + periods) * placement.period_ps

    required = min(best.utilisation, UTILISATION_LIMIT)
    busy = [
        placement
        for placement in staged_placements(graph, array.engines, copies, best.period_ps)
        if graph.work_ps * copies >= required * array.engines * placement.period_ps
    ]
    if not busy:
        return best
    staged = finished(min(busy, key=uncached_latency))
    return min((best, staged), key=lambda schedule: schedule.latency_ps(inferences))


def memolution(
    graph: TaskGraph, array: EngineArray, copies: int, *, copy_by_copy: bool = False
) -> PeriodicSchedule:
    """Run Memolution as the Mobile-I paper describes it: retiming, blind to critical tasks.

    IV.B: it "does not consider the timing differences among tasks". So tasks go to the least loaded
    engine in topological order and stay there. Caches are filled in topological order, too. The
    paper does not say how often a period runs the graph: here as often as with Mobile-I
    (``copies``). Nor does it say in which order tasks of several copies come: here a task of all
    copies before the next one. Of the two readings that one was chosen for its utilisation, which
    is the nearer one to the published. ``python -m examples.mobile_i.table2`` has both.

    Args:
        copy_by_copy: the other reading, one copy after the other.
    """
    size = len(graph.tasks)
    order = list(range(size * copies))
    if not copy_by_copy:
        order.sort(key=lambda number: number % size)
    placement = place_in_order(graph, array.engines, order)
    tasks = repeated(graph, copies)
    allocation = allocate_in_order(tasks, placement, array.cache_bytes)
    return _schedule(MEMOLUTION, graph, array, copies, placement, allocation)


def sparta(graph: TaskGraph, array: EngineArray, copies: int) -> PeriodicSchedule:
    """Run SPARTA as the Mobile-I paper describes it: every dependence is kept inside the period.

    IV.B: it "does not change data dependency relationships across multiple periods". Data passes
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


def upward_ranks(graph: TaskGraph) -> list[int]:
    """Return, per task, the longest path from its start to the end of the graph, transfers
    included."""
    rank = [task.time_ps for task in graph.tasks]
    for edge in sorted(graph.transfers, key=lambda edge: edge.source, reverse=True):
        through = graph.tasks[edge.source].time_ps + edge.memory_ps + rank[edge.target]
        rank[edge.source] = max(rank[edge.source], through)
    return rank


def dependent_schedule(graph: TaskGraph, engines: int) -> Placement:
    """Schedule tasks by the longest way to go, each on the engine that can start it first.

    The period ends with the last task. Of several such engines, the one that has been idle for the
    shortest time is taken ("throughput-aware": the others stay free for tasks that are ready
    earlier).
    """
    rank = upward_ranks(graph)
    into: list[list[tuple[int, int]]] = [[] for _ in graph.tasks]
    for edge in graph.transfers:
        into[edge.target].append((edge.source, edge.memory_ps))
    free = [0] * engines
    engine, end = [0] * len(rank), [0] * len(rank)
    # A rank is above those of all successors, so the order is a topological one.
    for number in sorted(range(len(rank)), key=lambda task: -rank[task]):
        ready = max((end[source] + time for source, time in into[number]), default=0)
        best = min(range(engines), key=lambda place: (max(ready, free[place]), -free[place]))
        engine[number] = best
        free[best] = end[number] = max(ready, free[best]) + graph.tasks[number].time_ps
    starts = tuple(last - task.time_ps for last, task in zip(end, graph.tasks, strict=True))
    return Placement(max(end), tuple(engine), starts)

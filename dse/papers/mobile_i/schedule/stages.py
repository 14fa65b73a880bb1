"""Stages first, order afterwards: a placement that keeps the prologue short. A step of ours.

Algorithm III.2 leaves every task on the engine that Algorithm III.1 gave it, and a path of the
graph has to jump from slot to slot. Decomposed software pipelining (Gasperoni and Schwiegelshohn
1994; Wang, Eisenbeis, Jourdan and Su 1994) goes the other way round. First every task gets its
stage, the number of periods ahead, as if there were engines enough. Then all tasks are scheduled as
one list inside a period, which keeps the dependences within a stage, and retiming keeps the others.
The fewer stages, the shorter the prologue, and the harder a list with few gaps. So tasks count as
longer than they are while stages are assigned, by a percentage, and several of these are tried.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from paretosoc.dse.papers.mobile_i.periodic import TaskGraph
from paretosoc.dse.papers.mobile_i.schedule.placement import Placement

PERCENT = 100
STRETCHES = (105, 120, 140, 170, 220, 300, 500)
"""Percent by which tasks are lengthened while stages are assigned."""
SHIFTS = (0, 50, 100)
"""Percent of a period over which the last tasks of the copies are spread while stages are given
out."""


def stages_of(
    graph: TaskGraph, period_ps: int, *, stretch: int = PERCENT, latest_ps: int = 0
) -> list[int]:
    """Return the stage r >= 0 of each task of one copy, with endless engines, all as late as
    possible.

    No task crosses the end of a period. A task longer than a period counts as long as it.

    Args:
        stretch: percentage of their times that tasks count as.
        latest_ps: end of the last tasks, before the end of stage 0.
    """
    out: list[list[tuple[int, int]]] = [[] for _ in graph.tasks]
    for edge in graph.transfers:
        out[edge.source].append((edge.target, edge.memory_ps))
    start = [0] * len(graph.tasks)
    for number in range(len(start) - 1, -1, -1):
        time = graph.tasks[number].time_ps
        long = min(max(time * stretch // PERCENT, time), period_ps)
        end = min((start[target] - delay for target, delay in out[number]), default=-latest_ps)
        # Instants up to 0; stage r lies between -(r + 1) c_p and -r c_p.
        border = (end - 1) // period_ps * period_ps
        start[number] = (end if end - long >= border else border) - long
    return [-(at // period_ps) - 1 for at in start]


def staged_placement(
    graph: TaskGraph, engines: int, copies: int, stages: Sequence[Sequence[int]]
) -> Placement:
    """Schedule a period: a free engine takes the ready task with the longest way to go.

    A task is ready when all its predecessors of the same copy and stage have ended and their data
    has come through the memory. The period is the end of the last task.

    Args:
        stages: per copy, per task.
    """
    size = len(graph.tasks)
    times = [task.time_ps for task in graph.tasks]
    out: list[list[tuple[int, int]]] = [[] for _ in range(size * copies)]
    waits = [0] * (size * copies)
    for copy, stage in enumerate(stages):
        for edge in graph.transfers:
            if stage[edge.source] == stage[edge.target]:
                target = copy * size + edge.target
                out[copy * size + edge.source].append((target, edge.memory_ps))
                waits[target] += 1
    way = [0] * len(out)
    for number in range(len(out) - 1, -1, -1):
        ways = (delay + way[target] for target, delay in out[number])
        way[number] = times[number % size] + max(ways, default=0)
    ready = [(-way[number], number) for number, count in enumerate(waits) if count == 0]
    heapq.heapify(ready)
    coming: list[tuple[int, int]] = []
    free = [(0, engine) for engine in range(engines)]
    ready_ps, engine_of, start = [0] * len(out), [0] * len(out), [0] * len(out)
    left = len(out)
    while left:
        now, engine = heapq.heappop(free)
        while coming and coming[0][0] <= now:
            number = heapq.heappop(coming)[1]
            heapq.heappush(ready, (-way[number], number))
        if not ready:
            heapq.heappush(free, (coming[0][0], engine))
            continue
        number = heapq.heappop(ready)[1]
        left -= 1
        engine_of[number], start[number] = engine, now
        end = now + times[number % size]
        heapq.heappush(free, (end, engine))
        for target, delay in out[number]:
            waits[target] -= 1
            ready_ps[target] = max(ready_ps[target], end + delay)
            if waits[target] == 0:
                heapq.heappush(coming, (ready_ps[target], target))
    period = max(at + times[number % size] for number, at in enumerate(start))
    return Placement(period, tuple(engine_of), tuple(start))


def staged_placements(
    graph: TaskGraph, engines: int, copies: int, period_ps: int
) -> Iterator[Placement]:
    """Yield placements for several percentages and shifts, each choice of stages once.

    ``period_ps``: the period that the stages are made for.
    """
    seen = set()
    for shift in SHIFTS if copies > 1 else SHIFTS[:1]:
        for stretch in STRETCHES:
            stages = tuple(
                tuple(
                    stages_of(
                        graph,
                        period_ps,
                        stretch=stretch,
                        latest_ps=shift * copy * period_ps // (PERCENT * copies),
                    )
                )
                for copy in range(copies)
            )
            if stages not in seen:
                seen.add(stages)
                yield staged_placement(graph, engines, copies, stages)

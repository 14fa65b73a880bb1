"""List scheduling inside one period, the way SPARTA's periods run: no retiming."""

from __future__ import annotations

from paretosoc.dse.papers.mobile_i.periodic import TaskGraph
from paretosoc.dse.papers.mobile_i.schedule.placement import Placement


def upward_ranks(graph: TaskGraph) -> list[int]:
    """Per task, the longest path from its start to the end of the graph, transfers included."""
    rank = [task.time_ps for task in graph.tasks]
    for edge in sorted(graph.transfers, key=lambda edge: edge.source, reverse=True):
        through = graph.tasks[edge.source].time_ps + edge.memory_ps + rank[edge.target]
        rank[edge.source] = max(rank[edge.source], through)
    return rank


def dependent_schedule(graph: TaskGraph, engines: int) -> Placement:
    """Longest way to go first, each task on the engine that can start it first; the period ends
    with the last task. Of several such engines, the one that has been idle for the shortest time
    ("throughput-aware": the others stay free for tasks that are ready earlier)."""
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

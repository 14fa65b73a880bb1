"""Retiming: how many periods ahead every task must run so that each dependence is kept (Eq. 2)."""

from __future__ import annotations

from collections.abc import Collection

from paretosoc.dse.papers.mobile_i.periodic import TaskGraph
from paretosoc.dse.papers.mobile_i.schedule.placement import Placement


def distances(graph: TaskGraph, placement: Placement, cached: Collection[int]) -> list[int]:
    """Per transfer, the least r(i) - r(j): Eq. 2 with r = -R,
    d_i + c_ij <= s_j + (r(i) - r(j)) c_p, so ceil((d_i + c_ij - s_j) / c_p)."""
    start, period = placement.start_ps, placement.period_ps
    result = []
    for number, edge in enumerate(graph.transfers):
        time = edge.cache_ps if number in cached else edge.memory_ps
        end = start[edge.source] + graph.tasks[edge.source].time_ps
        result.append(-((start[edge.target] - end - time) // period))
    return result


def least_ahead(graph: TaskGraph, needed: list[int]) -> list[int]:
    """The least r >= 0 that keeps all distances, from the last task to the first.

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

"""A cell of Mobile-I's Table II: one network on one array, by all methods and their readings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paretosoc.dse.papers.mobile_i.check import broken_rule
from paretosoc.dse.papers.mobile_i.operation_graph import fused_groups, split_operations
from paretosoc.dse.papers.mobile_i.pe_array import engine_array, task_graph
from paretosoc.dse.papers.mobile_i.periodic import EngineArray, PeriodicSchedule, TaskGraph
from paretosoc.dse.papers.mobile_i.schedule.schedulers import (
    MEMOLUTION,
    SPARTA,
    memolution,
    mobile_i,
    sparta,
)
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.catalogue.catalogue import load_network

ENGINES = (16, 32, 64)
INFERENCES = (300, 1_000, 5_000)
"""N of Eq. 3. The paper prints none; III.C speaks of "several hundreds of task sets"."""
PAPER, STAGED = "mobile-i-paper", "mobile-i-stages"
"""Mobile-I by the paper's algorithms alone, and with our stages
(``dse.papers.mobile_i.schedule.stages``).
"""
BY_COPY = "memolution-by-copy"
"""The reading of Memolution that was not chosen."""


@dataclass(frozen=True)
class Cell:
    """Schedules of one graph on one array, all checked; only ``staged`` depends on N."""

    schedules: dict[str, PeriodicSchedule]
    staged: dict[int, PeriodicSchedule]

    def schedule(self, method: str, inferences: int) -> PeriodicSchedule:
        """The method's schedule for so many inferences."""
        return self.staged[inferences] if method == STAGED else self.schedules[method]

    def seconds(self, method: str, inferences: int) -> float:
        """Latency of so many inferences (Eq. 3)."""
        return self.schedule(method, inferences).latency_ps(inferences) / 1e12


def task_graphs(
    network: str, platform: Platform, *, parts: int = 1
) -> Iterator[tuple[TaskGraph, EngineArray]]:
    """Task graph and array for each number of engines; ``parts``: operations of a layer at most."""
    groups = fused_groups(load_network(network).graph)
    operations = split_operations(groups, parts)
    for engines in ENGINES:
        yield (
            task_graph(operations, groups, platform, engines),
            engine_array(platform, engines),
        )


def scheduled(graph: TaskGraph, array: EngineArray) -> Cell:
    """All schedules of a cell, simulated and checked against their rules."""
    paper = mobile_i(graph, array, paper_only=True)
    cell = Cell(
        {
            SPARTA: sparta(graph, array, paper.copies),
            MEMOLUTION: memolution(graph, array, paper.copies),
            BY_COPY: memolution(graph, array, paper.copies, copy_by_copy=True),
            PAPER: paper,
        },
        {count: mobile_i(graph, array, inferences=count) for count in INFERENCES},
    )
    for schedule in (*cell.schedules.values(), *cell.staged.values()):
        broken = broken_rule(schedule)
        assert broken is None, f"{schedule.method}: {broken}"
    return cell

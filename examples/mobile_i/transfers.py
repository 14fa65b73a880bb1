"""What keeping transfers in the caches gains: periods of the prologue, over several inputs.

Mobile-I's last step (III.C) gives cache space to the transfers that shorten the prologue. Each
schedule here is made without caches, and then the step is applied to its placement: for caches of
several sizes, for layers split into several operations, and for transfers through the memory that
take several times as long as Neurocube's. Beside that stands what no cache can pass: transfers
that take no time at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from examples.mobile_i.cells import PAPER, STAGED, task_graphs
from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule, TaskGraph
from paretosoc.dse.papers.mobile_i.schedule.cache_allocation import allocate_transfers
from paretosoc.dse.papers.mobile_i.schedule.placement import Placement, distances, least_ahead
from paretosoc.dse.papers.mobile_i.schedule.schedulers import mobile_i
from paretosoc.platforms.platform import Platform

CACHES = (2_560, 128 * 1024, 1024 * 1024)
"""Bytes: Neurocube's own (Kim et al., ISCA'16), the platform file's, and more."""


@dataclass(frozen=True)
class Input:
    """Operations that a layer is split into at most, and by how much a transfer through the memory
    takes longer than the platform says."""

    parts: int
    slower: int


INPUTS = (Input(1, 1), Input(4, 1), Input(1, 10), Input(1, 100))


@dataclass(frozen=True)
class Gain:
    """Of all cells of one input by one method."""

    parts: int
    slower: int
    method: str
    cells: int
    prologue_periods: int
    """Without caches, of all cells together."""
    cells_shorter: tuple[int, ...]
    """Per size of cache: cells whose prologue the allocation shortens."""
    periods_saved: tuple[int, ...]
    transfers_cached: tuple[int, ...]
    periods_saved_instant: int
    """Where every transfer takes no time."""
    longest_transfer: float
    """Largest share of its period that a transfer through the memory takes."""


def gains(
    networks: Sequence[str], platform: Platform, inputs: Iterable[Input] = INPUTS
) -> list[Gain]:
    """The gain on each input, by the paper's algorithms and with our stages."""
    found = []
    for given in inputs:
        schedules: dict[str, list[PeriodicSchedule]] = {PAPER: [], STAGED: []}
        for network in networks:
            for graph, array in task_graphs(network, platform, parts=given.parts):
                slow, bare = _slower(graph, given.slower), replace(array, cache_bytes=0)
                schedules[PAPER].append(mobile_i(slow, bare, paper_only=True))
                schedules[STAGED].append(mobile_i(slow, bare))
        found += [_gain(given, method, made) for method, made in schedules.items()]
    return found


def _slower(graph: TaskGraph, factor: int) -> TaskGraph:
    return replace(
        graph,
        transfers=tuple(replace(t, memory_ps=factor * t.memory_ps) for t in graph.transfers),
    )


def _gain(given: Input, method: str, schedules: Sequence[PeriodicSchedule]) -> Gain:
    saved: list[list[int]] = [[] for _ in CACHES]
    cached = [0 for _ in CACHES]
    instant = 0
    for schedule in schedules:
        tasks = schedule.tasks
        placement = Placement(schedule.period_ps, schedule.engine, schedule.start_ps)
        for number, size in enumerate(CACHES):
            allocation = allocate_transfers(tasks, placement, size)
            saved[number].append(schedule.prologue_periods - allocation.prologue)
            cached[number] += len(allocation.cached)
        none = replace(
            tasks, transfers=tuple(replace(t, memory_ps=0, cache_ps=0) for t in tasks.transfers)
        )
        instant += schedule.prologue_periods - max(
            least_ahead(none, distances(none, placement, ()))
        )
    return Gain(
        parts=given.parts,
        slower=given.slower,
        method=method,
        cells=len(schedules),
        prologue_periods=sum(schedule.prologue_periods for schedule in schedules),
        cells_shorter=tuple(sum(periods > 0 for periods in of) for of in saved),
        periods_saved=tuple(sum(of) for of in saved),
        transfers_cached=tuple(cached),
        periods_saved_instant=instant,
        longest_transfer=max(
            max(transfer.memory_ps for transfer in schedule.graph.transfers) / schedule.period_ps
            for schedule in schedules
        ),
    )

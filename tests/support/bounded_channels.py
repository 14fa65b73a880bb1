"""The throughput of a graph whose channels have given capacities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paretosoc.sdf.analysis.buffers import BoundedGraph
from paretosoc.sdf.analysis.throughput import Throughput
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.rates import PerPhase


def bounded_throughput(
    graph: SdfGraph, times: Mapping[str, PerPhase], capacities: Sequence[int]
) -> Throughput | None:
    """Return the self-timed throughput, or None if it deadlocks. Capacities that the graph itself
    states are ignored."""
    bounded = BoundedGraph(graph, times)
    return bounded.throughput(bounded.ratio(tuple(capacities)))

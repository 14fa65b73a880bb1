"""Smallest buffers: without deadlock, for a throughput, and the trade-off between the two.

Throughput never falls when a capacity grows, and only growing a channel on the critical cycle can
raise it. Best-first search over the sizes of distributions that follows these storage dependencies
is therefore exact (Stuijk, Geilen and Basten, DAC 2006). If it would take more than some seconds,
the result of a heuristic stands: capacities that suffice for a periodic schedule, each then lowered
by bisection as far as the throughput, recomputed exactly each time, allows. No single channel of it
can be smaller, unless the graph is so large that even this takes too long. The search has
meanwhile proved a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from paretosoc.sdf.analysis.buffers import BoundedGraph, StorageDistribution, capacity_step
from paretosoc.sdf.analysis.repetition import check_live
from paretosoc.sdf.analysis.throughput import Throughput, self_timed_throughput
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.graph import SdfGraph
from paretosoc.sdf.rates import PerPhase

MAX_DISTRIBUTIONS = 5_000
MAX_FIRINGS = 3_000_000
"""The number of distributions that an exact search tries, and of the firings of all of their
iterations together."""

MAX_WORK = 1_000_000_000
"""``BoundedGraph.work`` from which on no more capacities are tried."""


@dataclass(frozen=True)
class SmallestBuffers:
    """A distribution, and how close to the smallest one it provably is."""

    distribution: StorageDistribution
    lower_bound: int
    """No distribution with the throughput asked for has fewer tokens."""
    tried: int
    """Distributions whose throughput was computed by the exact search."""

    @property
    def exact(self) -> bool:
        """Return whether no smaller distribution exists."""
        return self.distribution.tokens == self.lower_bound


@dataclass(frozen=True)
class TradeOff:
    """Throughput over size: the Pareto points, in order of growing size and throughput."""

    points: tuple[StorageDistribution, ...]
    complete: bool
    """Whether the last point has the throughput of unbounded buffers. If not, the points are still
    exact, but larger ones are missing."""
    tried: int


def deadlock_free_buffers(graph: SdfGraph) -> SmallestBuffers:
    """Return the smallest capacities with which the graph can run forever.

    The throughput of the result is computed with all execution times 1, without auto-concurrency.

    Raises:
        GraphError: if the graph is inconsistent, deadlocks even with unbounded buffers, or has
            too many firings.
    """
    check_live(graph)
    times: dict[str, PerPhase] = {actor.name: 1 for actor in graph.actors}
    bounded = BoundedGraph(graph, times)
    # No cycle of a live graph takes longer than all firings one after another.
    goal = Fraction(max(1, bounded.work_per_iteration))
    return _smallest(bounded, goal)


def buffers_for_throughput(
    graph: SdfGraph, times: Mapping[str, PerPhase], throughput: Fraction | None = None
) -> SmallestBuffers:
    """Return the smallest capacities with which the graph runs at least this fast.

    Args:
        times: time of one firing, by actor.
        throughput: iterations per time unit. None asks for the throughput of unbounded buffers.

    Raises:
        GraphError: if the throughput is not positive or more than unbounded buffers allow, or as
            ``self_timed_throughput`` does.
    """
    most = self_timed_throughput(graph, times)
    check_live(graph)
    goal = most.period
    if throughput is not None:
        if throughput <= 0:
            raise GraphError(f"graph {graph.name!r}: a throughput must be > 0, got {throughput}")
        goal = 1 / throughput
        if goal < most.period:
            raise GraphError(
                f"graph {graph.name!r}: no buffers give {throughput} iterations per time unit; "
                f"the most is {most.iterations}"
            )
    if not goal:  # No firing takes any time.
        return deadlock_free_buffers(graph)
    bounded = BoundedGraph(graph, times)
    return _smallest(bounded, goal)


def throughput_buffer_trade_off(graph: SdfGraph, times: Mapping[str, PerPhase]) -> TradeOff:
    """Return every size at which a larger throughput becomes possible, with one distribution each.

    It ends at the throughput of unbounded buffers, or after some seconds.

    Raises:
        GraphError: as ``buffers_for_throughput`` does, apart from its throughput.
    """
    most = self_timed_throughput(graph, times)
    check_live(graph)
    bounded = BoundedGraph(graph, times)
    search = _BestFirst(bounded)
    search.push(tuple(bounded.smallest))
    budget = _budget(bounded)
    points: list[tuple[int, StorageDistribution]] = []
    best: Fraction | None = None
    while search.waiting and search.tried < budget and bounded.work < MAX_WORK:
        size, capacities = search.pop()
        ratio = bounded.ratio(capacities)
        if ratio.period is not None and (best is None or ratio.period < best):
            best = ratio.period
            throughput = bounded.throughput(ratio) or Throughput(ratio.period)
            # The first of a size need not be its fastest.
            if points and points[-1][0] == size:
                points.pop()
            points.append((size, StorageDistribution(capacities, throughput)))
        if best == most.period:
            break
        for grown in search.successors(capacities, bounded.growth(ratio)):
            search.push(grown)
    return TradeOff(
        tuple(point for _, point in points),
        complete=best is not None and best == most.period,
        tried=search.tried,
    )


class _BestFirst:
    """Distributions by size, each once."""

    def __init__(self, bounded: BoundedGraph) -> None:
        self._bounded = bounded
        self._heap: list[tuple[int, tuple[int, ...]]] = []
        self._seen: set[tuple[int, ...]] = set()
        self.tried = 0

    @property
    def waiting(self) -> bool:
        return bool(self._heap)

    @property
    def smallest(self) -> int:
        """Return the size of the next distribution."""
        return self._heap[0][0]

    def push(self, capacities: tuple[int, ...]) -> None:
        if capacities not in self._seen:
            self._seen.add(capacities)
            heappush(self._heap, (sum(capacities), capacities))

    def pop(self) -> tuple[int, tuple[int, ...]]:
        self.tried += 1
        return heappop(self._heap)

    def successors(
        self, capacities: tuple[int, ...], growth: Mapping[int, int]
    ) -> Iterator[tuple[int, ...]]:
        for channel, more in growth.items():
            grown, limit = capacities[channel] + more, self._bounded.limits[channel]
            if limit is None or grown <= limit:
                yield (*capacities[:channel], grown, *capacities[channel + 1 :])


def _smallest(bounded: BoundedGraph, goal: Fraction) -> SmallestBuffers:
    """Return the smallest distribution with a period of at most ``goal`` > 0, which unbounded
    buffers reach."""
    known = list(bounded.smallest)
    if not _reaches(bounded, known, goal):
        start = bounded.sufficient_capacities(goal)
        if start is None:
            raise AssertionError("the largest buffers reach the goal")
        if not _reaches(bounded, start, goal):
            raise AssertionError("a periodic schedule is never faster than self-timed execution")
        known = _lowered(bounded, start, goal)
    least = _necessary(bounded, known, goal)
    size = sum(known)
    search = _BestFirst(bounded)
    search.push(tuple(least))
    budget = _budget(bounded)
    # Sizes come in growing order, so the next one is a lower bound on all that are left.
    lower_bound = search.smallest
    while lower_bound < size and search.tried < budget and bounded.work < MAX_WORK:
        _, capacities = search.pop()
        ratio = bounded.ratio(capacities, at_least=goal)
        if ratio.period == goal:
            known, size = list(capacities), lower_bound
            break
        for grown in search.successors(capacities, bounded.growth(ratio)):
            search.push(grown)
        lower_bound = min(size, search.smallest)
    throughput = bounded.throughput(bounded.ratio(known))
    if throughput is None:
        raise AssertionError("the distribution was found to be live")
    return SmallestBuffers(StorageDistribution(tuple(known), throughput), lower_bound, search.tried)


def _lowered(bounded: BoundedGraph, start: list[int], goal: Fraction) -> list[int]:
    """Lower one capacity after the other, the one with most to gain first. One pass is enough: a
    capacity that could not be lowered cannot be lowered after others have become smaller either."""
    capacities = list(start)
    gain = [capacity - least for capacity, least in zip(start, bounded.smallest, strict=True)]
    order = sorted((n for n in bounded.bounded if gain[n]), key=lambda n: (-gain[n], n))
    _lower(bounded, capacities, order, start, capacities, goal, MAX_WORK // 2)
    return capacities


def _necessary(bounded: BoundedGraph, known: list[int], goal: Fraction) -> list[int]:
    """Return a lower bound on each channel's capacity: its need if all others are unlimited."""
    least = list(bounded.smallest)
    open_ones = [n for n in bounded.bounded if known[n] > least[n]]
    _lower(bounded, bounded.limits, open_ones, known, least, goal, MAX_WORK * 3 // 4)
    return least


def _lower(
    bounded: BoundedGraph,
    capacities: Sequence[int | None],
    group: list[int],
    high: Sequence[int],
    found: list[int],
    goal: Fraction,
    max_work: int,
) -> None:
    """Enter into ``found``, which may be ``capacities``, the smallest capacity of each channel of
    ``group`` that reaches the goal beside ``capacities``. Those of ``high`` do. The smallest of the
    whole group are tried first, then each half."""
    if not group or bounded.work > max_work:
        return
    trial = list(capacities)
    for number in group:
        trial[number] = bounded.smallest[number]
    if _reaches(bounded, trial, goal):
        for number in group:
            found[number] = bounded.smallest[number]
    elif len(group) == 1:
        (number,) = group
        step = capacity_step(bounded.graph.channels[number])
        low, enough = bounded.smallest[number] + step, high[number]
        while low < enough:
            middle = low + (enough - low) // step // 2 * step
            trial[number] = middle
            if _reaches(bounded, trial, goal):
                enough = middle
            else:
                low = middle + step
        found[number] = enough
    else:
        half = len(group) // 2
        for part in (group[:half], group[half:]):
            _lower(bounded, capacities, part, high, found, goal, max_work)


def _reaches(bounded: BoundedGraph, capacities: Sequence[int | None], goal: Fraction) -> bool:
    return bounded.ratio(capacities, at_least=goal).period == goal


def _budget(bounded: BoundedGraph) -> int:
    """Return the number of distributions that keeps a search within seconds."""
    return min(MAX_DISTRIBUTIONS, MAX_FIRINGS // max(1, bounded.firings.firings))

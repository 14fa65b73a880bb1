"""Transfers kept in caches: the choice with the least prologue (Mobile-I III.C, end)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from paretosoc.dse.papers.mobile_i.periodic import TaskGraph
from paretosoc.dse.papers.mobile_i.schedule.placement import Placement, distances, least_ahead


def overflowing(
    graph: TaskGraph,
    placement: Placement,
    ahead: Sequence[int],
    cached: Collection[int],
    cache_bytes: int,
) -> list[int]:
    """Return the cached transfers that hold data while a cache is at its highest level, above its
    size.

    Data lies in the cache of its source's engine from d_i to d_j, r(i) - r(j) periods later. Data
    that lies there longer than a period overlaps with that of the next frames. Empty if all fits.
    """
    period = placement.period_ps
    # Per engine, at the begin of the period until the changes are applied.
    level: dict[int, int] = defaultdict(int)
    changes: list[tuple[int, int, int]] = []
    stays: list[tuple[int, int, int, int, int]] = []
    for number in sorted(cached):
        edge = graph.transfers[number]
        end = placement.start_ps[edge.source] + graph.tasks[edge.source].time_ps
        last = placement.start_ps[edge.target] + graph.tasks[edge.target].time_ps
        whole, part = divmod(
            last - end + (ahead[edge.source] - ahead[edge.target]) * period, period
        )
        engine, size, begin = placement.engine[edge.source], edge.size_bytes, end % period
        level[engine] += whole * size
        if part > 0:
            # An interval across the period's end starts at 0, too.
            level[engine] += size if begin + part >= period else 0
            changes += [(engine, begin, size), (engine, (begin + part) % period, -size)]
        stays.append((number, engine, begin, whole, part))
    changes += [(engine, 0, 0) for engine in level]
    # Releases sort before additions at the same instant.
    changes.sort()
    worst, place, moment = cache_bytes, -1, 0
    for engine, at, change in changes:
        level[engine] += change
        if level[engine] > worst:
            worst, place, moment = level[engine], engine, at
    return [
        number
        for number, engine, begin, whole, part in stays
        if engine == place and (whole > 0 or (moment - begin) % period < part)
    ]


MAX_VISITS = 64


@dataclass(frozen=True)
class Allocation:
    """Cached transfers, the periods ahead that they allow, and whether no choice has less."""

    cached: frozenset[int]
    ahead: tuple[int, ...]
    is_least: bool

    @property
    def prologue(self) -> int:
        """Return max r."""
        return max(self.ahead)


class _Recursion:
    def __init__(self, graph: TaskGraph, placement: Placement, cache_bytes: int) -> None:
        self._graph, self._placement, self._cache = graph, placement, cache_bytes
        self._visits = 0
        slow = distances(graph, placement, ())
        fast = distances(graph, placement, range(len(graph.transfers)))
        self.candidates = [
            number
            for number in sorted(range(len(slow)), key=lambda n: -graph.transfers[n].target)
            if fast[number] < slow[number] and graph.transfers[number].size_bytes <= cache_bytes
        ]
        self.best = Allocation(frozenset(), tuple(self._ahead(())), False)
        self.complete = True

    def _ahead(self, cached: Iterable[int]) -> list[int]:
        chosen = frozenset(cached)
        return least_ahead(self._graph, distances(self._graph, self._placement, chosen))

    def _offer(self, cached: frozenset[int], ahead: list[int]) -> None:
        if max(ahead) < self.best.prologue:
            self.best = Allocation(cached, tuple(ahead), False)

    def repair(self) -> None:
        """Try all candidates, less the largest at each overflow until the rest fits."""
        cached = set(self.candidates)
        while True:
            ahead = self._ahead(cached)
            if max(ahead) >= self.best.prologue:
                return
            full = overflowing(self._graph, self._placement, ahead, cached, self._cache)
            if not full:
                self._offer(frozenset(cached), ahead)
                return
            cached.remove(max(full, key=lambda n: (self._graph.transfers[n].size_bytes, n)))

    def visit(self, place: int, chosen: frozenset[int]) -> None:
        """Try both ways for each candidate. End if even all that are left would not gain."""
        open_set = chosen.union(self.candidates[place:])
        ahead = self._ahead(open_set)
        if max(ahead) >= self.best.prologue:
            return
        self._visits += 1
        if self._visits > MAX_VISITS:
            self.complete = False
            return
        if not overflowing(self._graph, self._placement, ahead, open_set, self._cache):
            self._offer(open_set, ahead)
            return
        if place < len(self.candidates):
            self.visit(place + 1, chosen | {self.candidates[place]})
            self.visit(place + 1, chosen)


def allocate_transfers(graph: TaskGraph, placement: Placement, cache_bytes: int) -> Allocation:
    """Return the transfers to cache and the least r that they allow, for a given placement.

    Only those are candidates that a faster transfer brings a period closer and that fit into a
    cache. The paper says "recursively visiting the solution with the minimum prologue": here each
    candidate is taken or left, sinks first. A branch ends if all of its candidates together would
    not beat the best (a faster transfer never lengthens the prologue). The paper does not say how
    much data a cached transfer holds in which cache: see
    :class:`dse.papers.mobile_i.periodic.PeriodicSchedule`. Beyond ``MAX_VISITS`` branches the best
    so far is kept, and ``is_least`` says whether that happened.
    """
    recursion = _Recursion(graph, placement, cache_bytes)
    recursion.repair()
    recursion.visit(0, frozenset())
    best = recursion.best
    return Allocation(best.cached, best.ahead, recursion.complete)


def allocate_in_order(graph: TaskGraph, placement: Placement, cache_bytes: int) -> Allocation:
    """Cache transfers in topological order, each that fits, whatever it gains.

    This is Memolution, as :func:`dse.papers.mobile_i.schedule.schedulers.memolution` reads it. Too
    many are taken back from the last on.
    """
    cached = {
        number
        for number, edge in enumerate(graph.transfers)
        if edge.cache_ps < edge.memory_ps and edge.size_bytes <= cache_bytes
    }
    while True:
        ahead = least_ahead(graph, distances(graph, placement, cached))
        full = overflowing(graph, placement, ahead, cached, cache_bytes)
        if not full:
            return Allocation(frozenset(cached), tuple(ahead), False)
        cached -= set(full[len(full) // 2 :])

"""Algorithm III.2: tasks change their order inside the period, to make the prologue shorter."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction

from paretosoc.dse.papers.mobile_i.periodic import TaskGraph
from paretosoc.dse.papers.mobile_i.schedule.placement import Placement

ALPHA = Fraction(8, 10)
"""Tasks longer than alpha c_max are critical (III.C)."""


@dataclass
class _Interval:
    """An interval [l, r] of an engine's period and the tasks in it that have no place yet."""

    left_ps: int
    right_ps: int
    undetermined: list[int]


class Reallocation:
    """The state of Algorithm III.2: places found so far, the periods ahead, moving intervals.

    Every task stays on its engine, so the period does not change. The moving interval of a task is
    the interval between placed tasks in which it lies. Its undetermined tasks always fit into it.
    """

    def __init__(self, graph: TaskGraph, placement: Placement) -> None:
        self._graph, self._placement = graph, placement
        self._time = [task.time_ps for task in graph.tasks]
        count = len(self._time)
        self._start: list[int | None] = [None] * count
        self._ahead = [0] * count
        self._into: list[list[int]] = [[] for _ in range(count)]
        self._out: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for edge in graph.transfers:
            self._into[edge.target].append(edge.source)
            self._out[edge.source].append((edge.target, edge.memory_ps))
        whole: dict[int, _Interval] = {}
        for number, engine in enumerate(placement.engine):
            if engine not in whole:
                whole[engine] = _Interval(0, placement.period_ps, [])
            whole[engine].undetermined.append(number)
        self._interval = [whole[engine] for engine in placement.engine]

    def run(self, critical: list[int]) -> Placement:
        """Traverse from each of ``critical``, in order, then from the tasks that they did not
        reach."""
        rest = range(len(self._time) - 1, -1, -1)
        for number in (*critical, *rest):
            if self._start[number] is None:
                self._traverse(number)
        starts = tuple(start for start in self._start if start is not None)
        return Placement(self._placement.period_ps, self._placement.engine, starts)

    def _traverse(self, critical: int) -> None:
        """Diffuse from a critical task to its predecessors (Fig. 3), last ones first. One that has
        a place keeps it ("only records"): ``least_ahead`` brings its r up to date."""
        waiting = [-critical]
        seen = {critical}
        while waiting:
            number = -heapq.heappop(waiting)
            self._update_node(number)
            for source in self._into[number]:
                if source not in seen and self._start[source] is None:
                    seen.add(source)
                    heapq.heappush(waiting, -source)

    def _update_node(self, number: int) -> None:
        """Run UpdateNode(T_i, T_j) for the placed successor T_j that needs the earliest end. As in
        the text, whose cases the pseudo-code exchanges: if T_i fits in front of T_j, c_ij away
        (case 3), it ends there as late as its neighbours allow (line 6), else (cases 1 and 2) at
        the end of its moving interval, a period earlier (lines 8 and 9). Dis_ij is the most that
        the moving interval allows, as tasks around T_i have moved."""
        period = self._placement.period_ps
        interval = self._interval[number]
        deadlines = [
            start - self._ahead[target] * period - time
            for target, time in self._out[number]
            if (start := self._start[target]) is not None
        ]
        if not deadlines:
            self._settle(number, interval, interval.right_ps, [])
            return
        periods, latest = divmod(min(deadlines), period)
        self._ahead[number] = max(0, -periods)
        if interval.right_ps <= latest:
            self._settle(number, interval, interval.right_ps, [])
            return
        place = self._as_late_as(number, interval, latest)
        if place is None:
            self._ahead[number] = max(0, 1 - periods)
            place = (interval.right_ps, [])
        self._settle(number, interval, *place)

    def _as_late_as(
        self, number: int, interval: _Interval, latest: int
    ) -> tuple[int, list[int]] | None:
        """Return an end of T_i up to ``latest`` and V_unselect behind it (line 5), or None. Tasks
        go behind longest first, as many as fit, then the shortest of the others until the rest fits
        in front."""
        room = latest - self._time[number] - interval.left_ps
        if room < 0:
            return None
        others = sorted(
            (task for task in interval.undetermined if task != number),
            key=lambda task: (-self._time[task], task),
        )
        behind: list[int] = []
        before: list[int] = []
        space = interval.right_ps - latest
        for task in others:
            if self._time[task] <= space:
                behind.append(task)
                space -= self._time[task]
            else:
                before.append(task)
        left = sum(self._time[task] for task in before)
        end = latest
        while left > end - self._time[number] - interval.left_ps:
            task = before.pop()
            behind.append(task)
            left -= self._time[task]
            end = min(end, interval.right_ps - sum(self._time[other] for other in behind))
            if end - self._time[number] < interval.left_ps:
                return None
        return end, behind

    def _settle(self, number: int, interval: _Interval, end: int, behind: list[int]) -> None:
        """End T_i at ``end``, and split its interval into the parts in front and behind."""
        self._start[number] = end - self._time[number]
        after = set(behind)
        right = _Interval(end, interval.right_ps, sorted(behind))
        for task in behind:
            self._interval[task] = right
        interval.right_ps = end - self._time[number]
        interval.undetermined = [
            task for task in interval.undetermined if task != number and task not in after
        ]


def critical_tasks(graph: TaskGraph, alpha: Fraction = ALPHA) -> list[int]:
    """Return the V_c-set: tasks longer than alpha c_max, longest first, then the last in
    topological order."""
    limit = alpha * graph.longest_ps
    found = [n for n, task in enumerate(graph.tasks) if task.time_ps > limit]
    return sorted(found, key=lambda number: (-graph.tasks[number].time_ps, -number))


def reallocate(graph: TaskGraph, placement: Placement) -> Placement:
    """Run Algorithm III.2 with the traversal from critical tasks. Engines and period stay the same.

    Transfers count with their time through the memory: caches are given out afterwards.
    """
    return Reallocation(graph, placement).run(critical_tasks(graph))

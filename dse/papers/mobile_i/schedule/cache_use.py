"""How full the caches are in the steady state of a periodic schedule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from paretosoc.dse.papers.mobile_i.periodic import TaskGraph
from paretosoc.dse.papers.mobile_i.schedule.placement import Placement


def overflowing(
    graph: TaskGraph,
    placement: Placement,
    ahead: Sequence[int],
    cached: Collection[int],
    cache_bytes: int,
) -> list[int]:
    """Cached transfers that hold data where and when a cache has its highest level, above its size.

    Data lies in the cache of its source's engine from d_i to d_j, r(i) - r(j) periods later; what
    lies there longer than a period overlaps with that of the next frames. Empty if all fits.
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
    # Releases sort before what comes at the same instant.
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

"""How full the caches are in the steady state of a periodic schedule."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from dse.mobile_i.placement import Placement
from results.task_graph import TaskGraph


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
    if not cached:
        return []
    numbers = np.array(sorted(cached), dtype=np.int64)
    edges = [graph.transfers[number] for number in numbers]
    period = placement.period_ps
    source = np.array([edge.source for edge in edges])
    target = np.array([edge.target for edge in edges])
    size = np.array([edge.size_bytes for edge in edges], dtype=np.int64)
    ends = np.array(placement.start_ps, dtype=np.int64) + np.array(
        [task.time_ps for task in graph.tasks], dtype=np.int64
    )
    periods = np.array(ahead, dtype=np.int64)
    engine = np.array(placement.engine)[source]
    length = ends[target] - ends[source] + (periods[source] - periods[target]) * period
    whole, part = np.divmod(length, period)
    base = np.zeros(int(engine.max()) + 1, dtype=np.int64)
    np.add.at(base, engine, whole * size)
    begin = ends[source] % period
    finish = (begin + part) % period
    # A stretch over the period's end is there from 0, too.
    wraps = (part > 0) & (begin + part >= period)
    np.add.at(base, engine[wraps], size[wraps])
    some = part > 0
    at = np.concatenate([begin[some], finish[some]])
    where = np.concatenate([engine[some], engine[some]])
    change = np.concatenate([size[some], -size[some]])
    order = np.lexsort((change, at, where))
    level = base[where[order]] + np.cumsum(change[order])
    worst = int(np.argmax(level)) if len(level) else -1
    if len(level) and level[worst] > cache_bytes:
        place, moment = int(where[order][worst]), int(at[order][worst])
    elif (base > cache_bytes).any():
        place, moment = int(np.argmax(base)), 0
    else:
        return []
    inside = (whole > 0) | ((moment - begin) % period < part)
    return [int(number) for number in numbers[(engine == place) & inside]]

"""Optima of periodic schedules of small graphs, by Z3."""

from __future__ import annotations

from typing import Any

from paretosoc.dse.papers.mobile_i.periodic import TaskGraph


def least_period(graph: TaskGraph, engines: int, *, time_limit_s: float = 10.0) -> int | None:
    """The least period of all placements, dependences left to retiming; None when time is up.

    Which engine runs what is all that counts: the largest load is made as small as possible.
    """
    import z3

    optimiser: Any = z3.Optimize()
    optimiser.set("timeout", int(1000 * time_limit_s))
    period = z3.Int("period")
    place = [
        [z3.Bool(f"on_{task}_{engine}") for engine in range(engines)]
        for task in range(len(graph.tasks))
    ]
    for number, row in enumerate(place):
        optimiser.add(z3.PbEq([(on, 1) for on in row], 1))
        # Engines are alike: task i is on one of the first i + 1.
        optimiser.add(*(z3.Not(on) for on in row[number + 1 :]))
    for engine in range(engines):
        load = [z3.If(row[engine], t.time_ps, 0) for row, t in zip(place, graph.tasks, strict=True)]
        optimiser.add(z3.Sum(load) <= period)
    optimiser.minimize(period)
    if optimiser.check() != z3.sat:
        return None
    return int(optimiser.model()[period].as_long())


def least_prologue(
    graph: TaskGraph,
    engines: int,
    period_ps: int,
    *,
    cached: bool = False,
    time_limit_s: float = 10.0,
) -> int | None:
    """The least max r of all placements with that period; None when time is up or there is none.

    Args:
        cached: every transfer takes its time within the cache, else that through the memory: a
            bound from below for any allocation of caches, or the optimum without caches.
    """
    import z3

    optimiser: Any = z3.Optimize()
    optimiser.set("timeout", int(1000 * time_limit_s))
    count = len(graph.tasks)
    engine = [z3.Int(f"engine_{task}") for task in range(count)]
    start = [z3.Int(f"start_{task}") for task in range(count)]
    ahead = [z3.Int(f"ahead_{task}") for task in range(count)]
    deepest = z3.Int("deepest")
    times = [task.time_ps for task in graph.tasks]
    for task in range(count):
        optimiser.add(engine[task] >= 0, engine[task] < min(engines, task + 1))
        optimiser.add(start[task] >= 0, start[task] + times[task] <= period_ps)
        optimiser.add(ahead[task] >= 0, ahead[task] <= deepest)
        for other in range(task):
            optimiser.add(
                z3.Or(
                    engine[task] != engine[other],
                    start[task] + times[task] <= start[other],
                    start[other] + times[other] <= start[task],
                )
            )
    for edge in graph.transfers:
        time = edge.cache_ps if cached else edge.memory_ps
        end = start[edge.source] + times[edge.source]
        apart = (ahead[edge.source] - ahead[edge.target]) * period_ps
        optimiser.add(end + time <= start[edge.target] + apart)
    optimiser.minimize(deepest)
    if optimiser.check() != z3.sat:
        return None
    return int(optimiser.model()[deepest].as_long())

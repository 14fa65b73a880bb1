"""A simulator of one frame with any times, which keeps an order or takes the first group that is
ready.

A third program beside the compiled simulator and the checker: it reads the problem alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paretosoc.results.problem.execution import GROUP, SHARED
from paretosoc.results.problem.problem import DesignPoint, Problem

Run = tuple[int, int]
"""A repeat, from 1, and a group."""
FULL = 1 << 16


@dataclass
class Engine:
    """Groups that run back to back on a unit, one if the unit takes groups."""

    queue: tuple[int, int]
    network: int
    runs: list[Run]
    inputs: list[tuple[Run, int]] = field(default_factory=list)
    """Runs whose results it reads from elsewhere, and how long each takes to come."""
    release_ps: int = 0
    at: int = 0
    """The group that runs."""
    left: int = 0


@dataclass(frozen=True)
class Played:
    """Starts and ends by repeat and group, and the order in which engines started."""

    start: dict[Run, int]
    end: dict[Run, int]
    order: tuple[Run, ...]
    """First runs of the engines."""


def stand_alone_ps(problem: Problem, design: DesignPoint) -> dict[Run, int]:
    """Return the time of every group in every repeat."""
    times, moving = {}, problem.moving_ps(design.units).tolist()
    for g in range(problem.group_count):
        unit, at = design.place_of(problem, g)
        for repeat in range(problem.networks[problem.network_of[g]].repeats):
            time = int(unit.time_ps[at]) + repeat * int(unit.steps_ps[at])
            times[repeat + 1, g] = time + moving[g]
    return times


def play(
    problem: Problem,
    design: DesignPoint,
    times: Mapping[Run, int],
    order: Sequence[Run] | None = None,
    late_ps: Mapping[tuple[int, int], int] | None = None,
) -> Played:
    """Simulate one frame.

    Args:
        times: stand-alone times.
        order: first runs of the engines. Each queue keeps this order. None: first come, first
            served.
        late_ps: how late releases are, by network and repeat, from 1.
    """
    engines = _engines(problem, design, late_ps or {})
    priorities = problem.group_priorities(design).tolist()
    place = {run: k for k, run in enumerate(order or ())}
    waiting = dict(enumerate(engines))
    running: dict[tuple[int, int], Engine] = {}
    start: dict[Run, int] = {}
    end: dict[Run, int] = {}
    left: dict[Run, int] = {}
    """When results leave their unit."""
    started: list[Run] = []
    now = 0
    while waiting or running:
        later = []
        for queue in {engine.queue for engine in waiting.values()} - set(running):
            own = [(k, engine) for k, engine in waiting.items() if engine.queue == queue]
            if order is not None:
                own = [min(own, key=lambda entry: place[entry[1].runs[0]])]
            free = []
            for k, engine in own:
                if all(source in left for source, _ in engine.inputs):
                    come = [left[source] + delay for source, delay in engine.inputs]
                    ready = max([engine.release_ps, *come])
                    if ready > now:
                        later.append(ready)
                    else:
                        free.append((priorities[engine.runs[0][1]], ready, k))
            if free:
                k = min(free)[2]
                engine = running[queue] = waiting.pop(k)
                engine.left = times[engine.runs[0]] * FULL
                started.append(engine.runs[0])
                start[engine.runs[0]] = now
        rates = {queue: _rate(problem, design, running, queue) for queue in running}
        instants = [now - (-engine.left // rates[queue]) for queue, engine in running.items()]
        then = min([*later, *instants])
        for queue, engine in list(running.items()):
            engine.left -= rates[queue] * (then - now)
            if engine.left <= 0:
                end[engine.runs[engine.at]] = then
                engine.at += 1
                if engine.at < len(engine.runs):
                    engine.left = times[engine.runs[engine.at]] * FULL
                    start[engine.runs[engine.at]] = then
                else:
                    left.update(dict.fromkeys(engine.runs, then))
                    del running[queue]
        now = then
    return Played(start, end, tuple(started))


def _rate(
    problem: Problem,
    design: DesignPoint,
    running: Mapping[tuple[int, int], Engine],
    queue: tuple[int, int],
) -> int:
    demands: dict[int, list[int]] = {}
    for (unit, _), engine in running.items():
        group = engine.runs[engine.at][1]
        on, at = design.place_of(problem, group)
        demand = int(on.demand_kbps[at])
        demands.setdefault(unit, []).append(demand)
        if engine is running[queue]:
            own = demand
    others = sum(max(of) for unit, of in demands.items() if unit != queue[0])
    shared, count = problem.units[queue[0]], len(demands[queue[0]])
    rate = FULL - _loss(problem, design, queue[0], own, others)
    if count > 1:
        share = FULL * 1000 // (count * (1000 + shared.sharing_permille))
        rate = max(1, rate * share // FULL)
    return rate


def _loss(problem: Problem, design: DesignPoint, u: int, own: int, others: int) -> int:
    table, memory = problem.units[u].contention, problem.memory_domain
    if table is None or not others:
        return 0
    point = 0 if memory is None else int(design.operating_points[memory])
    at = {name: int(column[point]) for name, column in table.columns.items()}
    loss = -(-min(others, at["peak_kbps"]) * at["minor_num"] // at["minor_den"])
    span = own + at["balance_kbps"] - at["total_kbps"]
    if own >= at["normal_kbps"] and span > 0:
        if own < at["total_kbps"]:
            over = min(max(own + others - at["total_kbps"], 0), span)
            heavy = -(-over * at["proportional_num"] // at["proportional_den"])
        else:
            product = span * min(others, at["balance_kbps"]) * at["intensive_num"]
            heavy = -(-product // at["intensive_den"])
        loss = max(loss, heavy)
    if own + others > at["memory_kbps"]:
        excess = own + others - at["memory_kbps"]
        loss = max(loss, -(-excess * FULL // (own + others)))
    return min(loss, 62260)


def _engines(
    problem: Problem, design: DesignPoint, late_ps: Mapping[tuple[int, int], int]
) -> list[Engine]:
    """Return all engines, by network, repeat and group."""
    units: list[int] = design.units.tolist()
    engines: list[Engine] = []
    of_run: dict[Run, Engine] = {}
    for n, network in enumerate(problem.networks):
        for repeat in range(1, network.repeats + 1):
            for g in network.groups:
                unit = problem.units[units[g]]
                before = of_run.get((repeat, g - 1))
                if (
                    before is not None
                    and before.network == n
                    and unit.dispatch != GROUP
                    and units[g - 1] == units[g]
                ):
                    before.runs.append((repeat, g))
                    of_run[repeat, g] = before
                    continue
                queue = problem.unit_of[units[g]], n if unit.dispatch == SHARED else -1
                engines.append(Engine(queue, n, [(repeat, g)]))
                of_run[repeat, g] = engines[-1]
    for (repeat, g), engine in of_run.items():
        n = engine.network
        network = problem.networks[n]
        edges = [e for e, (_, target) in enumerate(problem.edges) if target == g]
        for e in edges:
            source = problem.edges[e][0]
            if of_run[repeat, source] is not engine:
                delay = int(problem.delay_ps[e, units[source], units[g]])
                engine.inputs.append(((repeat, source), delay))
        if not edges:
            engine.inputs += [
                ((end, other), 0)
                for m, end in problem.awaited(n, repeat)
                for other in problem.networks[m].groups
            ]
            if repeat == 1 or network.paced:
                ready = problem.ready_ps(n, repeat - 1) + late_ps.get((n, repeat), 0)
                engine.release_ps = max(engine.release_ps, ready)
        for h, (source, target) in enumerate(problem.handovers):
            if target == g and repeat == 1:
                last = problem.networks[problem.network_of[source]].repeats
                delay = int(problem.handovers_ps[h, units[source], units[g]])
                engine.inputs.append(((last, source), delay))
    return engines

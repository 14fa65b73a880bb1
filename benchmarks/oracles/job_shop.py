"""The contention-free sibling of a problem, given to OR-tools CP-SAT: bounds, and a peer in speed.

A job shop with alternatives: every group is one interval on one of its units, in its smallest
stand-alone time over the operating points. A unit runs one at a time, and an edge between units
passes a transition. It is another problem than the timeline's, and an easier one: nothing slows
anything down, and any order may be chosen, idling included, while the timeline takes the first
group that is ready.
"""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretosoc.common.units import PS_PER_NS
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True)
class JobShopResult:
    """``optimum_ps`` is None if the search was ended. ``bound_ps`` holds in any case."""

    optimum_ps: int | None
    bound_ps: int
    seconds: float


def has_solver() -> bool:
    """Return whether OR-tools is there (the extra ``benchmarks``)."""
    try:
        importlib.import_module("ortools.sat.python.cp_model")
    except ImportError:
        return False
    return True


def solve_job_shop(problem: Problem, *, time_limit_s: float) -> JobShopResult:
    """Find the smallest makespan without contention, in whole nanoseconds.

    Times are rounded down, so that bounds stay bounds. Model building counts. There is one worker.

    Raises:
        ImportError: if OR-tools is missing.
        ValueError: on repeats, which this model leaves out.
    """
    for network in problem.networks:
        if network.repeats > 1:
            raise ValueError(f"{network.name}: repeats are not in this model")
    cp_model: Any = importlib.import_module("ortools.sat.python.cp_model")
    began = time.perf_counter()
    model = cp_model.CpModel()
    alone = _smallest_times(problem) // PS_PER_NS
    delay = problem.transition_ps // PS_PER_NS
    slowest = np.where(problem.allowed, alone, 0).max(axis=1).sum()
    horizon = int(slowest + delay.max(axis=(1, 2), initial=0).sum())
    horizon += sum(network.arrival_ps for network in problem.networks) // PS_PER_NS
    starts, ends, on = [], [], []
    queues: list[list[Any]] = [[] for _ in problem.units]
    for g in range(problem.group_count):
        start, end = model.NewIntVar(0, horizon, ""), model.NewIntVar(0, horizon, "")
        chosen: dict[int, Any] = {}
        for u in np.flatnonzero(problem.allowed[g]).tolist():
            chosen[u] = model.NewBoolVar("")
            size = int(alone[g, u])
            queues[u].append(model.NewOptionalIntervalVar(start, size, end, chosen[u], ""))
        model.AddExactlyOne(chosen.values())
        starts.append(start)
        ends.append(end)
        on.append(chosen)
    for queue in queues:
        model.AddNoOverlap(queue)
    for network in problem.networks:
        for g in network.groups:
            model.Add(starts[g] >= network.arrival_ps // PS_PER_NS)
            if network.deadline_ps is not None:
                model.Add(ends[g] <= (network.arrival_ps + network.deadline_ps) // PS_PER_NS)
            for other in network.waits_for:
                for h in problem.networks[other].groups:
                    model.Add(starts[g] >= ends[h])
        changes = []
        for e, (source, target) in enumerate(problem.edges):
            if source not in network.groups:
                continue
            model.Add(starts[target] >= ends[source])
            changed = model.NewBoolVar("")
            changes.append(changed)
            for u, from_u in on[source].items():
                for v, to_v in on[target].items():
                    if u != v:
                        model.AddBoolOr([from_u.Not(), to_v.Not(), changed])
                        passed = ends[source] + int(delay[e, u, v])
                        model.Add(starts[target] >= passed).OnlyEnforceIf([from_u, to_v])
        if network.max_transitions is not None:
            model.Add(sum(changes) <= network.max_transitions)
    for u, unit in enumerate(problem.units):
        if unit.max_segments is not None:
            segments = []
            for g in range(problem.group_count):
                if u in on[g]:
                    is_first = any(g == network.first_group for network in problem.networks)
                    before = [] if is_first or u not in on[g - 1] else [on[g - 1][u]]
                    segments.append(model.NewBoolVar(""))
                    model.AddBoolOr([on[g][u].Not(), segments[-1], *before])
            model.Add(sum(segments) <= unit.max_segments)
    makespan = model.NewIntVar(0, horizon, "")
    model.AddMaxEquality(makespan, ends)
    model.Minimize(makespan)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = time_limit_s
    optimal = solver.Solve(model) == cp_model.OPTIMAL
    return JobShopResult(
        optimum_ps=round(solver.ObjectiveValue()) * PS_PER_NS if optimal else None,
        bound_ps=int(np.ceil(solver.BestObjectiveBound())) * PS_PER_NS,
        seconds=time.perf_counter() - began,
    )


def _smallest_times(problem: Problem) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return [groups, units] ps over the allowed operating points, -1 if a unit cannot run the
    group."""
    columns = []
    for unit in problem.units:
        allowed = [np.flatnonzero(problem.domains[clock].allowed) for clock in unit.clocks]
        table = unit.time_ps[np.ix_(np.arange(problem.group_count), *allowed)]
        columns.append(table.reshape(problem.group_count, -1).min(axis=1))
    return np.stack(columns, axis=1)

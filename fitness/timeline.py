"""Latency and energy of design points, by the compiled timeline."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fitness.plan import GROUP, INSTANCE_WIDTH, JOB, JOB_WIDTH, NETWORK, Plan, make_plan
from fitness.timeline_state import (
    ALONE,
    GROUP_WIDTH,
    LOG_WIDTH,
    UNIT,
    make_chosen,
    make_state,
)
from results.problem import DesignPoint, Problem
from results.schedule import Schedule, ScheduledGroup

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What one frame alone gives, for n design points; values of impossible ones mean nothing."""

    possible: BoolArray
    """[n]: every group can run on its unit."""
    makespan_ps: IntArray
    """[n]"""
    latency_ps: IntArray
    """[n, networks]: last end minus arrival."""
    energy_fj: IntArray
    """[n]"""


@dataclass(frozen=True)
class Timeline:
    """One design point played: executions, and the instants at which frames and networks ended."""

    schedule: Schedule
    frame_end_ps: tuple[int, ...]
    latency_ps: tuple[tuple[int, ...], ...]
    """[frames][networks]"""


Evaluator = Callable[[IntArray], Evaluation]


def make_evaluator(problem: Problem, *, jobs: int = 1) -> Evaluator:
    """A function from rows [n, groups + domains] (units, then operating points) to what they give.

    Rows are shared out over ``jobs`` threads; the compiled timeline holds no lock. Each row's
    result depends on that row alone, so the number of threads changes nothing but the time taken.
    """
    from fitness.timeline_kernel import evaluate_rows

    plan = make_plan(problem)
    buffers = [
        (make_chosen(plan), make_state(plan, frames=1, in_flight=1, log=False)) for _ in range(jobs)
    ]
    pool = ThreadPoolExecutor(jobs) if jobs > 1 else None

    def evaluate(rows: IntArray) -> Evaluation:
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        n = rows.shape[0]
        out = _empty(n, plan)
        parts = np.array_split(np.arange(n), jobs) if pool is not None else [np.arange(n)]

        def run(index: int) -> None:
            if len(parts[index]):
                part = slice(int(parts[index][0]), int(parts[index][-1]) + 1)
                evaluate_rows(
                    plan,
                    rows[part],
                    *buffers[index],
                    out.possible[part],
                    out.makespan_ps[part],
                    out.latency_ps[part],
                    out.energy_fj[part],
                )

        if pool is None:
            run(0)
        else:
            list(pool.map(run, range(jobs)))
        return out

    return evaluate


def play(problem: Problem, design: DesignPoint, *, frames: int = 1, in_flight: int = 1) -> Timeline:
    """Plays ``frames`` frames, at most ``in_flight`` of them at a time, and keeps the schedule.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it.
    """
    from fitness.design_kernel import choose
    from fitness.timeline_kernel import play as play_kernel

    plan = make_plan(problem)
    chosen = make_chosen(plan)
    row = row_of(design)
    if not choose(plan, row, chosen):
        group = next(g for g in range(plan.groups) if chosen.group[g * GROUP_WIDTH + ALONE] < 0)
        raise ValueError(f"group {group} cannot run on unit {problem.units[int(row[group])].name}")
    state = make_state(plan, frames=frames, in_flight=in_flight, log=True)
    play_kernel(plan, chosen, state)
    rows = []
    for index, (ready, start, end) in enumerate(state.log.reshape(-1, LOG_WIDTH).tolist()):
        frame, instance = divmod(index, plan.instances)
        group = int(plan.instance[instance * INSTANCE_WIDTH + GROUP])
        job = int(plan.instance[instance * INSTANCE_WIDTH + JOB])
        network = int(plan.job[job * JOB_WIDTH + NETWORK])
        first = sum(other.repeats for other in problem.networks[:network])
        rows.append(
            ScheduledGroup(
                frame=frame + 1,
                network=network,
                repeat=job - first + 1,
                group=group,
                unit=int(chosen.group[group * GROUP_WIDTH + UNIT]),
                ready_ps=ready,
                start_ps=start,
                end_ps=end,
                alone_ps=int(chosen.group[group * GROUP_WIDTH + ALONE]),
            )
        )
    return Timeline(
        schedule=Schedule(tuple(rows)),
        frame_end_ps=tuple(state.frame_end.tolist()),
        latency_ps=tuple(tuple(entry) for entry in state.latency.tolist()),
    )


def row_of(design: DesignPoint) -> IntArray:
    """The design point as one row: units of the groups, then operating points of the domains."""
    return np.concatenate((design.units, design.operating_points)).astype(np.int64)


def design_of(problem: Problem, row: IntArray) -> DesignPoint:
    """The inverse of :func:`row_of`."""
    groups = problem.group_count
    return DesignPoint(row[:groups].astype(np.int64), row[groups:].astype(np.int64))


def _empty(n: int, plan: Plan) -> Evaluation:
    return Evaluation(
        possible=np.zeros(n, dtype=np.bool_),
        makespan_ps=np.zeros(n, dtype=np.int64),
        latency_ps=np.zeros((n, plan.networks), dtype=np.int64),
        energy_fj=np.zeros(n, dtype=np.int64),
    )

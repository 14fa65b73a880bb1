"""Latency and energy of design points, by the compiled timeline."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fitness.chain_state import are_two_chains, make_chains, make_lanes
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


PIPELINE_FRAMES = 12
PIPELINE_WARM_UP = 4
"""Throughput is counted from the end of frame 4 to the end of frame 12."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What one frame alone gives, for n design points; values of impossible ones mean nothing."""

    possible: BoolArray
    """[n]: every group can run on its unit."""
    makespan_ps: IntArray
    """[n]"""
    latency_ps: IntArray
    """[n, networks]: last end minus arrival."""
    dynamic_fj: IntArray
    """[n]: energy above idle power."""
    busy_ps: IntArray
    """[n]: time that units are busy, added up."""
    idle_mw: IntArray
    """[n]: power that is drawn all the time."""

    @property
    def energy_fj(self) -> IntArray:
        """[n]: energy of the frame, idle power until the makespan."""
        return self.idle_mw * self.makespan_ps + self.dynamic_fj


@dataclass(frozen=True, eq=False)
class Pipeline:
    """What a pipeline gives, for n design points."""

    window_ps: IntArray
    """[n]: from the end of frame 4 to the end of frame 12: eight frames."""
    dynamic_fj: IntArray
    """[n]: energy of frames 5 to 12 above idle power."""


@dataclass(frozen=True)
class Timeline:
    """One design point played: executions, and the instants at which frames and networks ended."""

    schedule: Schedule
    frame_end_ps: tuple[int, ...]
    latency_ps: tuple[tuple[int, ...], ...]
    """[frames][networks]"""


Evaluator = Callable[[IntArray], Evaluation]
PipelineEvaluator = Callable[[IntArray], Pipeline]


def make_evaluator(problem: Problem, *, jobs: int = 1, chains: bool = True) -> Evaluator:
    """A function from rows [n, groups + domains] (units, then operating points) to what they give.

    One or two networks that are chains are played by a kernel of their own, which gives the same
    integers faster; without ``chains`` all are played by the general one.

    Rows are shared out over ``jobs`` threads; the compiled timeline holds no lock. Each row's
    result depends on that row alone, so the number of threads changes nothing but the time taken.
    """
    plan = make_plan(problem)
    play_rows = _chain_player if chains and are_two_chains(problem) else _general_player
    players = play_rows(problem, plan, jobs)
    run = share_rows(jobs)

    def evaluate(rows: IntArray) -> Evaluation:
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        n = len(rows)
        possible = np.zeros(n, dtype=np.bool_)
        makespan, dynamic, busy, idle = (np.zeros(n, dtype=np.int64) for _ in range(4))
        latency = np.zeros((n, plan.networks), dtype=np.int64)
        out = (possible, makespan, latency, dynamic, busy, idle)
        run(
            n,
            lambda job, part: players[job](rows[part], *(array[part] for array in out)),
        )
        return Evaluation(possible, makespan, latency, dynamic, busy, idle)

    return evaluate


RowPlayer = Callable[..., None]
"""Plays rows; takes them and the arrays of an :class:`Evaluation` to fill."""


def _general_player(problem: Problem, plan: Plan, jobs: int) -> list[RowPlayer]:
    """Plays anything."""
    from fitness.timeline_kernel import evaluate_rows

    def player() -> RowPlayer:
        chosen, state = make_chosen(plan), make_state(plan, frames=1, in_flight=1)
        return lambda rows, *out: evaluate_rows(plan, rows, chosen, state, *out)

    return [player() for _ in range(jobs)]


def _chain_player(problem: Problem, plan: Plan, jobs: int) -> list[RowPlayer]:
    """Plays one or two chains."""
    from fitness.chain_kernel import evaluate_chains

    chains = make_chains(problem, plan)

    def player() -> RowPlayer:
        lanes = make_lanes(plan)
        return lambda rows, *out: evaluate_chains(plan, chains, rows, lanes, *out)

    return [player() for _ in range(jobs)]


def make_pipeline_evaluator(problem: Problem, *, jobs: int = 1) -> PipelineEvaluator:
    """The same for twelve frames with ``problem.frames_in_flight`` of them at a time."""
    from fitness.timeline_kernel import evaluate_pipelines

    plan = make_plan(problem)
    buffers = [
        (
            make_chosen(plan),
            make_state(
                plan,
                frames=PIPELINE_FRAMES,
                in_flight=problem.frames_in_flight,
                count_from=PIPELINE_WARM_UP,
            ),
        )
        for _ in range(jobs)
    ]
    run = share_rows(jobs)

    def evaluate(rows: IntArray) -> Pipeline:
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        window, dynamic = (np.zeros(len(rows), dtype=np.int64) for _ in range(2))
        run(
            len(rows),
            lambda job, part: evaluate_pipelines(
                plan, rows[part], *buffers[job], window[part], dynamic[part]
            ),
        )
        return Pipeline(window, dynamic)

    return evaluate


def share_rows(jobs: int) -> Callable[[int, Callable[[int, slice], object]], None]:
    """Shares rows 0..n-1 out over threads, each with buffers of its own."""
    pool = ThreadPoolExecutor(jobs) if jobs > 1 else None

    def run(n: int, work: Callable[[int, slice], object]) -> None:
        if pool is None:
            work(0, slice(0, n))
            return
        bounds = [n * job // jobs for job in range(jobs + 1)]
        parts = [slice(bounds[job], bounds[job + 1]) for job in range(jobs)]
        list(pool.map(work, range(jobs), parts))

    return run


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
